// SPDX-License-Identifier: Apache-2.0
//
// Experiments inside a run. The report tells what was measured in their windows, and leaves the
// windows out of all other figures.
#include "analyzer/whatif/probes.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/model/probe_windows.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/probe_report.h"
#include "analyzer/report/report.h"
#include "analyzer/words/probes.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::MakeSynthetic;
using testing::Synthetic;

constexpr int kPlainBatches = 120;
constexpr int kWindow = 40;  // batches

// A worker takes 11.6 ms for a batch, of which 8 ms are decoding. The step takes 1 ms.
constexpr Costs kOrdinary{1, 8, 2, 0.5, 0.1, 0.3, 1, 0};

Costs Slowed(double decode, double others) {
  return {others * kOrdinary.read,    decode * kOrdinary.decode,
          others * kOrdinary.augment, others * kOrdinary.collate,
          others * kOrdinary.put,     others * kOrdinary.get,
          others * kOrdinary.step,    0};
}

// Costs in a window with this factor; `window` is its number among all windows.
using CostsIn = std::function<Costs(wire::ProbeFactor factor, int window)>;

// Every other window is plain. The windows between these alternate: one spares `spared`, the next
// is the check, which spares nothing.
wire::ProbeFactor FactorIn(wire::ProbeFactor spared, int window) {
  if (window % 2 == 0) return wire::kProbePlain;
  return window % 4 == 1 ? spared : wire::kProbeNothing;
}

// `run` with windows after a plain beginning. According to the events of the windows, all but the
// spared factor takes twice as long. A batch is made `ahead` batches before it is delivered.
traces::TraceData ProbedData(Synthetic run, int windows, wire::ProbeFactor spared,
                             const CostsIn& costs_in, int ahead) {
  const auto window_of = [](int index) {
    return index < kPlainBatches ? -1 : (index - kPlainBatches) / kWindow;
  };
  run.batches = kPlainBatches + windows * kWindow + kPlainBatches;
  run.costs = [=](int /*epoch*/, int index) {
    const auto costs_at = [&](int place) {
      const int window = window_of(place);
      const bool inside = window >= 0 && window < windows;
      return costs_in(inside ? FactorIn(spared, window) : wire::kProbePlain, window);
    };
    Costs costs = costs_at(index - ahead);
    costs.step = costs_at(index).step;
    return costs;
  };
  traces::TraceData data = MakeSynthetic(run);
  data.facts["record.probe_ns"] = "500000000";
  std::vector<traces::Event> told;
  for (const traces::Event& event : data.events) {
    const auto index = static_cast<int>(event.batch.index);
    const int window = window_of(index);
    const bool begins = event.type == traces::EventType::kBatchDelivered &&
                        index >= kPlainBatches && (index - kPlainBatches) % kWindow == 0;
    if (!begins || window > windows) continue;
    traces::Event probe = event;
    probe.type = traces::EventType::kProbe;
    probe.batch = {};
    probe.value = wire::ProbeValue(window < windows ? FactorIn(spared, window) : wire::kProbeOver,
                                   wire::kProbePercent, 0);
    told.push_back(probe);
  }
  data.events.insert(data.events.end(), told.begin(), told.end());
  return data;
}

// A run with two kinds of windows, which alternate. In one, all but decoding takes `others` times
// as long. In the other, everything takes `all` times as long.
traces::TraceData DecodeProbed(int windows, double others, double all) {
  Synthetic run;
  run.workers = 1;
  const auto costs = [=](wire::ProbeFactor factor, int /*window*/) {
    if (factor == wire::kProbePlain) return kOrdinary;
    return factor == wire::kProbeDecode ? Slowed(1, others) : Slowed(all, all);
  };
  return ProbedData(run, windows, wire::kProbeDecode, costs, 0);
}

std::unique_ptr<traces::Trace> Probed(int windows, double others, double all) {
  return traces::MakeTrace(DecodeProbed(windows, others, all));
}

const ProbedFactor& Decode(const Probes& probes) {
  return probes.factors[1];
}

// An event in which a thread says, at `at`, that a window began `since` earlier.
struct Recorded {
  std::uint32_t thread;
  std::int64_t at;  // milliseconds
  std::uint64_t since;
  std::uint8_t factor;
};

// When the windows of these events begin, in milliseconds.
std::vector<std::int64_t> BeginsOf(const std::vector<Recorded>& records) {
  traces::TraceData data;
  data.processes.emplace_back();
  data.threads.resize(2);
  data.spans.resize(2);
  for (const Recorded& record : records) {
    traces::Event event;
    event.thread = ThreadId{record.thread};
    event.at = TimeNs{record.at * 1'000'000};
    event.type = traces::EventType::kProbe;
    event.value = wire::ProbeValue(record.factor, wire::kProbePercent, record.since * 1000);
    data.events.push_back(event);
  }
  std::vector<std::int64_t> begins;
  for (const ProbeWindow& window :
       ProbeWindowsOf(*traces::MakeTrace(std::move(data)), ProcessId{0})) {
    begins.push_back(window.from / 1'000'000);
  }
  return begins;
}

