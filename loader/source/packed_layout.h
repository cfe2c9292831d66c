// SPDX-License-Identifier: Apache-2.0
//
// The packed file: many samples in one, read by offset. Little-endian.
//
//   packed  := header data index footer
//   header  := "PSTKPACK" version:u32 zero:u32 zero:u64 zero:u64               (32 bytes)
//   data    := the samples' bytes, back to back, in order
//   index   := zeros up to a multiple of 8, then entry{count} names
//   entry   := offset:u64 size:u64 label:i64 name:u64                          (member_index.h)
//   footer  := index_at:u64 count:u64 names_size:u64 classes:u64 zero:u64
//              index_checksum:u64 footer_checksum:u64 "PSTKPEND"               (64 bytes)
//
// index_at is the offset of the first entry. index_checksum is XXH64 of the entries and names in
// parts of 64 KiB, each seeded with the checksum of the part before (record_file.h).
// footer_checksum is XXH64 of the header and of the footer's fields before it. The data has no
// checksum: a decoder notices damage, and a checksum over each byte would cost more than reading
// it. Values, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "traces/base/xxh64.h"

namespace penstock::loader {

inline constexpr std::array<char, 8> kPackMagic = {'P', 'S', 'T', 'K', 'P', 'A', 'C', 'K'};
inline constexpr std::array<char, 8> kPackEnd = {'P', 'S', 'T', 'K', 'P', 'E', 'N', 'D'};
inline constexpr std::uint32_t kPackVersion = 1;

struct PackHeader {
  std::array<char, 8> magic = kPackMagic;
  std::uint32_t version = kPackVersion;
  std::uint32_t zero = 0;
  std::array<std::uint64_t, 2> zeros{};
};
static_assert(sizeof(PackHeader) == 32);

struct PackFooter {
  std::uint64_t index_at = 0;
  std::uint64_t count = 0;
  std::uint64_t names_size = 0;
  std::uint64_t classes = 0;
  std::uint64_t zero = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t footer_checksum = 0;
  std::array<char, 8> magic = kPackEnd;
};
static_assert(sizeof(PackFooter) == 64);

[[nodiscard]] inline std::uint64_t FooterChecksum(const PackHeader& header,
                                                  const PackFooter& footer) {
  return Xxh64(&footer, offsetof(PackFooter, footer_checksum), Xxh64(&header, sizeof(header)));
}

}  // namespace penstock::loader
