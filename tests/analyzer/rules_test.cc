// SPDX-License-Identifier: Apache-2.0
//
// For each rule, there is a run for which it must report a finding, and one for which it must not.
#include <gtest/gtest.h>

#include "analyzer/predict/decoders.h"
#include "tests/analyzer/finds.h"

namespace penstock::analyzer {
namespace {

using testing::AddCounter;
using testing::Change;
using testing::Costs;
using testing::FindingOf;
using testing::Finds;
using testing::MakeSynthetic;
using testing::Synthetic;
using testing::WithCosts;

TEST(NoWorkerProcessesTest, SpeaksWhenTheLoopWaits) {
  Synthetic run;
  run.workers = 0;
  EXPECT_TRUE(Finds("no-worker-processes", run));
}

TEST(NoWorkerProcessesTest, IsSilentWhenTheStepIsAllThereIs) {
  Synthetic run = WithCosts({0.1, 1, 0.5, 0.1, 0, 0, 100, 0});
  run.workers = 0;
  EXPECT_FALSE(Finds("no-worker-processes", run));
}

// tf.data has threads of its own; a program cannot set num_workers.
TEST(NoWorkerProcessesTest, IsSilentWhereTheNumberOfWorkersIsNotKnown) {
  Synthetic run;
  run.workers = 0;
  traces::TraceData data = MakeSynthetic(run);
  ASSERT_GT(data.processes[0].facts.erase("loader.0.num_workers"), 0u);
  EXPECT_FALSE(FindingOf("no-worker-processes", std::move(data)).has_value());
}

TEST(TooFewWorkersTest, SpeaksWhenWorkersAreBusyAndCoresFree) {
  EXPECT_TRUE(Finds("too-few-workers", WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0})));
}

