// SPDX-License-Identifier: Apache-2.0
//
// Names of files: which are a data set's, and what a path given to open() stands for.
#pragma once

#include <stddef.h>

namespace penstock::agent {

inline constexpr size_t kMaxPath = 4096;

// True for a path that is a dataset file rather than system, library, source or cache.
bool IsDatasetPath(const char* path, size_t size);

// The absolute name of `path` as open() takes it, relative to the working directory: written to
// `name` (kMaxPath bytes), which is terminated. Returns its length; 0 if only the kernel can tell
// (paths with "..", links of /proc, a working directory that has gone). One system call if `path`
// is relative, none if it is absolute. errno is kept.
size_t NameOpened(const char* path, char* name);

}  // namespace penstock::agent
