// SPDX-License-Identifier: Apache-2.0
//
// Which file names belong to a dataset, and what a path given to open() stands for.
#pragma once

#include <stddef.h>

namespace penstock::agent {

inline constexpr size_t kMaxPath = 4096;

// True if the path is a dataset file. False for system, library, source and cache files.
bool IsDatasetPath(const char* path, size_t size);

// Writes the absolute, terminated name of `path` to `name` (kMaxPath bytes); a relative path starts
// at the working directory, as in open(). Returns its length, or 0 if only the kernel can know the
// name (paths with "..", relative ones with "/.", links of /proc, /dev/stdin, a working directory
// that was removed). errno is kept. Cost: one system call if `path` is relative, none if it is
// absolute.
size_t NameOpened(const char* path, char* name);

}  // namespace penstock::agent
