// SPDX-License-Identifier: Apache-2.0
#include "traces/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "traces/base/xxh64.h"
#include "traces/event.h"

namespace penstock::traces {
namespace {

TEST(WireTest, SizesMatchVersionOne) {
  EXPECT_EQ(sizeof(wire::Record), 64u);
  EXPECT_EQ(sizeof(wire::TextRecord), 64u);
  EXPECT_EQ(sizeof(wire::ChunkHeader), 1024u);
  EXPECT_EQ(sizeof(wire::ProcessSlot), 192u);
  EXPECT_EQ(sizeof(wire::ClockAnchor), 24u);
  EXPECT_EQ(wire::kHeaderSize, 131072u);
  EXPECT_EQ(wire::kChunkSize, 65536u);
  EXPECT_EQ(wire::kRecordsPerChunk, 1008u);
}

TEST(WireTest, RecordFieldsAreWhereVersionOnePutThem) {
  EXPECT_EQ(offsetof(wire::Record, check), 2u);
  EXPECT_EQ(offsetof(wire::Record, name), 4u);
  EXPECT_EQ(offsetof(wire::Record, start), 8u);
  EXPECT_EQ(offsetof(wire::Record, duration), 16u);
  EXPECT_EQ(offsetof(wire::Record, work), 24u);
  EXPECT_EQ(offsetof(wire::Record, bytes), 32u);
  EXPECT_EQ(offsetof(wire::Record, sample), 40u);
  EXPECT_EQ(offsetof(wire::Record, object), 48u);
  EXPECT_EQ(offsetof(wire::Record, batch), 56u);
  EXPECT_EQ(offsetof(wire::Record, generation), 60u);
  EXPECT_EQ(offsetof(wire::Record, flags), 62u);
  EXPECT_EQ(offsetof(wire::Record, depth), 63u);
}

TEST(WireTest, HeaderFieldsAreWhereVersionOnePutThem) {
  EXPECT_EQ(offsetof(wire::FileHeader, major), 8u);
  EXPECT_EQ(offsetof(wire::FileHeader, anchors), 224u);
  EXPECT_EQ(offsetof(wire::FileHeader, processes), 4096u);
  EXPECT_EQ(offsetof(wire::ChunkHeader, committed), 12u);
  EXPECT_EQ(offsetof(wire::ChunkHeader, anchor), 40u);
  EXPECT_EQ(offsetof(wire::ChunkHeader, inflight), 104u);
}

TEST(WireTest, CheckDetectsEveryFlipOfOneBit) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    unsigned char record[64];
    for (unsigned char& byte : record) {
      // Every second record has many zeros, like real ones.
      byte = round % 2 == 0 && random() % 3 != 0 ? 0 : static_cast<unsigned char>(random());
    }
    const std::uint16_t check = wire::CheckOf(record);
    std::memcpy(record + 2, &check, sizeof check);
    for (int bit = 0; bit < 512; ++bit) {
      record[bit / 8] = static_cast<unsigned char>(record[bit / 8] ^ (1 << bit % 8));
      std::uint16_t stored;
      std::memcpy(&stored, record + 2, sizeof stored);
      ASSERT_NE(stored, wire::CheckOf(record)) << "bit " << bit;
      record[bit / 8] = static_cast<unsigned char>(record[bit / 8] ^ (1 << bit % 8));
    }
  }
}

TEST(WireTest, HashIsFnv1a) {
  EXPECT_EQ(wire::HashOf("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(wire::HashOf("foobar", 6), 0x85944171f73967e8u);
}

TEST(WireTest, Xxh64GivesKnownValues) {
  EXPECT_EQ(Xxh64("", 0), 0xef46db3751d8e999u);
  EXPECT_EQ(Xxh64("a", 1), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(Xxh64("abc", 3), 0x44bc2cf5ad770999u);
  const char text[] = "Nobody inspects the spammish repetition";
  EXPECT_EQ(Xxh64(text, sizeof text - 1), 0xfbcea83c8a378bf1u);
}

TEST(WireTest, EveryStageHasAName) {
  for (std::uint8_t stage = 0; stage < wire::kStageCount; ++stage) {
    EXPECT_FALSE(StageName(static_cast<StageId>(stage)).empty());
    EXPECT_NE(StageName(static_cast<StageId>(stage)), "unknown");
  }
  EXPECT_EQ(StageName(StageId::kRead), "read");
  EXPECT_EQ(StageName(StageId::kSync), "sync");
  EXPECT_EQ(StageName(StageId::kCall), "call");
  EXPECT_EQ(StageName(StageId::kTokenize), "tokenize");
  EXPECT_EQ(StageName(static_cast<StageId>(200)), "unknown");
}

TEST(WireTest, CorrelationNumbersAreNeverSampleIds) {
  for (const std::uint32_t correlation : {0u, 1u, 0x7fffffffu, 0xffffffffu}) {
    const std::int64_t sample = wire::SampleOfCorrelation(correlation);
    EXPECT_LT(sample, wire::kNoSample);
    EXPECT_TRUE(wire::HasCorrelation(sample));
    EXPECT_EQ(wire::CorrelationOf(sample), correlation);
  }
  EXPECT_FALSE(wire::HasCorrelation(wire::kNoSample));
  EXPECT_FALSE(wire::HasCorrelation(0));
}

TEST(WireTest, DeviceLanesAreNotThreadIds) {
  const std::uint32_t lane = wire::LaneOf(7, 4711);
  EXPECT_TRUE(wire::IsDeviceLane(lane));
  EXPECT_EQ(wire::DeviceOfLane(lane), 7u);
  EXPECT_EQ(wire::StreamOfLane(lane), 4711u);
  EXPECT_FALSE(wire::IsDeviceLane(4194304)) << "the largest pid_max of Linux";
}

TEST(WireTest, DigestValuesKeepDigestAndName) {
  const std::int64_t value = wire::DigestValue(0xfedcba98u, 0x87654321u);
  EXPECT_EQ(wire::DigestOf(value), 0xfedcba98u);
  EXPECT_EQ(wire::NameOfDigest(value), 0x87654321u);
}

TEST(WireTest, ProbeValuesKeepFactorPercentAndTime) {
  const std::int64_t value = wire::ProbeValue(wire::kProbeStep, wire::kProbePercent, 123'456'789);
  EXPECT_EQ(wire::MicrosecondsOfProbe(value), 123'456'789);
  EXPECT_EQ(wire::FactorOfProbe(value), wire::kProbeStep);
  EXPECT_EQ(wire::PercentOfProbe(value), wire::kProbePercent);
}

TEST(WireTest, EveryEventHasAName) {
  for (std::uint8_t event = 1; event <= static_cast<std::uint8_t>(EventType::kProbe); ++event) {
    EXPECT_NE(EventName(static_cast<EventType>(event)), "unknown") << int{event};
  }
  EXPECT_EQ(EventName(EventType::kIndexSent), "index_sent");
  EXPECT_EQ(EventName(EventType::kQueueDepth), "queue_depth");
  EXPECT_EQ(EventName(EventType::kDigest), "digest");
  EXPECT_EQ(EventName(EventType::kProbe), "probe");
  EXPECT_EQ(EventName(static_cast<EventType>(99)), "unknown");
}

}  // namespace
}  // namespace penstock::traces
