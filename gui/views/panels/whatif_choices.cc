// SPDX-License-Identifier: Apache-2.0
//
// The choices of the what-if view: a control for each option of penstock whatif that a person would
// try by hand. The controls scroll; the buttons below them always stay visible.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "analyzer/predict/decoders.h"
#include "gui/model/words/stage_words.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/whatif_parts.h"

namespace penstock::gui {
namespace {

constexpr std::array kTransfers = {"u8", "f16", "f32"};
constexpr std::array kStoredSides = {224, 256, 384, 512, 768, 1024, 2048};
constexpr int kMostCores = 128;

void Label(const Ui& ui, const char* text) {
  Paragraph(ui, ui.small, ui.palette().dim, text, ImGui::GetContentRegionAvail().x);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.Px(3));
}

// The format of a slider whose figure stands beside it.
constexpr const char* kNoFormat = " ";

// Makes the next slider leave room for its figure.
void LeaveFigureRoom(const Ui& ui) {
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ui.Px(82));
}

// Draws the figure of the last slider beside it. On the slider, the handle would lie over it.
void FigureBeside(const Ui& ui, const std::string& figure) {
  const float left = ImGui::GetItemRectMax().x + ui.Px(6);
  const float y = (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y - FontPixels(ui.body)) / 2;
  DrawText(ImGui::GetWindowDrawList(), ui.body, {left, y}, Ink(ui.palette().text),
           Elided(ui.body, figure, ui.Px(76)));
}

void IntSlider(const Ui& ui, Text name, int* value, int low, int high, bool log = false) {
  Label(ui, ui.T(name));
  LeaveFigureRoom(ui);
  ImGui::PushID(static_cast<int>(name));
  ImGui::SliderInt(
      "##value", value, low, high, kNoFormat,
      ImGuiSliderFlags_AlwaysClamp | (log ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None));
  ImGui::PopID();
  FigureBeside(ui, fmt::format("{}", *value));
}

// Draws a name of `width` and puts the cursor after it. The next control takes the rest of the
// line.
void NameBeside(const Ui& ui, const char* name, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  DrawShortened(ui, ui.body, {at.x, at.y + ui.Px(4)}, Ink(ui.palette().text), name,
                width - ui.Px(6));
  ImGui::SetCursorScreenPos({at.x + width, at.y});
  ImGui::SetNextItemWidth(-1);
}

float NameWidth() {
  return ImGui::GetContentRegionAvail().x * 0.48F;
}

