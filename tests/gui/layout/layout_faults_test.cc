// SPDX-License-Identifier: Apache-2.0
//
// The check of layouts finds each kind of fault, and reports none in a frame without faults.
#include "tests/gui/layout/faults.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "gui/widgets/draw.h"
#include "gui/widgets/imgui_versions.h"

namespace penstock::gui::testing {
namespace {

constexpr Rgb kBlack{0, 0, 0};
constexpr Rgb kWhite{255, 255, 255};

class LayoutFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {800, 600};
    io.MousePos = {400, 300};
    io.DeltaTime = 1.0F / 60;
    ui_.language = Language::kChinese;
    LoadFonts(ui_, "", Glyphs::kNeeded);
    ApplyTheme(ui_);
  }
  void TearDown() override { ImGui::DestroyContext(); }

  // Shows a white window that `draw` fills.
  Scene Drawn(const std::function<void(ImDrawList*)>& draw) {
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(TakeTextCalls());
      PretendToRender();
      ImGui::NewFrame();
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
      ImGui::PushStyleColor(ImGuiCol_WindowBg, Tint(kWhite));
      ImGui::Begin("root", nullptr, ImGuiWindowFlags_NoDecoration);
      draw(ImGui::GetWindowDrawList());
      ImGui::End();
      ImGui::PopStyleColor();
      ImGui::Render();
      PretendToRender();
    }
    return {*ImGui::GetDrawData(), TakeTextCalls(), false};
  }
  void Say(ImDrawList* list, float x, float y, std::string_view text, Rgb colour = kBlack) {
    DrawText(list, ui_.body, {x, y}, Ink(colour), text);
  }
  Looked How() {
    Looked how;
    how.language = ui_.language;
    how.code = ui_.mono;
    how.bold = ui_.strong;
    return how;
  }

  Ui ui_;
};

TEST_F(LayoutFaults, WhatIsWellDrawnIsNoFault) {
  const Scene scene = Drawn([&](ImDrawList* list) {
    Say(list, 20, 20, "CPU 8 / 16");
    Say(list, 20, 60, "DataLoader(dataset, num_workers=8)");
    ImGui::SetCursorPos({20, 100});
    ImGui::Button("GPU");
  });
  ASSERT_EQ(scene.texts().size(), 3U);
  EXPECT_FALSE(scene.texts()[0].glyphs.empty());
  EXPECT_TRUE(Clipped(scene).empty());
  EXPECT_TRUE(Overlapping(scene, How()).empty());
  EXPECT_TRUE(Faint(scene, How()).empty());
  EXPECT_TRUE(Untranslated(scene, How()).empty());
  EXPECT_TRUE(Shortened(scene).empty());
}

TEST_F(LayoutFaults, TextBeyondItsClipRectangleIsClipped) {
  const Scene scene = Drawn([&](ImDrawList* list) {
    list->PushClipRect({20, 20}, {60, 100}, true);
    Say(list, 20, 20, "a text that is wider");
    Say(list, 20, 92, "half");
    Say(list, 20, 300, "gone");
    list->PopClipRect();
    Say(list, 760, 300, "beyond the window");
  });
  ASSERT_EQ(Clipped(scene).size(), 4U);
}

TEST_F(LayoutFaults, ALabelThatIsWiderThanItsButtonIsClipped) {
  const Scene scene = Drawn([](ImDrawList*) { ImGui::Button("a long label", {40, 0}); });
  EXPECT_EQ(Clipped(scene).size(), 1U);
}

TEST_F(LayoutFaults, WhatIsReachedByScrollingIsNotClipped) {
  const auto list = [&](int flags) {
    return Drawn([&, flags](ImDrawList*) {
      ImGui::BeginChild("list", {200, 95}, false, flags);
      for (int i = 0; i < 10; ++i) ImGui::TextUnformatted("line");
      ImGui::EndChild();
    });
  };
  EXPECT_TRUE(Clipped(list(0)).empty());
  EXPECT_FALSE(Clipped(list(ImGuiWindowFlags_NoScrollbar)).empty());
}

TEST_F(LayoutFaults, WhatIsReachedByScrollingSidewaysIsNotClipped) {
  const auto wide = [&](int flags) {
    return Drawn([&, flags](ImDrawList*) {
      ImGui::BeginChild("wide", {60, 95}, false, flags);
      ImGui::TextUnformatted("a text that is wider");
      ImGui::EndChild();
    });
  };
  EXPECT_TRUE(Clipped(wide(ImGuiWindowFlags_HorizontalScrollbar)).empty());
  EXPECT_FALSE(Clipped(wide(0)).empty());
}

TEST_F(LayoutFaults, CharactersOnCharactersOverlap) {
  const Scene scene = Drawn([&](ImDrawList* list) {
    Say(list, 20, 20, "first");
    Say(list, 34, 22, "second");
    Say(list, 20, 60, "below");
  });
  ASSERT_EQ(Overlapping(scene, How()).size(), 1U);
}

