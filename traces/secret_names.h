// SPDX-License-Identifier: Apache-2.0
//
// Recognises names of options and variables whose values are secrets, and words that are secrets
// themselves by their beginning. Only hide_secrets.cc uses this. The agent compiles both, so this
// needs no library. Pure.
#pragma once

#include <stddef.h>

namespace penstock::traces {

inline bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
inline bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
inline bool IsAlnum(char c) {
  return IsDigit(c) || IsUpper(c) || IsLower(c);
}
inline char Lower(char c) {
  return IsUpper(c) ? static_cast<char>(c + 32) : c;
}
inline bool IsNameChar(char c) {
  return IsAlnum(c) || c == '_' || c == '-' || c == '.';
}
inline bool IsQuote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

// A part of the text; it does not end with a 0.
struct Piece {
  const char* data;
  size_t size;

  [[nodiscard]] bool Begins(const char* with) const {
    const size_t n = __builtin_strlen(with);
    return size >= n && __builtin_memcmp(data, with, n) == 0;
  }
  [[nodiscard]] bool Ends(const char* with) const {
    const size_t n = __builtin_strlen(with);
    return size >= n && __builtin_memcmp(data + size - n, with, n) == 0;
  }
  [[nodiscard]] bool IsIgnoringCase(const char* word) const {
    size_t i = 0;
    while (i < size && word[i] != 0 && Lower(data[i]) == word[i]) {
      ++i;
    }
    return i == size && word[i] == 0;
  }
  // The position of `word`, in lower case if `ignore_case`; `size` if it is not there.
  [[nodiscard]] size_t Find(const char* word, bool ignore_case) const {
    const size_t n = __builtin_strlen(word);
    for (size_t at = 0; at + n <= size; ++at) {
      size_t i = 0;
      while (i < n && (ignore_case ? Lower(data[at + i]) : data[at + i]) == word[i]) {
        ++i;
      }
      if (i == n) {
        return at;
      }
    }
    return size;
  }
};

// Whether the name of an option or variable says that its value is a secret: "api_key", "HF_TOKEN".
bool IsSecretName(Piece name);

// Whether the value of such an option may be "name:password".
bool IsUserName(Piece name);

// The length of the token at the beginning of `name`, such as "ghp_..."; 0: there is none.
size_t TokenLength(Piece name);

}  // namespace penstock::traces
