// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/progress.h"

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

Message At(std::uint64_t seconds, std::uint64_t spans, std::uint64_t batches) {
  Message message;
  message.values[kElapsedNs] = seconds * 1'000'000'000;
  message.values[kProcesses] = 3;
  message.values[kSpans] = spans;
  message.values[kBatches] = batches;
  message.values[kBytesWritten] = 3'140'000;
  return message;
}

TEST(ProgressTest, RatesAreThoseSinceTheLastLine) {
  const Message first = At(10, 100'000, 400);
  const Message second = At(12, 130'400, 484);
  EXPECT_EQ(ProgressLine(second, &first),
            "penstock 12 s | 3 processes | 15.2 k spans/s | 42.0 batches/s | 3.1 MB");
}

TEST(ProgressTest, LossIsShownWhenThereIsAny) {
  Message message = At(1, 10, 0);
  EXPECT_EQ(ProgressLine(message, nullptr), "penstock 1 s | 3 processes | 10 spans/s | 3.1 MB");
  message.values[kLost] = 12'000;
  EXPECT_NE(ProgressLine(message, nullptr).find("12.0 k lost"), std::string::npos);
}

TEST(ProgressTest, NumbersAreShort) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1500), "1.5 kB");
  EXPECT_EQ(HumanBytes(123'456'789), "123 MB");
  EXPECT_EQ(HumanCount(12), "12");
  EXPECT_EQ(HumanCount(2e6), "2.0 M");
}

}  // namespace
}  // namespace penstock::record
