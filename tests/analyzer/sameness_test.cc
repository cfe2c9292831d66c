// SPDX-License-Identifier: Apache-2.0
//
// What digests of samples say about epochs, and which advice they allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/advice/rules.h"
#include "analyzer/model/sameness.h"
#include "analyzer/whatif/grid.h"
#include "tests/analyzer/finds.h"

namespace penstock::analyzer {
namespace {

using ::testing::AllOf;
using testing::Change;
using testing::Costs;
using ::testing::ElementsAre;
using testing::FindingOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Synthetic;
using testing::WithCosts;

constexpr std::uint32_t kNoDigest = 0;

Synthetic Repeats(const char* transform = "Resize") {
  Synthetic run = WithCosts({1, 10, 6, 0.5, 0.1, 0.2, 4, 0});
  run.epochs = 3;
  run.batches = 60;
  run.transform = transform;
  run.persistent = true;
  return run;
}

struct Made {
  std::string name;  // "": the finished sample
  std::uint32_t digest = 0;
};
// Returns what is recorded of a sample in an epoch. Samples and epochs are counted from 0.
using Maker = std::function<std::vector<Made>(std::uint32_t sample, std::uint32_t epoch)>;

Maker Chain(bool resize_same, bool crop_same) {
  return [=](std::uint32_t sample, std::uint32_t epoch) {
    const std::uint32_t resized = 1 + sample + (resize_same ? 0 : 100 * epoch);
    const std::uint32_t cropped = 1000 + sample + (crop_same ? 0 : 100 * epoch);
    return std::vector<Made>{{"Resize", resized}, {"Crop", cropped}, {"", cropped + 7}};
  };
}

void AddDigests(traces::TraceData& data, std::uint32_t samples, const Maker& make) {
  const StringId crop = data.Intern("Crop");  // transforms with digests also have spans
  for (std::vector<traces::Span>& spans : data.spans) {
    int count = 0;
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kAugment && count++ % 4 == 3) span.name = crop;
    }
  }
  std::int64_t at = 1'000'000'000;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    for (std::uint32_t sample = 0; sample < samples; ++sample) {
      for (const Made& made : make(sample, epoch)) {
        traces::Event event;
        event.type = traces::EventType::kDigest;
        event.at = TimeNs{++at};
        // Workers are threads 1 and 3.
        event.thread = ThreadId{(sample + epoch) % 2 == 0 ? 1u : 3u};
        event.batch = {sample, static_cast<std::uint16_t>(epoch + 1)};
        const std::uint64_t id =
            made.name.empty() ? 0 : wire::HashOf(made.name.data(), made.name.size());
        event.value = wire::DigestValue(made.digest, static_cast<std::uint32_t>(id));
        data.events.push_back(event);
      }
    }
  }
}

traces::TraceData Digested(const Maker& make, std::uint32_t samples = 20) {
  traces::TraceData data = MakeSynthetic(Repeats());
  AddDigests(data, samples, make);
  return data;
}

EpochComparison Compared(traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  return CompareEpochs(*trace, Diagnose(*trace).run);
}

TEST(SamenessTest, FinishedSamplesThatAreTheSame) {
  const EpochComparison compared = Compared(Digested(Chain(true, true)));
  EXPECT_EQ(compared.finished, Sameness::kSame);
  EXPECT_EQ(compared.samples, 20u);
  EXPECT_EQ(compared.pairs, 40u);
  EXPECT_EQ(compared.finished_pairs, 40u);
  EXPECT_EQ(compared.prefix_pairs, 40u);
  EXPECT_EQ(compared.epochs, 3u);
  EXPECT_THAT(compared.prefix, ElementsAre("Resize", "Crop"));
}

TEST(SamenessTest, ThePrefixEndsWhereResultsDiffer) {
  const EpochComparison compared = Compared(Digested(Chain(true, false)));
  EXPECT_EQ(compared.finished, Sameness::kDifferent);
  EXPECT_THAT(compared.prefix, ElementsAre("Resize"));
}

