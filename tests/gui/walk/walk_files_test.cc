// SPDX-License-Identifier: Apache-2.0
//
// Sweeps, comparisons, exports and dialogs, used by keys and mouse.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/gui/files/sweep_samples.h"
#include "tests/gui/walk/walk.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;
using testing::DocumentOf;
using testing::SweepText;

class WalkFiles : public testing::Walk {
 protected:
  void SetUp() override {
    Walk::SetUp();
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
  }
  void TearDown() override {
    Walk::TearDown();
    fs::remove_all(folder_);
  }

  fs::path Make(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  static Document Decoding(double decode, const fs::path& path) {
    Synthetic run;
    run.costs = Always({.read = 1, .decode = decode, .augment = 3, .step = 4});
    Document document = DocumentOf(SyntheticTrace(run));
    document.path = path;
    return document;
  }

  void ShowPair() {
    app_->Show(Decoding(12, folder_ / "a.penstock"));
    app_->ShowOther(Decoding(9, folder_ / "b.penstock"));
    workspace().view = ViewId::kCompare;
    WaitForComparison();
  }

  // Whether the comparison of the two open traces is finished.
  bool Compared() {
    const CompareViewState& state = workspace().compare;
    return state.job && state.job->finished() && state.job_a == workspace().document.analysis &&
           state.job_b == state.other.analysis;
  }

  void WaitForComparison() {
    EXPECT_TRUE(Until([this] { return Compared(); }));
    Frames(2);
  }

  // Confirms the proposed name.
  void Accept() {
    Frames(2);
    Press(GLFW_KEY_ENTER);
    Frames(2);
  }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(WalkFiles, ASweepOpensItsView) {
  app_->Open(Make("s.json", SweepText()));
  Frames(3);
  EXPECT_EQ(workspace().view, ViewId::kSweep);
  ASSERT_NE(workspace().sweep.file, nullptr);
  EXPECT_EQ(workspace().sweep.file->cells.size(), 9U);
  EXPECT_EQ(app_->settings().recent.front(), folder_ / "s.json");
  // The best cell comes first.
  EXPECT_EQ(workspace().sweep.order.front(), *workspace().sweep.file->best);
}

TEST_F(WalkFiles, AClickOnACellKeepsIt) {
  app_->Open(Make("s.json", SweepText()));
  Frames(3);
  EXPECT_FALSE(workspace().sweep.chosen);
  Click(560, 290);
  ASSERT_TRUE(workspace().sweep.chosen);
  const SweepCell& cell = workspace().sweep.file->cells[*workspace().sweep.chosen];
  EXPECT_EQ(cell.values[0], "4");
}

TEST_F(WalkFiles, ArrowKeysGoFromCellToCell) {
  app_->Open(Make("s.json", SweepText()));
  Frames(3);
  const auto chosen = [this] {
    return workspace().sweep.file->cells[workspace().sweep.chosen.value_or(0)].name;
  };
  Press(GLFW_KEY_LEFT);  // begins at the best cell
  EXPECT_EQ(chosen(), "workers:2/prefetch:4/batch:64");
  Press(GLFW_KEY_UP);
  EXPECT_EQ(chosen(), "workers:2/prefetch:2/batch:64");
  Press(GLFW_KEY_UP);
  EXPECT_EQ(chosen(), "workers:2/prefetch:2/batch:64") << "there is nothing above";
  Press(GLFW_KEY_LEFT);
  EXPECT_EQ(chosen(), "workers:0/prefetch:-/batch:64");
  Press(GLFW_KEY_DOWN);
  EXPECT_EQ(chosen(), "workers:0/prefetch:-/batch:64") << "the same cell stands below";
}

TEST_F(WalkFiles, FilesThatAreNoSweepAreSaidAndWhatIsOpenStays) {
  app_->Open(Make("s.json", SweepText()));
  Frames(2);
  const std::string whole = SweepText();
  for (const std::string& text :
       {std::string(), whole.substr(0, 300), std::string(R"({"schema": "penstock.sweep/7"})")}) {
    const fs::path path = Make("bad.json", text);
    app_->Open(path);
    Frames(2);
    ASSERT_TRUE(app_->error()) << text;
    EXPECT_NE(app_->error()->message.find(path.string()), std::string::npos);
    EXPECT_NE(workspace().sweep.file, nullptr);
  }
  app_->Open(folder_ / "s.json");
  Frames(2);
  EXPECT_FALSE(app_->error());
}

// The bar above the page has a button of the same name. A click on the page's button must not reach
// that of the bar.
TEST_F(WalkFiles, TheButtonOfAPageOpensTheListOfFiles) {
  const auto open = [] { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId); };
  Frames(2);
  for (float y = 216; y < 420 && !open(); y += 8) Click(375, y);
  EXPECT_TRUE(open()) << "the page without a trace";
  Press(GLFW_KEY_ESCAPE);
  ASSERT_FALSE(open());
  app_->Open(Make("bad.json", R"({"schema": "penstock.sweep/7"})"));
  Frames(2);
  ASSERT_TRUE(app_->error());
  for (float y = 256; y < 420 && !open(); y += 8) Click(345, y);
  EXPECT_TRUE(open()) << "the message about a file";
}

TEST_F(WalkFiles, AKeyForAViewLeavesTheMessageAboutAFile) {
  ShowRun();
  app_->Open(Make("bad.json", R"({"schema": "penstock.sweep/7"})"));
  Frames(2);
  ASSERT_TRUE(app_->error());
  Press(GLFW_KEY_2, false, true);
  EXPECT_EQ(workspace().view, ViewId::kTimeline);
  EXPECT_FALSE(app_->error());
}

TEST_F(WalkFiles, EveryKindOfSweepDrawsInEveryLook) {
  const std::string ablation =
      R"({"schema": "penstock.sweep/1", "mode": "ablation", "axes": [], "cells": [
 {"name": "read", "values": {}, "state": "measured", "samples_per_s": {"median": 900},
  "seconds_per_sample": 0.001},
 {"name": "+ decode", "values": {}, "state": "measured", "samples_per_s": {"median": 100},
  "seconds_per_sample": 0.01, "increment_s": 0.009},
 {"name": "+ h2d", "values": {}, "state": "unavailable", "error": "no GPU"}]})";
  const std::string pending =
      R"({"schema": "penstock.sweep/1", "axes": [{"name": "io", "values": ["read"]}], "cells": [
 {"name": "io:read", "values": {"io": "read"}, "state": "pending"}]})";
  for (const std::string& text : {SweepText(), ablation, pending}) {
    app_->Open(Make("s.json", text));
    Frames(3);
    ASSERT_FALSE(app_->error()) << app_->error()->message;
    SweepViewState& state = workspace().sweep;
    for (std::size_t a = 0; a < state.file->axes.size(); ++a) {
      state.look = WithAcross(state.look, a);
      Frames(2);
    }
    for (const float width : {800.0F, 1280.0F, 1920.0F}) {
      ImGui::GetIO().DisplaySize = {width, width * 0.6F};
      Frames(2);
      MoveTo(width * 0.2F, width * 0.25F);
      Frames(1);
    }
  }
}

