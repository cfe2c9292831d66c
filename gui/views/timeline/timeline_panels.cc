// SPDX-License-Identifier: Apache-2.0
//
// Draws what the timeline shows about one span or one selection.
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

double SecondsOf(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

void DrawSwatch(const Ui& ui, ImVec2 at, traces::StageId stage) {
  const float size = ui.Px(11);
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size, at.y + size}, ui.Stage(stage),
                                            ui.Px(3));
}

std::string NoteOf(const Ui& ui, const SpanDetail& detail) {
  if ((detail.flags & SpanDetail::kDerived) != 0) return ui.T(Text::kSpanDerived);
  if ((detail.flags & wire::kFlagUnfinished) != 0) return ui.T(Text::kSpanUnfinished);
  if ((detail.flags & wire::kFlagError) != 0) return ui.T(Text::kSpanError);
  return "";
}

// The word for the stage, and the name of the span if it has one.
std::string TitleOf(const Ui& ui, const Workspace& workspace, SpanRef span) {
  const Timeline& timeline = *workspace.document.timeline;
  std::string title(WordOf(timeline.stage(span), ui.language));
  const std::string_view name = workspace.document.trace->String(timeline.detail(span).name);
  if (!name.empty() && name != traces::StageName(timeline.stage(span)))
    title += "  " + std::string(name);
  return title;
}

}  // namespace

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
    facts.push_back({Text::kSpanCpu, fmt::format("{} ({})", DurationText(cpu),
                                                 analyzer::PercentText(std::min(share, 1.0)))});
  }
  facts.push_back(
      {Text::kSpanStart,
       TimeText(start,
                std::max<std::int64_t>(canvas.window.to - canvas.window.from, 1) / 10'000 + 1)});
  if (detail.key().valid()) facts.push_back({Text::kSpanBatch, std::to_string(detail.batch)});
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
  const std::string_view object = canvas.workspace.document.trace->String(detail.object);
  if (!object.empty()) facts.push_back({Text::kSpanFile, analyzer::PlainText(object, 300)});
  return facts;
}

void DrawSpanCard(const TimelineCanvas& canvas, SpanRef span) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  const auto facts = FactsOf(canvas, span);
  const std::string title = TitleOf(ui, canvas.workspace, span);
  const std::string note = NoteOf(ui, canvas.timeline.detail(span));
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
  DrawSwatch(ui, {at.x, at.y + ui.Px(2)}, canvas.timeline.stage(span));
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
  const CounterTrack& track = canvas.workspace.document.analysis->counters[row.counter];
  const std::int64_t at = canvas.At(ImGui::GetIO().MousePos.x);
  const std::string text = fmt::format("{}{}{}", ui.T(CounterName(track.kind)), ui.T(Text::kColon),
                                       CounterText(track, ValueAt(track, at)));
  BeginCard(ui);
  Paragraph(ui, ui.body, ui.palette().text, text, TextWidth(ui.body, text) + 1);
  EndCard();
}

void DrawSpanPanel(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  const SpanRef span = *canvas.workspace.timeline.span;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  DrawSwatch(ui, {inside.min.x, inside.min.y + ui.Px(2)}, canvas.timeline.stage(span));
  const std::string note = NoteOf(ui, canvas.timeline.detail(span));
  DrawTextRight(list, ui.small, inside.max.x, inside.min.y, Ink(p.warn), note);
  const float beside = note.empty() ? 0 : TextWidth(ui.small, note) + ui.Px(14);
  DrawShortened(ui, ui.strong, {inside.min.x + ui.Px(18), inside.min.y}, Ink(p.text),
                TitleOf(ui, canvas.workspace, span), inside.width() - ui.Px(18) - beside);
  // Facts in columns, with the path across all of them.
  const float pitch = FontPixels(ui.small) + FontPixels(ui.body) + ui.Px(12);
  const float column = ui.Px(150);
  float x = inside.min.x;
  float y = inside.min.y + FontPixels(ui.strong) + ui.Px(12);
  for (const SpanFact& fact : FactsOf(canvas, span)) {
    const bool wide = fact.name == Text::kSpanFile;
    const float width = std::max(column, TextWidth(ui.body, fact.value) + ui.Px(24));
    if ((wide || x + width > inside.max.x) && x > inside.min.x) {
      x = inside.min.x;
      y += pitch;
    }
    DrawText(list, ui.small, {x, y}, Ink(p.dim), ui.T(fact.name));
    const float room = inside.max.x - x;
    const std::string value = wide ? PathElided(ui.body, fact.value, room) : fact.value;
    DrawShortened(ui, ui.body, {x, y + FontPixels(ui.small) + ui.Px(2)}, Ink(p.text), value, room);
    x += width;
  }
}

void DrawSelectionPanel(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  TimelineState& state = canvas.workspace.timeline;
  const TimeRange range = *state.selection;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  DrawText(list, ui.strong, inside.min, Ink(p.text),
           ui.F(Text::kSelectedTime, DurationText(SecondsOf(range.length()))));
  const std::int64_t resolution = range.length() / 1000 + 1;
  DrawTextRight(
      list, ui.small, inside.max.x, inside.min.y, Ink(p.dim),
      fmt::format("{} – {}", TimeText(range.from, resolution), TimeText(range.to, resolution)));
  Workspace& workspace = canvas.workspace;
  const auto trace = workspace.document.trace;
  const TimeRange inside_run = workspace.Range().value_or(TimeRange{});
  const SumsKey key{trace, inside_run};
  const std::vector<StageSum>* found =
      workspace.sums.Get(key, workspace.at_once, [=](const std::stop_token& stop) {
        // A preview has no spans.
        return trace != nullptr ? SumsOf(trace, inside_run, stop) : std::vector<StageSum>();
      });
  const std::span<const StageSum> sums =
      found != nullptr ? std::span<const StageSum>(*found) : std::span<const StageSum>();
  const bool old = found != nullptr && !(workspace.sums.key() == key);
  BeginArea("selection",
            {{inside.min.x, inside.min.y + FontPixels(ui.strong) + ui.Px(6)}, inside.max}, false);
  std::optional<traces::StageId> longest;
  if (ImGui::BeginTable(
          "sums", 6,
          ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kStage), 0, 2);
    ImGui::TableSetupColumn(ui.T(Text::kCount), 0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kOwnTime), 0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kPerThread), 0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kMean), 0, 1);
    ImGui::TableSetupColumn("##longest", ImGuiTableColumnFlags_WidthFixed, ui.Px(80));
    ImGui::TableHeadersRow();
    if (old) ImGui::PushStyleColor(ImGuiCol_Text, Tint(p.dim));
    for (const StageSum& sum : sums) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      DrawSwatch(ui, {at.x, at.y + ui.Px(2)}, sum.stage);
      ImGui::Dummy({ui.Px(12), 1});
      ImGui::SameLine();
      ImGui::TextUnformatted(WordOf(sum.stage, ui.language).data());
      ImGui::TableNextColumn();
      ImGui::Text("%s", CountText(static_cast<double>(sum.count)).c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(DurationText(SecondsOf(sum.time)).c_str());
      ImGui::TableNextColumn();
      // The average number of threads in this stage at a time.
      ImGui::Text("%.2f", static_cast<double>(sum.time) / static_cast<double>(range.length()));
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(DurationText(sum.mean()).c_str());
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(sum.stage));
      if (ImGui::SmallButton(ui.T(Text::kLongest))) longest = sum.stage;
      ImGui::PopID();
    }
    if (old) ImGui::PopStyleColor();
    ImGui::EndTable();
  }
  EndArea();
  if (longest) {
    if (const auto span = Longest(canvas.timeline, *longest, range)) {
      state.selection.reset();
      state.Go(canvas.timeline, *span);
      state.scroll = ScrollTo(canvas.rows, *span, state.scroll, canvas.RowsRoom());
    }
  }
}

}  // namespace penstock::gui