TEST(SamenessTest, NothingAfterADifferenceCounts) {
  const EpochComparison compared = Compared(Digested(Chain(false, true)));
  EXPECT_THAT(compared.prefix, IsEmpty());
}

TEST(SamenessTest, OneSampleThatDiffersSuffices) {
  const EpochComparison compared = Compared(Digested([](std::uint32_t sample, std::uint32_t epoch) {
    return Chain(true, sample != 13)(sample, epoch);
  }));
  EXPECT_EQ(compared.finished, Sameness::kDifferent);
  EXPECT_THAT(compared.prefix, ElementsAre("Resize"));
}

TEST(SamenessTest, FewPairsTellNothing) {
  const EpochComparison compared = Compared(Digested(Chain(true, true), 7));
  EXPECT_EQ(compared.pairs, 14u);
  EXPECT_TRUE(compared.unknown());
}

TEST(SamenessTest, SamplesWithoutDigestTellNothing) {
  const EpochComparison compared = Compared(Digested([](std::uint32_t, std::uint32_t) {
    return std::vector<Made>{{"Resize", kNoDigest}, {"", kNoDigest}};
  }));
  EXPECT_EQ(compared.digests, 60u);
  EXPECT_TRUE(compared.unknown());
}

TEST(SamenessTest, ATransformWithoutDigestIsCoveredByTheNext) {
  const EpochComparison compared = Compared(Digested([](std::uint32_t sample, std::uint32_t epoch) {
    std::vector<Made> made = Chain(true, true)(sample, epoch);
    made[0].digest = kNoDigest;
    return made;
  }));
  EXPECT_THAT(compared.prefix, ElementsAre("Resize", "Crop"));
}

TEST(SamenessTest, ATransformThatIsLeftOutByChanceDiffers) {
  const EpochComparison compared = Compared(Digested([](std::uint32_t sample, std::uint32_t epoch) {
    std::vector<Made> made = Chain(true, true)(sample, epoch);
    if (epoch == 1) made.erase(made.begin());
    return made;
  }));
  EXPECT_THAT(compared.prefix, IsEmpty());
}

TEST(SamenessTest, ANameOfChanceIsBelievedMoreThanDigests) {
  traces::TraceData data = MakeSynthetic(Repeats("RandomErasing"));
  AddDigests(data, 20, [](std::uint32_t sample, std::uint32_t) {
    return std::vector<Made>{{"RandomErasing", 1 + sample}, {"", 1 + sample}};
  });
  const EpochComparison compared = Compared(std::move(data));
  EXPECT_EQ(compared.finished, Sameness::kDifferent);
  EXPECT_THAT(compared.prefix, IsEmpty());
}

TEST(SamenessTest, DigestsOfOtherProcessesAreOthers) {
  traces::TraceData data = Digested(Chain(true, true));
  traces::ProcessInfo other = data.processes[0];
  other.pid = 900;
  data.processes.push_back(other);
  data.threads.emplace_back();
  data.threads.back().process = ProcessId{static_cast<std::uint32_t>(data.processes.size() - 1)};
  data.spans.emplace_back();
  for (traces::Event& event : data.events) {
    if (event.type != traces::EventType::kDigest) continue;
    event.thread = ThreadId{static_cast<std::uint32_t>(data.threads.size() - 1)};
  }
  EXPECT_EQ(Compared(std::move(data)).digests, 0u);
}