// Draws a list of `values` and "as recorded", which is no value. `shown`: the text of the present
// choice; "" for none. Returns whether another entry was chosen; `chosen` then is the index of the
// value, or -1 for "as recorded".
template <class Values, class TextOfValue>
bool Choose(const Ui& ui, Text name, const Values& values, const std::string& shown,
            TextOfValue text_of, int* chosen) {
  NameBeside(ui, ui.T(name), NameWidth());
  ImGui::PushID(static_cast<int>(name));
  bool changed = false;
  const char* none = ui.T(Text::kAsRecordedChoice);
  if (ImGui::BeginCombo("##choice", shown.empty() ? none : shown.c_str())) {
    const auto entry = [&](const char* text, bool is, int place) {
      if (!ImGui::Selectable(text, is) || is) return;
      *chosen = place;
      changed = true;
    };
    entry(none, shown.empty(), -1);
    int place = 0;
    for (const auto& value : values) {
      const std::string text = text_of(value);
      entry(text.c_str(), text == shown, place++);
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
  return changed;
}

void DrawLoader(const Ui& ui, const analyzer::Diagnosis& diagnosis, WhatIfState& state) {
  IntSlider(ui, Text::kNumWorkers, &state.chosen.workers,
            diagnosis.run.loader().config.sample_tasks ? 1 : 0, state.limits.workers);
  IntSlider(ui, Text::kPrefetchFactor, &state.chosen.prefetch, 1, state.limits.prefetch);
  ImGui::BeginDisabled(!state.limits.unchanged.empty());
  IntSlider(ui, Text::kBatchSize, &state.chosen.batch, 1, state.limits.batch, true);
  ImGui::EndDisabled();
  TickBox(ui, ui.T(Text::kPinMemory), &state.chosen.pin);
  ImGui::SameLine();
  TickBox(ui, ui.T(Text::kPersistent), &state.chosen.persistent);
  Label(ui, ui.T(Text::kStepTime));
  const double seconds = state.chosen.step < 0 ? state.limits.recorded_step : state.chosen.step;
  float step = static_cast<float>(seconds * 1e3);
  LeaveFigureRoom(ui);
  if (ImGui::SliderFloat("##step", &step, 0, static_cast<float>(state.limits.step * 1e3), kNoFormat,
                         ImGuiSliderFlags_AlwaysClamp)) {
    state.chosen.step = ShownStep(static_cast<double>(step));
  }
  FigureBeside(ui, fmt::format("{:.1f} ms", step));
}

void DrawSpeeds(const Ui& ui, WhatIf& chosen) {
  Label(ui, ui.T(Text::kStageSpeed));
  for (std::size_t i = 0; i < kScalable.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    NameBeside(ui, ui.T(NameOf(kScalable[i])), ui.Px(74));
    auto speed = static_cast<float>(chosen.speed[i]);
    LeaveFigureRoom(ui);
    if (ImGui::SliderFloat("##speed", &speed, 1, 10, kNoFormat,
                           ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic)) {
      chosen.speed[i] = std::round(static_cast<double>(speed) * 10) / 10;
    }
    FigureBeside(ui, fmt::format("{:.1f}x", chosen.speed[i]));
    ImGui::PopID();
  }
}

void DrawOnGpu(const Ui& ui, analyzer::Changes& changes) {
  Label(ui, ui.T(Text::kOnTheGpu));
  // Images that are decoded on the GPU are also augmented there, not copied back to the workers.
  if (TickBox(ui, ui.T(Text::kDecode), &changes.gpu_decode) && changes.gpu_decode) {
    changes.gpu_augment = true;
  }
  Tip(ui, ui.T(Text::kOnTheGpuTip));
  ImGui::SameLine();
  if (TickBox(ui, ui.T(Text::kAugment), &changes.gpu_augment) && !changes.gpu_augment) {
    changes.gpu_decode = false;
  }
  Tip(ui, ui.T(Text::kOnTheGpuTip));
}

void DrawData(const Ui& ui, analyzer::Changes& changes) {
  Label(ui, ui.T(Text::kDataChanges));
  int place = -1;
  const auto decoders = analyzer::DecoderSpeeds();
  if (Choose(
          ui, Text::kDecoderChoice, decoders, changes.decoder,
          [](const analyzer::DecoderSpeed& one) { return std::string(one.name); }, &place)) {
    changes.decoder =
        place < 0 ? std::string() : std::string(decoders[static_cast<std::size_t>(place)].name);
  }
  if (Choose(
          ui, Text::kTransferChoice, kTransfers, changes.transfer,
          [](const char* one) { return std::string(one); }, &place)) {
    changes.transfer = place < 0 ? "" : kTransfers[static_cast<std::size_t>(place)];
  }
  const auto side = [](double pixels) { return fmt::format("{:.0f} px", pixels); };
  if (Choose(ui, Text::kStoredSide, kStoredSides, changes.resize > 0 ? side(changes.resize) : "",
             side, &place)) {
    changes.resize = place < 0 ? 0 : kStoredSides[static_cast<std::size_t>(place)];
  }
  TickBox(ui, ui.T(Text::kRamCache), &changes.ram_cache);
  TickBox(ui, ui.T(Text::kPacked), &changes.pack);
}

void DrawMachine(const Ui& ui, analyzer::Changes& changes) {
  Label(ui, ui.T(Text::kMachine));
  NameBeside(ui, ui.T(Text::kMachineCores), NameWidth());
  int cores = static_cast<int>(std::lround(changes.cores));
  LeaveFigureRoom(ui);
  if (ImGui::SliderInt("##cores", &cores, 0, kMostCores, kNoFormat,
                       ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic)) {
    changes.cores = cores;
  }
  FigureBeside(ui, cores == 0 ? ui.T(Text::kAsRecordedChoice) : fmt::format("{}", cores));
  NameBeside(ui, ui.T(Text::kMachineSpeed), NameWidth());
  auto speed = static_cast<float>(changes.core_speed);
  LeaveFigureRoom(ui);
  if (ImGui::SliderFloat("##core speed", &speed, 0.25F, 4, kNoFormat,
                         ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic)) {
    changes.core_speed = std::round(static_cast<double>(speed) * 20) / 20;
  }
  FigureBeside(ui, fmt::format("{:.2f}x", changes.core_speed));
  TickBox(ui, ui.T(Text::kMachineAlone), &changes.alone);
}

void DrawButtons(const Ui& ui, Workspace& workspace, Area area) {
  WhatIfState& state = workspace.whatif;
  const analyzer::Diagnosis& diagnosis = workspace.Shown().analysis->report.diagnosis;
  ImGui::SetCursorScreenPos(area.min);
  if (ImGui::Button(ui.T(Text::kReset))) state.chosen = Recorded(diagnosis);
  if (diagnosis.loader->suggestion.changes) {
    ImGui::SameLine(0, ui.Px(6));
    if (ImGui::Button(ui.T(Text::kUseSuggestion))) state.chosen = Suggested(diagnosis);
  }
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(workspace.document.path, error);
  const std::string command =
      error ? "" : WhatIfCommand(diagnosis, state.chosen, path.string(), workspace.loader);
  if (command.empty()) return;
  ImGui::SameLine(0, ui.Px(6));
  if (ImGui::Button(ui.T(Text::kCopyWhatIf))) workspace.CopyText(command);
  Tip(ui, ui.F(Text::kCopyWhatIfTip, command));
}

}  // namespace

void DrawWhatIfChoices(const Ui& ui, Workspace& workspace, Area area) {
  WhatIfState& state = workspace.whatif;
  const analyzer::Diagnosis& diagnosis = workspace.Shown().analysis->report.diagnosis;
  const float buttons = ImGui::GetFrameHeight() + ui.Px(8);
  BeginArea("sliders", {area.min, {area.max.x, area.max.y - buttons}}, true);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.Px(8), ui.Px(5)));
  DrawLoader(ui, diagnosis, state);
  DrawSpeeds(ui, state.chosen);
  const analyzer::Statement& unchanged = state.limits.unchanged;
  if (!unchanged.empty()) {
    Paragraph(ui, ui.small, ui.palette().dim, analyzer::Typeset(Render(unchanged, ui.language)),
              ImGui::GetContentRegionAvail().x);
  }
  ImGui::BeginDisabled(!unchanged.empty());
  DrawOnGpu(ui, state.chosen.changes);
  DrawData(ui, state.chosen.changes);
  DrawMachine(ui, state.chosen.changes);
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  EndArea();
  const Area below{{area.min.x, area.max.y - buttons + ui.Px(8)}, area.max};
  BeginArea("buttons", below, false);
  DrawButtons(ui, workspace, below);
  EndArea();
}

}  // namespace penstock::gui
