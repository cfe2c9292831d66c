// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes variable-length integers and texts in byte buffers. A ByteReader never leaves
// its buffer: after a value that does not fit, the reader stays failed and returns zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace penstock {

[[nodiscard]] constexpr std::uint64_t ZigZag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
[[nodiscard]] constexpr std::int64_t UnZigZag(std::uint64_t v) {
  return static_cast<std::int64_t>((v >> 1) ^ (~(v & 1) + 1));
}

// a - b and a + b modulo 2^64. With numbers from an untrusted file the signed operations could
// overflow, which is undefined.
[[nodiscard]] constexpr std::int64_t WrapSub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
[[nodiscard]] constexpr std::int64_t WrapAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class ByteWriter {
 public:
  void U8(std::uint8_t v) { bytes_.push_back(static_cast<std::byte>(v)); }
  void Varint(std::uint64_t v) {
    while (v >= 0x80) {
      U8(static_cast<std::uint8_t>(v | 0x80));
      v >>= 7;
    }
    U8(static_cast<std::uint8_t>(v));
  }
  void Signed(std::int64_t v) { Varint(ZigZag(v)); }
  void Raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void Text(std::string_view text) {
    Varint(text.size());
    Raw(std::as_bytes(std::span(text.data(), text.size())));
  }
  // Writes a part with its size in front, so that a reader can skip it.
  void Part(const ByteWriter& part) {
    Varint(part.bytes_.size());
    Raw(part.bytes_);
  }
  void Clear() { bytes_.clear(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t U8() {
    if (at_ == end_) {
      return static_cast<std::uint8_t>(Fail());
    }
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    return Fail();
  }
  std::int64_t Signed() { return UnZigZag(Varint()); }
  // Reads a varint that must not exceed `limit`.
  std::uint64_t Bounded(std::uint64_t limit) {
    const std::uint64_t value = Varint();
    return value <= limit ? value : Fail();
  }
  std::span<const std::byte> Raw(std::size_t size) {
    if (size > left()) {
      Fail();
      return {};
    }
    const std::span<const std::byte> out(at_, size);
    at_ += size;
    return out;
  }
  std::string_view Text() {
    const std::span<const std::byte> raw = Raw(Varint());
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  // Reads what ByteWriter::Part() wrote. If the part does not fit, this reader fails. The returned
  // reader is then empty but has not failed, so callers check both.
  ByteReader Part() { return ByteReader(Raw(Varint())); }

 private:
  std::uint64_t Fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace penstock
