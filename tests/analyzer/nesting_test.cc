// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of nested spans. Units: nanoseconds.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/model/stage_totals.h"
#include "traces/nesting.h"

namespace penstock::analyzer {
namespace {

using traces::Span;
using traces::StageId;

Span Make(StageId stage, std::int64_t start, std::int64_t length, std::int64_t cpu = -1,
          std::uint32_t name = 0) {
  Span span;
  span.stage = stage;
  span.start = TimeNs{start};
  span.duration = TimeNs{length};
  span.cpu = TimeNs{cpu};
  span.name = StringId{name};
  return span;
}

constexpr std::uint32_t kOpen = 1;  // the name of calls that open an image

Span Decode(std::int64_t start, std::int64_t length, std::uint32_t name, std::uint64_t bytes = 0) {
  Span span = Make(StageId::kDecode, start, length, length, name);
  span.bytes = Bytes{bytes};
  return span;
}

class Table : public traces::NestingSink {
 public:
  explicit Table(std::vector<Span> spans) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.start != b.start ? a.start < b.start : a.duration > b.duration;
    });
    traces::NestingSweep sweep(*this);
    for (const Span& span : spans) {
      sweep.Add(span, span.stage == StageId::kDecode && span.name.value == kOpen);
    }
    sweep.Finish();
  }
  void OnCounted(const traces::Counted& counted) override {
    stages.Add(counted);
    if (counted.stage == StageId::kFetch) fetch = counted.inside;
  }
  std::int64_t Wall(StageId stage) const { return stages[stage].wall.value; }
  std::int64_t Cpu(StageId stage) const { return stages[stage].cpu.value; }

  StageTable stages;
  traces::Inside fetch;
};

TEST(NestingTest, DecodeIsWithoutTheReadsInside) {
  const Table table({Make(StageId::kDecode, 0, 100, 90), Make(StageId::kRead, 10, 30)});
  EXPECT_EQ(table.Wall(StageId::kDecode), 70);
  EXPECT_EQ(table.Wall(StageId::kRead), 30);
}

TEST(NestingTest, OnlyTheOutermostDecodeCounts) {
  const Table table({Make(StageId::kDecode, 0, 100, 90), Make(StageId::kDecode, 10, 50, 50)});
  EXPECT_EQ(table.Wall(StageId::kDecode), 100);
  EXPECT_EQ(table.stages[StageId::kDecode].count, 1u);
}

// Pillow opens an image in one call, and decodes it in another.
TEST(NestingTest, AnImageThatIsOpenedAndDecodedIsOneDecode) {
  const Table table({Make(StageId::kSample, 0, 100, 100), Decode(5, 10, kOpen),
                     Decode(20, 60, 2, 4000), Make(StageId::kSample, 200, 100, 100),
                     Decode(205, 20, kOpen), Decode(230, 40, 2, 4000)});
  const StageTotals& decode = table.stages[StageId::kDecode];
  EXPECT_EQ(decode.count, 2u);
  EXPECT_EQ(decode.wall.value, 130);
  EXPECT_EQ(decode.cpu.value, 130);
  EXPECT_EQ(decode.timed, 2u);
  EXPECT_EQ(decode.bytes.value, 8000u);
  EXPECT_DOUBLE_EQ(decode.durations.Quantile(0), 60e-9);
  EXPECT_DOUBLE_EQ(decode.durations.Quantile(1), 70e-9);
  EXPECT_EQ(decode.children.at(StringId{kOpen}).count, 2u);
  EXPECT_EQ(decode.children.at(StringId{2}).count, 2u);
  EXPECT_FALSE(IsMixed(decode));
}

// A dataset for super-resolution has a pair of pictures for each sample.
TEST(NestingTest, ImagesAreDecodedInTheOrderInWhichTheyWereOpened) {
  const Table table({Make(StageId::kSample, 0, 200, 200), Decode(0, 10, kOpen),
                     Decode(20, 30, kOpen), Decode(60, 40, 2, 4000), Decode(110, 50, 2, 4000)});
  const StageTotals& decode = table.stages[StageId::kDecode];
  EXPECT_EQ(decode.count, 2u);
  EXPECT_DOUBLE_EQ(decode.durations.Quantile(0), 50e-9);
  EXPECT_DOUBLE_EQ(decode.durations.Quantile(1), 80e-9);
}