TEST(ProbeWindowsTest, TwoThreadsRecordOneWindow) {
  const std::vector<std::int64_t> begins{1000, 1100, 1200};
  EXPECT_EQ(BeginsOf({{0, 1010, 10, wire::kProbePlain},
                      {1, 1090, 90, wire::kProbePlain},
                      {0, 1102, 2, wire::kProbeRead},
                      {1, 1120, 20, wire::kProbeRead},
                      {0, 1200, 0, wire::kProbePlain},
                      {0, 1299, 0, wire::kProbeOver}}),
            begins);
}

TEST(ProbeWindowsTest, PlainWindowsStaySeparateWhenAStepOutlastsTheOneBetween) {
  const std::vector<std::int64_t> begins{1000, 1200, 1300};
  EXPECT_EQ(BeginsOf({{0, 1010, 10, wire::kProbePlain},
                      {0, 1250, 50, wire::kProbePlain},
                      {0, 1305, 5, wire::kProbeRead},
                      {0, 1400, 0, wire::kProbeOver}}),
            begins);
}

TEST(ProbesTest, MeasureWhatAFasterStageGains) {
  const auto trace = Probed(17, 2, 2);
  const Probes probes = MeasureProbes(*trace, Diagnose(*trace));
  ASSERT_TRUE(probes.any);
  ASSERT_TRUE(probes.missing.empty());
  EXPECT_EQ(Decode(probes).name, "decode");
  EXPECT_EQ(Decode(probes).windows, 4U);
  EXPECT_TRUE(Decode(probes).known());
  EXPECT_NEAR(Decode(probes).gain.estimate, 11.6 / 7.6, 0.03);
  EXPECT_LT(Decode(probes).gain.high - Decode(probes).gain.low, 0.1);
  EXPECT_NEAR(probes.check.gain.estimate, 1, 0.02);
  EXPECT_TRUE(probes.sound);
}

// In windows with delays, all work takes 6 % longer than the delays intend. This is the same in the
// windows of a factor and in those of the check.
TEST(ProbesTest, WhatAllWindowsSlowDownIsNoPartOfAGain) {
  const auto trace = traces::MakeTrace([] {
    Synthetic run;
    run.workers = 1;
    const auto costs = [](wire::ProbeFactor factor, int /*window*/) {
      if (factor == wire::kProbePlain) return kOrdinary;
      return factor == wire::kProbeDecode ? Slowed(1.06, 2.12) : Slowed(2.12, 2.12);
    };
    return ProbedData(run, 17, wire::kProbeDecode, costs, 0);
  }());
  const Probes probes = MeasureProbes(*trace, Diagnose(*trace));
  EXPECT_TRUE(probes.sound);
  EXPECT_NEAR(probes.check.gain.estimate, 1 / 1.06, 0.02);
  EXPECT_NEAR(Decode(probes).gain.estimate, 11.6 / 7.6, 0.03);
}

TEST(ProbesTest, ThePredictionStandsBesideItAndAgrees) {
  const auto trace = Probed(17, 2, 2);
  const Probes probes = MeasureProbes(*trace, Diagnose(*trace));
  ASSERT_TRUE(Decode(probes).predicted);
  EXPECT_FALSE(Decode(probes).disagrees);
  EXPECT_FALSE(probes.disagree());
}

TEST(ProbesTest, WindowsStayOutOfTheSteadyRate) {
  const auto trace = Probed(17, 2, 2);
  const Diagnosis diagnosis = Diagnose(*trace);
  EXPECT_NEAR(diagnosis.samples_rate, 4 / 11.6e-3, 0.03 * 4 / 11.6e-3);
  EXPECT_FALSE(diagnosis.loader->steady.change);
  EXPECT_FALSE(diagnosis.whole_run);
  EXPECT_LE(diagnosis.loader->steady.batches, 2U * kPlainBatches);
}

TEST(ProbesTest, AGainOfNothingSaysThatTheOthersDoNotHold) {
  const auto trace = Probed(17, 2, 1);  // the check slowed nothing down, although it should have
  const Report report = BuildReport(*trace, "t");
  EXPECT_TRUE(report.probes.missing.Is(words::kProbesUnsound));
  EXPECT_NEAR(report.probes.check.gain.estimate, 2, 0.05);
  EXPECT_FALSE(report.probes.sound);
  EXPECT_FALSE(Decode(report.probes).known());
  EXPECT_FALSE(report.probes.disagree());
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("the experiments tell no gain, because"), std::string::npos) << text;
  EXPECT_EQ(text.find("decode 2 times as fast"), std::string::npos) << text;
}