TEST(TooFewWorkersTest, IsSilentWhenTheCoresAreFull) {
  Synthetic run = WithCosts({0, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.cores = 2;
  EXPECT_FALSE(Finds("too-few-workers", run));
}

TEST(CpuSaturatedTest, SpeaksWhenTheCoresAreFull) {
  Synthetic run = WithCosts({0, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.cores = 2;
  EXPECT_TRUE(Finds("cpu-saturated", run));
}

TEST(CpuSaturatedTest, IsSilentWhenHalfOfThemAreFree) {
  Synthetic run = WithCosts({0, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.cores = 4;
  EXPECT_FALSE(Finds("cpu-saturated", run));
}

TEST(WorkersRestartEachEpochTest, SpeaksOfShortEpochs) {
  Synthetic run;
  run.epochs = 4;
  run.batches = 40;
  run.worker_start = 100;
  EXPECT_TRUE(Finds("workers-restart-each-epoch", run));
}

TEST(WorkersRestartEachEpochTest, IsSilentWhenWorkersStay) {
  Synthetic run;
  run.epochs = 4;
  run.batches = 40;
  run.worker_start = 100;
  run.persistent = true;
  EXPECT_FALSE(Finds("workers-restart-each-epoch", run));
}

TEST(SlowFirstBatchTest, SpeaksOfASlowStart) {
  Synthetic run;
  run.worker_start = 3000;
  EXPECT_TRUE(Finds("slow-first-batch", run));
}

TEST(SlowFirstBatchTest, IsSilentOfHalfASecond) {
  Synthetic run;
  run.worker_start = 500;
  EXPECT_FALSE(Finds("slow-first-batch", run));
}

TEST(SharedMemoryTooSmallTest, SpeaksWhenBatchesDoNotFit) {
  Synthetic run;
  run.sample_bytes = 4'000'000;  // 16 MB per batch; six batches are in flight
  EXPECT_TRUE(Finds("shared-memory-too-small", run,
                    [](auto& data) { data.facts["shm.size"] = "67108864"; }));
}

TEST(SharedMemoryTooSmallTest, IsSilentWhenTheyDo) {
  Synthetic run;
  run.sample_bytes = 1'000'000;  // 4 MB a batch: 36 MB with the margin
  EXPECT_FALSE(Finds("shared-memory-too-small", run,
                     [](auto& data) { data.facts["shm.size"] = "67108864"; }));
}

TEST(SlowDecoderTest, SpeaksOfPillow) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoder = "PIL.load";
  EXPECT_EQ(
      testing::Evidence(FindingOf("slow-decoder", MakeSynthetic(run)).value(), "assumed_ratio"),
      FindDecoder("simplejpeg")->ratio);
}

TEST(SlowDecoderTest, NamesNoDecoderThatTheProgramUses) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoder = "PIL.load";
  const auto all = FindingOf("slow-decoder", MakeSynthetic(run));
  ASSERT_TRUE(all);
  EXPECT_NE(English(all->action).find("OpenCV or simplejpeg"), std::string::npos);
  traces::TraceData data = MakeSynthetic(run);
  const StringId mask = data.Intern("cv2.imread");
  for (auto& spans : data.spans) {  // one decode in a hundred is of a mask
    std::size_t seen = 0;
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kDecode && seen++ % 100 == 0) span.name = mask;
    }
  }
  const auto rest = FindingOf("slow-decoder", std::move(data));
  ASSERT_TRUE(rest);
  EXPECT_NE(English(rest->action).find("simplejpeg or torchvision.io"), std::string::npos);
  EXPECT_EQ(testing::Evidence(*rest, "assumed_ratio"), FindDecoder("simplejpeg")->ratio);
  const auto with_two = [&] {
    traces::TraceData used = MakeSynthetic(run);
    const StringId other = used.Intern("simplejpeg.decode_jpeg");
    const StringId image = used.Intern("cv2.imread");
    for (auto& spans : used.spans) {
      std::size_t seen = 0;
      for (traces::Span& span : spans) {
        if (span.stage != traces::StageId::kDecode) continue;
        if (seen % 100 == 0) span.name = seen % 200 == 0 ? other : image;
        ++seen;
      }
    }
    return FindingOf("slow-decoder", std::move(used));
  }();
  ASSERT_TRUE(with_two);
  EXPECT_EQ(testing::Evidence(*with_two, "assumed_ratio"), FindDecoder("torchvision")->ratio);
  EXPECT_EQ(English(rest->action).find("OpenCV"), std::string::npos);
  EXPECT_EQ(Render(rest->action, Language::kChinese).find("OpenCV"), std::string::npos);
}

TEST(SlowDecoderTest, IsSilentAboutFilesThatAreNotJpeg) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoder = "PIL.load";
  run.file = "/data/train/a.png";
  EXPECT_FALSE(Finds("slow-decoder", run));
  run.file = "/data/train/a.JPG";
  EXPECT_TRUE(Finds("slow-decoder", run));
}

TEST(SlowDecoderTest, IsSilentOfLibjpegTurbo) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoder = "cv2.imdecode";
  EXPECT_FALSE(Finds("slow-decoder", run));
}

// Adds requests to each worker: to connect takes 5 ms, and to get an answer 2 ms.
void AddHttp(traces::TraceData& data, int connections, int requests) {
  for (std::uint32_t process = 1; process < data.processes.size(); ++process) {
    for (int i = 0; i < connections; ++i) {
      AddCounter(data, "http.connect_ns", process, 2000 + i, 5e6);
    }
    for (int i = 0; i < requests; ++i) {
      AddCounter(data, "http.first_byte_ns", process, 2000 + i, 2e6);
    }
  }
}