TEST(NestingTest, AnImageThatIsOpenedOnlyIsADecodeOfItsOwn) {
  const Table table({Make(StageId::kSample, 0, 100, 100), Decode(5, 10, kOpen),
                     Make(StageId::kSample, 200, 100, 100), Decode(230, 40, 2, 4000),
                     Decode(290, 5, kOpen)});
  const StageTotals& decode = table.stages[StageId::kDecode];
  EXPECT_EQ(decode.count, 3u);
  EXPECT_DOUBLE_EQ(decode.durations.Quantile(1), 40e-9);
}

// A dataset looks at the size of its first image when it is made, long before the first sample.
TEST(NestingTest, AnImageThatWasOpenedBeforeTheSampleIsNoPartOfIt) {
  const Table table(
      {Decode(0, 10, kOpen), Make(StageId::kSample, 100, 100, 100), Decode(120, 40, 3, 4000)});
  const StageTotals& decode = table.stages[StageId::kDecode];
  EXPECT_EQ(decode.count, 2u);
  EXPECT_DOUBLE_EQ(decode.durations.Quantile(1), 40e-9);
}

TEST(NestingTest, AFailedOpeningIsNoPartOfTheNextDecode) {
  Span failed = Decode(0, 10, kOpen);
  failed.flags |= wire::kFlagError;
  const Table table({failed, Decode(20, 30, 2, 4000)});
  EXPECT_EQ(table.stages[StageId::kDecode].count, 2u);
}

