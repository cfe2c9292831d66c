// SPDX-License-Identifier: Apache-2.0
//
// What the hooks on stdio streams share. Threads: any.
#pragma once

#include <errno.h>
#include <stdio.h>

namespace penstock::agent {

// The descriptor of a stream, -1 if it has none. fileno() sets errno for a stream in memory, so
// errno is restored: the program would take it for an error of its own call.
inline int DescriptorOf(FILE* file) {
  const int saved = errno;
  const int fd = file != nullptr ? fileno(file) : -1;
  errno = saved;
  return fd;
}

}  // namespace penstock::agent
