// SPDX-License-Identifier: Apache-2.0
//
// The first view: what holds the run back, how much, what to change, what that gains.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/format.h"
#include "gui/model/overview.h"
#include "gui/views/panels/overview_parts.h"
#include "gui/views/workspace.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::Report;
using analyzer::ShortNumber;

Rgb ColourOf(const Palette& palette, InputBound bound) {
  switch (bound) {
    case InputBound::kHighly:
      return palette.bad;
    case InputBound::kModerately:
      return palette.warn;
    case InputBound::kNot:
      return palette.good;
    case InputBound::kUnknown:
      break;
  }
  return palette.dim;
}

Text WordOfBound(InputBound bound) {
  switch (bound) {
    case InputBound::kHighly:
      return Text::kHighlyBound;
    case InputBound::kModerately:
      return Text::kModeratelyBound;
    default:
      return Text::kNotBound;
  }
}

float DrawVerdict(const Ui& ui, const Report& report, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Rgb colour = ColourOf(p, Judge(report));
  const float pad = ui.Px(16);
  const float width = area.width() - 2 * pad - ui.Px(6);
  const auto lines = WrapText(ui.title, Typeset(VerdictText(report, ui.language)), width);
  const float pitch = FontPixels(ui.title) + ui.Px(5);
  std::string sure;
  if (report.diagnosis.loader) {
    sure = ui.F(Text::kConfidence, std::lround(100 * report.diagnosis.confidence));
    sure += "  ·  " +
            ui.F(Text::kReplayError,
                 fmt::format("{:.1f}", 100 * std::abs(report.diagnosis.loader->replay.error())));
  }
  const float height = ui.Px(12) * 2 + pitch * static_cast<float>(lines.size()) +
                       (sure.empty() ? 0 : FontPixels(ui.small) + ui.Px(3));
  area.max.y = area.min.y + height;
  Panel(ui, area);
  list->AddRectFilled(area.min, {area.min.x + ui.Px(6), area.max.y}, Ink(colour), ui.Px(8),
                      ImDrawFlags_RoundCornersLeft);
  ImVec2 at = {area.min.x + pad + ui.Px(4), area.min.y + ui.Px(11)};
  for (const std::string& line : lines) {
    DrawText(list, ui.title, at, Ink(p.text), line);
    at.y += pitch;
  }
  if (!sure.empty()) DrawText(list, ui.small, {at.x, at.y + ui.Px(1)}, Ink(p.dim), sure);
  return height;
}

// A figure with a word above and a line below it.
struct Card {
  std::string title;
  std::string figure;
  std::string unit;
  std::string line;
  Rgb colour;
  double meter = -1;  // fraction, < 0: none
};

void DrawCard(const Ui& ui, const Card& card, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  float y = inside.min.y - ui.Px(2);
  DrawText(list, ui.small, {inside.min.x, y}, Ink(p.dim),
           Elided(ui.small, card.title, inside.width()));
  y += FontPixels(ui.small) + ui.Px(3);
  DrawText(list, ui.big, {inside.min.x, y}, Ink(card.colour), card.figure);
  const float after = inside.min.x + TextWidth(ui.big, card.figure) + ui.Px(6);
  const float room = inside.max.x - after;
  ImFont* font = TextWidth(ui.body, card.unit) <= room ? ui.body : ui.small;
  // A unit without room beside its figure stands below it.
  const bool beside = TextWidth(font, card.unit) <= room || card.meter >= 0;
  DrawText(list, font, {after, y + FontPixels(ui.big) - FontPixels(font) - ui.Px(2)}, Ink(p.dim),
           beside ? Elided(font, card.unit, room) : std::string());
  y += FontPixels(ui.big) + ui.Px(4);
  if (card.meter >= 0) {
    const float bar = ui.Px(5);
    const auto part = static_cast<float>(std::clamp(card.meter, 0.0, 1.0));
    list->AddRectFilled({inside.min.x, y}, {inside.max.x, y + bar}, Ink(p.raised), bar / 2);
    list->AddRectFilled({inside.min.x, y}, {inside.min.x + part * inside.width(), y + bar},
                        Ink(card.colour), bar / 2);
    y += bar + ui.Px(3);
  }
  // Beside a meter there is room for one line, else for two.
  const std::string line = beside ? card.line : card.unit + "  ·  " + card.line;
  auto lines = WrapText(ui.small, line, inside.width());
  if (card.meter >= 0 && lines.size() > 1) lines = {Elided(ui.small, card.line, inside.width())};
  for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 2); ++i) {
    DrawText(list, ui.small, {inside.min.x, y}, Ink(p.dim), lines[i]);
    y += FontPixels(ui.small) + ui.Px(1);
  }
}

