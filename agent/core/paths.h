// SPDX-License-Identifier: Apache-2.0
//
// Which file names belong to a dataset, and what a path given to open() stands for.
#pragma once

#include <stddef.h>

namespace penstock::agent {

inline constexpr size_t kMaxPath = 4096;

// True for a path that is a dataset file rather than system, library, source or cache.
bool IsDatasetPath(const char* path, size_t size);

// Writes the absolute, terminated name of `path` to `name` (kMaxPath bytes); a relative path starts
// at the working directory, as in open(). Returns its length, 0 where only the kernel can surely
// tell (paths with "..", relative ones with "/.", links of /proc, /dev/stdin, a working directory
// that has gone). errno is kept. Cost: one system call if `path` is relative, none if it is
// absolute.
size_t NameOpened(const char* path, char* name);

}  // namespace penstock::agent
