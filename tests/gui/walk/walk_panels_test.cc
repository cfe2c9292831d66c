// SPDX-License-Identifier: Apache-2.0
//
// Panels of all views, and the parts that several of them share: copy buttons, wrapped text, names.
#include <imgui_internal.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <string_view>

#include "gui/views/files/compare_parts.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/gpu_panels.h"
#include "gui/views/panels/overview_parts.h"
#include "gui/views/timeline/timeline_canvas.h"
#include "gui/widgets/plot.h"
#include "gui/widgets/time_plot.h"
#include "tests/gui/walk/walk.h"

namespace penstock::gui {
namespace {

using testing::Walk;

class WalkPanels : public Walk {
 protected:
  void SetUp() override {
    Walk::SetUp();
    ShowRun();
  }
  const Ui& ui() { return app_->ui(); }

  // A window that the last frame drew and whose name contains `part`; nullptr if there is none.
  static ImGuiWindow* ActiveWindow(std::string_view part) {
    for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      const std::string_view name = window->Name;
      if (window->Active && name.find(part) != name.npos) return window;
    }
    return nullptr;
  }

  // Calls `draw` in a new window and returns the id of the last item.
  template <class Draw>
  ImGuiID LastItemOf(const Draw& draw) {
    PretendToRender();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({1000, 400});
    ImGui::Begin("alone");
    draw();
    const ImGuiID id = ImGui::GetItemID();
    GrowToCursor();
    ImGui::End();
    ImGui::Render();
    PretendToRender();
    return id;
  }
};

// ImGui identifies the item with the keyboard focus by its id.
TEST_F(WalkPanels, ACopyButtonKeepsItsIdWhenItSaysThatItCopied) {
  const auto draw = [this] { CopyButton(ui(), workspace(), "python train.py"); };
  const ImGuiID before = LastItemOf(draw);
  workspace().CopyText("python train.py");
  EXPECT_EQ(LastItemOf(draw), before);
}

TEST_F(WalkPanels, PartsOfTheRibbonKeepTheirIdsWhileTheViewScrolls) {
  Analysis analysis;
  Ribbon& ribbon = analysis.ribbon;
  ribbon.making = {{traces::StageId::kDecode, Text::kDecode, 0.02, true}};
  ribbon.making_time = 0.02;
  ribbon.loop = {{traces::StageId::kStep, Text::kStep, 0.01, false}};
  ribbon.loop_time = 0.01;
  const auto draw_at = [&](float y) {
    return LastItemOf([&] { DrawRibbon(ui(), analysis, {{0, y}, {900, y + 140}}); });
  };
  EXPECT_EQ(draw_at(100), draw_at(63));
}

// In the dark theme the legend's line was white and the lines in the blocks were black.
TEST_F(WalkPanels, TheRibbonsLegendDrawsTheLineOfTheTimeOnACoreAsTheBlocksDo) {
  Analysis analysis;
  Ribbon& ribbon = analysis.ribbon;
  ribbon.making = {{traces::StageId::kDecode, Text::kDecode, 0.02, false, 0.01}};
  ribbon.making_time = 0.02;
  const ImU32 ink = Ink(InkOn(StageColour(traces::StageId::kDecode, ui().theme)));
  int in_legend = 0;
  LastItemOf([&] {
    DrawRibbon(ui(), analysis, {{0, 100}, {900, 240}});
    for (const ImDrawVert& vertex : ImGui::GetWindowDrawList()->VtxBuffer) {
      const bool above = vertex.pos.y > 100 && vertex.pos.y < 100 + ui().Px(30);
      in_legend += above && vertex.col == ink ? 1 : 0;
    }
  });
  EXPECT_GE(in_legend, 4);
}

// The box of "recorded 1959" bit a piece out of the band: it now stands beyond what this returns.
TEST(PlotBandTest, ReachesFromItsLowestToItsHighestValueBetweenTwoX) {
  const PlotBand band{{}, {0, 1, 3}, {10, 20, 8}, {30, 60, 40}};
  EXPECT_EQ(ReachOf(band, 0, 3), std::pair(8.0, 60.0));
  EXPECT_EQ(ReachOf(band, 0, 0.5), std::pair(10.0, 45.0));
  EXPECT_EQ(ReachOf(band, 2, 2.5), std::pair(11.0, 50.0));
  EXPECT_EQ(ReachOf(band, -1, 0), std::pair(10.0, 30.0)) << "beyond the ends";
}

// "36.5 ms a batch, without gaps between e…" was cut in every window: the column has 250 pixels.
TEST_F(WalkPanels, TheRibbonsColumnHasRoomForTheMeanOfAllBatches) {
  EXPECT_LE(TextWidth(ui().small, ui().F(Text::kEachOfAllBatches, "36.5 ms")), ui().Px(242));
}

TEST_F(WalkPanels, ABoxOfCodeIsNoHigherThanItsLimitOfLines) {
  std::string code = "python train.py";
  for (int i = 0; i < 40; ++i) code += " --option value";
  const float four = CodeBoxHeight(ui(), code, 300, 4);
  EXPECT_NEAR(four, (FontPixels(ui().mono) + ui().Px(3)) * 4 + ui().Px(15), 0.01F);
  EXPECT_GT(CodeBoxHeight(ui(), code, 300), four);
  // A text that fits is not cut.
  EXPECT_FLOAT_EQ(CodeBoxHeight(ui(), "python", 300, 4), CodeBoxHeight(ui(), "python", 300));
}

TEST_F(WalkPanels, TheOverviewCopiesTheLineOfAStepOfThePlan) {
  for (float y = 100; y < 400 && workspace().copied.empty(); y += 8) Click(1205, y);
  EXPECT_TRUE(workspace().copied.starts_with("DataLoader(dataset, ")) << workspace().copied;
}

TEST_F(WalkPanels, TheOverviewHasRoomForWhatExperimentsMeasured) {
  analyzer::Probes probes;
  EXPECT_EQ(ProbesHeight(ui(), probes, 900), 0) << "no experiments were asked for";
  probes.any = true;
  probes.check.gain = {1, 0.98, 1.02};
  analyzer::ProbedFactor decode;
  decode.name = "decode";
  decode.speed = 2;
  decode.windows = 8;
  decode.gain = {1.58, 1.51, 1.66};
  decode.predicted = {1.63, 1.55, 1.7};
  probes.factors = {decode};
  const float one = ProbesHeight(ui(), probes, 900);
  EXPECT_GT(one, 2 * FontPixels(ui().body));
  probes.factors.push_back(decode);
  EXPECT_NEAR(ProbesHeight(ui(), probes, 900) - one, FontPixels(ui().body) + ui().Px(4), 0.01F);
  EXPECT_GT(ProbesHeight(ui(), probes, 300), ProbesHeight(ui(), probes, 900))
      << "in a narrow area the text is wrapped";
}

TEST_F(WalkPanels, NothingScrollsInsideAnOverviewThatScrolls) {
  workspace().view = ViewId::kOverview;
  Frames(4);
  const ImGuiWindow* page = ActiveWindow("overview");
  ASSERT_NE(page, nullptr) << "1280x720 is too low for the whole view";
  EXPECT_GT(page->ScrollMax.y, 0);
  for (const char* list : {"suggestion", "findings"}) {
    const ImGuiWindow* window = ActiveWindow(list);
    ASSERT_NE(window, nullptr);
    EXPECT_EQ(window->ScrollMax.y, 0) << list;
  }
  EXPECT_FALSE(workspace().animating()) << "the heights have settled";
}

// It stood between the lists and the rate over time, which is drawn last where the view scrolls.
TEST_F(WalkPanels, TheCoverageStandsBelowEverythingInAnOverviewThatScrolls) {
  workspace().view = ViewId::kOverview;
  Frames(6);
  ASSERT_FALSE(workspace().Shown().analysis->loop_rate.empty());
  ImGuiWindow* page = ActiveWindow("overview");
  ASSERT_NE(page, nullptr) << "1280x720 is too low for the whole view";
  ImGui::SetScrollY(page, page->ScrollMax.y);
  Frames(2);
  MoveTo(page->Pos.x + 100, page->Pos.y + page->Size.y - 8);
  Frames(1);
  EXPECT_EQ(ImGui::GetCurrentContext()->HoveredId, page->GetID("##coverage"));
}

// At 1080 pixels the lists had 200 pixels each, and the last lines were cut.
TEST_F(WalkPanels, ListsOfTheOverviewDoNotScrollInAHighWindowEither) {
  workspace().view = ViewId::kOverview;
  for (float height = 760; height < 1400; height += 40) {
    ImGui::GetIO().DisplaySize.y = height;
    Frames(6);
    for (const char* list : {"suggestion", "findings"}) {
      const ImGuiWindow* window = ActiveWindow(list);
      ASSERT_NE(window, nullptr);
      EXPECT_EQ(window->ScrollMax.y, 0) << list << " at " << height;
    }
  }
}

// A run without a loader has no ribbon; 150 pixels below the lists were kept for one.
TEST_F(WalkPanels, AnOverviewWithoutALoaderKeepsNoRoomForTheRibbon) {
  app_->Show(
      testing::DocumentOf(testing::MakeThreads({{{0, 2'000'000'000, traces::StageId::kRead}}})));
  workspace().view = ViewId::kOverview;
  // The highest window in which the view scrolls shows nearly all of it.
  float height = 1000;
  for (; height > 300; height -= 20) {
    ImGui::GetIO().DisplaySize.y = height;
    Frames(6);
    if (ActiveWindow("overview") != nullptr) break;
  }
  ASSERT_GT(height, 300);
  const ImGuiWindow* findings = ActiveWindow("findings");
  ASSERT_NE(findings, nullptr);
  EXPECT_LT(findings->Size.y, workspace().plan.lists);
}

// A run that is followed gets a new analysis every few seconds.
TEST_F(WalkPanels, APredictionFollowsTheLatestAnalysis) {
  workspace().view = ViewId::kWhatIf;
  Frames(2);
  workspace().whatif.chosen.workers = 5;
  Frames(2);
  ASSERT_TRUE(workspace().whatif.answer && *workspace().whatif.answer);
  const double measured = (*workspace().whatif.answer)->measured;
  analyzer::testing::Synthetic run;
  run.costs = analyzer::testing::Always({.read = 1, .decode = 4, .augment = 3, .step = 4});
  workspace().document.analysis =
      testing::DocumentOf(analyzer::testing::SyntheticTrace(run)).analysis;
  Frames(2);
  ASSERT_TRUE(workspace().whatif.answer && *workspace().whatif.answer);
  EXPECT_GT((*workspace().whatif.answer)->measured, 1.2 * measured);
  EXPECT_EQ(workspace().whatif.chosen.workers, 5) << "what the user chose stays";
}

TEST_F(WalkPanels, WrappedTextIsCutAtItsLimitOfLines) {
  ImFont* font = ui().body;
  const std::string text = "one two three four five six seven eight nine ten";
  const float width = TextWidth(font, "one two three");
  const Wrapped all = WrapText(font, text, width, 0);
  EXPECT_FALSE(all.cut);
  ASSERT_GT(all.lines.size(), 3U);
  const Wrapped some = WrapText(font, text, width, 2);
  EXPECT_TRUE(some.cut);
  ASSERT_EQ(some.lines.size(), 2U);
  EXPECT_EQ(some.lines[0], all.lines[0]);
  EXPECT_TRUE(some.lines[1].ends_with("…"));
  EXPECT_LE(TextWidth(font, some.lines[1]), width);
}

TEST_F(WalkPanels, ANumberAndItsUnitStandInOneLine) {
  ImFont* font = ui().body;
  const std::string text = "it may miss by 8 %. 216 to 228 (90 %), after 25 ms; 占 53 % 的时间";
  for (float width = TextWidth(font, "(90 %), "); width < 400; width += 3) {
    for (const std::string& line : WrapText(font, text, width)) {
      EXPECT_FALSE(line.starts_with("%") || line.starts_with("ms")) << width << ": " << line;
    }
  }
}

// A line ended with "467 至 558（", and the next began with "90 %）".
TEST_F(WalkPanels, AnOpeningBracketStandsInTheLineOfWhatFollows) {
  ImFont* font = ui().body;
  const std::string text = "预测：510 样本/秒，467 至 558（90 %）。见“计划”一节（第 1 步）。";
  for (float width = TextWidth(font, "（90 %）。") + 1; width < 400; width += 3) {
    for (const std::string& line : WrapText(font, text, width)) {
      EXPECT_FALSE(line.ends_with("（") || line.ends_with("“")) << width << ": " << line;
      EXPECT_FALSE(line.starts_with("）") || line.starts_with("”")) << width << ": " << line;
    }
  }
}

TEST_F(WalkPanels, ALongSettingTakesUpToThreeLines) {
  SettingChange setting;
  setting.name = "x";
  setting.before = "1";
  setting.after = "2";
  const float one = CompareSettingsHeight(ui(), {setting}, 400);
  for (int i = 0; i < 6; ++i) setting.after += " --option";
  const float more = CompareSettingsHeight(ui(), {setting}, 400);
  EXPECT_GT(more, one);
  for (int i = 0; i < 60; ++i) setting.after += " --option";
  const float most = CompareSettingsHeight(ui(), {setting}, 400);
  EXPECT_NEAR(most, one + 2 * (FontPixels(ui().body) + ui().Px(2)), 0.01F);
}

// A character that the font lacks is drawn as a question mark, which is half as wide.
TEST_F(WalkPanels, TheFontHasTheCharactersOfRecentFilesNames) {
  if (!HasChineseFont()) return;
  app_->settings().recent = {"/data/训练.penstock"};
  app_->RebuildStyle();
  Frames(1);
  EXPECT_EQ(ui().language, Language::kEnglish);
  EXPECT_GT(TextWidth(ui().body, "训练"), 1.6F * FontPixels(ui().body));
}

// How much of a character's place in the atlas is inked, in pixels.
[[maybe_unused]] double InkOf(ImFontAtlas& atlas, const ImFont* font, ImWchar character) {
  unsigned char* pixels = nullptr;
  int width = 0;
  int height = 0;
  atlas.GetTexDataAsAlpha8(&pixels, &width, &height);
  const ImFontGlyph& glyph = *font->FindGlyph(character);
  const auto edge = [](float part, int whole) {
    return static_cast<int>(std::lround(part * static_cast<float>(whole)));
  };
  double ink = 0;
  for (int y = edge(glyph.V0, height); y < edge(glyph.V1, height); ++y) {
    for (int x = edge(glyph.U0, width); x < edge(glyph.U1, width); ++x) {
      ink += pixels[y * width + x] / 255.0;
    }
  }
  return ink;
}

// A character whose strokes are made wider is wider itself, and its strokes run together.
TEST(FontsTest, ChineseHeadingsAreBolderThanTextsAndTheirStrokesStayApart) {
  if constexpr (!kDynamicFonts) {  // later versions make characters when they are drawn
    ImFontAtlas atlas;
    Ui ui;
    ui.language = Language::kChinese;
    FillAtlas(atlas, ui, "", Glyphs::kNeeded);
    if (!HasChineseFont()) return;
    constexpr ImWchar kMiddle = 0x4e2d;  // 中
    EXPECT_GT(InkOf(atlas, ui.strong, kMiddle), 1.08 * InkOf(atlas, ui.body, kMiddle));
    EXPECT_EQ(ui.strong->FindGlyph(kMiddle)->AdvanceX, ui.body->FindGlyph(kMiddle)->AdvanceX);
  }
}

TEST(LimitedTest, TakesTheLowerEndIfTheUpperEndLiesBelowIt) {
  EXPECT_EQ(Limited(5, 0, 10), 5);
  EXPECT_EQ(Limited(-5, 0, 10), 0);
  EXPECT_EQ(Limited(15, 0, 10), 10);
  EXPECT_EQ(Limited(5, 0, -20), 0) << "a text of 30 pixels in a plot of 10";
}

// While the keyboard moves from item to item, the pointer may be anywhere, even outside the window.
TEST(TimePlotTest, APointerOutsideOfThePlotMeansItsMiddle) {
  TimePlot plot;
  plot.from = 2;
  plot.to = 4;
  const Area area{{100, 50}, {300, 90}};
  EXPECT_NEAR(TimeAt(plot, area, {150, 60}), 2.5, 1e-6);
  EXPECT_NEAR(TimeAt(plot, area, {300, 60}), 4, 1e-6);
  EXPECT_NEAR(TimeAt(plot, area, {150, 20}), 3, 1e-6) << "above the plot";
  EXPECT_NEAR(TimeAt(plot, area, {-FLT_MAX, -FLT_MAX}), 3, 1e-6) << "no pointer";
}

// In English the first column of the table has some 189 pixels in a window of 1280.
TEST_F(WalkPanels, KindsOfCopiesFitIntoTheirColumn) {
  using analyzer::CopyMemory;
  for (const CopyWay way : {CopyWay::kToDevice, CopyWay::kFromDevice}) {
    for (const CopyMemory memory :
         {CopyMemory::kPageable, CopyMemory::kPinned, CopyMemory::kManaged, CopyMemory::kUnknown}) {
      CopyRow row;
      row.way = way;
      row.memory = memory;
      EXPECT_LT(TextWidth(ui().body, KindName(ui(), row)), 189) << KindName(ui(), row);
    }
  }
}

// CUPTI tells each direction and kind of memory apart.
TEST_F(WalkPanels, ManyKindsOfCopiesLeaveRoomForKernels) {
  traces::TraceData data = testing::MakeGpuRun({});
  const std::array kinds = {data.Intern("D2H pinned"),  data.Intern("D2H pageable"),
                            data.Intern("D2H managed"), data.Intern("D2D"),
                            data.Intern("P2P"),         data.Intern("memset")};
  std::size_t copies = 0;
  for (traces::Span& span : data.spans.back()) {
    if (span.stage == traces::StageId::kCopy) span.name = kinds[copies++ % kinds.size()];
  }
  app_->Show(testing::DocumentOf(traces::MakeTrace(std::move(data))));
  workspace().at_once = true;
  workspace().view = ViewId::kGpu;
  Frames(3);
  const auto none = [](const std::stop_token&) -> GpuModel { return {}; };
  const GpuModel* gpu = workspace().gpu.model.Get(workspace().question(), true, none);
  ASSERT_EQ(gpu->copy_rows.size(), 1 + kinds.size());
  ASSERT_FALSE(gpu->kernel_rows.empty());
  EXPECT_NE(ActiveWindow("/names_"), nullptr);
  // The page scrolls, and no kind of copies is cut off.
  const ImGuiWindow* table = ActiveWindow("/copies_");
  ASSERT_NE(table, nullptr);
  const float row = FontPixels(ui().body) + 2 * ImGui::GetStyle().CellPadding.y;
  EXPECT_GE(table->Size.y, row * static_cast<float>(gpu->copy_rows.size() + 1) - 1);
}

TEST_F(WalkPanels, KernelsOutsideOfTheSelectionAreToldFromNone) {
  using traces::StageId;
  app_->Show(testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({}))));
  EXPECT_FALSE(RecordedElsewhere(workspace(), {StageId::kKernel})) << "no selection";
  workspace().timeline.selection = TimeRange{0, 1'000'000};
  EXPECT_TRUE(RecordedElsewhere(workspace(), {StageId::kKernel}));
  app_->Show(testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({.kernel = 0}))));
  workspace().timeline.selection = TimeRange{0, 1'000'000};
  EXPECT_FALSE(RecordedElsewhere(workspace(), {StageId::kKernel})) << "the trace has no kernels";
  EXPECT_TRUE(RecordedElsewhere(workspace(), {StageId::kKernel, StageId::kH2d}));
}

TEST_F(WalkPanels, NoQuestionIsAskedOfATraceWithoutSpans) {
  app_->Show(testing::DocumentOf(traces::MakeTrace({})));
  workspace().view = ViewId::kSql;
  Frames(3);
  EXPECT_EQ(workspace().sql.asked, "");
}

TEST_F(WalkPanels, CallsOfAnotherRowAreListedFromTheFirst) {
  app_->Show(testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({}))));
  workspace().at_once = true;
  workspace().view = ViewId::kStages;
  workspace().stages.chosen = RowId{traces::StageId::kDecode, {}};
  Frames(3);
  ImGuiWindow* list = ActiveWindow("/tail_");
  ASSERT_NE(list, nullptr);
  ImGui::SetScrollY(list, 300);
  Frames(2);
  ASSERT_GT(list->Scroll.y, 0);
  Frames(2);
  EXPECT_GT(list->Scroll.y, 0) << "stays while the row is the same";
  workspace().stages.chosen = RowId{traces::StageId::kRead, {}};
  Frames(3);
  EXPECT_EQ(list->Scroll.y, 0);
}

// The table had the colour of the stage, which is nowhere in the timeline if spans have that of
// their names.
TEST_F(WalkPanels, TheTableBelowTheTimelineHasTheColoursOfNames) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({.batches = 20});
  const StringId name = data.Intern("aten::mul");
  for (auto& spans : data.spans) {
    for (auto& one : spans) {
      if (one.stage != traces::StageId::kAugment) continue;
      one.stage = traces::StageId::kMark;
      one.name = name;
    }
  }
  app_->Show(testing::DocumentOf(traces::MakeTrace(std::move(data))));
  workspace().view = ViewId::kTimeline;
  Frames(3);
  workspace().timeline.FoldAll(*workspace().document.timeline, true);
  ASSERT_TRUE(Until([this] { return workspace().Times() != nullptr; }));
  Frames(2);
  ASSERT_TRUE(Until([this] { return workspace().panel_shown && !workspace().sums.busy(); }));
  Frames(2);
  const auto corners = [](ImU32 colour) {
    int found = 0;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      const std::string_view title = window->Name;
      if (!window->WasActive || title.find("sums") == title.npos) continue;
      for (const ImDrawVert& corner : window->DrawList->VtxBuffer) found += corner.col == colour;
    }
    return found;
  };
  EXPECT_GT(corners(Ink(NamedColour("aten::mul", ui().theme))), 0);
  EXPECT_EQ(corners(ui().Stage(traces::StageId::kMark)), 0);
}

