// SPDX-License-Identifier: Apache-2.0
//
// Whether a dataset comes back to the same files for other samples, as one whose length is larger
// than its number of files. Filled while a trace is read; not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "traces/event.h"

namespace penstock::analyzer {

// Files that were read for samples. Figures are estimates if there are more than 4,096 files.
struct FilesSeen {
  double bytes = 0;     // of all files together
  double returned = 0;  // fraction of the files that were read in whole for several samples
};

class FileReturns {
 public:
  void Add(const traces::Span& read);
  // A file was read in whole if each of its reads has the same number of bytes, and files differ in
  // size. In files of records of one size, reads of equal size are of different records. Of fewer
  // than 16 files nothing is said.
  [[nodiscard]] FilesSeen Seen() const;

 private:
  struct File {
    std::int64_t sample = 0;  // of its first read
    std::uint64_t bytes = 0;  // of its first read
    bool several = false;     // read for several samples
    bool whole = true;        // each read has as many bytes
  };

  [[nodiscard]] bool Keeps(std::uint32_t file) const;

  std::unordered_map<std::uint32_t, File> files_;  // by path; one in `share_` files
  std::uint32_t share_ = 1;                        // a power of two
};

}  // namespace penstock::analyzer
