// SPDX-License-Identifier: Apache-2.0
#include "gui/model/penstock_command.h"

#include <gtest/gtest.h>

#include <utility>

#include "analyzer/words/needs.h"

namespace penstock::gui {
namespace {

namespace words = analyzer::words;

TEST(PenstockCommandTest, RunsTheProgramOfTheTraceOrOneToBeReplaced) {
  traces::TraceData data;
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "doctor"),
            "penstock doctor -- python train.py");
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "record"), kRecordCommand);
  EXPECT_EQ(PenstockCommand(nullptr, "record"), kRecordCommand) << "the page without a trace";
  data.facts["command"] = "python a.py --x";
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "record --gpu auto"),
            "penstock record --gpu auto -- python a.py --x");
}

// What CommandToPredict() says of a recording that lacks `missing`. `command`: "" if the recording
// does not tell it. `imported`: the trace was made from a file of another tool.
NextCommand NextOf(const char* command, analyzer::Statement missing, bool imported = false) {
  traces::TraceData data;
  data.facts["command"] = command;
  analyzer::Report report;
  report.stages.emplace_back();
  report.diagnosis.needs = std::move(missing);
  report.diagnosis.run.imported = imported;
  return CommandToPredict(report, *traces::MakeTrace(std::move(data)));
}

// `penstock record` recorded the program already; the program has to change.
TEST(PenstockCommandTest, AProgramWithoutALoaderIsToldToUseOne) {
  const auto missing = analyzer::Say<words::kNeedsWorkers>(analyzer::Give<"headroom">(1.71));
  const NextCommand own = NextOf("python a.py", missing);
  EXPECT_EQ(own.how, Text::kLoadThroughLoader);
  EXPECT_EQ(own.command, "penstock record -- python a.py");
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    // As the plan says, which is beside it.
    EXPECT_NE(TextOf(own.how, language).find("num_workers=2"), std::string_view::npos);
  }
  EXPECT_EQ(NextOf("python a.py", analyzer::Say<words::kNeedsLoader>()).how, own.how);
  const NextCommand imported = NextOf("", missing, true);
  EXPECT_EQ(imported.how, Text::kRecordLoader);
  EXPECT_EQ(imported.command, kRecordCommand);
}

// The plan said "load through torch.utils.data.DataLoader with num_workers=2 and record again", and
// the suggestion beside it said so once more.
TEST(PenstockCommandTest, TheAdviceOfThePlanIsNotRepeatedBesideIt) {
  analyzer::Report report;
  report.plan.missing = analyzer::Say<words::kNeedsWorkers>(analyzer::Give<"headroom">(1.71));
  EXPECT_EQ(HowBesidePlan(report, Text::kLoadThroughLoader), Text::kRecordAgain);
  EXPECT_EQ(HowBesidePlan(report, Text::kRecordLoader), Text::kRecordLoader);
  report.plan.missing = analyzer::Say<words::kNeedsLoader>();  // gives no advice
  EXPECT_EQ(HowBesidePlan(report, Text::kLoadThroughLoader), Text::kLoadThroughLoader);
}

// The only offer was penstock doctor.
TEST(PenstockCommandTest, FunctionsNeedALoaderAsPredictionsDo) {
  traces::TraceData data;
  data.facts["command"] = "python a.py";
  const auto trace = traces::MakeTrace(std::move(data));
  analyzer::Report report;
  report.stages.emplace_back();
  report.diagnosis.needs = analyzer::Say<words::kNeedsLoader>();
  EXPECT_EQ(CommandToFollow(report, *trace).how, Text::kLoadThroughLoader);
  EXPECT_EQ(CommandToFollow(report, *trace).command, "penstock record -- python a.py");
  report.diagnosis.needs = {};  // it has a loader, of another kind
  EXPECT_EQ(CommandToFollow(report, *trace).command, "penstock doctor -- python a.py");
}

// An imported file tells when batches were taken, not how they were made.
TEST(PenstockCommandTest, AFileOfAnotherToolNeedsARecording) {
  const NextCommand imported =
      NextOf("", analyzer::Say<words::kNeedsSight>(analyzer::Give<"none">(true)), true);
  EXPECT_EQ(imported.how, Text::kRecordMaking);
  EXPECT_EQ(imported.command, kRecordCommand);
  EXPECT_EQ(NextOf("python a.py", analyzer::Say<words::kNeedsSight>(analyzer::Give<"none">(true)))
                .command,
            "penstock doctor -- python a.py");
}

// `penstock record --no-command` leaves the command out.
TEST(PenstockCommandTest, ARecordingWithoutItsCommandIsNotTakenForAnotherTools) {
  const auto loader = analyzer::Say<words::kNeedsLoader>();
  EXPECT_EQ(NextOf("", loader).how, Text::kLoadThroughLoader);
  EXPECT_EQ(NextOf("", analyzer::Say<words::kNeedsSight>(analyzer::Give<"none">(true))).how,
            Text::kSeeWhatIsSeen);
}

TEST(PenstockCommandTest, WhatCannotBeSimulatedCanBeMeasured) {
  EXPECT_EQ(NextOf("python a.py", analyzer::Say<words::kNeedsStep>()).command,
            "penstock sweep --workers 0,2,4 -- python a.py");
  EXPECT_EQ(NextOf("python a.py", analyzer::Say<words::kNeedsRunningLoader>()).command, "");
}

TEST(PenstockCommandTest, WhereNothingWasRecordedTheDoctorSaysWhatIsSeen) {
  const analyzer::Report nothing;
  EXPECT_EQ(CommandToPredict(nothing, *traces::MakeTrace({})).command,
            "penstock doctor -- python train.py");
}

}  // namespace
}  // namespace penstock::gui
