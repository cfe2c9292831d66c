// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/format.h"
#include "analyzer/words/page.h"
#include "gui/model/forecast.h"
#include "gui/model/other_changes.h"
#include "gui/model/overview.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/overview_parts.h"

namespace penstock::gui {
namespace {

using analyzer::Report;
using analyzer::ShortNumber;

// Draws two bars to one scale: the present rate, and the predicted rate with its confidence
// interval.
void DrawRates(const Ui& ui, const Report& report, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Forecast forecast =
      ForecastOf(report.diagnosis, report.diagnosis.loader->suggestion.predicted);
  const double most = std::max({forecast.before, forecast.after.high, 1e-9});
  const float label =
      std::max(TextWidth(ui.body, ui.T(Text::kNow)), TextWidth(ui.body, ui.T(Text::kPredicted))) +
      ui.Px(12);
  const std::string unit(Render(analyzer::RateUnit(report.diagnosis), ui.language));
  const std::string gain = fmt::format("{} {}  {}", ShortNumber(forecast.after.estimate), unit,
                                       GainText(forecast.speedup));
  const float room = width - label - TextWidth(ui.strong, gain) - ui.Px(16);
  const auto x = [&](double rate) {
    return at.x + label + static_cast<float>(rate / most) * std::max(room, ui.Px(20));
  };
  const float height = ui.Px(16);
  const float pitch = ui.Px(24);
  const float text = (height - FontPixels(ui.body)) / 2;
  const Rgb colour = ColourOf(p, forecast.effect);
  const Rgb grey = Mix(p.dim, p.panel, 0.4);
  DrawText(list, ui.body, {at.x, at.y + text}, Ink(p.dim), ui.T(Text::kNow));
  list->AddRectFilled({x(0), at.y}, {x(forecast.before), at.y + height}, Ink(grey), ui.Px(3));
  DrawText(list, ui.body, {x(forecast.before) + ui.Px(8), at.y + text}, Ink(p.text),
           ShortNumber(forecast.before) + " " + unit);
  const float y = at.y + pitch;
  DrawText(list, ui.body, {at.x, y + text}, Ink(p.dim), ui.T(Text::kPredicted));
  list->AddRectFilled({x(0), y}, {x(forecast.after.estimate), y + height},
                      Ink(forecast.effect == Effect::kGain ? colour : grey), ui.Px(3));
  const float middle = y + height / 2;
  const float low = x(forecast.after.low);
  const float high = x(forecast.after.high);
  list->AddLine({low, middle}, {high, middle}, Ink(p.text), ui.Px(1.5F));
  for (const float end : {low, high}) {
    list->AddLine({end, middle - ui.Px(4)}, {end, middle + ui.Px(4)}, Ink(p.text), ui.Px(1.5F));
  }
  DrawText(list, ui.strong, {high + ui.Px(8), y + text}, Ink(colour), gain);
  ImGui::Dummy({width, pitch + height});
  if (forecast.whole_run) {
    Paragraph(ui, ui.small, p.dim, ui.T(Text::kRatesOfWholeRun), width);
  }
}

// Lists the predictions for changes of other things than the loader's settings, as in the report.
void DrawOtherChanges(const Ui& ui, const Report& report, float width) {
  const Palette& p = ui.palette();
  const OtherChanges changes = OtherChangesOf(report, ui.language);
  if (changes.shown.empty()) return;
  Paragraph(ui, ui.strong, p.text, ui.T(Text::kBeyondSettings), width);
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const OtherChange& change : changes.shown) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + width;
    DrawTextRight(list, ui.strong, right, at.y, Ink(ColourOf(p, change.effect)), change.gain);
    const float name = TextWidth(ui.body, change.name) + ui.Px(14);
    DrawText(list, ui.body, at, Ink(p.text), change.name);
    DrawText(list, ui.small, {at.x + name, at.y + ui.Px(1)}, Ink(p.dim),
             Elided(ui.small, change.rate,
                    width - name - TextWidth(ui.strong, change.gain) - ui.Px(10)));
    ImGui::PushID(change.option.c_str());
    ImGui::InvisibleButton("##change", {std::max(width, 1.0F), FontPixels(ui.body) + ui.Px(4)});
    ImGui::PopID();
    Tip(ui, change.command + (change.notes.empty() ? "" : "\n") + change.notes);
  }
  if (!changes.more.empty()) Paragraph(ui, ui.small, p.dim, changes.more, width);
  ImGui::Dummy({1, ui.Px(2)});
}

// The heading above a suggested setting that is not a gain; nullopt if the setting is a gain.
std::optional<Text> NoGain(const Report& report) {
  const analyzer::Suggestion& suggestion = report.diagnosis.loader->suggestion;
  const analyzer::LoaderConfig& config = report.diagnosis.run.loader().config;
  if (ForecastOf(report.diagnosis, suggestion.predicted).effect == Effect::kGain) {
    return std::nullopt;
  }
  return suggestion.workers < config.num_workers ? Text::kNoGainLess : Text::kNoGainSure;
}

void DrawChanges(const Ui& ui, const Report& report, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float start = at.x;
  const float height = FontPixels(ui.body) + ui.Px(10);
  float bottom = at.y + height;
  for (const Change& change : ChangesOf(report)) {
    const bool truth = change.name == Text::kPersistent;
    const auto value = [&](int v) {
      return truth ? std::string(v != 0 ? "True" : "False") : std::to_string(v);
    };
    const std::string text =
        fmt::format("{}  {} → {}", ui.T(change.name), value(change.before), value(change.after));
    const float chip = TextWidth(ui.strong, text) + ui.Px(20);
    if (at.x + chip > start + width && at.x > start) {
      at = {start, at.y + height + ui.Px(6)};
      bottom = at.y + height;
    }
    list->AddRectFilled(at, {at.x + chip, at.y + height}, Ink(p.accent, 0.2), height / 2);
    DrawText(list, ui.strong, {at.x + ui.Px(10), at.y + ui.Px(5)}, Ink(p.text), text);
    at.x += chip + ui.Px(8);
  }
  ImGui::Dummy({width, bottom - ImGui::GetCursorScreenPos().y});
}

