// SPDX-License-Identifier: Apache-2.0
//
// Data sets for tests: a folder that is removed afterwards, files in it, and tars made byte by
// byte.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace penstock::loader::testing {

class TempSet {
 public:
  // Memory instead of a disk where possible: a disk takes seconds to rewrite thousands of small
  // files.
  TempSet() : TempSet(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") {}
  explicit TempSet(const std::filesystem::path& parent) {
    std::string name = (parent / "penstock-set-XXXXXX").string();
    const char* made = ::mkdtemp(name.data());
    root_ = made == nullptr ? std::filesystem::path() : std::filesystem::path(made);
  }
  ~TempSet() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TempSet(const TempSet&) = delete;
  TempSet& operator=(const TempSet&) = delete;

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return root_ / name;
  }
  std::filesystem::path Write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  std::filesystem::path root_;
};

[[nodiscard]] inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `size` bytes that differ from place to place.
[[nodiscard]] inline std::string Pattern(std::size_t size, unsigned seed = 1) {
  std::string out(size, '\0');
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (char& c : out) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24);
  }
  return out;
}

class TarBytes {
 public:
  TarBytes& Add(std::string_view name, std::string_view data, char type = '0',
                std::string_view prefix = {}) {
    return Add(name, data, data.size(), type, prefix);
  }
  // `size`: the size in the header.
  TarBytes& Add(std::string_view name, std::string_view data, std::uint64_t size, char type,
                std::string_view prefix = {}) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    header.replace(100, 7, "0000644");
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "%011llo", static_cast<unsigned long long>(size));
    header.replace(124, 11, number.data(), 11);
    header[156] = type;
    header.replace(257, 8, std::string_view("ustar\00000", 8));
    header.replace(345, prefix.size(), prefix);
    bytes_ += Sealed(std::move(header));
    bytes_ += data;
    bytes_.append((512 - data.size() % 512) % 512, '\0');
    return *this;
  }
  // A pax header for the member that follows.
  TarBytes& Pax(std::string_view key, std::string_view value) {
    const std::size_t body = key.size() + value.size() + 3;  // blank, '=', newline
    std::size_t length = body + 1;
    while (std::to_string(length).size() + body != length) {
      ++length;
    }
    return Add("pax",
               std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n",
               'x');
  }
  [[nodiscard]] std::string Open() const { return bytes_; }
  [[nodiscard]] std::string Finish() const { return bytes_ + std::string(1024, '\0'); }

  // `header` with its checksum set right.
  static std::string Sealed(std::string header) {
    header.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char c : header) {
      sum += static_cast<unsigned char>(c);
    }
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "%06o", sum);
    header.replace(148, 6, number.data(), 6);
    header[154] = '\0';
    return header;
  }

 private:
  std::string bytes_;
};

}  // namespace penstock::loader::testing
