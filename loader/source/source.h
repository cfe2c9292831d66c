// SPDX-License-Identifier: Apache-2.0
//
// A data set as numbered samples. Immutable after opening. Several threads may call every method at
// once, each with its own scratch. Everything that grows with the number of samples lies in an
// index on disk and is read by offset, so ten million samples take no more memory than ten. The
// index is not mapped, since its pages would count as resident once an epoch has touched them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "loader/source/sample.h"
#include "traces/base/result.h"

namespace penstock::loader {

class Source {
 public:
  Source() = default;
  virtual ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] virtual std::uint64_t size() const = 0;  // samples, at least 1

  // Returns where sample `index` is. Does not look at the sample's file.
  // Requires: index < size().
  // Errors: kInput if the data set was changed while in use.
  // Cost: one to three reads of a few bytes from the index; no allocation once the scratch has
  // grown to the longest name.
  [[nodiscard]] virtual Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const = 0;

  [[nodiscard]] virtual std::string_view kind() const = 0;  // "folder", "list", "tar", "packed"
  // Labels are below this number. 0: unknown, since a sample has no label or a negative one.
  [[nodiscard]] virtual std::uint64_t classes() const = 0;
  // The name of class `label`: that of its folder, or its number if there are no names.
  // Requires: label < classes(). Errors: those of At().
  [[nodiscard]] virtual Result<std::string> ClassName(std::uint64_t label) const;
};

struct SourceOptions {
  // The folder for sidecar indexes and temporary files. If it is empty, sidecars lie beside the
  // data (there are none if that folder cannot be written), and temporary files in /var/tmp.
  std::filesystem::path index_folder = {};
  // Called now and then while an index is made, with the number of bytes or files done and the
  // total (0: unknown).
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

// Opens `path`: a folder with one subfolder for each class (as in torchvision's ImageFolder), a
// folder of images alone (without labels), a tar or a folder of *.tar (WebDataset's layout), a
// packed file (packed_writer.h), or a list of "path label" lines.
// Errors: kInput, with one line that names the file, the place in it and the remedy.
Result<std::unique_ptr<Source>> OpenSource(const std::filesystem::path& path,
                                           const SourceOptions& options);

}  // namespace penstock::loader
