// SPDX-License-Identifier: Apache-2.0
#include "traces/base/xxh64.h"

#include <bit>
#include <cstring>

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little, "traces are little-endian");

constexpr std::uint64_t kP1 = 0x9e3779b185ebca87u;
constexpr std::uint64_t kP2 = 0xc2b2ae3d27d4eb4fu;
constexpr std::uint64_t kP3 = 0x165667b19e3779f9u;
constexpr std::uint64_t kP4 = 0x85ebca77c2b2ae63u;
constexpr std::uint64_t kP5 = 0x27d4eb2f165667c5u;

std::uint64_t Load64(const unsigned char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

std::uint32_t Load32(const unsigned char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

std::uint64_t Round(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kP2, 31) * kP1;
}

std::uint64_t Merge(std::uint64_t hash, std::uint64_t lane) {
  return (hash ^ Round(0, lane)) * kP1 + kP4;
}

}  // namespace

std::uint64_t Xxh64(const void* data, std::size_t size, std::uint64_t seed) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::size_t left = size;
  std::uint64_t hash = seed + kP5;
  if (left >= 32) {
    std::uint64_t a = seed + kP1 + kP2;
    std::uint64_t b = seed + kP2;
    std::uint64_t c = seed;
    std::uint64_t d = seed - kP1;
    for (; left >= 32; left -= 32, p += 32) {
      a = Round(a, Load64(p));
      b = Round(b, Load64(p + 8));
      c = Round(c, Load64(p + 16));
      d = Round(d, Load64(p + 24));
    }
    hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    hash = Merge(Merge(Merge(Merge(hash, a), b), c), d);
  }
  hash += size;
  for (; left >= 8; left -= 8, p += 8) {
    hash = std::rotl(hash ^ Round(0, Load64(p)), 27) * kP1 + kP4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ (Load32(p) * kP1), 23) * kP2 + kP3;
    left -= 4;
    p += 4;
  }
  for (; left > 0; --left, ++p) {
    hash = std::rotl(hash ^ (*p * kP5), 11) * kP1;
  }
  hash = (hash ^ (hash >> 33)) * kP2;
  hash = (hash ^ (hash >> 29)) * kP3;
  return hash ^ (hash >> 32);
}

}  // namespace penstock
