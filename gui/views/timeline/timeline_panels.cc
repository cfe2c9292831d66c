// SPDX-License-Identifier: Apache-2.0
//
// Draws the cards beside the pointer, and collects the facts about a span.
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/span_context.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using traces::StageId;

double SecondsOf(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Adds the bytes that were read and decoded for the span's sample. A read does not get the bytes
// read, and a decode not the bytes decoded, because these are facts of the span itself.
void AddSampleFacts(const SampleData& sample, traces::StageId stage, std::vector<SpanFact>& facts) {
  const std::string least = sample.cut ? "≥ " : "";
  if (sample.bytes > 0 && stage != traces::StageId::kRead) {
    facts.push_back({Text::kSpanRead, least + analyzer::BytesText(sample.bytes)});
  }
  if (sample.decoded > 0 && stage != traces::StageId::kDecode) {
    facts.push_back({Text::kSpanDecoded, analyzer::BytesText(sample.decoded)});
  }
}

Area SwatchAt(const Ui& ui, ImVec2 at) {
  return {at, {at.x + ui.Px(11), at.y + ui.Px(11)}};
}

}  // namespace

void FillSwatch(const Ui& ui, const Timeline& timeline, StageId stage, Area area) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<std::uint8_t> colours = timeline.ColoursOf(stage);
  if (colours.empty()) {
    return list->AddRectFilled(area.min, area.max, ui.Stage(stage), ui.Px(2));
  }
  const float width = area.width() / static_cast<float>(colours.size());
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const float left = area.min.x + width * static_cast<float>(i);
    list->AddRectFilled({left, area.min.y}, {left + width, area.max.y},
                        Ink(NamedColour(colours[i], ui.theme)));
  }
}

void DrawSwatch(const Ui& ui, const Timeline& timeline, StageId stage, ImVec2 at) {
  FillSwatch(ui, timeline, stage, SwatchAt(ui, at));
}

void DrawSwatch(const Ui& ui, const Timeline& timeline, SpanRef span, ImVec2 at) {
  const Area area = SwatchAt(ui, at);
  const Rgb colour = SpanColour(timeline.stage(span), timeline.detail(span).colour, ui.theme);
  ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, Ink(colour), ui.Px(2));
}

std::string SpanNote(const Ui& ui, const SpanDetail& detail) {
  if ((detail.flags & SpanDetail::kDerived) != 0) return ui.T(Text::kSpanDerived);
  if ((detail.flags & wire::kFlagUnfinished) != 0) return ui.T(Text::kSpanUnfinished);
  if ((detail.flags & wire::kFlagError) != 0) return ui.T(Text::kSpanError);
  return "";
}

std::string SpanTitle(const Ui& ui, const Workspace& workspace, SpanRef span) {
  const Timeline& timeline = *workspace.document.timeline;
  std::string title(WordOf(timeline.stage(span), ui.language));
  const std::string_view name = workspace.document.trace->String(timeline.detail(span).name);
  if (!name.empty() && name != traces::StageName(timeline.stage(span)))
    title += "  " + std::string(name);
  return title;
}