// How much of the steady time a device computes, and what keeps it from doing so; none where no
// kernels were recorded.
std::optional<Card> DeviceCard(const Ui& ui, const analyzer::DeviceActivity& device) {
  if (!device.kernels || device.window <= 0) return std::nullopt;
  const analyzer::IdleCauses& idle = device.idle;
  const std::array<std::pair<double, Text>, 4> causes = {
      std::pair{idle.copy, Text::kGpuCauseCopy}, std::pair{idle.loader, Text::kGpuCauseLoader},
      std::pair{idle.sync, Text::kGpuCauseSync}, std::pair{idle.launch, Text::kGpuCauseLaunch}};
  const auto most = std::max_element(causes.begin(), causes.end());
  const double share = device.Share(device.computing);
  return Card{ui.T(Text::kGpuBusy),
              fmt::format("{:.0f} %", 100 * share),
              "",
              most->first > 0 ? ui.T(most->second) : "",
              ui.palette().text,
              share};
}

std::vector<Card> CardsOf(const Ui& ui, const Report& report) {
  const Palette& p = ui.palette();
  const analyzer::Diagnosis& diagnosis = report.diagnosis;
  std::vector<Card> cards;
  const std::string unit(Render(analyzer::RateUnit(diagnosis), ui.language));
  if (!diagnosis.loader) {
    cards.push_back({ui.T(Text::kThroughput),
                     diagnosis.samples_rate > 0 ? ShortNumber(diagnosis.samples_rate) : "–",
                     diagnosis.samples_rate > 0 ? unit : "",
                     diagnosis.samples_rate > 0 ? "" : ui.T(Text::kNotRecorded), p.text});
    cards.push_back({ui.T(Text::kLoader), "–", "", ui.T(Text::kNotRecorded), p.dim});
    return cards;
  }
  const analyzer::LoaderDiagnosis& loader = *diagnosis.loader;
  const InputBound bound = Judge(report);
  cards.push_back({ui.T(Text::kWaitsForData),
                   fmt::format("{:.0f} %", 100 * diagnosis.wait_fraction), ui.T(Text::kOfLoopTime),
                   ui.T(WordOfBound(bound)), ColourOf(p, bound), diagnosis.wait_fraction});
  const analyzer::Interval rate = loader.steady.rate;
  cards.push_back({ui.T(Text::kThroughput), ShortNumber(diagnosis.samples_rate), unit,
                   ui.F(Text::kInterval, ShortNumber(rate.low), ShortNumber(rate.high)) + "  ·  " +
                       ui.F(Text::kWholeRun, ShortNumber(diagnosis.whole_rate)),
                   p.text});
  if (!analyzer::Predicts(diagnosis)) {
    cards.push_back({ui.T(Text::kFreeData), "–", "", ui.T(Text::kTooLittleToSay), p.text});
  } else {
    // Where nothing but the data takes time there is no rate to name.
    const analyzer::Attribution& found = loader.attribution;
    const bool all = found.all_data();
    cards.push_back({ui.T(Text::kFreeData),
                     all ? "> 1000x" : fmt::format("{:.2f}x", found.headroom), "",
                     all ? ""
                         : fmt::format("{} → {} {}", ShortNumber(diagnosis.samples_rate),
                                       ShortNumber(diagnosis.samples_rate * found.headroom), unit),
                     p.text});
  }
  const analyzer::LoaderConfig& config = diagnosis.run.loader().config;
  const std::string cpu = loader.cpu.known
                              ? ui.F(Text::kCpuOfCores, fmt::format("{:.2g}", loader.cpu.used),
                                     fmt::format("{:.3g}", loader.cpu.cores))
                              : "";
  if (config.num_workers > 0) {
    cards.push_back({ui.T(Text::kWorkersBusy),
                     fmt::format("{:.0f} %", 100 * loader.signals.worker_busy), "", cpu, p.text,
                     loader.signals.worker_busy});
  } else {
    cards.push_back({ui.T(Text::kWorkers), "0", "", ui.T(Text::kLoaderMakesItself), p.warn});
  }
  if (auto device = DeviceCard(ui, loader.device)) cards.push_back(std::move(*device));
  std::string settings =
      ui.F(Text::kBatchOf, static_cast<int>(diagnosis.run.loader().samples_per_batch));
  const auto add = [&](Text word) {
    settings += ui.T(Text::kComma);
    settings += ui.T(word);
  };
  if (config.pin_memory) add(Text::kPinned);
  if (config.persistent_workers) add(Text::kKept);
  cards.push_back({fmt::format("{}: {}", ui.T(Text::kLoader), config.kind),
                   fmt::format("{} × {}", config.num_workers, config.prefetch_factor),
                   ui.T(Text::kWorkersTimesPrefetch), settings, p.text});
  return cards;
}

