// SPDX-License-Identifier: Apache-2.0
//
// Draws the chosen span below the rows: its facts, the spans around and inside it, and where the
// time of its sample and of its batch goes.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/span_context.h"
#include "gui/views/panel_parts.h"
#include "gui/views/thumbnails.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using traces::StageId;

std::string LengthText(std::int64_t ns) {
  return DurationText(static_cast<double>(ns) * 1e-9);
}

// A part of a time: a piece of a bar, and its text below the bar.
struct Piece {
  std::int64_t length = 0;  // ns
  ImU32 colour = 0;
  std::string text;  // "": the piece belongs to the text before
  bool strong = false;
  const char* tip = nullptr;
};

// Draws a heading of `head` pixels, the pieces as one bar beside it, and their texts below the bar.
// The texts wrap. Returns where they end.
float DrawPieces(const Ui& ui, const std::string& title, float head, std::span<const Piece> pieces,
                 Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  DrawShortened(ui, ui.small, area.min, Ink(p.dim), title, head);
  float y = area.min.y + (FontPixels(ui.small) - ui.Px(8)) / 2;
  const float left = area.min.x + head + ui.Px(10);
  std::int64_t whole = 0;
  for (const Piece& piece : pieces) whole += piece.length;
  float x = left;
  for (const Piece& piece : pieces) {
    const float width = static_cast<float>(static_cast<double>(piece.length) /
                                           static_cast<double>(std::max<std::int64_t>(whole, 1))) *
                        (area.max.x - left);
    list->AddRectFilled({x, y}, {x + width, y + ui.Px(8)}, piece.colour);
    x += width;
  }
  y = area.min.y + FontPixels(ui.small) + ui.Px(4);
  x = area.min.x;
  const float pitch = FontPixels(ui.small) + ui.Px(4);
  for (const Piece& piece : pieces) {
    if (piece.text.empty()) continue;
    ImFont* font = piece.strong ? ui.strong : ui.small;
    const float width = TextWidth(font, piece.text) + ui.Px(14);
    if (x + width > area.max.x && x > area.min.x) {
      x = area.min.x;
      y += pitch;
    }
    const float middle = y + FontPixels(ui.small) / 2;
    list->AddRectFilled({x, middle - ui.Px(4)}, {x + ui.Px(8), middle + ui.Px(4)}, piece.colour,
                        ui.Px(2));
    const ImVec2 at{x + ui.Px(12), middle - FontPixels(font) / 2};
    DrawShortened(ui, font, at, Ink(p.text), piece.text, area.max.x - at.x);
    if (piece.tip != nullptr) {
      ImGui::SetCursorScreenPos({x, y});
      ImGui::Dummy({width, FontPixels(ui.small)});
      Tip(ui, piece.tip);
    }
    x += width + ui.Px(12);
  }
  return y + pitch + ui.Px(3);
}

// Draws a link to a span. Returns whether it was clicked.
bool DrawLink(const Ui& ui, const Workspace& workspace, SpanRef span, const std::string& label,
              Area area) {
  const Palette& p = ui.palette();
  ImGui::SetCursorScreenPos(area.min);
  ImGui::PushID(static_cast<int>(span.level));
  ImGui::PushID(static_cast<int>(span.index));
  const bool clicked = ImGui::InvisibleButton("##span", {area.width(), area.height()});
  ImGui::PopID();
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(area.min, area.max, Ink(p.raised, hovered ? 1 : 0.75), ui.Px(4));
  if (hovered) list->AddRect(area.min, area.max, Ink(p.accent), ui.Px(4));
  const float middle = (area.min.y + area.max.y) / 2;
  list->AddRectFilled({area.min.x + ui.Px(6), middle - ui.Px(4)},
                      {area.min.x + ui.Px(14), middle + ui.Px(4)},
                      ui.Stage(workspace.document.timeline->stage(span)), ui.Px(2));
  DrawText(list, ui.small, {area.min.x + ui.Px(18), middle - FontPixels(ui.small) / 2}, Ink(p.text),
           label);
  Tip(ui, ui.T(Text::kGoToSpanTip));
  return clicked;
}