TEST(NestingTest, DecodersOfTwoKindsAreMixedWhateverOpensTheImages) {
  std::vector<Span> spans;
  for (int i = 0; i < 100; ++i) {
    spans.push_back(Decode(100'000 * i, 1'000, kOpen));
    spans.push_back(Decode(100'000 * i + 2'000, 2'000, 2, 4000));
    if (i % 2 == 0) spans.push_back(Decode(100'000 * i + 10'000, 40'000, 3, 4000));
  }
  EXPECT_TRUE(IsMixed(Table(spans).stages[StageId::kDecode]));
}

TEST(NestingTest, AugmentIsTheSampleWithoutReadAndDecode) {
  const Table table({Make(StageId::kSample, 0, 100, 80), Make(StageId::kRead, 5, 20),
                     Make(StageId::kDecode, 30, 40, 40)});
  EXPECT_EQ(table.Wall(StageId::kAugment), 40);
  EXPECT_EQ(table.Cpu(StageId::kAugment), 40);
  EXPECT_EQ(table.stages[StageId::kAugment].count, 1u);
}

TEST(NestingTest, TokenizingIsNoPartOfAugment) {
  const Table table({Make(StageId::kSample, 0, 100, 90), Make(StageId::kDecode, 0, 20, 20),
                     Make(StageId::kTokenize, 30, 50, 50, 7)});
  EXPECT_EQ(table.Wall(StageId::kTokenize), 50);
  EXPECT_EQ(table.Cpu(StageId::kTokenize), 50);
  EXPECT_EQ(table.Wall(StageId::kAugment), 30);
  EXPECT_EQ(table.Cpu(StageId::kAugment), 20);
  EXPECT_EQ(table.stages[StageId::kTokenize].children.size(), 1u);
}

// One library's tokenizer calls another library's, as `datasets` calls `tokenizers`.
TEST(NestingTest, OnlyTheOutermostTokenizeCounts) {
  const Table table({Make(StageId::kTokenize, 0, 100, 90), Make(StageId::kTokenize, 10, 50, 50)});
  EXPECT_EQ(table.Wall(StageId::kTokenize), 100);
  EXPECT_EQ(table.stages[StageId::kTokenize].count, 1u);
}

TEST(NestingTest, ATransformIsWithoutTheTokenizerInside) {
  const Table table({Make(StageId::kSample, 0, 100, 100), Make(StageId::kAugment, 10, 80, 80, 5),
                     Make(StageId::kTokenize, 20, 60, 60)});
  EXPECT_EQ(table.stages[StageId::kAugment].children.begin()->second.wall.value, 20);
}

// Collate functions for texts often tokenize.
TEST(NestingTest, CollateIsWithoutTheTokenizerInside) {
  const Table table({Make(StageId::kFetch, 0, 100, 100), Make(StageId::kCollate, 40, 60, 60),
                     Make(StageId::kTokenize, 50, 45, 45)});
  EXPECT_EQ(table.Wall(StageId::kCollate), 15);
  EXPECT_EQ(table.fetch.tokenize, 45);
}

// Readers take a lock in turn: a sample waits for it without computing, then reads.
TEST(NestingTest, WaitingBeforeAReadBelongsToIt) {
  const Table table({Make(StageId::kSample, 0, 100, 20), Make(StageId::kRead, 50, 30),
                     Make(StageId::kDecode, 80, 10, 10)});
  EXPECT_EQ(table.Wall(StageId::kAugment), 10);
  EXPECT_EQ(table.Wall(StageId::kRead), 80);
  EXPECT_EQ(table.stages[StageId::kRead].queued.value, 50);
  EXPECT_EQ(table.stages[StageId::kRead].count, 1u);
}

TEST(NestingTest, WaitingAfterTheReadsIsTheDatasets) {
  const Table table({Make(StageId::kSample, 0, 100, 20), Make(StageId::kRead, 0, 30),
                     Make(StageId::kDecode, 30, 10, 10)});
  EXPECT_EQ(table.Wall(StageId::kAugment), 60);
  EXPECT_EQ(table.Wall(StageId::kRead), 30);
}

TEST(NestingTest, ComputingBeforeAReadIsNotWaiting) {
  const Table table({Make(StageId::kSample, 0, 100, 70), Make(StageId::kRead, 50, 30)});
  EXPECT_EQ(table.Wall(StageId::kAugment), 70);
  EXPECT_EQ(table.Wall(StageId::kRead), 30);
}

TEST(NestingTest, NamedTransformsAreChildrenWithoutWhatIsInsideThem) {
  // Compose holds Resize, in which a lazy image is decoded.
  const Table table({Make(StageId::kSample, 0, 100, 100), Make(StageId::kAugment, 10, 80, 80, 1),
                     Make(StageId::kAugment, 20, 50, 50, 2), Make(StageId::kDecode, 30, 30, 30)});
  EXPECT_EQ(table.Wall(StageId::kAugment), 70);
  const auto& children = table.stages[StageId::kAugment].children;
  EXPECT_EQ(children.at(StringId{1}).wall.value, 30);
  EXPECT_EQ(children.at(StringId{2}).wall.value, 20);
  EXPECT_EQ(children.at(StringId{2}).cpu.value, 20);
}

TEST(NestingTest, ABusyTimeStandsForAReadThatWasMostlyWaiting) {
  Span read = Make(StageId::kRead, 0, 100);
  read.busy = TimeNs{10};
  const Table table({Make(StageId::kSample, 0, 100, 90), read});
  EXPECT_EQ(table.Wall(StageId::kRead), 10);
  EXPECT_EQ(table.Wall(StageId::kAugment), 90);
}

// PIL reads the header on open and the rest inside load().
TEST(NestingTest, AReadThatEndsInsideADecodeIsSharedOut) {
  Span read = Make(StageId::kRead, 0, 100);
  read.busy = TimeNs{40};
  const Table table(
      {Make(StageId::kSample, 0, 200, 160), read, Make(StageId::kDecode, 50, 150, 130)});
  EXPECT_EQ(table.Wall(StageId::kDecode), 130);  // half of the 40 ns of the read is not decoding
  EXPECT_EQ(table.Wall(StageId::kRead), 40);
  EXPECT_EQ(table.Wall(StageId::kAugment), 30);
}

TEST(NestingTest, PartsOfAFetchAddUpToIt) {
  const Table table({Make(StageId::kFetch, 0, 300, 280), Make(StageId::kSample, 0, 100, 90),
                     Make(StageId::kRead, 10, 20), Make(StageId::kDecode, 30, 50, 50),
                     Make(StageId::kSample, 100, 100, 100), Make(StageId::kDecode, 110, 40, 40),
                     Make(StageId::kCollate, 210, 80, 80)});
  const traces::Inside& in = table.fetch;
  EXPECT_EQ(in.samples, 2u);
  EXPECT_EQ(in.read, 20);
  EXPECT_EQ(in.decode, 90);
  EXPECT_EQ(in.augment, 90);
  EXPECT_EQ(in.collate, 80);
  EXPECT_EQ(in.read + in.decode + in.augment + in.collate, 280);  // 20 ns lie between the parts
}

TEST(NestingTest, ADatasetThatWrapsAnotherIsOneSample) {
  const Table table({Make(StageId::kSample, 0, 100, 90), Make(StageId::kSample, 5, 90, 85)});
  EXPECT_EQ(table.stages[StageId::kSample].count, 1u);
  EXPECT_EQ(table.Wall(StageId::kAugment), 100);
}

TEST(NestingTest, SpansThatTouchAreNotNested) {
  const Table table({Make(StageId::kDecode, 0, 10, 10), Make(StageId::kDecode, 10, 10, 10)});
  EXPECT_EQ(table.Wall(StageId::kDecode), 20);
  EXPECT_EQ(table.stages[StageId::kDecode].count, 2u);
}

TEST(NestingTest, CpuTimeIsNotKnownForReads) {
  const Table table({Make(StageId::kRead, 0, 10)});
  EXPECT_FALSE(table.stages[StageId::kRead].cpu_known());
}

TEST(NestingTest, ACpuTimeOfSomeCallsIsNotThatOfTheStage) {
  const Table half({Make(StageId::kDecode, 0, 100, 90), Make(StageId::kDecode, 100, 100)});
  EXPECT_FALSE(half.stages[StageId::kDecode].cpu_known());
  const Table nearly({Make(StageId::kDecode, 0, 1000, 900), Make(StageId::kDecode, 1000, 5)});
  EXPECT_TRUE(nearly.stages[StageId::kDecode].cpu_known());
}

// Without the estimate, all of the sample's CPU time would be that of augmenting, and decoding
// would seem to wait.
TEST(NestingTest, DecodingWithoutACpuTimeHasItsShareOfTheSamples) {
  const Table table({Make(StageId::kFetch, 0, 100, 80), Make(StageId::kSample, 0, 100, 80),
                     Make(StageId::kDecode, 10, 30), Make(StageId::kDecode, 40, 20, 15)});
  EXPECT_EQ(table.fetch.decode, 50);
  EXPECT_EQ(table.fetch.augment, 50);
  EXPECT_EQ(table.fetch.decode_cpu, 15 + 24);  // 65 of 80 ns are for 30 ns and 50 ns of computing
  EXPECT_EQ(table.fetch.augment_cpu, 41);
}

// Decoding and tokenizing get 0 of 0.99 ns each, which must not make augmenting compute for longer
// than it lasts.
TEST(NestingTest, AugmentingComputesNoLongerThanItLasts) {
  const Table table({Make(StageId::kFetch, 0, 100, 99), Make(StageId::kSample, 0, 100, 99),
                     Make(StageId::kDecode, 10, 1), Make(StageId::kTokenize, 40, 1)});
  EXPECT_EQ(table.Wall(StageId::kAugment), 98);
  EXPECT_EQ(table.fetch.augment_cpu, 98);
  EXPECT_EQ(table.Wall(StageId::kRead), 0);
}

// Steps of 32.3 ms held the waits of 30 ms for another loader, which counted as waiting too.
TEST(NestingTest, AStepIsWithoutTheWaitForAnotherLoader) {
  const Table table({Make(StageId::kStep, 0, 100), Make(StageId::kWait, 10, 60),
                     Make(StageId::kWait, 20, 40), Make(StageId::kGet, 50, 10),
                     Make(StageId::kStep, 70, 40), Make(StageId::kWait, 100, 20)});
  EXPECT_EQ(table.Wall(StageId::kStep), 40);
  EXPECT_EQ(table.stages[StageId::kStep].count, 1u);
  EXPECT_EQ(table.Wall(StageId::kWait), 80);
}

TEST(NestingTest, ARangeOfTheProgramCutsNothing) {
  const Table table({Make(StageId::kMark, 0, 50), Make(StageId::kWait, 20, 100)});
  EXPECT_EQ(table.Wall(StageId::kWait), 100);
  EXPECT_EQ(table.Wall(StageId::kMark), 50);
}

}  // namespace
}  // namespace penstock::analyzer
