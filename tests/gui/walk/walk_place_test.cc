// SPDX-License-Identifier: Apache-2.0
//
// The place that a command line asks for, and the copied command line that opens the window at its
// present place.
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gui/main/view_command.h"
#include "tests/analyzer/long_trace/long_trace.h"
#include "tests/gui/walk/walk.h"
#include "traces/pack.h"
#include "traces/preview.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;
using testing::DocumentOf;

class WalkPlace : public testing::Walk {
 protected:
  static Document Decoding(double decode, const fs::path& path) {
    Synthetic run;
    run.costs = Always({.read = 1, .decode = decode, .augment = 3, .step = 4});
    Document document = DocumentOf(SyntheticTrace(run));
    document.path = path;
    return document;
  }

  // The words of the copied command after those of the view.
  std::vector<std::string> Copied() {
    std::istringstream text(ViewCommand(workspace()));
    std::vector<std::string> words;
    bool after = false;
    for (std::string word; text >> word;) {
      if (after) words.push_back(word);
      after = after || word == "timeline";
    }
    return words;
  }

  fs::path folder_ = ::testing::TempDir();
};

TEST_F(WalkPlace, TheCommandThatOpensThisViewIsCopied) {
  const auto copied = [this] {
    Press(GLFW_KEY_C, true, false, true);
    return std::string(ImGui::GetClipboardText());
  };
  app_->Show(Decoding(12, folder_ / "my run.penstock"));
  Frames(2);
  const std::string start = "penstock gui '" + (folder_ / "my run.penstock").string() + "' --view ";
  EXPECT_EQ(copied(), start + "overview");
  EXPECT_FALSE(app_->notice().failed());
  EXPECT_NE(app_->notice().text().find("my run.penstock"), std::string::npos);
  workspace().view = ViewId::kIo;
  workspace().timeline.selection = TimeRange{100'000'000, 300'000'000};
  EXPECT_EQ(copied(), start + "io --at 0.1s..0.3s");
  workspace().view = ViewId::kTimeline;
  workspace().timeline.view.Show({50'000'000, 400'000'000});
  EXPECT_EQ(copied(), start + "timeline --at 0.05s..0.4s --select 0.1s..0.3s");
}

