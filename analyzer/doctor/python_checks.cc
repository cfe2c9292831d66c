// SPDX-License-Identifier: Apache-2.0
//
// Says how Penstock sees the work of the packages in a Python installation. Packages are found by
// the names of their .dist-info and .egg-info folders. Nothing is imported or run.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "analyzer/doctor/doctor.h"

namespace penstock::analyzer {
namespace {

namespace fs = std::filesystem;

struct Package {
  std::string_view name;  // as in NAME-VERSION.dist-info, lower case, '_' for '-'
  Health health;
  std::string_view says;
  bool suffixed = false;  // the name may go on, as in kvikio_cu12 for CUDA 12
};
constexpr std::string_view kDecodes = "its decoding is hooked from Python";
constexpr std::string_view kTokenizes = "its calls are hooked from Python, as `tokenize`";
constexpr std::array kPackages = {
    Package{"torch", Health::kOk, "DataLoader is hooked from Python"},
    Package{
        "torchvision", Health::kOk,
        "transforms and image decoding are hooked from Python; its bundled libjpeg and libpng by "
        "symbol"},
    Package{"pillow", Health::kOk, "its bundled libjpeg, libpng and libwebp are hooked by symbol"},
    Package{"pillow_simd", Health::kOk, "its libjpeg is hooked by symbol"},
    Package{"opencv_python", Health::kOk,
            "its codecs are linked statically: cv2.imread and imdecode are hooked from Python"},
    Package{"opencv_python_headless", Health::kOk,
            "its codecs are linked statically: cv2.imread and imdecode are hooked from Python"},
    Package{"opencv_contrib_python", Health::kOk,
            "its codecs are linked statically: cv2.imread and imdecode are hooked from Python"},
    Package{"opencv_contrib_python_headless", Health::kOk,
            "its codecs are linked statically: cv2.imread and imdecode are hooked from Python"},
    Package{"albumentations", Health::kOk, "its work is part of `augment`"},
    Package{"torchdata", Health::kOk,
            "StatefulDataLoader is hooked like DataLoader; the loop and the mappers of "
            "torchdata.nodes are hooked too"},
    Package{"accelerate", Health::kOk,
            "asks for each batch one step early; a step counts for the batch that it uses"},
    Package{"webdataset", Health::kOk, "samples, decoding and transforms are hooked from Python"},
    Package{"datasets", Health::kOk,
            "rows count as `read`, decoding as `decode`; both are hooked from Python"},
    Package{"h5py", Health::kOk,
            "selecting from a dataset counts as `decode`, its file reads as `read`"},
    Package{"lmdb", Health::kOk,
            "copying a value counts as `read`; iterating over a cursor is not seen"},
    Package{"imageio", Health::kOk, "imread is hooked from Python"},
    Package{"scikit_image", Health::kOk, "imread and the common transforms are hooked from Python"},
    Package{
        "spdl_core", Health::kOk,
        "the loop and the pipeline steps that run in threads are hooked; its own decoders are not"},
    Package{"simplejpeg", Health::kOk, kDecodes},
    Package{"pyturbojpeg", Health::kOk, kDecodes},
    Package{"pyvips", Health::kOk, kDecodes},
    Package{"imagecodecs", Health::kOk, kDecodes},
    Package{"kornia_rs", Health::kOk, kDecodes},
    Package{"soundfile", Health::kOk, kDecodes},
    Package{"torchaudio", Health::kOk, kDecodes},
    Package{"librosa", Health::kOk, kDecodes},
    Package{"nibabel", Health::kOk, kDecodes},
    Package{"pydicom", Health::kOk, kDecodes},
    Package{"zarr", Health::kOk, kDecodes},
    Package{"numcodecs", Health::kOk, kDecodes},
    Package{"pyarrow", Health::kOk, "reading of Parquet row groups counts as `decode`"},
    Package{"safetensors", Health::kOk, "taking a tensor counts as `read`"},
    Package{"tokenizers", Health::kOk, kTokenizes},
    Package{"sentencepiece", Health::kOk, kTokenizes},
    Package{"tiktoken", Health::kOk, kTokenizes},
    Package{"nvidia_dali", Health::kWarn,
            "its reads are seen, and its operators by NVTX ranges; work inside an operator is not",
            true},
    Package{"nvidia_nvimgcodec", Health::kOk, kDecodes, true},
    Package{"decord", Health::kOk, kDecodes},
    Package{"torchcodec", Health::kOk, kDecodes},
    Package{"av", Health::kOk, kDecodes},
    Package{"pillow_heif", Health::kWarn, "HEIF and AVIF decoding counts as `augment`"},
    Package{"tensorflow", Health::kWarn,
            "loops in Python, reads, JPEG and PNG decoding are seen; tf.data's transforms are not"},
    Package{"tensorflow_cpu", Health::kWarn,
            "loops in Python, reads, JPEG and PNG decoding are seen; tf.data's transforms are not"},
    Package{"kvikio", Health::kWarn, "reads straight into GPU memory: not seen as `read`", true},
    Package{"ffcv", Health::kWarn,
            "its loop and JPEG decoding are seen; its reads from a mapped file are not"},
};

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return text;
}

// Name and version of a package: "Pillow-10.2.0.dist-info" -> {"pillow", "10.2.0"}. The name is
// empty if `folder` has another form.
std::pair<std::string, std::string> ParseDistInfo(const std::string& folder) {
  constexpr std::string_view kSuffixes[] = {".dist-info", ".egg-info"};
  for (const std::string_view suffix : kSuffixes) {
    if (folder.size() <= suffix.size() ||
        folder.compare(folder.size() - suffix.size(), suffix.size(), suffix) != 0) {
      continue;
    }
    const std::string stem = folder.substr(0, folder.size() - suffix.size());
    const std::size_t dash = stem.find('-');
    if (dash == std::string::npos) return {Lower(stem), ""};
    const std::string rest = stem.substr(dash + 1);
    return {Lower(stem.substr(0, dash)), rest.substr(0, rest.find("-py"))};
  }
  return {};
}

bool IsOf(std::string_view name, const Package& package) {
  if (name == package.name) return true;
  return package.suffixed && name.starts_with(package.name) && name[package.name.size()] == '_';
}

// The package folders of this Python and of all versions that share its prefix. The folders of the
// user (~/.local) and of PYTHONPATH are left out. The link bin/python of a virtual environment is
// not followed: the packages lie in the environment, not where the link leads.
std::vector<fs::path> PackageFolders(const fs::path& python) {
  std::set<fs::path> folders;
  std::error_code error;
  const auto add_versions = [&](const fs::path& lib, std::string_view leaf) {
    for (fs::directory_iterator it(lib, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const fs::path packages = it->path() / leaf;
      if (name.rfind("python3", 0) == 0 && fs::is_directory(packages, error)) {
        folders.insert(packages);
      }
    }
    error.clear();
  };
  fs::path prefix = python.parent_path().parent_path();
  if (prefix == "/") prefix = "/usr";  // /bin is a link to /usr/bin
  add_versions(prefix / "lib", "site-packages");
  add_versions(prefix / "lib64", "site-packages");
  if (prefix == "/usr") {  // Debian's Python
    add_versions("/usr/lib", "dist-packages");
    add_versions("/usr/local/lib", "dist-packages");
  }
  return {folders.begin(), folders.end()};
}

}  // namespace

void CheckPython(const fs::path& python, Checks& checks) {
  const std::vector<fs::path> folders = PackageFolders(python);
  if (folders.empty()) {
    checks.push_back({"python", Health::kWarn,
                      fmt::format("no package folder of {} was found", python.string()),
                      "Penstock does not know beforehand which decoders it uses", ""});
    return;
  }
  checks.push_back({"python", Health::kOk, fmt::format("Python is {}", python.string()), "", ""});
  std::set<std::string> seen;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string entry = it->path().filename().string();
      if (entry == "sitecustomize.py") {
        checks.push_back(
            {"sitecustomize", Health::kOk,
             fmt::format("{} is run by Penstock's own sitecustomize.py", it->path().string()), "",
             ""});
      }
      const auto [name, version] = ParseDistInfo(entry);
      for (const Package& package : kPackages) {
        if (!IsOf(name, package) || !seen.insert(name).second) continue;
        const bool ok = package.health == Health::kOk;
        checks.push_back({"package", package.health,
                          ok ? fmt::format("{} {}: {}", name, version, package.says)
                             : fmt::format("{} {} is installed", name, version),
                          ok ? "" : std::string(package.says),
                          ok ? "" : "nothing to do if the run does not use it"});
      }
    }
  }
}

}  // namespace penstock::analyzer
