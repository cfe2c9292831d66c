// SPDX-License-Identifier: Apache-2.0
//
// The report as JSON (read back by another parser) and as text.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/report/fail_on.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/json_writer.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "tests/analyzer/synthetic.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using simdjson::dom::element;
using testing::Synthetic;

Report ReportOf(const Synthetic& run) {
  return BuildReport(*testing::SyntheticTrace(run), "run \"1\".penstock");
}

void ExpectFiniteNumbers(element value) {
  if (value.is_double()) {
    EXPECT_TRUE(std::isfinite(value.get_double().value()));
  } else if (value.is_array()) {
    const simdjson::dom::array items = value.get_array().value();
    for (const element item : items) ExpectFiniteNumbers(item);
  } else if (value.is_object()) {
    const simdjson::dom::object fields = value.get_object().value();
    for (const auto field : fields) ExpectFiniteNumbers(field.value);
  }
}

void ExpectSchema(const std::string& json) {
  simdjson::dom::parser parser;
  element root;
  ASSERT_EQ(parser.parse(json).get(root), simdjson::SUCCESS) << json;
  ExpectFiniteNumbers(root);
  EXPECT_EQ(root["schema"].get_string().value(), "penstock.report/1");
  for (const char* path : {"/trace",
                           "/duration_s",
                           "/throughput/samples_per_s",
                           "/throughput/batches_per_s",
                           "/throughput/steady_state",
                           "/loader/kind",
                           "/loader/num_workers",
                           "/loader/prefetch_factor",
                           "/loader/batch_size",
                           "/loader/pin_memory",
                           "/loader/persistent_workers",
                           "/stages",
                           "/verdict/bottleneck",
                           "/verdict/wait_fraction",
                           "/verdict/confidence",
                           "/verdict/gains",
                           "/verdict/summary",
                           "/replay/measured_samples_per_s",
                           "/replay/simulated_samples_per_s",
                           "/replay/error",
                           "/findings",
                           "/suggestion/loader/num_workers",
                           "/suggestion/loader/prefetch_factor",
                           "/suggestion/loader/pin_memory",
                           "/suggestion/loader/persistent_workers",
                           "/suggestion/loader/batch_size",
                           "/suggestion/move_to_gpu",
                           "/suggestion/predicted/samples_per_s",
                           "/suggestion/predicted/low",
                           "/suggestion/predicted/high",
                           "/suggestion/predicted/speedup",
                           "/suggestion/predicted/ram_bytes",
                           "/suggestion/next_bottleneck",
                           "/suggestion/code",
                           "/coverage/bytes_seen",
                           "/coverage/bytes_total",
                           "/coverage/fraction",
                           "/coverage/blind",
                           "/losses/dropped_events",
                           "/losses/damaged_bytes"}) {
    element found;
    EXPECT_EQ(root.at_pointer(path).get(found), simdjson::SUCCESS) << path;
  }
  const simdjson::dom::array stages = root["stages"].get_array().value();
  for (const element stage : stages) {
    for (const char* key :
         {"name", "wall_s", "cpu_s", "count", "p50_s", "p99_s", "bytes", "share"}) {
      element found;
      EXPECT_EQ(stage[key].get(found), simdjson::SUCCESS) << key;
    }
    const double share = stage["share"].get_double().value();
    EXPECT_GE(share, 0);  // above 1, several threads are in the stage at once
  }
  const simdjson::dom::array findings = root["findings"].get_array().value();
  for (const element finding : findings) {
    for (const char* key : {"id", "severity", "title", "evidence", "action", "where"}) {
      element found;
      EXPECT_EQ(finding[key].get(found), simdjson::SUCCESS) << key;
    }
  }
}

TEST(ReportJsonTest, FollowsTheSchema) {
  ExpectSchema(ReportJson(ReportOf(Synthetic{})));
}

TEST(ReportJsonTest, FollowsTheSchemaWithoutWorkers) {
  Synthetic run;
  run.workers = 0;
  ExpectSchema(ReportJson(ReportOf(run)));
}

TEST(ReportJsonTest, FollowsTheSchemaForAnEmptyTrace) {
  ExpectSchema(ReportJson(BuildReport(*traces::MakeTrace({}), "")));
}

TEST(ReportJsonTest, FollowsTheSchemaForOneBatch) {
  Synthetic run;
  run.batches = 1;
  ExpectSchema(ReportJson(ReportOf(run)));
}

TEST(ReportJsonTest, FollowsTheSchemaWhenNothingTakesTime) {
  Synthetic run;
  run.costs = testing::Always({0, 0, 0, 0, 0, 0, 0, 0});
  run.worker_start = 0;
  ExpectSchema(ReportJson(ReportOf(run)));
}

