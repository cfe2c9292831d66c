// SPDX-License-Identifier: Apache-2.0
//
// Calls that are known to be slow for their task, and faster ones for the same task. Values.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "analyzer/words/slow_calls.h"

namespace penstock::analyzer {

struct KnownCall {
  std::string_view shown;   // how messages name it
  std::string_view name;    // the last part of the function's name, as the recording has it
  std::string_view within;  // part of its file's path; of a builtin: of the name before `name`
  double gone;              // fraction of the call's time that the advice saves
  double least_count;       // calls per sample from which the call is slow
  const Message* instead;
};

// The values of `gone` are assumed (ours); each prediction says so. Before Python 3.11, recorded
// names lack the class. The rows for a bare `__init__` or `__call__` therefore name a whole file,
// one that defines only a single such method.
inline constexpr std::array kKnownCalls = {
    KnownCall{"copy.deepcopy", "deepcopy", "copy.py", 0.8, 0, &words::kInsteadOfDeepcopy},
    KnownCall{"numpy.random.choice", "choice", "RandomState", 0.8, 0, &words::kInsteadOfChoice},
    KnownCall{"re.compile", "compile", "/re/__init__.py", 0.95, 0, &words::kInsteadOfCompile},
    KnownCall{"re.compile", "_compile", "/re/__init__.py", 0.95, 0, &words::kInsteadOfCompile},
    KnownCall{"re.compile", "compile", "/re.py", 0.95, 0, &words::kInsteadOfCompile},
    KnownCall{"re.compile", "_compile", "/re.py", 0.95, 0, &words::kInsteadOfCompile},
    KnownCall{"json.load", "load", "json/", 0.95, 0, &words::kInsteadOfParsing},
    KnownCall{"json.loads", "loads", "json/", 0.95, 0, &words::kInsteadOfParsing},
    KnownCall{"pickle.load", "load", "pickle", 0.95, 0, &words::kInsteadOfParsing},
    KnownCall{"pickle.loads", "loads", "pickle", 0.95, 0, &words::kInsteadOfParsing},
    KnownCall{"h5py.File", "File.__init__", "h5py/", 0.95, 0, &words::kInsteadOfOpening},
    KnownCall{"h5py.File", "__init__", "h5py/_hl/files.py", 0.95, 0, &words::kInsteadOfOpening},
    KnownCall{"zipfile.ZipFile", "ZipFile.__init__", "zipfile", 0.95, 0, &words::kInsteadOfOpening},
    KnownCall{"tarfile.open", "open", "tarfile.py", 0.95, 0, &words::kInsteadOfOpening},
    KnownCall{"sqlite3.connect", "connect", "sqlite3", 0.95, 0, &words::kInsteadOfOpening},
    KnownCall{"DataFrame.iloc", "__getitem__", "pandas/core/indexing.py", 0.9, 0,
              &words::kInsteadOfRows},
    KnownCall{"DataFrame.iterrows", "iterrows", "pandas/core/frame.py", 0.9, 0,
              &words::kInsteadOfRows},
    KnownCall{"torch.tensor", "tensor", "torch", 0.8, 0, &words::kInsteadOfTensor},
    KnownCall{"PIL.Image.fromarray", "fromarray", "PIL/Image.py", 0.9, 0,
              &words::kInsteadOfRoundTrip},
    KnownCall{"time.sleep", "sleep", "time", 1, 0, &words::kInsteadOfSleep},
    KnownCall{"numpy.loadtxt", "loadtxt", "numpy/", 0.95, 0, &words::kInsteadOfText},
    KnownCall{"numpy.genfromtxt", "genfromtxt", "numpy/", 0.95, 0, &words::kInsteadOfText},
    KnownCall{"numpy.vectorize", "vectorize.__call__", "numpy/", 0.9, 0,
              &words::kInsteadOfVectorize},
    KnownCall{"numpy.vectorize", "__call__", "numpy/lib/function_base.py", 0.9, 0,
              &words::kInsteadOfVectorize},
    KnownCall{"numpy.vectorize", "__call__", "numpy/lib/_function_base_impl.py", 0.9, 0,
              &words::kInsteadOfVectorize},
    KnownCall{"numpy.apply_along_axis", "apply_along_axis", "numpy/", 0.9, 0,
              &words::kInsteadOfVectorize},
    KnownCall{"numpy.append", "append", "numpy/lib/", 0.8, 20, &words::kInsteadOfAppend},
    KnownCall{"skimage.transform.resize", "resize", "skimage/transform/", 0.8, 0,
              &words::kInsteadOfSkimage},
    KnownCall{"scipy.ndimage.zoom", "zoom", "scipy/ndimage/", 0.7, 0, &words::kInsteadOfSpline},
    KnownCall{"scipy.ndimage.rotate", "rotate", "scipy/ndimage/", 0.7, 0, &words::kInsteadOfSpline},
    KnownCall{"scipy.ndimage.map_coordinates", "map_coordinates", "scipy/ndimage/", 0.7, 0,
              &words::kInsteadOfSpline},
};

// The entry for a function of `file` ("": not Python); nullptr: the function has no entry.
[[nodiscard]] constexpr const KnownCall* FindKnownCall(std::string_view name,
                                                       std::string_view file) {
  for (const KnownCall& known : kKnownCalls) {
    if (name.size() < known.name.size()) continue;
    const std::string_view front = name.substr(0, name.size() - known.name.size());
    if (name.substr(front.size()) != known.name) continue;
    if (!front.empty() && front.back() != '.') continue;
    const std::string_view where = file.empty() ? front : file;
    if (where.find(known.within) != std::string_view::npos) return &known;
  }
  return nullptr;
}

}  // namespace penstock::analyzer
