// SPDX-License-Identifier: Apache-2.0
//
// Copies of data files that the collector has laid into a folder of their own (record --stage), and
// how a descriptor comes to lead to one. The original is opened first, as ever, so that names,
// permissions and errors are its own; its device, inode, size and times name the copy, so that one
// that is stale is never found.
// Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

namespace penstock::agent {

// Whether a call that opens a file only reads from it, in a way in which a copy does as well.
bool MayUseCopy(int flags);
bool MayUseCopy(const char* stdio_mode);

// Makes `fd`, which was just opened for reading and is known to nobody else yet, lead to the copy
// of its file. Leaves it as it is where there is none, or anything is in the way.
void UseCopy(int fd);

// The name of the copy of the file that `st` is of: "DEVICE-INODE-SIZE-MTIME-CTIME". The times are
// in nanoseconds. Both sides use it. Returns its length, 0 if `size` is too small.
inline size_t CopyName(const struct stat& st, char* to, size_t size) {
  const auto nanoseconds = [](const struct timespec& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
  };
  const uint64_t parts[] = {st.st_dev, st.st_ino, static_cast<uint64_t>(st.st_size),
                            nanoseconds(st.st_mtim), nanoseconds(st.st_ctim)};
  size_t used = 0;
  for (const uint64_t part : parts) {
    char digits[20];
    size_t count = 0;
    uint64_t rest = part;
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (used + count + 2 > size) {
      return 0;
    }
    if (used != 0) {
      to[used++] = '-';
    }
    while (count != 0) {
      to[used++] = digits[--count];
    }
  }
  to[used] = 0;
  return used;
}

}  // namespace penstock::agent