// A worker was killed in a transform in which it had hung for an hour.
TEST(SamenessTest, ATransformThatDidNotEndHasNoTime) {
  traces::TraceData data = MakeSynthetic(Repeats());
  const auto time_of = [](traces::TraceData of) {
    const auto trace = traces::MakeTrace(std::move(of));
    return PrefixTime(*trace, BuildRunModel(*trace), 1);
  };
  const double whole = time_of(data);
  ASSERT_GT(whole, 0);
  traces::Span hung;
  hung.flags = wire::kFlagUnfinished;
  hung.batch = {60, 3};
  hung.start = TimeNs{100'000'000'000};
  hung.duration = TimeNs{3'600'000'000'000};
  for (const auto stage : {traces::StageId::kSample, traces::StageId::kAugment}) {
    hung.stage = stage;
    data.spans[1].push_back(hung);
  }
  EXPECT_EQ(time_of(std::move(data)), whole);
}

std::string Action(traces::TraceData data) {
  const auto finding = FindingOf("repeated-work", std::move(data));
  return finding ? English(finding->action) : "";
}

TEST(RepeatedWorkTest, StoresSamplesThatAreTheSame) {
  EXPECT_THAT(Action(Digested(Chain(true, true))),
              AllOf(HasSubstr("Store the finished samples once"),
                    HasSubstr("40 comparisons of 20 samples over 3 epochs")));
}

// "In 5 epochs, 88 % of the time to make batches repeats earlier work": of the first epoch, nothing
// repeats.
TEST(RepeatedWorkTest, TheShareIsOfTheTimeAfterTheFirstEpoch) {
  const auto finding = FindingOf("repeated-work", Digested(Chain(true, true)));
  ASSERT_TRUE(finding);
  EXPECT_THAT(English(finding->seen), HasSubstr("after the first of 3 epochs, "));
}

TEST(RepeatedWorkTest, StoresWhatLeavesThePrefix) {
  EXPECT_THAT(Action(Digested(Chain(true, false))),
              AllOf(HasSubstr("as Resize returns them, without loss"), Not(HasSubstr("Crop")),
                    Not(HasSubstr("finished"))));
}

TEST(RepeatedWorkTest, IsSilentWhereEpochsDiffer) {
  EXPECT_EQ(Action(Digested(Chain(false, false))), "");
}

TEST(RepeatedWorkTest, StoresTextsThatGiveTheSameTokens) {
  Synthetic run = Repeats();
  Costs costs{1, 0, 0, 0.5, 0.1, 0.2, 4, 0};
  costs.tokenize = 12;
  run.costs = testing::Always(costs);
  traces::TraceData data = MakeSynthetic(run);
  AddDigests(data, 20, [](std::uint32_t sample, std::uint32_t) {
    return std::vector<Made>{{"", 1 + sample}};
  });
  EXPECT_THAT(Action(std::move(data)), HasSubstr("Store the finished samples once"));
}

TEST(RepeatedWorkTest, IsSilentOfAnOldTrace) {
  EXPECT_EQ(Action(MakeSynthetic(Repeats())), "");
}

TEST(RepeatedWorkTest, IsSilentOfACacheOfTheDataset) {
  Synthetic run = Repeats("RandomResizedCrop");
  run.costs = [](int epoch, int) {
    return epoch == 0 ? testing::Costs{1, 10, 6, 0.5, 0.1, 0.2, 1, 0}
                      : testing::Costs{0.01, 0.01, 0.01, 0.5, 0.1, 0.2, 1, 0};
  };
  traces::TraceData data = MakeSynthetic(run);
  AddDigests(data, 20, [](std::uint32_t sample, std::uint32_t) {
    return std::vector<Made>{{"", 1 + sample}};
  });
  EXPECT_EQ(Action(std::move(data)), "");
}

// A sample is the bytes of a file. Only after the samples, collate decodes them and turns them by
// chance.
TEST(RepeatedWorkTest, IsSilentWhereCollateDecodes) {
  traces::TraceData data = MakeSynthetic(Repeats("cv2.warpAffine"));
  for (std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage != traces::StageId::kSample) continue;
      span.duration = TimeNs{span.duration.value / 17};  // the length of the read
      span.cpu = TimeNs{};
    }
  }
  AddDigests(data, 20, [](std::uint32_t sample, std::uint32_t) {
    return std::vector<Made>{{"", 1 + sample}};
  });
  EXPECT_EQ(Action(std::move(data)), "");
}