TEST(ProbesTest, ADisagreementIsToldAndLowersTheConfidence) {
  const auto trace = Probed(17, 1, 2);  // as if decoding alone had taken all the time
  const Report report = BuildReport(*trace, "t");
  ASSERT_TRUE(report.probes.disagree());
  EXPECT_LE(report.diagnosis.confidence, 0.4);
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("the two disagree"), std::string::npos) << text;
  EXPECT_NE(ReportHtml(report, BuildPlots(*trace, report), Language::kChinese).find("两者不符"),
            std::string::npos);
}

TEST(ProbesTest, TwoWindowsAreTooFew) {
  const auto trace = Probed(7, 2, 2);
  const Probes probes = MeasureProbes(*trace, Diagnose(*trace));
  EXPECT_TRUE(probes.missing.Is(words::kTooFewProbes));
  EXPECT_FALSE(Decode(probes).known());
  const Statements said = ProbesSaid(probes);
  ASSERT_EQ(said.size(), 1u);
  for (const char* part : {"tell no gain, because 3 windows", "1 of 1 had them", "more batches"}) {
    EXPECT_NE(English(said[0]).find(part), std::string::npos) << English(said[0]);
  }
}

// With a worker and two batches in its queue, a window with delays needs a batch and six intervals
// of twice the length: 14 * 11.6 ms.
TEST(ProbesTest, WindowsThatAreTooShortForTheBatchesSayHowLongTheyMustBe) {
  traces::TraceData data = DecodeProbed(7, 2, 2);
  data.facts["record.probe_ns"] = "100000000";
  const auto trace = traces::MakeTrace(std::move(data));
  const Statement missing = MeasureProbes(*trace, Diagnose(*trace)).missing;
  EXPECT_EQ(English(missing),
            "each window lasted 100 ms, too short for these batches. Record again with "
            "--probe-window 200ms");
}

TEST(ProbesTest, WindowsThatDifferSaySo) {
  Synthetic run;
  run.workers = 1;
  // In every second window of the factor, another program takes half of the machine.
  const auto costs = [](wire::ProbeFactor factor, int window) {
    if (factor == wire::kProbePlain) return kOrdinary;
    if (factor == wire::kProbeNothing) return Slowed(2, 2);
    return window % 8 == 1 ? Slowed(1, 2) : Slowed(2, 4);
  };
  const auto trace = traces::MakeTrace(ProbedData(run, 17, wire::kProbeDecode, costs, 0));
  const Report report = BuildReport(*trace, "t");
  EXPECT_TRUE(report.probes.sound);
  EXPECT_TRUE(Decode(report.probes).unknown.Is(words::kProbeNoise));
  EXPECT_NE(ReportText(report, Colour::kOff).find("not known, because its windows"),
            std::string::npos);
}

TEST(ProbesTest, ACheckThatVariesTellsNoGain) {
  Synthetic run;
  run.workers = 1;
  const auto costs = [](wire::ProbeFactor factor, int window) {
    if (factor == wire::kProbePlain) return kOrdinary;
    if (factor == wire::kProbeDecode) return Slowed(1, 2);
    return window % 8 == 3 ? Slowed(1.5, 1.5) : Slowed(3, 3);
  };
  const auto trace = traces::MakeTrace(ProbedData(run, 17, wire::kProbeDecode, costs, 0));
  const Probes probes = MeasureProbes(*trace, Diagnose(*trace));
  EXPECT_TRUE(probes.missing.Is(words::kNoisyProbes));
  EXPECT_FALSE(Decode(probes).known());
}

// Four workers make a batch in 13.5 ms and fill a queue of 16; the step takes 20.3 ms. If the step
// took half of the time, the workers would be the limit. In a window that spares the step they make
// a batch in 27 ms, but the batches in the queue suffice for most of the window.
TEST(ProbesTest, AQueueThatIsDrainedHidesNoLimit) {
  Synthetic run;
  run.workers = 4;
  run.prefetch = 4;
  const auto costs = [](wire::ProbeFactor factor, int /*window*/) {
    const double making = factor == wire::kProbePlain ? 1 : 2;
    const double step = factor == wire::kProbeNothing ? 2 : 1;
    return Costs{4 * making, 36 * making, 13 * making, making, 0.1, 0.3 * step, 20 * step, 0};
  };
  const auto trace = traces::MakeTrace(ProbedData(run, 17, wire::kProbeStep, costs, 16));
  const Probes probes = MeasureProbes(*trace, Diagnose(*trace));
  const ProbedFactor& step = probes.factors[4];
  EXPECT_EQ(step.name, "compute");
  ASSERT_TRUE(step.known()) << English(step.unknown) << English(probes.missing);
  EXPECT_NEAR(step.gain.estimate, 20.3 / 13.5, 0.06);
}