TEST_F(WalkFiles, ACellLeadsToItsTrace) {
  ShowRun();
  app_->Open(Make("s.json", SweepText()));
  Frames(2);
  workspace().wish = {WishKind::kOpen, folder_ / "none.penstock", {}};
  Frames(1);
  EXPECT_TRUE(app_->loading());
  EXPECT_EQ(workspace().view, ViewId::kOverview);
  EXPECT_TRUE(Until([this] { return !app_->loading(); }));
  Frames(1);
  EXPECT_TRUE(app_->error()) << "a trace that is gone is said";
  EXPECT_NE(workspace().sweep.file, nullptr);
}

TEST_F(WalkFiles, TwoTracesAreComparedAndSwapped) {
  ShowPair();
  ASSERT_TRUE(Compared());
  ASSERT_TRUE(workspace().compare.job->answer());
  const double ratio = workspace().compare.job->answer()->comparison.throughput.ratio.estimate;
  EXPECT_GT(ratio, 1.05);
  const fs::path a = workspace().document.path;
  workspace().wish = {WishKind::kSwap, {}, {}};
  Frames(1);
  WaitForComparison();
  EXPECT_EQ(workspace().compare.other.path, a);
  ASSERT_TRUE(Compared());
  EXPECT_NEAR(workspace().compare.job->answer()->comparison.throughput.ratio.estimate, 1 / ratio,
              0.01);
}

