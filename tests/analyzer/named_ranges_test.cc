// SPDX-License-Identifier: Apache-2.0
//
// Names of ranges as libraries record them, and the stages that they stand for.
#include <gtest/gtest.h>

#include "analyzer/model/named_ranges.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

TEST(NamedRangesTest, APictureIsDecodedWhereItsOwnRangeSays) {
  EXPECT_EQ(StageOfRange("libjpeg_turbo_decoder process #0"), StageId::kDecode);
  EXPECT_EQ(StageOfRange("opencv_decoder process #12"), StageId::kDecode);
  // Two ranges do not count as decoding: the range around that of the picture, on the same thread,
  // and the range of the operator that waits on another thread.
  EXPECT_EQ(StageOfRange("decode #0"), StageId::kMark);
  EXPECT_EQ(StageOfRange("[DALI][CPU op] Run decoders__Image"), StageId::kMark);
}

TEST(NamedRangesTest, AnOperatorIsWhatItDoesToSamplesOrToTheBatch) {
  EXPECT_EQ(StageOfRange("[DALI][CPU op] Run Resize"), StageId::kAugment);
  EXPECT_EQ(StageOfRange("[DALI][CPU op] Run CropMirrorNormalize"), StageId::kAugment);
  EXPECT_EQ(StageOfRange("[DALI][CPU op] Run MakeContiguous"), StageId::kCollate);
  EXPECT_EQ(StageOfRange("[DALI][CPU op] Run readers__File"), StageId::kMark);
}

TEST(NamedRangesTest, RangesOfTheProgramStayMarks) {
  for (const char* name : {"", "forward", "Run Resize", "[DALI][CPU op] Run ", "decoder process #1",
                           "_decoder process #1", "my_decoder process #", "my_decoder process #a",
                           "[DALI][GPU op] Run Resize", "[DALI][CPU op] Setup Resize"}) {
    EXPECT_EQ(StageOfRange(name), StageId::kMark) << name;
  }
}

TEST(NamedRangesTest, ASpanIsTheSameButForTheStageThatItsNameTells) {
  traces::TraceBuilder builder;
  const StringId resize = builder.Intern("[DALI][CPU op] Run Resize");
  const StringId forward = builder.Intern("forward");
  const auto trace = builder.Build();
  NamedRanges ranges(*trace);
  const auto of = [](StageId stage, StringId name) {
    traces::Span span;
    span.stage = stage;
    span.name = name;
    span.duration = TimeNs{7};
    return span;
  };
  const traces::Span range = of(StageId::kMark, resize);
  EXPECT_EQ(ranges.AsNamed(range).stage, StageId::kAugment);
  EXPECT_EQ(ranges.AsNamed(range).duration, range.duration);
  const traces::Span step = of(StageId::kStep, resize);
  EXPECT_EQ(&ranges.AsNamed(step), &step);
  const traces::Span mark = of(StageId::kMark, forward);
  EXPECT_EQ(&ranges.AsNamed(mark), &mark);
}

}  // namespace
}  // namespace penstock::analyzer
