// SPDX-License-Identifier: Apache-2.0
//
// An owned file descriptor, and errors about files in one line. Values. Not thread-safe.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace penstock::loader {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void Reset() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

[[nodiscard]] inline std::string ErrnoText(int error) {
  return std::generic_category().message(error);
}

// `text` on one line: control characters, which file names may contain, become '?'.
[[nodiscard]] inline std::string Printable(std::string_view text) {
  std::string out(text.substr(0, 4096));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      c = '?';
    }
  }
  return out;
}

}  // namespace penstock::loader