std::string NeedsOfRepeatedWork(traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  const Advice advice = RunRules(*trace, Diagnose(*trace));
  for (const NotChecked& missing : advice.not_checked) {
    for (const std::string_view id : missing.ids) {
      if (id == "repeated-work") return English(missing.needs);
    }
  }
  return "";
}

TEST(NotCheckedTest, SaysWhyRepeatedWorkIsNotKnown) {
  EXPECT_THAT(NeedsOfRepeatedWork(MakeSynthetic(Repeats())), HasSubstr("of this version"));
  EXPECT_THAT(NeedsOfRepeatedWork(Digested(Chain(true, true), 7)), HasSubstr("16 samples"));
  EXPECT_EQ(NeedsOfRepeatedWork(Digested(Chain(true, true))), "");
  EXPECT_EQ(NeedsOfRepeatedWork(Digested(Chain(false, false))), "");
  Synthetic once = Repeats();
  once.epochs = 1;
  // A run may read its files again within one epoch, so the need names what an epoch is.
  EXPECT_EQ(NeedsOfRepeatedWork(MakeSynthetic(once)), "two epochs (the loader was iterated once)");
}

Change Iterable(const char* shards) {
  return [shards](traces::TraceData& data) {
    data.processes[0].facts["loader.0.dataset_kind"] = "iterable";
    if (shards != nullptr) data.processes[0].facts["epoch.1.shards"] = shards;
  };
}

std::string StartWorkers(const Change& change) {
  Synthetic run = WithCosts({1, 10, 6, 0.5, 0.1, 0.2, 4, 0});
  run.workers = 0;
  traces::TraceData data = MakeSynthetic(run);
  change(data);
  const auto finding = FindingOf("no-worker-processes", std::move(data));
  return finding ? English(finding->action) : "";
}

TEST(ShardingTest, MoreWorkersOfAStreamAreNotAdvisedSilently) {
  EXPECT_THAT(StartWorkers(Iterable("false")),
              AllOf(HasSubstr("num_workers="), HasSubstr("this one does not call it"),
                    HasSubstr("every sample again")));
  EXPECT_THAT(
      StartWorkers(Iterable(nullptr)),
      AllOf(HasSubstr("whether this one does is not known"), HasSubstr("every sample again")));
  EXPECT_THAT(StartWorkers(Iterable("true")),
              AllOf(HasSubstr("num_workers="), Not(HasSubstr("every sample again"))));
  EXPECT_THAT(StartWorkers([](traces::TraceData&) {}),
              AllOf(HasSubstr("num_workers="), Not(HasSubstr("every sample again"))));
}

TEST(ShardingTest, OneWorkerMoreThanNoneRepeatsNothing) {
  EXPECT_TRUE(NoteOnWorkers(Sharding::kRepeats, 0, 1).empty());
  EXPECT_TRUE(NoteOnWorkers(Sharding::kRepeats, 4, 2).empty());
  EXPECT_FALSE(NoteOnWorkers(Sharding::kRepeats, 1, 2).empty());
  EXPECT_FALSE(NoteOnWorkers(Sharding::kUnknown, 0, 2).empty());
  EXPECT_TRUE(NoteOnWorkers(Sharding::kByIndex, 0, 2).empty());
}

TEST(ShardingTest, WhatIfSaysIt) {
  Synthetic run = WithCosts({1, 10, 6, 0.5, 0.1, 0.2, 4, 0});
  run.workers = 1;
  traces::TraceData data = MakeSynthetic(run);
  Iterable("false")(data);
  const auto trace = traces::MakeTrace(std::move(data));
  GridRequest request;
  request.workers = {2};
  request.prefetch = {2};
  const auto grid = PredictGrid(Diagnose(*trace), request);
  ASSERT_TRUE(grid);
  std::string notes;
  for (const Statement& note : grid->notes) notes += English(note);
  EXPECT_THAT(notes, HasSubstr("every sample again"));
}

}  // namespace
}  // namespace penstock::analyzer