// When a followed run has ended, its whole trace is often ready before its analysis.
TEST_F(WalkFiles, AComparisonIsOfTheLatestAnalysis) {
  ShowPair();
  ASSERT_TRUE(workspace().compare.job->answer());
  EXPECT_GT(workspace().compare.job->answer()->comparison.throughput.ratio.estimate, 1.05);
  workspace().document.analysis = workspace().compare.other.analysis;
  WaitForComparison();
  ASSERT_TRUE(workspace().compare.job->answer());
  EXPECT_NEAR(workspace().compare.job->answer()->comparison.throughput.ratio.estimate, 1, 1e-9);
}

TEST_F(WalkFiles, ATraceThatIsNotFollowedIsNotCalledLive) {
  ShowPair();
  workspace().compare.other.live = Live::kWriting;  // as if it had been opened before its run ended
  ASSERT_TRUE(Compared());
  workspace().wish = {WishKind::kSwap, {}, {}};
  Frames(1);
  EXPECT_EQ(workspace().document.live, Live::kNo);
  EXPECT_FALSE(app_->paused());
}

TEST_F(WalkFiles, ATraceIsNoLongerLiveAfterAnotherOneFailedToOpen) {
  Document document = Decoding(12, folder_ / "a.penstock");
  document.live = Live::kWriting;
  app_->Show(document);
  Frames(2);
  Press(GLFW_KEY_SPACE);
  ASSERT_TRUE(app_->paused());
  app_->Open(folder_ / "none.penstock");
  ASSERT_TRUE(Until([this] { return !app_->loading(); }));
  ASSERT_TRUE(app_->error());
  EXPECT_EQ(workspace().document.path, document.path) << "what was open stays";
  EXPECT_EQ(workspace().document.live, Live::kNo);
  EXPECT_FALSE(app_->paused());
}

TEST_F(WalkFiles, DroppedFilesGoWhereTheyBelong) {
  const fs::path sweep = Make("s.json", SweepText());
  app_->Dropped({sweep});
  Frames(1);
  EXPECT_EQ(workspace().view, ViewId::kSweep);
  app_->Dropped({folder_ / "none-a.penstock", folder_ / "none-b.penstock"});
  EXPECT_TRUE(app_->loading());
  EXPECT_EQ(workspace().view, ViewId::kCompare);
  app_->Dropped({});
}

TEST_F(WalkFiles, TheReportIsSavedUnderTheNameProposed) {
  app_->Show(Decoding(12, folder_ / "run.penstock"));
  Frames(2);
  Press(GLFW_KEY_H, true, false, true);
  Accept();
  const std::string page = Read(folder_ / "run-report.html");
  EXPECT_NE(page.find("<html"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "run-report.html.part"));
  EXPECT_TRUE(app_->notice().shown());
  EXPECT_FALSE(app_->notice().failed());
  EXPECT_NE(app_->notice().text().find("run-report.html"), std::string::npos);
  EXPECT_EQ(app_->settings().folder, folder_);
}