std::vector<SpanFact> FactsOf(const TimelineCanvas& canvas, SpanRef span) {
  const Timeline& timeline = canvas.timeline;
  const SpanDetail& detail = timeline.detail(span);
  const std::int64_t start = timeline.start(span);
  const std::int64_t length = timeline.end(span) - start;
  std::vector<SpanFact> facts;
  facts.push_back({Text::kSpanDuration, DurationText(SecondsOf(length))});
  if (detail.cpu >= 0) {
    const double cpu = static_cast<double>(detail.cpu);
    const double share = length > 0 ? cpu / SecondsOf(length) : 0;
    const std::string percent = analyzer::PercentText(std::min(share, 1.0));
    facts.push_back(
        {Text::kSpanCpu, DurationText(cpu) + analyzer::InParentheses(percent, canvas.ui.language)});
  }
  facts.push_back(
      {Text::kSpanStart,
       TimeText(start,
                std::max<std::int64_t>(canvas.window.to - canvas.window.from, 1) / 10'000 + 1)});
  if (detail.key().valid()) {
    facts.push_back({Text::kSpanBatch, canvas.workspace.BatchNameOf(detail, canvas.ui.language)});
  }
  if (detail.sample != SpanDetail::kNoSample) {
    facts.push_back({Text::kSpanSample, std::to_string(detail.sample)});
  }
  if (detail.bytes > 0) {
    const auto bytes = static_cast<std::uint64_t>(detail.bytes);
    std::string text = analyzer::BytesText(bytes);
    if (length > 0) {
      const double rate = static_cast<double>(detail.bytes) / SecondsOf(length);
      text += fmt::format("  ({}/s)", analyzer::BytesText(static_cast<std::uint64_t>(rate)));
    }
    facts.push_back({Text::kSpanBytes, text});
  }
  const traces::Trace& trace = *canvas.workspace.document.trace;
  const SampleData& sample = canvas.workspace.SampleOf(span);
  AddSampleFacts(sample, timeline.stage(span), facts);
  StringId file = detail.object;
  std::size_t others = 0;  // of the sample
  if (file.value == 0 && !sample.files.empty()) {
    file = sample.files.front().path;
    others = sample.files.size() - 1;
  }
  if (file.value == 0) return facts;
  std::string path = analyzer::PlainText(trace.String(file), 300);
  const std::string more = fmt::format("{}{}", others, sample.cut ? "+" : "");
  if (others > 0) path = canvas.ui.F(Text::kSpanMoreFiles, path, more);
  facts.push_back({Text::kSpanFile, path});
  return facts;
}

void DrawSpanCard(const TimelineCanvas& canvas, SpanRef span) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  const auto facts = FactsOf(canvas, span);
  const std::string title = SpanTitle(ui, canvas.workspace, span);
  const std::string note = SpanNote(ui, canvas.timeline.detail(span));
  float label = 0;
  for (const SpanFact& fact : facts) label = std::max(label, TextWidth(ui.small, ui.T(fact.name)));
  label += ui.Px(14);
  // Names of kernels may be hundreds of characters long.
  const auto titles = WrapText(ui.strong, title, ui.Px(460), 3).lines;
  float width = TextWidth(ui.small, note);
  for (const std::string& line : titles) {
    width = std::max(width, TextWidth(ui.strong, line) + ui.Px(18));
  }
  for (const SpanFact& fact : facts) {
    width = std::max(width, label + std::min(TextWidth(ui.small, fact.value), ui.Px(380)));
  }
  BeginCard(ui);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  DrawSwatch(ui, canvas.timeline, span, {at.x, at.y + ui.Px(2)});
  float y = at.y;
  for (const std::string& line : titles) {
    DrawText(list, ui.strong, {at.x + ui.Px(18), y}, Ink(p.text), line);
    y += FontPixels(ui.strong) + ui.Px(2);
  }
  y += ui.Px(4);
  const float pitch = FontPixels(ui.small) + ui.Px(4);
  for (const SpanFact& fact : facts) {
    DrawText(list, ui.small, {at.x, y}, Ink(p.dim), ui.T(fact.name));
    // The end of a path matters most.
    std::string value = fact.value;
    while (fact.name == Text::kSpanFile && TextWidth(ui.small, value) > ui.Px(380)) {
      const std::size_t slash = value.find('/', value.starts_with("…") ? 4 : 1);
      if (slash == std::string::npos) break;
      value = "…" + value.substr(slash);
    }
    DrawText(list, ui.small, {at.x + label, y}, Ink(p.text), Elided(ui.small, value, ui.Px(380)));
    y += pitch;
  }
  if (!note.empty()) {
    DrawText(list, ui.small, {at.x, y}, Ink(p.warn), note);
    y += pitch;
  }
  ImGui::Dummy({width, y - at.y - ui.Px(4)});
  EndCard();
}

void DrawCounterCard(const TimelineCanvas& canvas, const Row& row) {
  const Ui& ui = canvas.ui;
  const Analysis& analysis = *canvas.workspace.document.analysis;
  const CounterTrack& track = analysis.counters[row.counter];
  const std::int64_t at = canvas.At(ImGui::GetIO().MousePos.x);
  const std::string text = fmt::format("{}{}{}", CounterTitle(track, analysis.report, ui.language),
                                       ui.T(Text::kColon), CounterText(track, ValueAt(track, at)));
  BeginCard(ui);
  Paragraph(ui, ui.body, ui.palette().text, text, TextWidth(ui.body, text) + 1);
  if (IsSumOfMapped(track)) {
    const std::string note = ui.T(Text::kMemoryMappedSumTip);
    Paragraph(ui, ui.small, ui.palette().dim, note, TextWidth(ui.small, note) + 1);
  }
  EndCard();
}

}  // namespace penstock::gui