TEST(ReportJsonTest, TellsTheStartToTheSecond) {
  Report report = ReportOf({});
  report.started = 1'764'470'096.75;
  simdjson::dom::parser parser;
  element root;
  ASSERT_EQ(parser.parse(ReportJson(report)).get(root), simdjson::SUCCESS);
  EXPECT_EQ(root["started_unix_s"].get_int64().value(), 1'764'470'096);
}

TEST(ReportJsonTest, SharesOfAFetchAddUp) {
  const Report report = ReportOf(Synthetic{});
  double sum = 0;
  for (const StageRow& row : report.stages) {
    const std::set<std::string> parts = {"read", "decode", "augment", "collate"};
    if (parts.count(row.name) > 0) sum += row.share;
  }
  EXPECT_NEAR(sum, 1, 0.001);
}

// Two threads of the worker decode while its first thread makes a batch.
TEST(ReportTest, AStageOfSeveralThreadsHasAShareAboveOneAndIsToldAsThreads) {
  Synthetic run;
  run.workers = 1;
  traces::TraceData data = testing::MakeSynthetic(run);
  std::vector<traces::Span> beside;
  for (const std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span span : spans) {
      if (span.stage != traces::StageId::kFetch) continue;
      span.stage = traces::StageId::kDecode;
      beside.push_back(span);
    }
  }
  for (const std::uint32_t tid : {7001U, 7002U}) {
    traces::ThreadInfo thread;
    thread.process = ProcessId{1};
    thread.tid = tid;
    data.threads.push_back(thread);
    data.spans.push_back(beside);
  }
  const Report report = BuildReport(*traces::MakeTrace(std::move(data)), "t");
  const auto decode = std::find_if(report.stages.begin(), report.stages.end(),
                                   [](const StageRow& row) { return row.name == "decode"; });
  ASSERT_NE(decode, report.stages.end());
  EXPECT_GT(decode->share, 1.05);
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find(" thr "), std::string::npos) << text;
}

TEST(ReportJsonTest, ListsTransformsBelowAugment) {
  const Report report = ReportOf(Synthetic{});
  for (const StageRow& row : report.stages) {
    if (row.name != "augment") continue;
    ASSERT_EQ(row.children.size(), 1u);
    EXPECT_EQ(row.children.front().name, "RandomResizedCrop");
    return;
  }
  FAIL() << "no augment";
}

TEST(JsonWriterTest, EscapesWhatMustBeEscaped) {
  JsonWriter json;
  json.BeginObject().Field("a\"\n", std::string_view("\\\x01\xff\xc3\xa9", 5));
  json.Field("n", NAN).Field("t", true).EndObject();
  simdjson::dom::parser parser;
  element root;
  ASSERT_EQ(parser.parse(json.text()).get(root), simdjson::SUCCESS) << json.text();
  EXPECT_EQ(root["a\"\n"].get_string().value(), "\\\x01\xef\xbf\xbd\xc3\xa9");
}

TEST(ReportTextTest, ShowsLossesBeforeTheVerdict) {
  traces::TraceData data = testing::MakeSynthetic({});
  data.losses.dropped_events = 17;
  const Report report = BuildReport(*traces::MakeTrace(std::move(data)), "t");
  const std::string text = ReportText(report, Colour::kOff);
  const std::size_t losses = text.find("17 events dropped");
  ASSERT_NE(losses, std::string::npos) << text;
  EXPECT_LT(losses, text.find("the loop waits"));
}

TEST(ReportTextTest, HasNoColourUnlessAsked) {
  const Report report = ReportOf(Synthetic{});
  EXPECT_EQ(ReportText(report, Colour::kOff).find('\x1b'), std::string::npos);
  EXPECT_NE(ReportText(report, Colour::kOn).find('\x1b'), std::string::npos);
}

TEST(ReportTextTest, FitsAScreen) {
  const std::string text = ReportText(ReportOf(Synthetic{}), Colour::kOff);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 50);
}