TEST_F(WalkPlace, TheCopiedCommandOpensTheSameViewAndChoosesTheSameSpanOrNone) {
  const Document document = Decoding(12, folder_ / "run.penstock");
  const Timeline& timeline = *document.timeline;
  app_->Show(document);
  workspace().view = ViewId::kTimeline;
  Frames(2);
  EXPECT_TRUE(Copied().empty());
  workspace().search.text = "decode";
  EXPECT_TRUE(Copied().empty()) << "a search chooses no span";
  std::size_t chosen = 0;
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    for (std::uint32_t v = 0; v < timeline.lanes[l].levels.size(); ++v) {
      const auto size = static_cast<std::uint32_t>(timeline.lanes[l].levels[v].size());
      for (std::uint32_t i = 0; i < size; i += size / 3 + 1) {
        const SpanRef span{l, v, i};
        app_->Show(document);
        workspace().timeline.span = span;
        if (i > 0) {
          const std::int64_t margin = 3 * (timeline.end(span) - timeline.start(span)) + 1000;
          workspace().timeline.view.Show(
              {timeline.start(span) - margin, timeline.end(span) + margin});
        }
        const TimeRange before = Inside(timeline, visible());
        const std::vector<std::string> words = Copied();
        Place place;
        for (std::size_t w = 0; w + 1 < words.size(); w += 2) {
          if (words[w] == "--at") {
            place.at = *ReadTimes("--at", words[w + 1]);
          } else {
            ASSERT_TRUE(ReadSelected(words[w + 1], &place)) << words[w + 1];
          }
        }
        if (place.given()) app_->WantPlace(place);
        app_->Show(document);
        EXPECT_EQ(Inside(timeline, visible()), before);
        EXPECT_EQ(workspace().search.text, "");
        if (workspace().timeline.span) {
          EXPECT_EQ(workspace().timeline.span, span);
        } else {
          EXPECT_FALSE(place.NamesSpan());
        }
        chosen += workspace().timeline.span ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(chosen, 0U);
  EXPECT_FALSE(app_->notice().shown());
  // A mark without a batch is one of many. The words could only name its stage, and would choose
  // the longest mark.
  traces::TraceData data = analyzer::testing::MakeSynthetic({.batches = 20});
  for (auto& spans : data.spans) {
    for (auto& one : spans) {
      if (one.stage != traces::StageId::kAugment) continue;
      one.stage = traces::StageId::kMark;
      one.batch = {};
      one.sample = traces::Span().sample;
    }
  }
  app_->Show(DocumentOf(traces::MakeTrace(std::move(data))));
  const Timeline& marked = *workspace().document.timeline;
  const auto mark = Longest(marked, traces::StageId::kMark, {0, marked.length});
  ASSERT_TRUE(mark.has_value());
  ASSERT_FALSE(marked.detail(*mark).key().valid());
  workspace().timeline.span = mark;
  workspace().document.path = folder_ / "marks.penstock";
  EXPECT_TRUE(Copied().empty());
}

TEST_F(WalkPlace, OtherViewsShowAWantedPlaceAndCopyIt) {
  Synthetic run;
  run.epochs = 3;
  run.batches = 20;
  Document document = DocumentOf(SyntheticTrace(run));
  document.path = folder_ / "run.penstock";
  const auto open = [&](ViewId view, const std::vector<std::string>& select, const char* at) {
    Place place;
    for (const std::string& word : select) EXPECT_TRUE(ReadSelected(word, &place)) << word;
    if (at != nullptr) place.at = *ReadTimes("--at", at);
    app_->WantPlace(place);
    workspace().view = view;
    app_->Show(document);
    EXPECT_TRUE(Until([this] {
      return !workspace().animating() && !app_->waiting() && !workspace().ranges->busy();
    }));
    Frames(2);
    EXPECT_FALSE(app_->notice().failed()) << app_->notice().text();
    const std::string command = ViewCommand(workspace());
    return command.substr(command.find("--view"));
  };
  const Timeline& timeline = *document.timeline;
  std::string copied = open(ViewId::kStages, {"epoch:3", "batch:12", "stage:fetch"}, nullptr);
  ASSERT_TRUE(workspace().timeline.span.has_value());
  EXPECT_EQ(timeline.detail(*workspace().timeline.span).generation, 3);
  EXPECT_EQ(workspace().stages.chosen->stage, traces::StageId::kFetch);
  EXPECT_EQ(copied, "--view stages --select epoch:3 --select batch:12 --select stage:fetch");
  EXPECT_EQ(open(ViewId::kStages, {"stage:collate"}, nullptr),
            "--view stages --select stage:collate");
  EXPECT_EQ(workspace().stages.chosen->stage, traces::StageId::kCollate);
  EXPECT_FALSE(workspace().timeline.span.has_value()) << "all calls of the stage are meant";
  EXPECT_EQ(open(ViewId::kWorkers, {"worker:1"}, "0.02s..0.2s"),
            "--view workers --at 0.02s..0.2s --select worker:1");
  EXPECT_EQ(workspace().workers.chosen, workspace().ChosenWorker());
  EXPECT_NE(workspace().part, nullptr) << "the times restrict the view";
  // A row that is clicked is copied too.
  workspace().workers.chosen = document.timeline->groups[1].process.value;
  EXPECT_NE(ViewCommand(workspace()).find("--select worker:0"), std::string::npos);
  EXPECT_EQ(open(ViewId::kIo, {"epoch:2", "batch:3", "stage:read"}, "0s..60s"),
            "--view io --at 0s.." + SecondsText(timeline.length) + " --select epoch:2" +
                " --select batch:3 --select stage:read");
  ASSERT_TRUE(workspace().timeline.span.has_value());
  EXPECT_TRUE(workspace().ChosenWorker().has_value()) << "of the chosen span";
  // The first Esc removes the interval, the second the chosen span.
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(workspace().Range().has_value());
  EXPECT_TRUE(workspace().timeline.span.has_value());
  Press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(workspace().timeline.span.has_value());
  EXPECT_EQ(open(ViewId::kOverview, {"batch:3"}, "0.02s..0.2s"),
            "--view overview --at 0.02s..0.2s");
}

TEST_F(WalkPlace, ALoaderIsChosenForAllViewsThatShowOne) {
  Document document = DocumentOf(testing::TwoLoaders());
  document.path = folder_ / "run.penstock";
  app_->Show(document);
  workspace().view = ViewId::kWhatIf;
  Frames(2);
  EXPECT_EQ(workspace().Loaders(), (std::vector<std::string>{"train.py:88", "train.py:97"}));
  ASSERT_TRUE(workspace().whatif.answer && *workspace().whatif.answer);
  const double measured = (*workspace().whatif.answer)->measured;
  workspace().ChooseLoader("train.py:97");
  ASSERT_TRUE(Until([this] { return workspace().part != nullptr; }));
  Frames(2);
  ASSERT_TRUE(workspace().whatif.answer && *workspace().whatif.answer);
  EXPECT_GT((*workspace().whatif.answer)->measured, 1.2 * measured);
  for (const ViewId view :
       {ViewId::kOverview, ViewId::kWorkers, ViewId::kStages, ViewId::kWhatIf}) {
    workspace().view = view;
    Frames(1);
    if (view == ViewId::kStages) continue;  // adds up all loaders
    ASSERT_TRUE(Until([this] { return workspace().part != nullptr; })) << "kept for the next view";
    EXPECT_EQ(workspace().part->analysis->report.diagnosis.run.loader().name, "train.py:97");
  }
  const std::string command = ViewCommand(workspace());
  EXPECT_NE(command.find("--view what-if --loader train.py:97"), std::string::npos) << command;
  workspace().view = ViewId::kTimeline;
  Frames(2);
  EXPECT_EQ(workspace().part, nullptr);
  workspace().view = ViewId::kWhatIf;
  workspace().ChooseLoader("train.py:88");
  Frames(2);
  EXPECT_EQ(workspace().part, nullptr) << "the whole run is analysed for the main one";
  EXPECT_EQ((*workspace().whatif.answer)->measured, measured);
  // The loader of a command line.
  Place place;
  place.loader = "train.py:97";
  app_->WantPlace(place);
  app_->Show(document);
  EXPECT_EQ(workspace().loader, "train.py:97");
  EXPECT_FALSE(app_->notice().failed());
  place.loader = "train.py:1";
  app_->WantPlace(place);
  app_->Show(document);
  EXPECT_TRUE(workspace().loader.empty());
  EXPECT_TRUE(app_->notice().failed());
  EXPECT_NE(app_->notice().text().find("train.py:88, train.py:97"), std::string::npos);
}

TEST_F(WalkPlace, AQuestionInSqlIsAskedCopiedAndAskedAgain) {
  const Document document = Decoding(12, folder_ / "run.penstock");
  Place place;
  place.sql = "SELECT delivered_ns, waited_ns FROM batches";
  app_->WantPlace(place);
  workspace().view = ViewId::kSql;
  app_->Show(document);
  SqlViewState& state = workspace().sql;
  ASSERT_TRUE(Until([&] { return state.chart.has_value(); }));
  EXPECT_EQ(state.order.size(), 200U);
  const std::string command = ViewCommand(workspace());
  EXPECT_NE(command.find("--view sql --sql 'SELECT delivered_ns, waited_ns FROM batches'"),
            std::string::npos)
      << command;
  // An error leaves the window as it was.
  state.text = state.asked = "SELECT";
  ++state.number;
  ASSERT_TRUE(Until([&] { return !state.reply.busy(); }));
  Frames(2);
  EXPECT_EQ(state.text, "SELECT");
  Press(GLFW_KEY_1, false, true);
  Press(GLFW_KEY_0, false, true);
  EXPECT_EQ(workspace().view, ViewId::kSql);
}

TEST_F(WalkPlace, SqlOpensWithTheAnswerToItsFirstQuestion) {
  app_->Show(Decoding(12, folder_ / "run.penstock"));
  workspace().view = ViewId::kSql;
  SqlViewState& state = workspace().sql;
  EXPECT_TRUE(Until([&] { return !state.order.empty(); }));
  EXPECT_EQ(state.asked, state.text);
}

TEST_F(WalkPlace, ATraceThatGrowsIsAskedAboutAgainOnRequestAlone) {
  Document document = Decoding(12, folder_ / "run.penstock");
  document.live = Live::kWriting;
  document.serial = 7;
  Place place;
  place.sql = "SELECT batch FROM batches";
  app_->WantPlace(place);
  workspace().view = ViewId::kSql;
  app_->Show(document);
  SqlViewState& state = workspace().sql;
  ASSERT_TRUE(Until([&] { return state.order.size() == 200; }));
  Synthetic longer;
  longer.batches = 300;
  workspace().document.trace = SyntheticTrace(longer);
  Frames(2);
  EXPECT_FALSE(state.reply.busy());
  EXPECT_EQ(state.order.size(), 200U);
  ++state.number;
  ASSERT_TRUE(Until([&] { return state.order.size() == 300; }));
  // Nothing that was made from a closed trace stays.
  const std::weak_ptr<const traces::Trace> closed = workspace().document.trace;
  const std::shared_ptr<SqlDesk> desk = state.desk;
  document.trace = SyntheticTrace({});
  workspace().view = ViewId::kOverview;
  app_->Show(document);
  EXPECT_TRUE(closed.expired());
  EXPECT_NE(state.desk, desk);
  EXPECT_TRUE(state.order.empty());
  EXPECT_EQ(state.asked, place.sql);
}

TEST_F(WalkPlace, AQuestionIsNotAskedWhileAnotherIsAnswered) {
  app_->Show(Decoding(12, folder_ / "run.penstock"));
  workspace().view = ViewId::kSql;
  SqlViewState& state = workspace().sql;
  state.asked =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
  Frames(2);
  ASSERT_TRUE(state.reply.busy());
  const unsigned number = state.number;
  Click(400, 130);
  Press(GLFW_KEY_ENTER, true);
  EXPECT_EQ(state.number, number);
  state.asked.clear();
  app_->Show(Decoding(12, folder_ / "other.penstock"));
  // The view asks its first question by itself.
  ASSERT_TRUE(Until([&] { return !state.reply.busy(); }));
  const unsigned first = state.number;
  Click(400, 130);
  Press(GLFW_KEY_ENTER, true);
  EXPECT_EQ(state.number, first + 1);
}

TEST_F(WalkPlace, AWantedPlaceIsForgottenWithItsTrace) {
  Place place;
  ASSERT_TRUE(ReadSelected("0.1s..0.2s", &place));
  workspace().view = ViewId::kTimeline;
  // The place is forgotten if its trace cannot be read.
  app_->WantPlace(place);
  app_->Open(folder_ / "missing.penstock");
  ASSERT_TRUE(Until([this] { return app_->error().has_value(); }));
  app_->Show(Decoding(12, folder_ / "missing.penstock"));
  Frames(1);
  EXPECT_FALSE(workspace().timeline.selection.has_value());
  // The place is forgotten if another trace is opened before the first has been read.
  app_->WantPlace(place);
  app_->Open(folder_ / "first.penstock");
  app_->Open(folder_ / "second.penstock");
  app_->Show(Decoding(12, folder_ / "second.penstock"));
  EXPECT_FALSE(workspace().timeline.selection.has_value());
  app_->WantPlace(place);
  app_->Show(Decoding(12, folder_ / "third.penstock"));
  EXPECT_TRUE(workspace().timeline.selection.has_value());
}

TEST_F(WalkPlace, AWantedPlaceIsShownWhenTheTraceIsThere) {
  Place place;
  ASSERT_TRUE(ReadSelected("batch:3", &place));
  ASSERT_TRUE(ReadSelected("stage:decode", &place));
  place.at = {0.001, std::nullopt};
  app_->WantPlace(place);
  workspace().view = ViewId::kTimeline;
  app_->Show(Decoding(12, folder_ / "run.penstock"));
  Frames(2);
  EXPECT_EQ(visible().from, 1'000'000);
  const Timeline& timeline = *workspace().document.timeline;
  ASSERT_TRUE(workspace().timeline.span);
  EXPECT_EQ(timeline.stage(*workspace().timeline.span), traces::StageId::kDecode);
  EXPECT_EQ(timeline.detail(*workspace().timeline.span).batch, 3U);
  EXPECT_FALSE(app_->notice().shown());
  Place missing;
  ASSERT_TRUE(ReadSelected("batch:999999", &missing));
  app_->WantPlace(missing);
  app_->Show(Decoding(12, folder_ / "run.penstock"));
  EXPECT_TRUE(app_->notice().failed());
  EXPECT_NE(app_->notice().text().find("batch:999999"), std::string::npos);
}

TEST_F(WalkPlace, ASelectionThatIsClearedWhileSpansAreReadIsNotNeeded) {
  const fs::path path = folder_ / "penstock_walk_place.penstock";
  auto packer = traces::CreatePacked(path);
  ASSERT_TRUE(packer.has_value());
  analyzer::testing::LongTrace run;
  run.spans = traces::kPreviewSpans + 1000;
  run.epoch_batches = 20;
  WriteLongTrace(run, **packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
  Place place;
  ASSERT_TRUE(ReadSelected("1s..2s", &place));
  ASSERT_TRUE(ReadSelected("stage:decode", &place));
  app_->WantPlace(place);
  workspace().view = ViewId::kTimeline;
  app_->Open(path);
  // The preview is shown first, with the selection. The spans follow later.
  ASSERT_TRUE(Until([this] { return workspace().document.timeline != nullptr; }));
  workspace().timeline.selection.reset();
  ASSERT_TRUE(Until([this] { return !workspace().document.timeline->preview; }));
  Frames(1);
  ASSERT_TRUE(workspace().timeline.span.has_value());
  const Timeline& timeline = *workspace().document.timeline;
  const std::int64_t start = timeline.start(*workspace().timeline.span);
  EXPECT_GE(start, 1'000'000'000);
  EXPECT_LE(start, 2'000'000'000);
  EXPECT_FALSE(workspace().timeline.selection.has_value());
  fs::remove(path);
}

}  // namespace
}  // namespace penstock::gui