TEST(ConnectionNotReusedTest, SpeaksOfOneForEachObject) {
  traces::TraceData data = MakeSynthetic(WithCosts({30, 2, 2, 1, 0.1, 0.2, 4, 0}));
  AddHttp(data, 400, 400);
  const auto finding = FindingOf("connection-not-reused", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_EQ(English(finding->seen),
            "800 requests over HTTP opened 800 connections, which took 5.00 ms each");
  // Connecting takes 4 of the 6 s of reading. Without it a batch takes 15 ms instead of 35, because
  // it reads for 10 ms instead of 30.
  EXPECT_NEAR(finding->predicted->speedup, 35.0 / 15.0, 0.15);
}

TEST(ConnectionNotReusedTest, IsSilentOfConnectionsThatAreKept) {
  traces::TraceData data = MakeSynthetic(WithCosts({30, 2, 2, 1, 0.1, 0.2, 4, 0}));
  AddHttp(data, 319, 400);
  EXPECT_FALSE(FindingOf("connection-not-reused", std::move(data)));
}

TEST(ConnectionNotReusedTest, IsSilentOfAFewRequests) {
  traces::TraceData data = MakeSynthetic(WithCosts({30, 2, 2, 1, 0.1, 0.2, 4, 0}));
  AddHttp(data, 31, 31);
  EXPECT_FALSE(FindingOf("connection-not-reused", std::move(data)));
}

// The training process's own requests read no data.
TEST(ConnectionNotReusedTest, IsSilentOfTheTrainingProcess) {
  traces::TraceData data = MakeSynthetic(WithCosts({30, 2, 2, 1, 0.1, 0.2, 4, 0}));
  for (int i = 0; i < 400; ++i) {
    AddCounter(data, "http.connect_ns", 0, 2000 + i, 5e6);
    AddCounter(data, "http.first_byte_ns", 0, 2000 + i, 2e6);
  }
  EXPECT_FALSE(FindingOf("connection-not-reused", std::move(data)));
}

// Adds the frames that Python counts to each worker. Process 0 is the training process.
void AddFrames(traces::TraceData& data, double decoded, double used) {
  for (std::uint32_t process = 1; process < data.processes.size(); ++process) {
    AddCounter(data, "video.frames_decoded", process, 2000, decoded);
    AddCounter(data, "video.frames_used", process, 2000, used);
  }
}

Synthetic VideoRun(const char* decoder) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoder = decoder;
  return run;
}

TEST(DecodesMoreFramesThanUsedTest, SpeaksOfTwiceTheFrames) {
  traces::TraceData data = MakeSynthetic(VideoRun("av.decode"));
  AddFrames(data, 400, 100);
  const auto finding = FindingOf("decodes-more-frames-than-used", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_EQ(English(finding->seen),
            "800 frames of video were decoded, but the pixels of only 200 were used");
  // Half of three quarters of the decoding is saved: 30 of 37 ms become 18.75.
  EXPECT_NEAR(finding->predicted->speedup, 37.0 / 25.75, 0.06);
}

TEST(DecodesMoreFramesThanUsedTest, IsSilentBelowTwice) {
  traces::TraceData data = MakeSynthetic(VideoRun("av.decode"));
  AddFrames(data, 399, 200);
  EXPECT_FALSE(FindingOf("decodes-more-frames-than-used", std::move(data)));
}

TEST(DecodesMoreFramesThanUsedTest, IsSilentOfAFewFrames) {
  traces::TraceData data = MakeSynthetic(VideoRun("av.decode"));
  AddFrames(data, 40, 9);  // both workers together decode 62 frames more than are used
  EXPECT_FALSE(FindingOf("decodes-more-frames-than-used", std::move(data)));
}

// Python does not see the frames that a seek skips; the hooks of libavcodec do.
TEST(DecodesMoreFramesThanUsedTest, CountsWhatComesOutOfLibavcodec) {
  const Synthetic run = VideoRun("ffmpeg");  // 400 frames in each worker
  traces::TraceData data = MakeSynthetic(run);
  AddFrames(data, 20, 20);
  const auto finding = FindingOf("decodes-more-frames-than-used", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_EQ(English(finding->seen),
            "800 frames of video were decoded, but the pixels of only 40 were used");
}

TEST(DecodesMoreFramesThanUsedTest, IsSilentWhereNobodyWasSeenToTakeFrames) {
  traces::TraceData data = MakeSynthetic(VideoRun("ffmpeg"));
  EXPECT_FALSE(FindingOf("decodes-more-frames-than-used", std::move(data)));
}

TEST(DecodeLargerThanNeededTest, SpeaksOfFourTimesTheBytes) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoded_bytes = 5 * run.sample_bytes;
  EXPECT_TRUE(Finds("decode-larger-than-needed", run));
}

TEST(DecodeLargerThanNeededTest, IsSilentAboutFilesThatAreNotJpeg) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoded_bytes = 5 * run.sample_bytes;
  run.decoder = "PIL.load";
  run.file = "a.png";
  EXPECT_FALSE(Finds("decode-larger-than-needed", run));
  run.file = "a.jpg";
  EXPECT_TRUE(Finds("decode-larger-than-needed", run));
}