// A loop that waits, with workers, memory, findings, and rules that could not be checked.
TEST(ReportTextTest, WhatFewNeedComesWithVerbose) {
  Synthetic run;
  run.workers = 1;
  run.costs = testing::Always({6, 8, 2, 0.5, 0.1, 0.3, 2, 0});
  const Report report = ReportOf(run);
  const std::string usual = ReportText(report, Colour::kOff);
  const std::string all = ReportText(report, Colour::kOff, Detail::kAll);
  for (const char* part : {"worker 0 ", "not checked", "  also  "}) {
    EXPECT_EQ(usual.find(part), std::string::npos) << part << usual;
    EXPECT_NE(all.find(part), std::string::npos) << part << all;
  }
  for (const char* part :
       {"holds the run back", "confidence", "Plan", "to paste     DataLoader(", "predicted",
        "the training step alone", "throughput", "stage ", "decode", "seen", "if free"}) {
    EXPECT_NE(usual.find(part), std::string::npos) << part << usual;
    EXPECT_NE(all.find(part), std::string::npos) << part << all;
  }
  EXPECT_NE(usual.find("--verbose    adds each worker, "), std::string::npos) << usual;
  EXPECT_EQ(all.find("--verbose"), std::string::npos) << all;
  // Findings come with the plan, above the figures that they follow from.
  ASSERT_FALSE(report.findings.empty());
  const std::size_t finding = usual.find(" " + report.findings.front().id + ": ");
  EXPECT_LT(usual.find("Plan\n"), finding);
  EXPECT_LT(finding, usual.find("  throughput"));
}

TEST(ReportTextTest, AReplayThatIsNearlyExactHasNoError) {
  Report report = ReportOf(Synthetic{});
  Replay& replay = report.diagnosis.loader->replay;
  replay.simulated = 0.9996 * replay.measured;
  EXPECT_NE(ReportText(report, Colour::kOff).find("repeats the run within 0.1 %"),
            std::string::npos);
  replay.simulated = 0.97 * replay.measured;
  EXPECT_NE(ReportText(report, Colour::kOff).find("with an error of -3.0 %"), std::string::npos);
}

TEST(ReportTextTest, ConfidenceIsOfAHundredAndNoShare) {
  Report report = ReportOf(Synthetic{});
  report.diagnosis.confidence = 0.57;
  EXPECT_NE(ReportText(report, Colour::kOff).find("confidence 57 of 100"), std::string::npos);
  EXPECT_NE(ReportBrief(report, Colour::kOff).find(", confidence 57 of 100\n"), std::string::npos);
  const auto trace = testing::SyntheticTrace({});
  const std::string page = ReportHtml(report, BuildPlots(*trace, report), Language::kEnglish);
  EXPECT_NE(page.find("<b>57 / 100</b>"), std::string::npos);
}

TEST(ReportTextTest, BriefIsFiveLines) {
  const std::string text = ReportBrief(ReportOf(Synthetic{}), Colour::kOff);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
}

// The arguments of a loader of another library are not known, so there is no line to paste.
TEST(ReportTextTest, BriefNamesTheSettingOfALoaderWithoutCode) {
  Report report = ReportOf(Synthetic{});
  report.plan.steps.clear();
  report.diagnosis.run.loaders.front().config.kind = "other";
  Suggestion& suggestion = report.diagnosis.loader->suggestion;
  suggestion.changes = true;
  suggestion.workers = 3;
  suggestion.prefetch = 4;
  const std::string text = ReportBrief(report, Colour::kOff);
  EXPECT_NE(text.find("3 workers, prefetch 4 predicted "), std::string::npos) << text;
}

// The gain is relative to the base of the report: the steady part, unless the whole run counts.
TEST(ReportTextTest, BriefTellsTheGainOnTheBaseOfTheReport) {
  Report report = ReportOf(Synthetic{});
  report.plan.steps.clear();
  report.diagnosis.whole_run = false;
  Suggestion& suggestion = report.diagnosis.loader->suggestion;
  suggestion.changes = true;
  suggestion.predicted.rate = {100, 90, 110};
  suggestion.predicted.speedup = 1.2;
  suggestion.predicted.steady = 1.5;
  suggestion.predicted.most = 0;
  const std::string text = ReportBrief(report, Colour::kOff);
  EXPECT_NE(text.find(" predicted 1.50x\n"), std::string::npos) << text;
}

TEST(ReportTextTest, MakesControlCharactersHarmless) {
  EXPECT_EQ(PlainText("a\x1b[31m\nb", 20), "a?[31m?b");
  EXPECT_EQ(PlainText("a\xc2\x9b"
                      "31m\xe2\x80\xae"
                      "b",
                      20),
            "a?31m?b");
}