TEST_F(WalkFiles, EveryTableIsSaved) {
  ShowPair();
  app_->ShowSweep(testing::SampleSweep());
  workspace().timeline.selection = TimeRange{100'000'000, 300'000'000};
  int saved = 0;
  for (const ExportInfo& info : Exports()) {
    if (info.kind == ExportKind::kPicture) continue;
    ASSERT_TRUE(CanExport(workspace(), info.kind)) << info.ending;
    const auto text = ExportText(workspace(), info.kind, Language::kEnglish);
    ASSERT_TRUE(text) << info.ending;
    if (info.kind == ExportKind::kReport) {  // has the window's language
      const auto chinese = ExportText(workspace(), info.kind, Language::kChinese);
      EXPECT_NE(chinese->find("<html lang=\"zh\">"), std::string::npos);
    }
    EXPECT_GT(std::count(text->begin(), text->end(), '\n'), 1) << info.ending;
    if (info.kind == ExportKind::kSweep) continue;  // the folder of the sample does not exist
    app_->Export(info.kind);
    Accept();
    EXPECT_EQ(Read(ProposedExport(workspace(), info.kind)), *text) << info.ending;
    ++saved;
  }
  EXPECT_EQ(saved, 7);
}

TEST_F(WalkFiles, WhatIsNotThereCannotBeExported) {
  Frames(1);
  for (const ExportInfo& info : Exports()) {
    EXPECT_EQ(CanExport(workspace(), info.kind), info.kind == ExportKind::kPicture);
  }
  app_->Export(ExportKind::kStages);
  Frames(2);
  EXPECT_FALSE(app_->notice().shown());
}

TEST_F(WalkFiles, AFolderThatIsGoneIsSaidBeforeSaving) {
  app_->Show(Decoding(12, folder_ / "gone" / "run.penstock"));
  Frames(2);
  app_->Export(ExportKind::kStages);
  Accept();
  EXPECT_FALSE(app_->notice().shown()) << "nothing is saved into a folder that does not exist";
  Press(GLFW_KEY_ESCAPE);
  Frames(2);
}

TEST_F(WalkFiles, AFailureStaysUntilItIsSeen) {
  Frames(1);
  app_->Saved(folder_ / "x.csv", Result<void>(Fail(ErrorKind::kOutput, "x.csv: disk full")));
  Frames(400);  // longer than the message of a success is shown
  EXPECT_TRUE(app_->notice().shown());
  EXPECT_TRUE(app_->notice().failed());
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(app_->notice().shown());
  app_->Saved(folder_ / "x.csv", {});
  Frames(400);
  EXPECT_FALSE(app_->notice().shown());
}

TEST_F(WalkFiles, APictureIsTakenWhenTheMenusAreGone) {
  app_->Show(Decoding(12, folder_ / "run.penstock"));
  Frames(2);
  Press(GLFW_KEY_P, true, false, true);
  Accept();
  EXPECT_TRUE(app_->picture_pending());
  std::optional<fs::path> path;
  for (int i = 0; i < 10 && !path; ++i) {
    Frames(1);
    path = app_->TakePicture();
  }
  EXPECT_EQ(path, folder_ / "run-overview.png");
  EXPECT_FALSE(app_->picture_pending());
}

TEST_F(WalkFiles, ListsOpenByKeys) {
  ShowRun();
  Press(GLFW_KEY_E, true);
  Frames(1);
  EXPECT_TRUE(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId));
  Press(GLFW_KEY_ESCAPE);
  Frames(2);
  EXPECT_FALSE(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId));
  Press(GLFW_KEY_R, true);
  EXPECT_TRUE(app_->commands_open());
}

TEST_F(WalkFiles, BothLanguagesAndThemesDrawTheViewsOfTwoFiles) {
  ShowPair();
  app_->ShowSweep(testing::SampleSweep());
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (const Language language : {Language::kChinese, Language::kEnglish}) {
      app_->settings().theme = theme;
      app_->settings().language = language;
      app_->RebuildStyle();
      app_->ShowOther(workspace().compare.other);
      for (const ViewId view : {ViewId::kSweep, ViewId::kCompare}) {
        workspace().view = view;
        Frames(2);
        EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 500) << static_cast<int>(view);
      }
    }
  }
}

}  // namespace
}  // namespace penstock::gui