TEST(DecodeLargerThanNeededTest, IsSilentOfThree) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.decoded_bytes = 3 * run.sample_bytes;
  EXPECT_FALSE(Finds("decode-larger-than-needed", run));
}

TEST(CollateSlowTest, SpeaksAboveFifteenPercent) {
  EXPECT_TRUE(Finds("collate-slow", WithCosts({1, 4, 3, 2, 0.1, 0.2, 4, 0})));
}

TEST(CollateSlowTest, IsSilentBelow) {
  EXPECT_FALSE(Finds("collate-slow", WithCosts({1, 4, 4, 1.4, 0.1, 0.2, 4, 0})));
}

TEST(CollateSlowTest, IsSilentWhenTheLoopDoesNotWait) {
  EXPECT_FALSE(Finds("collate-slow", WithCosts({1, 4, 3, 2, 0.1, 0.2, 40, 0})));
}

TEST(DecodeLargerThanNeededTest, IsSilentWhenTheLoopDoesNotWait) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 80, 0});
  run.decoded_bytes = 5 * run.sample_bytes;
  EXPECT_FALSE(Finds("decode-larger-than-needed", run));
}

TEST(ComputeBoundTest, SpeaksWhenDataIsThere) {
  EXPECT_TRUE(Finds("compute-bound", WithCosts({1, 4, 3, 1, 0.1, 0.2, 40, 0})));
}

TEST(ComputeBoundTest, AFewBatchesOnlyMakeItProbable) {
  const auto trace = SyntheticTrace(WithCosts({1, 4, 3, 1, 0.1, 0.2, 40, 0}));
  Diagnosis diagnosis = Diagnose(*trace);
  diagnosis.loader->steady.steady = false;
  diagnosis.loader->steady.batches = 5;
  const std::vector<Finding> findings = RunRules(*trace, diagnosis).findings;
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == "compute-bound";
  });
  ASSERT_NE(found, findings.end());
  const std::string action = English(found->action);
  EXPECT_NE(action.find("in the batches that counted (5)"), std::string::npos) << action;
  EXPECT_NE(action.find("probably"), std::string::npos) << action;
}

TEST(ComputeBoundTest, IsSilentWhenTheLoopWaits) {
  EXPECT_FALSE(Finds("compute-bound", WithCosts({1, 40, 3, 1, 0.1, 0.2, 10, 0})));
}

TEST(CpuQuotaOrAffinityTest, SpeaksOfWorkersBeyondTheQuota) {
  Synthetic run;
  run.workers = 4;
  EXPECT_TRUE(Finds("cpu-quota-or-affinity", run,
                    [](auto& data) { data.facts["cgroup.cpu_quota"] = "2"; }));
}

TEST(CpuQuotaOrAffinityTest, IsSilentWhenTheQuotaSuffices) {
  Synthetic run;
  run.workers = 4;
  EXPECT_FALSE(Finds("cpu-quota-or-affinity", run,
                     [](auto& data) { data.facts["cgroup.cpu_quota"] = "4"; }));
}