// The name of the part that would cost nothing. The gain of start-up always refers to the whole
// run; the name says so if the other gains do not.
std::string NameOfGain(const Ui& ui, const analyzer::Gain& gain, bool whole_run) {
  const std::string name(ui.T(NameOfFree(gain.factor)));
  const bool other = gain.factor == analyzer::Factor::kStartup && !whole_run;
  return other ? ui.F(Text::kTimesWholeRun, name) : name;
}

// Draws what the run would gain if each part cost nothing. `headed`: the panel's heading says so.
void DrawGains(const Ui& ui, const Report& report, bool headed, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  std::vector<analyzer::Gain> gains;
  for (const analyzer::Gain& gain : report.diagnosis.gains) {
    if (gain.speedup >= 1.005 && std::isfinite(gain.speedup)) gains.push_back(gain);
  }
  const bool whole_run = report.diagnosis.whole_run;
  if (!headed) Paragraph(ui, ui.strong, p.text, ui.T(Text::kIfFree), width);
  if (gains.empty()) {
    Paragraph(ui, ui.body, p.dim, ui.T(Text::kNothingGains), width);
    return;
  }
  float label = 0;
  for (const analyzer::Gain& gain : gains) {
    label = std::max(label, TextWidth(ui.body, NameOfGain(ui, gain, whole_run)));
  }
  label += ui.Px(12);
  const float pitch = ui.Px(20);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const double most = gains.front().speedup - 1;
  const float room = width - label - ui.Px(60);
  float y = at.y;
  for (const analyzer::Gain& gain : gains) {
    const bool bottleneck = gain.factor == report.diagnosis.bottleneck;
    const float length = static_cast<float>((gain.speedup - 1) / most) * room;
    DrawText(list, ui.body, {at.x, y}, Ink(bottleneck ? p.text : p.dim),
             NameOfGain(ui, gain, whole_run));
    list->AddRectFilled({at.x + label, y + ui.Px(2)},
                        {at.x + label + std::max(length, ui.Px(2)), y + ui.Px(14)},
                        Ink(bottleneck ? p.accent : Mix(p.accent, p.panel, 0.55)), ui.Px(2));
    DrawText(list, ui.body, {at.x + label + length + ui.Px(8), y}, Ink(bottleneck ? p.text : p.dim),
             GainText(gain.speedup));
    y += pitch;
  }
  ImGui::Dummy({width, y - at.y});
}

}  // namespace

float DrawSuggestion(const Ui& ui, Workspace& workspace, bool planned, Area area) {
  const Report& report = workspace.Shown().analysis->report;
  const Palette& p = ui.palette();
  const Text heading = HeadingOfGains(report, planned);
  const Area inside = Headed(ui, Panel(ui, area), ui.T(heading));
  BeginArea("suggestion", inside, true);
  const float width = ImGui::GetContentRegionAvail().x - ui.Px(4);
  const auto& loader = report.diagnosis.loader;
  if (planned) {
    // The plan already shows the suggested arguments of the loader.
  } else if (loader && loader->suggestion.changes) {
    if (const auto no_gain = NoGain(report)) {
      Paragraph(ui, ui.body, p.text, ui.T(*no_gain), width);
    }
    DrawChanges(ui, report, width);
    DrawRates(ui, report, width);
    std::string line =
        ui.F(Text::kNextBottleneck, ui.T(NameOf(loader->suggestion.next_bottleneck)));
    if (loader->suggestion.predicted.ram > 0) {
      line += "  ·  " +
              ui.F(Text::kMemoryNeeded, analyzer::BytesText(loader->suggestion.predicted.ram));
    }
    Paragraph(ui, ui.small, p.dim, line, width);
    const std::string code = analyzer::SuggestedCode(report.diagnosis);
    if (!code.empty()) CodeBox(ui, workspace, code, width);
  } else if (loader && workspace.Range() && !analyzer::Predicts(report.diagnosis)) {
    Paragraph(ui, ui.body, p.dim, ui.T(Text::kRangeTooShort), width);
  } else if (loader) {
    const auto keep =
        analyzer::Say<analyzer::words::kClause>(analyzer::Give<"what">(analyzer::Keep(report)));
    Paragraph(ui, ui.body, p.text, Typeset(Render(keep, ui.language)), width);
    const NextCommand next =
        analyzer::Predicts(report.diagnosis) ? NextCommand{} : NextToPredict(workspace);
    if (!next.command.empty()) {
      Paragraph(ui, ui.body, p.dim, ui.T(next.how), width);
      CodeBox(ui, workspace, next.command, width);
    }
  } else {
    const Nothing nothing = NoLoader(workspace);
    Paragraph(ui, ui.body, p.text, ui.T(HowBesidePlan(report, nothing.how)), width);
    CodeBox(ui, workspace, nothing.command, width);
  }
  if (loader) DrawOtherChanges(ui, report, width);
  if (loader && analyzer::Predicts(report.diagnosis)) {
    DrawGains(ui, report, heading == Text::kIfFree, width);
  }
  const float needed = ImGui::GetCursorPosY();
  EndArea();
  return inside.min.y - area.min.y + needed + ui.Px(12);
}

}  // namespace penstock::gui