TEST(ProbesTest, WorkOnThreadsOfTheProgramIsNotMeasured) {
  const auto trace = Probed(17, 2, 2);
  Diagnosis diagnosis = Diagnose(*trace);
  for (LoaderRun& loader : diagnosis.run.loaders) loader.threads_stages.decode = 10;
  const Probes probes = MeasureProbes(*trace, diagnosis);
  EXPECT_TRUE(Decode(probes).unknown.Is(words::kProbeThreads));
}

TEST(ProbesTest, ADeviceThatIsNotSlowedDownMayBeTheNextLimit) {
  const auto trace = Probed(17, 2, 2);
  Diagnosis diagnosis = Diagnose(*trace);
  DeviceActivity& device = diagnosis.loader->device;
  device.kernels = true;
  device.window = 10;
  device.computing = 5;  // the device could do twice as many steps
  EXPECT_TRUE(Decode(MeasureProbes(*trace, diagnosis)).known());
  device.computing = 8;
  EXPECT_TRUE(Decode(MeasureProbes(*trace, diagnosis)).unknown.Is(words::kProbeDevice));
}

TEST(ProbesTest, OtherProgramsOnTheLoadersCoresTellNoGain) {
  const auto trace = Probed(17, 2, 2);
  Diagnosis diagnosis = Diagnose(*trace);
  diagnosis.loader->cpu.crowded = true;
  diagnosis.loader->signals.wall_per_cpu = 1.5;
  EXPECT_TRUE(MeasureProbes(*trace, diagnosis).missing.Is(words::kProbesCrowded));
  diagnosis.loader->signals.wall_per_cpu = 10;  // decoding sleeps
  EXPECT_TRUE(MeasureProbes(*trace, diagnosis).missing.empty());
}

TEST(ProbesTest, RanksElsewhereAreNotSlowedDown) {
  const auto trace = Probed(17, 2, 2);
  Diagnosis diagnosis = Diagnose(*trace);
  diagnosis.run.ranks.world_size = 2;
  diagnosis.run.ranks.places.resize(1);
  EXPECT_TRUE(MeasureProbes(*trace, diagnosis).missing.Is(words::kProbeOtherRanks));
}

TEST(ProbesTest, AStageThatWasNotSeenHasNoLine) {
  traces::TraceData data = DecodeProbed(17, 2, 2);
  for (std::vector<traces::Span>& thread : data.spans) {
    std::erase_if(thread, [](const traces::Span& span) {
      return span.stage == traces::StageId{wire::kDecode};
    });
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const Report report = BuildReport(*trace, "t");
  EXPECT_FALSE(Decode(report.probes).seen);
  EXPECT_EQ(ReportText(report, Colour::kOff).find("decode 2 times"), std::string::npos);
}

TEST(ProbesTest, JsonHasBothGains) {
  const auto trace = Probed(17, 2, 2);
  simdjson::dom::parser parser;
  const std::string json = ReportJson(BuildReport(*trace, "t"));
  const simdjson::dom::element probe = parser.parse(json)["probe"].value();
  EXPECT_TRUE(probe["sound"].get_bool().value());
  const simdjson::dom::element decode = probe["factors"].at(1).value();
  EXPECT_EQ(decode["factor"].get_string().value(), "decode");
  EXPECT_NEAR(decode["measured"].get_double().value(), 11.6 / 7.6, 0.03);
  EXPECT_NEAR(decode["predicted"].get_double().value(), 11.6 / 7.6, 0.15);
}

TEST(ProbesTest, ACheckThatWasNotMeasuredHasNoGainInJson) {
  traces::TraceData data = DecodeProbed(17, 2, 2);
  data.processes[0].facts["probe.off"] = "timeout";
  const auto trace = traces::MakeTrace(std::move(data));
  simdjson::dom::parser parser;
  const std::string json = ReportJson(BuildReport(*trace, "t"));
  const simdjson::dom::element check = parser.parse(json)["probe"]["check"].value();
  EXPECT_EQ(check["windows"].get_uint64().value(), 0U);
  EXPECT_EQ(check["measured"].error(), simdjson::NO_SUCH_FIELD) << json;
  EXPECT_NE(check["unknown"].get_string().value().find("timeout"), std::string_view::npos);
}

TEST(ProbesTest, ARunWithoutThemHasNothingToSay) {
  const auto trace = testing::SyntheticTrace(Synthetic{});
  const Report report = BuildReport(*trace, "t");
  EXPECT_FALSE(report.probes.any);
  EXPECT_TRUE(ProbesSaid(report.probes).empty());
  EXPECT_EQ(ReportJson(report).find("\"probe\""), std::string::npos);
}

}  // namespace
}  // namespace penstock::analyzer
