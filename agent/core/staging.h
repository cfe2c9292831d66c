// SPDX-License-Identifier: Apache-2.0
//
// Redirects a descriptor that the program has opened to a copy of the file. The collector has made
// the copy in the run's stage folder (record --stage). The program's open still opens the original,
// so path look-up, permission check and errors are those of the original. A copy is named after the
// device, inode, size and times of the original, so a copy of older contents is never found.
// Threads: any.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

namespace penstock::agent {

// Whether a copy serves as well as the original if the file is opened with `flags`: for reading
// only, and with no flags but those known to do no harm.
bool MayUseCopy(int flags);
bool MayUseCopy(const char* stdio_mode);

// Makes `fd` refer to the copy of its file. Leaves `fd` as it is if there is no copy or the copy
// cannot be used. Requires: `fd` was just opened for reading, and nobody else knows it yet.
void UseCopy(int fd);

// Writes the name of a file's copy, "DEVICE-INODE-SIZE-MTIME-CTIME" with times in nanoseconds. Used
// by collector and agent. Returns its length, 0 if `size` is too small.
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