TEST_F(LayoutFaults, WhatIsPaintedOverIsNotOverlapped) {
  const Scene scene = Drawn([&](ImDrawList* list) {
    Say(list, 20, 20, "first");
    list->AddRectFilled({0, 0}, {200, 60}, Ink(kWhite));
    Say(list, 34, 22, "second");
  });
  EXPECT_TRUE(Overlapping(scene, How()).empty());
}

TEST_F(LayoutFaults, ContrastIsThatWithWhatIsBehind) {
  constexpr Rgb kGrey{0x80, 0x80, 0x80};
  const Scene scene = Drawn([&](ImDrawList* list) {
    Say(list, 20, 20, "on white", kGrey);
    list->AddRectFilled({10, 50}, {300, 80}, Ink(kBlack));
    Say(list, 20, 56, "on black", kGrey);
    // A half-transparent black covers the white.
    list->AddRectFilled({10, 90}, {300, 120}, Ink(kBlack, 0.5));
    Say(list, 20, 96, "on grey", kGrey);
  });
  const auto faults = Faint(scene, How());
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].text, "on white");
  EXPECT_EQ(faults[0].detail, "contrast 3.95");
  EXPECT_EQ(faults[1].text, "on grey");
}

TEST_F(LayoutFaults, LargeFiguresNeedLessContrast) {
  constexpr Rgb kGrey{0x80, 0x80, 0x80};
  const Scene scene = Drawn([&](ImDrawList* list) {
    DrawText(list, ui_.big, {20, 20}, Ink(kGrey), "627");
  });
  EXPECT_TRUE(Faint(scene, How()).empty());
}

TEST_F(LayoutFaults, EnglishWordsInAChineseWindowAreUntranslated) {
  const Scene scene = Drawn([&](ImDrawList* list) {
    Say(list, 20, 20, "Suggested setting");
    Say(list, 20, 60, "my_kernel of mine");
    DrawText(list, ui_.mono, {20, 100}, Ink(kBlack), "penstock record python");
  });
  Looked how = How();
  how.names = {"my_kernel of mine"};
  ASSERT_EQ(Untranslated(scene, how).size(), 1U);
  EXPECT_EQ(Untranslated(scene, how)[0].detail, "Suggested setting");
}

TEST_F(LayoutFaults, AChineseTextInAnEnglishWindowIsUntranslated) {
  const Scene scene = Drawn(
      [&](ImDrawList* list) { Say(list, 20, 20, TextOf(Text::kOverview, Language::kChinese)); });
  Looked how = How();
  how.language = Language::kEnglish;
  EXPECT_EQ(Untranslated(scene, how).size(), 1U);
}

TEST_F(LayoutFaults, ATipExplainsAShortenedText) {
  const auto scene = [&](bool tip) {
    return Drawn([&, tip](ImDrawList* list) {
      Say(list, 20, 20, Elided(ui_.body, "a text that is wider", 60));
      Say(list, 20, 60, "…/train.jpg");
      if (tip) ImGui::SetTooltip("a text that is wider");
    });
  };
  const auto shortened = Shortened(scene(false));
  ASSERT_EQ(shortened.size(), 1U);
  EXPECT_FALSE(Explained(scene(false), shortened[0]));
  EXPECT_TRUE(Explained(scene(true), shortened[0]));
}

TEST(EnglishInTest, LeavesNamesCodeUnitsAndKeys) {
  for (const char* text :
       {"GPU 0", "num_workers=8", "/data/train/cat.jpg", "1.2 ms", "Ctrl+Shift+O", "DataLoader",
        "CPU：8 / 16", "PyTorch", "train.py:88", "a", "aten::conv2d"}) {
    EXPECT_EQ(EnglishIn(text, {}), "") << text;
  }
  EXPECT_EQ(EnglishIn("等待 for data", {}), "for data");
  EXPECT_EQ(EnglishIn("double click", {}), "double click");
  EXPECT_EQ(EnglishIn("Ctrl+wheel", {}), "wheel");
  EXPECT_EQ(EnglishIn("void gemm kernel", {"void gemm kernel"}), "");
  EXPECT_EQ(EnglishIn("void gemm…", {"void gemm kernel"}), "");
  EXPECT_EQ(EnglishIn("失败：void gemm…", {"void gemm kernel"}), "");
  EXPECT_EQ(EnglishIn("失败：out of…", {"void gemm kernel"}), "out of");
  EXPECT_EQ(EnglishIn("read() 和 penstock record --data", {}), "");
  EXPECT_EQ(EnglishIn("copy.deepcopy 与 simplejpeg", {"deepcopy", "jpeg"}), "");
  EXPECT_EQ(EnglishIn("record 之后", {}), "record");
}

}  // namespace
}  // namespace penstock::gui::testing