void DrawFooter(const Ui& ui, const Report& report, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  std::string text = ui.F(Text::kSeen, Render(analyzer::Seen(report.coverage), ui.language));
  if (analyzer::Lost(report.losses).empty()) {
    text += std::string("  ·  ") + ui.T(Text::kNothingLost);
  }
  for (const analyzer::Statement& blind : report.coverage.blind) {
    text += "  ·  " + ui.F(Text::kNotSeen, Render(blind, ui.language));
  }
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##coverage", {area.width(), area.height()});
  Tip(ui, text);
  DrawText(list, ui.small, {area.min.x + ui.Px(4), area.min.y}, Ink(p.dim),
           Elided(ui.small, text, area.width() - ui.Px(8)));
}

}  // namespace

namespace {

void DrawPanels(const Ui& ui, Workspace& workspace, Area area) {
  const Analysis& analysis = *workspace.Shown().analysis;
  const Report& report = analysis.report;
  const float gap = ui.Px(10);
  float y = area.min.y;
  y += DrawVerdict(ui, report, {{area.min.x, y}, area.max}) + gap;

  const std::vector<Card> cards = CardsOf(ui, report);
  const float card_height = ui.Px(90);
  const auto count = static_cast<float>(cards.size());
  const float width = (area.width() - gap * (count - 1)) / count;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const float x = area.min.x + static_cast<float>(i) * (width + gap);
    DrawCard(ui, cards[i], {{x, y}, {x + width, y + card_height}});
  }
  y += card_height + gap;

  const float ribbon_height = ui.Px(140);
  DrawRibbon(ui, analysis.ribbon, {{area.min.x, y}, {area.max.x, y + ribbon_height}});
  y += ribbon_height + gap;

  const float footer = FontPixels(ui.small) + ui.Px(4);
  const float bottom = area.max.y - footer - ui.Px(4);
  const float left = std::floor((area.width() - gap) * 0.46F);
  DrawSuggestion(ui, workspace, {{area.min.x, y}, {area.min.x + left, bottom}});
  DrawFindings(ui, workspace, {{area.min.x + left + gap, y}, {area.max.x, bottom}});
  DrawFooter(ui, report, {{area.min.x, area.max.y - footer}, {area.max.x, area.max.y}});
}

}  // namespace

void DrawOverview(const Ui& ui, Workspace& workspace, Area area) {
  // Less than this does not hold it all: the view scrolls.
  const float least = ui.Px(590);
  if (area.height() >= least) return DrawPanels(ui, workspace, area);
  BeginArea("overview", area, true);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = area.width() - ImGui::GetStyle().ScrollbarSize - ui.Px(4);
  DrawPanels(ui, workspace, {at, {at.x + width, at.y + least}});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, least});
  EndArea();
}

}  // namespace penstock::gui
