// SPDX-License-Identifier: Apache-2.0
//
// Samples that take much longer than the others: what the model finds about them, and when the rule
// reports a finding.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/model/sample_tail.h"
#include "tests/analyzer/finds.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::FindingOf;
using testing::Finds;
using testing::Synthetic;

// Batches of one sample, of which one in `every` decodes for `slow` milliseconds.
Synthetic OneIn(int every, double slow, int epochs = 1) {
  Synthetic run;
  run.workers = 4;
  run.batch_size = 1;
  run.batches = 400;
  run.epochs = epochs;
  run.persistent = true;
  run.costs = [=](int, int index) {
    Costs costs;
    costs.decode = index % every == every - 1 ? slow : 4;
    costs.step = 3;
    return costs;
  };
  return run;
}

std::string EvidenceOf(const Finding& finding, std::string_view key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name != key) continue;
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : std::to_string(std::get<double>(value));
  }
  return "";
}

TEST(SlowSamplesTest, NamesThemAndTheirDistance) {
  const auto finding = FindingOf("slow-samples", testing::MakeSynthetic(OneIn(17, 120)));
  ASSERT_TRUE(finding);
  EXPECT_EQ(EvidenceOf(*finding, "indices"), "16, 33, 50, ...");
  EXPECT_EQ(EvidenceOf(*finding, "every"), std::to_string(17.0));
  const std::string seen = English(finding->seen);
  EXPECT_NE(seen.find("most of it in decoding"), std::string::npos) << seen;
  EXPECT_NE(seen.find("one every 17 samples"), std::string::npos) << seen;
  EXPECT_NE(English(finding->action).find("dataset[16]"), std::string::npos);
  EXPECT_GT(finding->to, finding->from);
}

TEST(SlowSamplesTest, PredictsTheRunWithoutThem) {
  const auto finding = FindingOf("slow-samples", testing::MakeSynthetic(OneIn(17, 120)));
  ASSERT_TRUE(finding && finding->predicted);
  const auto without = testing::SyntheticTrace(OneIn(17, 4));
  const Diagnosis even = Diagnose(*without);
  const double rate = even.loader->steady.rate.estimate;
  EXPECT_NEAR(finding->predicted->rate.estimate / rate, 1, 0.05);
}

TEST(SlowSamplesTest, SamplesOfAnIterableDatasetHaveNoIndex) {
  traces::TraceData data = testing::MakeSynthetic(OneIn(17, 120));
  for (auto& process : data.processes) {
    if (process.facts.count("loader.0.num_workers") > 0) {
      process.facts["loader.0.dataset_kind"] = "iterable";
    }
  }
  const auto finding = FindingOf("slow-samples", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_EQ(EvidenceOf(*finding, "indices"), "");
  EXPECT_EQ(EvidenceOf(*finding, "every"), "");
  EXPECT_EQ(English(finding->action).find("dataset["), std::string::npos);
}

// The collate function of the previous batch reads an index file just before the sample begins.
TEST(SlowSamplesTest, AReadBeforeASampleDoesNotHideItsOwn) {
  Synthetic run = OneIn(17, 120);
  run.file = "/data/all.bin";
  traces::TraceData data = testing::MakeSynthetic(run);
  traces::Span read;
  read.stage = traces::StageId::kRead;
  read.object = data.Intern("/data/index");
  read.bytes = Bytes{10};
  read.duration = testing::Ms(0.01);
  for (std::vector<traces::Span>& spans : data.spans) {
    std::vector<traces::Span> before;
    for (const traces::Span& span : spans) {
      if (span.stage != traces::StageId::kSample) continue;
      read.start = span.start - testing::Ms(0.02);
      before.push_back(read);
    }
    spans.insert(spans.end(), before.begin(), before.end());
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const RunModel model = BuildRunModel(*trace);
  ASSERT_TRUE(model.has_loader());
  ASSERT_FALSE(model.loader().sample_times.empty());
  for (const SampleTime& sample : model.loader().sample_times) {
    ASSERT_EQ(sample.bytes, static_cast<float>(run.file_bytes)) << sample.id;
    ASSERT_EQ(trace->String(sample.file), run.file) << sample.id;
  }
}

TEST(SlowSamplesTest, IsSilentOfSamplesThatCostLittleMore) {
  EXPECT_FALSE(Finds("slow-samples", OneIn(17, 4)));
  EXPECT_FALSE(Finds("slow-samples", OneIn(17, 10)));
}

TEST(SlowSamplesTest, IsSilentOfASecondKindOfSamples) {
  EXPECT_FALSE(Finds("slow-samples", OneIn(4, 60)));
}

TEST(SlowSamplesTest, SaysThatTheSameSamplesAreSlowAgain) {
  const auto finding = FindingOf("slow-samples", testing::MakeSynthetic(OneIn(17, 120, 3)));
  ASSERT_TRUE(finding);
  const std::string seen = English(finding->seen);
  EXPECT_NE(seen.find("the same samples are slow in each epoch"), std::string::npos) << seen;
}

TEST(SlowSamplesTest, BlamesNoSampleIfOthersAreSlowEachTime) {
  Synthetic run = OneIn(17, 120, 3);
  run.costs = [](int epoch, int index) {
    Costs costs;
    costs.decode = index % 17 == 3 + 5 * epoch ? 120 : 4;
    costs.step = 3;
    return costs;
  };
  const auto finding = FindingOf("slow-samples", testing::MakeSynthetic(run));
  ASSERT_TRUE(finding);
  EXPECT_EQ(EvidenceOf(*finding, "indices"), "");
  EXPECT_NE(English(finding->seen).find("other samples are slow"), std::string::npos);
  EXPECT_NE(English(finding->action).find("It is not the samples"), std::string::npos);
}

// 200 samples. They take 1 ms each, except for the five slow samples of IsSlow(), which take 20 ms.
class SampleTailTest : public ::testing::Test {
 protected:
  static bool IsSlow(std::size_t i) { return i == 7 || i == 31 || i == 32 || i == 99 || i == 150; }

  SampleTailTest() {
    data_.strings = {"", "/data/a/x.tar", "/data/a/y.tar", "/data/b/z.tar"};
    for (std::size_t i = 0; i < 200; ++i) {
      SampleTime sample;
      sample.id = static_cast<std::int64_t>(i);
      sample.time = IsSlow(i) ? 0.02F : 0.001F;
      sample.read = sample.time / 2;
      sample.bytes = 1000;
      sample.file = StringId{static_cast<std::uint32_t>(1 + i % 3)};
      times_.push_back(sample);
    }
  }
  SampleTail Find() { return FindSampleTail(*traces::MakeTrace(data_), times_, 1); }
  void ForSlow(const std::function<void(SampleTime&)>& change) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (IsSlow(i)) change(times_[i]);
    }
  }

  traces::TraceData data_;
  std::vector<SampleTime> times_;
};