Change Growing(double bytes_per_sample) {
  return [bytes_per_sample](traces::TraceData& data) {
    for (int i = 0; i < 20; ++i) {
      testing::AddCounter(data, "uss_bytes", 1, 1000 + 50.0 * i, 200e6 + bytes_per_sample * i);
    }
  };
}

TEST(WorkerMemoryGrowthTest, SpeaksOfSteadyGrowth) {
  EXPECT_TRUE(Finds("worker-memory-growth", Synthetic{}, Growing(10'000'000)));
}

TEST(WorkerMemoryGrowthTest, IsSilentOfALittle) {
  EXPECT_FALSE(Finds("worker-memory-growth", Synthetic{}, Growing(2'000'000)));
}

Synthetic ReadsOf(double first, double later) {
  Synthetic run;
  run.epochs = 3;
  run.batches = 40;
  run.costs = [=](int epoch, int) {
    Costs costs;
    costs.read = epoch == 0 ? first : later;
    return costs;
  };
  return run;
}

TEST(ColdCacheTest, SpeaksWhenTheFirstEpochReadsSlowly) {
  EXPECT_TRUE(Finds("cold-cache", ReadsOf(10, 1)));
}

TEST(ColdCacheTest, IsSilentOfADifferenceThatMayBeChance) {
  EXPECT_FALSE(Finds("cold-cache", ReadsOf(3, 2)));
}

TEST(ColdCacheTest, IsSilentOfLessThanAMillisecondABatch) {
  Synthetic run;
  run.epochs = 3;
  run.batches = 40;
  run.costs = [](int epoch, int) {
    return Costs{epoch == 0 ? 0.9 : 0.2, 0.8, 0.2, 0.1, 0.1, 0.2, 1, 0};
  };
  EXPECT_FALSE(Finds("cold-cache", run));
}

TEST(ColdCacheTest, IsSilentWhenNoReadWasSeen) {
  EXPECT_FALSE(Finds("cold-cache", ReadsOf(10, 1), [](traces::TraceData& data) {
    for (std::size_t thread = 1; thread < data.spans.size(); ++thread) data.spans[thread].clear();
  }));
}

TEST(SmallFilesTest, SpeaksOfSlowOpens) {
  Synthetic run = WithCosts({20, 4, 3, 1, 0.1, 0.2, 4, 0});  // 5 ms a file
  run.file_bytes = 100'000;
  EXPECT_TRUE(Finds("small-files", run));
}

TEST(SmallFilesTest, IsSilentOfLargeFiles) {
  Synthetic run = WithCosts({20, 4, 3, 1, 0.1, 0.2, 4, 0});
  run.file_bytes = 5'000'000;
  EXPECT_FALSE(Finds("small-files", run));
}

TEST(NormalizeOnCpuTest, SpeaksOfConversions) {
  Synthetic run = WithCosts({1, 4, 3, 1, 0.1, 0.2, 4, 0});
  run.transform = "Normalize";
  EXPECT_TRUE(Finds("normalize-on-cpu", run));
}

TEST(NormalizeOnCpuTest, IsSilentOfTransformsThatKeepTheType) {
  Synthetic run = WithCosts({1, 4, 3, 1, 0.1, 0.2, 4, 0});
  for (const char* transform : {"RandomResizedCrop", "PILToTensor", "ToTensorV2"}) {
    run.transform = transform;
    EXPECT_FALSE(Finds("normalize-on-cpu", run)) << transform;
  }
}

TEST(RulesTest, AHealthyRunHasNoWarnings) {
  const Synthetic run = WithCosts({0.5, 4, 3, 0.5, 0.1, 0.2, 12, 0});
  const auto trace = testing::SyntheticTrace(run);
  const Advice advice = RunRules(*trace, Diagnose(*trace));
  for (const Finding& finding : advice.findings) {
    EXPECT_EQ(finding.severity, Severity::kInfo) << finding.id;
  }
}

}  // namespace
}  // namespace penstock::analyzer