// Draws links to spans in one line, as many as there is room for, and the number of the others.
// Returns the span whose link was clicked.
std::optional<SpanRef> DrawLinks(const Ui& ui, const Workspace& workspace, Text title,
                                 std::span<const SpanRef> spans, std::size_t count, Area area) {
  const Palette& p = ui.palette();
  const Timeline& timeline = *workspace.document.timeline;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float text = area.min.y + (area.height() - FontPixels(ui.small)) / 2;
  DrawText(list, ui.small, {area.min.x, text}, Ink(p.dim), ui.T(title));
  float x = area.min.x +
            std::max(TextWidth(ui.small, ui.T(Text::kSpanContains)),
                     TextWidth(ui.small, ui.T(Text::kSpanInside))) +
            ui.Px(10);
  std::optional<SpanRef> clicked;
  const float more = TextWidth(ui.small, fmt::format("+{}", count)) + ui.Px(4);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::string length = LengthText(timeline.end(spans[i]) - timeline.start(spans[i]));
    const float room = area.max.x - x - (i + 1 < count ? more : 0) - ui.Px(24);
    // The first link is always drawn. If there is little room, its name is cut, not its duration.
    const float least = TextWidth(ui.small, length) + ui.Px(60);
    std::string name = SpanLabel(ui, workspace, spans[i]);
    name =
        Elided(ui.small, name, std::min(ui.Px(170), room - TextWidth(ui.small, length) - ui.Px(6)));
    if (room < least && i > 0) {
      DrawText(list, ui.small, {x, text}, Ink(p.dim), fmt::format("+{}", count - i));
      return clicked;
    }
    const std::string label = name + "  " + length;
    const float width = TextWidth(ui.small, label) + ui.Px(24);
    const Area link{{x, area.min.y}, {x + width, area.max.y}};
    if (DrawLink(ui, workspace, spans[i], label, link)) clicked = spans[i];
    x += width + ui.Px(5);
  }
  if (count > spans.size()) {
    DrawText(list, ui.small, {x, text}, Ink(p.dim), fmt::format("+{}", count - spans.size()));
  }
  return clicked;
}

// The spans around `span`, the outermost first.
std::vector<SpanRef> Around(const Timeline& timeline, SpanRef span) {
  std::vector<SpanRef> around;
  for (auto at = ParentOf(timeline, span); at; at = ParentOf(timeline, *at)) {
    around.insert(around.begin(), *at);
  }
  return around;
}

