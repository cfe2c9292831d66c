// SPDX-License-Identifier: Apache-2.0
//
// The few string functions that the agent needs. They allocate nothing. The compiler may make them
// call libc's strlen, memcmp and memcpy, which take no lock and set no errno.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

inline size_t Length(const char* s) {
  return __builtin_strlen(s);
}

inline bool StartsWith(const char* s, const char* prefix) {
  while (*prefix != 0) {
    if (*s++ != *prefix++) {
      return false;
    }
  }
  return true;
}

inline bool EndsWith(const char* s, size_t size, const char* suffix) {
  size_t n = Length(suffix);
  return size >= n && __builtin_memcmp(s + size - n, suffix, n) == 0;
}

inline const char* Find(const char* s, const char* needle) {
  for (; *s != 0; ++s) {
    if (StartsWith(s, needle)) {
      return s;
    }
  }
  return nullptr;
}

inline const char* BaseName(const char* path) {
  const char* base = path;
  for (; *path != 0; ++path) {
    if (*path == '/') {
      base = path + 1;
    }
  }
  return base;
}

// Appends to a buffer of fixed size. Never overruns it, and remembers that it had to cut.
struct Text {
  char* data;
  size_t capacity;
  size_t size = 0;
  bool cut = false;

  Text& Add(const char* s) { return Add(s, Length(s)); }
  Text& Add(const char* s, size_t n) {
    if (size + n + 1 > capacity) {
      cut = true;
      n = capacity - size - 1;
    }
    __builtin_memcpy(data + size, s, n);
    size += n;
    data[size] = 0;
    return *this;
  }
  Text& Number(uint64_t value) {
    char digits[24];
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (n > 0) {
      Add(&digits[--n], 1);
    }
    return *this;
  }
};

// The decimal number at `s`, up to the first character that is no digit. -1 if there is no digit.
// Stops at the next digit once the number has reached 2^56, so a longer number gives some value
// above 2^56.
inline int64_t ParseNumber(const char* s) {
  if (*s < '0' || *s > '9') {
    return -1;
  }
  int64_t value = 0;
  for (; *s >= '0' && *s <= '9' && value < (int64_t{1} << 56); ++s) {
    value = value * 10 + (*s - '0');
  }
  return value;
}

// The lower-case hexadecimal number at `s`, up to the first other character. 0 if there is no
// digit.
inline uint64_t ParseHexadecimal(const char* s) {
  uint64_t value = 0;
  for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); ++s) {
    value = value << 4 | static_cast<uint64_t>(*s <= '9' ? *s - '0' : *s - 'a' + 10);
  }
  return value;
}

}  // namespace penstock::agent
