// SPDX-License-Identifier: Apache-2.0
//
// A data set as numbered samples. Immutable after opening; every method may be called from several
// threads at once, each with its own scratch. What is proportional to the number of samples lies
// in an index on disk and is read by offset, so that ten million samples cost no more memory than
// ten: not even mapped pages, which would count as resident once an epoch has touched them.
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

  // Where sample `index` is. Does not look at the sample's file.
  // Requires: index < size().
  // Errors: kInput if the data set was changed while in use.
  // Cost: one to three reads of a few bytes from the index; no allocation once the scratch has
  // grown to the longest name.
  [[nodiscard]] virtual Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const = 0;

  [[nodiscard]] virtual std::string_view kind() const = 0;  // "folder", "list", "tar", "packed"
  // Labels are below this number. 0: unknown, since some sample has no label or a negative one.
  [[nodiscard]] virtual std::uint64_t classes() const = 0;
  // What class `label` is called: the name of its folder; where there are no names, the number.
  // Requires: label < classes(). Errors: those of At().
  [[nodiscard]] virtual Result<std::string> ClassName(std::uint64_t label) const;
};

struct SourceOptions {
  // Where sidecar indexes and temporary files go. Empty: sidecars lie beside the data (and are
  // done without if that folder cannot be written), temporary files in /var/tmp.
  std::filesystem::path index_folder = {};
  // Called now and then while an index is made: bytes or files done, of how many (0: unknown).
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

// Opens what is at `path`: a folder with one subfolder a class (as torchvision's ImageFolder), a
// folder that holds images only (no labels), a tar or a folder of *.tar (WebDataset's layout), a
// packed file (packed_writer.h), or a text list of "path label" lines.
// Errors: kInput, one line with the file, the place in it and the remedy.
Result<std::unique_ptr<Source>> OpenSource(const std::filesystem::path& path,
                                           const SourceOptions& options);

}  // namespace penstock::loader
