// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_decode.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "agent/gpu/device_records.h"

namespace penstock::agent::cupti {
namespace {

constexpr std::size_t kWhole = 32;  // size of a kSynchronization record

Result g_at_the_end = kMaxLimitReached;

// Stands for CUPTI's function that returns the next record. Returns a first record of kWhole bytes,
// and then what is left of the buffer as a second record.
Result Next(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  if (*record != nullptr && g_at_the_end != kMaxLimitReached) return g_at_the_end;
  if (*record != nullptr && (*record != buffer || valid <= kWhole)) return kMaxLimitReached;
  *record = *record == nullptr ? buffer : buffer + kWhole;
  return kSuccess;
}

Result NoName(std::uint32_t, std::uint32_t, const char**) {
  return kUnknown;
}

class CuptiDecodeTest : public testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<std::size_t>(getpagesize());
    memory_ = static_cast<std::uint8_t*>(
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
    ASSERT_EQ(mprotect(memory_ + page_, page_, PROT_NONE), 0);
    Functions functions{};
    functions.next_record = Next;
    functions.callback_name = NoName;
    ASSERT_TRUE(PrepareDecoder(functions, true));
    ASSERT_TRUE(PrepareDeviceRecords());
  }
  void TearDown() override { munmap(memory_, 2 * page_); }

  // Decodes a buffer with a whole record and the first `size` bytes of a record of `kind`. The
  // memory after the buffer is not mapped. Returns the number of records.
  std::uint64_t Decode(std::uint32_t kind, std::size_t size) {
    const std::size_t valid = kWhole + size;
    std::uint8_t* buffer = memory_ + page_ - valid;
    std::memset(buffer, 1, valid);
    const std::uint32_t whole = kSynchronization;
    std::memcpy(buffer, &whole, sizeof whole);
    std::memcpy(buffer + kWhole, &kind, size < sizeof kind ? size : sizeof kind);
    DeviceClock clock;
    clock.Add(1, 1);
    return DecodeBuffer(buffer, valid, clock, 1).records;
  }

  std::size_t page_ = 0;
  std::uint8_t* memory_ = nullptr;
};

TEST_F(CuptiDecodeTest, ARecordThatIsCutOffIsCountedNotRead) {
  std::uint64_t unknown = CountDecoded().unknown;
  for (const std::uint32_t kind : {kMemcpy, kMemset, kKernel, kDriver, kRuntime, kConcurrentKernel,
                                   kOverhead, kMemcpyPeer, kSynchronization}) {
    for (const std::size_t size : {1u, 4u, 8u, 24u, 31u}) {
      EXPECT_EQ(Decode(kind, size), 2u);
      EXPECT_EQ(CountDecoded().unknown, ++unknown) << kind << " " << size;
    }
  }
  EXPECT_EQ(Decode(kRuntime, at::Api::kSize), 2u);
  EXPECT_EQ(CountDecoded().unknown, unknown) << "this one is whole";
}

// If a record is incomplete, CUPTI returns CUPTI_ERROR_INVALID_KIND, and the records after it
// cannot be read.
TEST_F(CuptiDecodeTest, WhatIsBehindAnInvalidRecordIsToldInBytes) {
  DeviceClock clock;
  clock.Add(1, 1);
  std::uint8_t buffer[kWhole + 400] = {};
  const std::uint32_t whole = kSynchronization;
  std::memcpy(buffer, &whole, sizeof whole);
  g_at_the_end = 21;
  const Decoded decoded = DecodeBuffer(buffer, sizeof buffer, clock, 1);
  g_at_the_end = kMaxLimitReached;
  EXPECT_EQ(decoded.records, 1u);
  EXPECT_EQ(decoded.unread, 400u);
  EXPECT_EQ(DecodeBuffer(buffer, kWhole, clock, 1).unread, 0u);
}

}  // namespace
}  // namespace penstock::agent::cupti