// The timeline had blue bars and bands, and no word said what they were.
TEST_F(WalkPanels, TheLegendOfTheTimelineSaysWhatExperimentsAre) {
  const ImU32 strip = Ink(ui().palette().accent, kExperimentStrip);
  const auto corners = [&] {
    LastItemOf([&] { DrawLegend(ui(), workspace(), 0, 900, 0); });
    int found = 0;
    for (const ImDrawVert& corner : ActiveWindow("alone")->DrawList->VtxBuffer) {
      found += corner.col == strip;
    }
    return found;
  };
  EXPECT_EQ(corners(), 0);
  const auto analysis = std::make_shared<Analysis>(*workspace().document.analysis);
  analysis->report.diagnosis.run.loaders.front().probes = {{wire::kProbeDecode, 2, 0, 1'000}};
  workspace().document.analysis = analysis;
  EXPECT_GT(corners(), 0);
}

// At 1280x720 a card of the GPU view said "of the loop's steady time; 37 % of t...".
TEST_F(WalkPanels, ANoteUnderAFigureMayTakeTwoLines) {
  const auto height = [&](const std::string& line) {
    const Figure figure{"Kernels run", "80 %", line, ui().palette().text, ""};
    float found = 0;
    LastItemOf([&] { found = DrawFigures(ui(), {&figure, 1}, {{0, 0}, {240, 400}}); });
    return found;
  };
  const std::string note = "of the loop's steady time; 37 % of their time in NCCL";
  EXPECT_GE(height(note), height("50.7 ms") + FontPixels(ui().small));
}

}  // namespace
}  // namespace penstock::gui