TEST(ReportTextTest, ChineseNamesAreCutAtTheWidthInWhichTheyAreShown) {
  EXPECT_EQ(PlainText("训练数据.jpg", 12), "训练数据.jpg");
  EXPECT_EQ(PlainText("训练数据训练.jpg", 12), "训练数据...");
  EXPECT_EQ(PathText("/数据/训练数据.jpg", 18), "/数据/训练数据.jpg");
  EXPECT_EQ(PathText("/数据/训练数据.jpg", 15), "...训练数据.jpg");
  EXPECT_EQ(Wrapped("训练 数据", 9, ""), "训练 数据");
}

TEST(ReportTextTest, ALongPathLosesItsBeginningAndALongCommandGetsItsOwnLine) {
  EXPECT_EQ(PathText("/a/b/c.penstock", 20), "/a/b/c.penstock");
  EXPECT_EQ(PathText("/data/\xc3\xa9t\xc3\xa9/c.penstock", 15), "...\xc3\xa9/c.penstock");
  Report report = ReportOf(Synthetic{});
  report.trace = "/" + std::string(100, 'd') + "/last.penstock";
  report.command = "python train.py " + std::string(100, 'x');
  const std::string text = ReportText(report, Colour::kOff);
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_NE(first.find("/last.penstock  "), std::string::npos) << first;
  EXPECT_EQ(text.find("\n  python train.py x"), first.size()) << text.substr(0, 200);
}

TEST(ReportTextTest, ALineBreaksBeforeANumberAndNotBeforeItsPercent) {
  EXPECT_EQ(Wrapped("it waits 59 % of it", 11, "  "), "it waits\n  59 % of it");
  EXPECT_EQ(Wrapped("a 5 %", 80, ""), "a 5 %");
}

// The plan's experiments contain the recorded command, which people paste into a shell.
TEST(RecordedCommandTest, IsQuotedForAShell) {
  traces::TraceData data = testing::MakeSynthetic({});
  data.processes[0].command = {"python", "train.py", "--name", "a b"};
  EXPECT_EQ(RecordedCommand(*traces::MakeTrace(data)), "python train.py --name 'a b'");
  data.facts["command"] = "torchrun train.py";
  EXPECT_EQ(RecordedCommand(*traces::MakeTrace(data)), "torchrun train.py");
}

TEST(SuggestedCodeTest, LeavesOutWhatPyTorchRefusesWithoutWorkers) {
  Synthetic run;
  run.workers = 0;
  run.cores = 1;
  run.costs = testing::Always({0, 0.1, 0.1, 0, 0, 0, 50, 0});
  const std::string code = SuggestedCode(Diagnose(*testing::SyntheticTrace(run)));
  EXPECT_EQ(code, "DataLoader(dataset, batch_size=4, num_workers=0)");
}

TEST(ReportTest, AnotherLoaderWhoseWorkersAreNotKnownHasNoNumberOfThem) {
  Diagnosis diagnosis = Diagnose(*testing::SyntheticTrace(Synthetic{}));
  diagnosis.run.loaders.push_back(diagnosis.run.loader());
  const auto said = [&diagnosis] {
    return Render(OtherLoaders(diagnosis).at(0), Language::kEnglish);
  };
  EXPECT_TRUE(said().starts_with("2 workers, batch 4, 200 batches")) << said();
  diagnosis.run.loaders.back().config.workers_known = false;
  EXPECT_TRUE(said().starts_with("number of workers not known, batch 4")) << said();
}

TEST(FailOnTest, ComparesInTheRightDirection) {
  const Report report = ReportOf(Synthetic{});
  EXPECT_TRUE(Exceeded(ParseThreshold("wait=0.001").value(), report));
  EXPECT_FALSE(Exceeded(ParseThreshold("wait_fraction=1").value(), report));
  EXPECT_FALSE(Exceeded(ParseThreshold("losses=0").value(), report));
  EXPECT_TRUE(Exceeded(ParseThreshold("coverage=0.9").value(), report));  // not known
  Report damaged = report;
  damaged.losses.damaged_chunks = 1;
  EXPECT_TRUE(Exceeded(ParseThreshold("losses=0").value(), damaged));
}

TEST(FailOnTest, AnEmptyTracePassesNoThreshold) {
  traces::TraceBuilder empty;
  const Report report = BuildReport(*empty.Build(), "empty");
  EXPECT_FALSE(Known(ParseThreshold("wait_fraction=0.1").value(), report));
  EXPECT_TRUE(Known(ParseThreshold("losses=0").value(), report));
  EXPECT_TRUE(Known(ParseThreshold("wait_fraction=0.1").value(), ReportOf(Synthetic{})));
}

TEST(FailOnTest, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "wait", "wait=", "wait=x", "wait=2", "losses=-1", "speed=1"}) {
    EXPECT_FALSE(ParseThreshold(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::analyzer