std::vector<Piece> WayPieces(const Ui& ui, const BatchWay& way) {
  struct Part {
    Text name;
    Text tip;
    StageId stage;
  };
  constexpr std::array<Part, kWayParts> kParts = {
      {{Text::kWayQueue, Text::kWayQueueTip, StageId::kIdle},
       {Text::kWayMade, Text::kWayMadeTip, StageId::kFetch},
       {Text::kWayHandover, Text::kWayHandoverTip, StageId::kPut},
       {Text::kWayReady, Text::kWayReadyTip, StageId::kStartup},
       {Text::kWayTaken, Text::kWayTakenTip, StageId::kGet}}};
  std::vector<Piece> pieces;
  for (std::size_t part = 0; part < kWayParts; ++part) {
    if (way.length[part] <= 0) continue;
    Piece piece{way.length[part], ui.Stage(kParts[part].stage), {}};
    const bool longest = way.longest() == static_cast<WayPart>(part);
    const char* name = ui.T(kParts[part].name);
    const std::string length = LengthText(way.length[part]);
    piece.text =
        longest ? ui.F(Text::kPartLongest, name, length) : fmt::format("{} {}", name, length);
    piece.strong = longest;
    piece.tip = ui.T(kParts[part].tip);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<Piece> TimePieces(const Ui& ui, const TimeParts& parts) {
  std::vector<Piece> pieces;
  const auto add = [&](StageId stage, std::int64_t length) {
    if (length <= 0) return;
    pieces.push_back({length, ui.Stage(stage),
                      fmt::format("{} {}", WordOf(stage, ui.language), LengthText(length))});
  };
  add(StageId::kRead, parts.read);
  add(StageId::kDecode, parts.decode);
  add(StageId::kTokenize, parts.tokenize);
  if (parts.augment() > 0) {
    const std::string whole =
        fmt::format("{} {}", WordOf(StageId::kAugment, ui.language), LengthText(parts.augment()));
    Piece piece{parts.named, ui.Stage(StageId::kAugment), {}};
    piece.text = parts.named > 0 ? ui.F(Text::kAugmentNamed, whole, LengthText(parts.named),
                                        LengthText(parts.rest))
                                 : ui.F(Text::kAugmentRest, whole);
    piece.tip = ui.T(Text::kAugmentTip);
    pieces.push_back(std::move(piece));
    pieces.push_back({parts.rest, ui.Stage(StageId::kAugment, 0.5), {}});
  }
  add(StageId::kCollate, parts.collate);
  const std::int64_t known =
      parts.read + parts.decode + parts.tokenize + parts.augment() + parts.collate;
  const std::int64_t other = parts.whole - known;
  if (other > 0) {
    pieces.push_back({other, Ink(ui.palette().dim, 0.4),
                      fmt::format("{} {}", ui.T(Text::kOther), LengthText(other))});
  }
  return pieces;
}

// The outermost sample that `span` is or lies in. Without one, `span` itself if it is a fetch.
std::optional<SpanRef> Accounted(const Timeline& timeline, SpanRef span) {
  std::optional<SpanRef> sample;
  for (std::optional<SpanRef> at = span; at; at = ParentOf(timeline, *at)) {
    if (timeline.stage(*at) == StageId::kSample) sample = at;  // the report counts the outermost
  }
  if (!sample && timeline.stage(span) == StageId::kFetch) sample = span;
  return sample;
}

// Draws the facts in two columns, and the path below them. Returns where the path ends.
float DrawFacts(const TimelineCanvas& canvas, SpanRef span, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<SpanFact> facts = FactsOf(canvas, span);
  float label = 0;
  for (const SpanFact& fact : facts) label = std::max(label, TextWidth(ui.small, ui.T(fact.name)));
  label += ui.Px(10);
  const float pitch = FontPixels(ui.body) + ui.Px(6);
  const float column = area.width() / 2;
  float x = area.min.x;
  float y = area.min.y;
  for (const SpanFact& fact : facts) {
    const bool wide = fact.name == Text::kSpanFile;
    if (wide && x > area.min.x) {
      x = area.min.x;
      y += pitch;
    }
    const float room = (wide ? area.width() : column) - label - ui.Px(10);
    DrawText(list, ui.small, {x, y + (FontPixels(ui.body) - FontPixels(ui.small)) / 2}, Ink(p.dim),
             ui.T(fact.name));
    const std::string value = wide ? PathElided(ui.body, fact.value, room) : fact.value;
    DrawShortened(ui, ui.body, {x + label, y}, Ink(p.text), value, room);
    const bool left = x == area.min.x && !wide;
    x = left ? area.min.x + column : area.min.x;
    if (!left) y += pitch;
  }
  return x > area.min.x ? y + pitch : y;
}

// Draws links to the spans around and inside the span, and the parts of the times of its sample and
// its batch. Returns where all this ends.
float DrawContext(const TimelineCanvas& canvas, SpanRef span, Area area) {
  const Ui& ui = canvas.ui;
  Workspace& workspace = canvas.workspace;
  const Timeline& timeline = canvas.timeline;
  constexpr std::size_t kMostLinks = 12;
  const float line = FontPixels(ui.small) + ui.Px(6);
  std::optional<SpanRef> clicked;
  float y = area.min.y;
  const auto links = [&](Text title, std::span<const SpanRef> spans, std::size_t count) {
    if (spans.empty()) return;
    const Area place{{area.min.x, y}, {area.max.x, y + line}};
    if (const auto found = DrawLinks(ui, workspace, title, spans, count, place)) clicked = found;
    y += line + ui.Px(3);
  };
  const std::vector<SpanRef> around = Around(timeline, span);
  links(Text::kSpanInside, around, around.size());
  const Children children = ChildrenOf(timeline, span, kMostLinks);
  links(Text::kSpanContains, children.longest, children.count);
  if (y > area.min.y) y += ui.Px(3);
  const auto accounted = Accounted(timeline, span);
  const auto parts = accounted ? workspace.PartsOf(*accounted) : std::nullopt;
  const auto& analysis = workspace.document.analysis;
  const auto way = analysis ? WayOf(timeline, analysis->report.diagnosis.run, span) : std::nullopt;
  const bool sample = accounted && timeline.stage(*accounted) == StageId::kSample;
  const std::string time = parts ? ui.T(sample ? Text::kTimeOfSample : Text::kTimeOfFetch) : "";
  const std::string batch =
      way ? ui.F(Text::kWayOfBatch, workspace.BatchNameOf(timeline.detail(span), ui.language),
                 LengthText(way->end - way->begin))
          : "";
  const float head = std::min(std::max(TextWidth(ui.small, time), TextWidth(ui.small, batch)) + 1,
                              area.width() * 0.5F);
  if (parts) {
    y = DrawPieces(ui, time, head, TimePieces(ui, *parts), {{area.min.x, y}, area.max});
  }
  if (way) y = DrawPieces(ui, batch, head, WayPieces(ui, *way), {{area.min.x, y}, area.max});
  if (clicked) {
    workspace.timeline.Go(timeline, *clicked);
    workspace.reveal = true;
  }
  return y;
}

// Draws the picture that was read for the span's sample into the upper right corner of `area`, if
// there is one and enough room. Returns the width that it takes.
float DrawPicture(const TimelineCanvas& canvas, SpanRef span, Area area) {
  constexpr float kLeastWidth = 520;  // logical pixels: the facts come first
  constexpr float kLeastCell = 0.5;
  const Ui& ui = canvas.ui;
  if (area.width() < ui.Px(kLeastWidth)) return 0;
  const Thumbnail* thumbnail = nullptr;
  for (const SampleData::File& file : canvas.workspace.SampleOf(span).files) {
    const std::string path(canvas.workspace.document.trace->String(file.path));
    if (!MayHaveThumbnail(path)) continue;
    thumbnail = ThumbnailOf(canvas.workspace, path);
    break;
  }
  if (thumbnail == nullptr) return 0;
  const float note = FontPixels(ui.small) + ui.Px(4);
  const float room = std::max(0.0F, area.height() - note) / ui.Px(1);
  const float cell = std::min(2.0F, room / static_cast<float>(thumbnail->height));
  if (cell < kLeastCell) return 0;
  const float picture = ui.Px(cell * static_cast<float>(thumbnail->width));
  const std::string text = ThumbnailNote(*thumbnail);
  const float width = std::max(picture, TextWidth(ui.small, text));
  DrawThumbnail(ui, *thumbnail, {area.max.x - picture, area.min.y}, cell);
  DrawTextRight(ImGui::GetWindowDrawList(), ui.small, area.max.x,
                area.min.y + ui.Px(cell * static_cast<float>(thumbnail->height)) + ui.Px(4),
                Ink(ui.palette().dim), text);
  return width + ui.Px(16);
}

}  // namespace

void DrawSpanPanel(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  const SpanRef span = *canvas.workspace.timeline.span;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  DrawSwatch(ui, canvas.timeline, span, {inside.min.x, inside.min.y + ui.Px(2)});
  const std::string note = SpanNote(ui, canvas.timeline.detail(span));
  DrawTextRight(list, ui.small, inside.max.x, inside.min.y, Ink(p.warn), note);
  const float beside = note.empty() ? 0 : TextWidth(ui.small, note) + ui.Px(14);
  DrawShortened(ui, ui.strong, {inside.min.x + ui.Px(18), inside.min.y}, Ink(p.text),
                SpanTitle(ui, canvas.workspace, span), inside.width() - ui.Px(18) - beside);
  const float head = FontPixels(ui.strong) + ui.Px(8);
  BeginArea("span", {{inside.min.x, inside.min.y + head}, inside.max}, true);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  // The picture has the height of the visible part of the panel, however far the panel is scrolled.
  const float visible = inside.height() - head;
  const float shown = DrawPicture(canvas, span, {at, {at.x + room, at.y + visible}});
  const float width = room - shown;
  constexpr float kBeside = 760;  // from this width on, in logical pixels, there are two columns
  float y = at.y;
  if (width >= ui.Px(kBeside)) {
    const float facts = std::min(width * 0.4F, ui.Px(520));
    const float left = DrawFacts(canvas, span, {at, {at.x + facts, at.y}});
    y = DrawContext(canvas, span, {{at.x + facts + ui.Px(16), at.y}, {at.x + width, at.y}});
    y = std::max(left, y);
  } else {
    y = DrawFacts(canvas, span, {at, {at.x + width, at.y}}) + ui.Px(4);
    y = DrawContext(canvas, span, {{at.x, y}, {at.x + width, y}});
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({1, y - at.y});
  EndArea();
}

}  // namespace penstock::gui