TEST_F(SampleTailTest, FindsNothingInCommonWhereThereIsNothing) {
  const SampleTail tail = Find();
  EXPECT_EQ(tail.ids, (std::vector<std::int64_t>{7, 31, 32, 99, 150}));
  EXPECT_EQ(tail.part, SamplePart::kRead);
  EXPECT_EQ(tail.every, 0);
  EXPECT_EQ(tail.bytes_times, 0);
  EXPECT_EQ(tail.place, "");
  EXPECT_FALSE(tail.repeats);
  EXPECT_FALSE(tail.changes);
  EXPECT_NEAR(tail.extra_share, 5 * 0.019 / (195 * 0.001 + 5 * 0.02), 1e-4);
}

// Another program makes every fourteenth sample take four times as long.
TEST_F(SampleTailTest, LeavesOutNoise) {
  for (std::size_t i = 0; i < times_.size(); i += 14) {
    if (!IsSlow(i)) times_[i].time = 0.004F;
  }
  ForSlow([](SampleTime& sample) { sample.time = 0.1F; });
  EXPECT_EQ(Find().ids, (std::vector<std::int64_t>{7, 31, 32, 99, 150}));
}

TEST_F(SampleTailTest, LeavesOutWaitingForACore) {
  ForSlow([](SampleTime& sample) { sample.waiting = 0.019F; });
  EXPECT_EQ(Find().slow, 0U);
}

TEST_F(SampleTailTest, ComparesBytes) {
  ForSlow([](SampleTime& sample) { sample.bytes = 9000; });
  EXPECT_NEAR(Find().bytes_times, 9, 1e-6);
}

TEST_F(SampleTailTest, FindsTheFileOrElseTheFolder) {
  ForSlow([](SampleTime& sample) { sample.file = StringId{2}; });
  EXPECT_EQ(Find().place, "/data/a/y.tar");
  for (SampleTime& sample : times_) sample.file = StringId{1};
  ForSlow([&](SampleTime& sample) { sample.file = StringId{3}; });
  data_.strings[3] = "/data/b/1.jpg";
  data_.strings.push_back("/data/b/2.jpg");
  times_[7].file = StringId{4};
  EXPECT_EQ(Find().place, "/data/b");
}

TEST_F(SampleTailTest, ComparesNoBytesWhereMostSamplesReadNothing) {
  for (SampleTime& sample : times_) sample.bytes = 0;
  ForSlow([](SampleTime& sample) { sample.bytes = 9000; });
  EXPECT_EQ(Find().bytes_times, 0) << "the program keeps the others in memory";
}

TEST_F(SampleTailTest, NeedsSeveralSlowSamplesAmongMany) {
  for (const std::size_t i : {7U, 31U, 32U}) times_[i].time = 0.001F;
  EXPECT_EQ(Find().slow, 0U) << "two slow samples";
  times_[7].time = 0.02F;
  EXPECT_EQ(Find().slow, 3U);
  times_.resize(60);
  EXPECT_EQ(Find().slow, 0U) << "too few samples";
  times_.resize(0);
  EXPECT_EQ(Find().slow, 0U);
}

}  // namespace
}  // namespace penstock::analyzer
