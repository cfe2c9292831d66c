// SPDX-License-Identifier: Apache-2.0
//
// Reads a dataset into the page cache before a run. After the run, removes the files that were not
// in the cache before.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traces/base/units.h"

namespace penstock::record {

class WarmFiles {
 public:
  WarmFiles() = default;
  ~WarmFiles() { GiveBack(); }
  WarmFiles(const WarmFiles&) = delete;
  WarmFiles& operator=(const WarmFiles&) = delete;

  // Reads the files below `folders`, in their order, until `room` is used up. Skips what cannot be
  // read, and does not follow links to folders.
  void Read(const std::vector<std::string>& folders, Bytes room);

  // Removes from the page cache the files that had no page in it before.
  void GiveBack();

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::size_t files() const { return files_; }
  [[nodiscard]] bool full() const { return full_; }  // there was not room for all files

 private:
  bool ReadFile(const std::string& path, Bytes room);

  std::vector<std::string> cold_;  // files that were not in the cache before
  std::vector<char> part_;
  Bytes bytes_;
  std::size_t files_ = 0;
  bool full_ = false;
};

}  // namespace penstock::record
