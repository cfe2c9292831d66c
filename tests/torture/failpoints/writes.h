// SPDX-License-Identifier: Apache-2.0
//
// Logs the operations on the files below a folder in their order, so that powerloss.py can replay
// them up to any moment. Does not see bytes that are stored through a mapping.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/torture/failpoints/tasks.h"

namespace failpoints {

// Writes two files. PATH has a line for each operation, with tabs between the fields. PATH.data has
// the written bytes of all operations.
//   open INODE PATH                    the file exists from this operation on
//   write INODE OFFSET SIZE AT         SIZE bytes at OFFSET; they begin at AT in PATH.data
//   truncate INODE SIZE
//   allocate INODE MODE OFFSET SIZE
//   rename FROM TO, exchange FROM TO, link INODE TO, unlink PATH
//   sync INODE, syncfolder PATH
//   map INODE                          a shared, writable map
class WriteLog {
 public:
  // `folder` must be an absolute path without symbolic links.
  WriteLog(std::string folder, const std::string& path);
  ~WriteLog();
  WriteLog(const WriteLog&) = delete;
  WriteLog& operator=(const WriteLog&) = delete;

  // Logs the call of `task` that has just returned `result`. `task` has the number and the
  // arguments of the call, as they were at its entry.
  void Add(const Task& task, long result);

 private:
  void AddOpen(const Task& task, long result);
  void AddWrite(const Task& task, std::uint64_t offset, long result);
  [[nodiscard]] bool Inside(const std::string& path) const;

  std::string folder_;
  std::FILE* lines_ = nullptr;
  std::FILE* data_ = nullptr;
  std::uint64_t at_ = 0;
};

}  // namespace failpoints
