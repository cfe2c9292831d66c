// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/layout/faults.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace penstock::gui::testing {
namespace {

bool Blank(std::string_view text) {
  return text.find_first_not_of(" \n") == std::string_view::npos;
}

Box BoxOf(const TextCall& call) {
  return {call.min.x, call.min.y, call.max.x, call.max.y};
}

Box ClipOf(const TextCall& call) {
  return {call.clip.x, call.clip.y, call.clip.z, call.clip.w};
}

// The box around the visible parts of a text's characters.
Box SeenBox(const SeenText& text) {
  Box box{1e9F, 1e9F, -1e9F, -1e9F};
  for (const Glyph& glyph : text.glyphs) {
    if (glyph.seen.empty()) continue;
    box = {std::min(box.x0, glyph.seen.x0), std::min(box.y0, glyph.seen.y0),
           std::max(box.x1, glyph.seen.x1), std::max(box.y1, glyph.seen.y1)};
  }
  return box;
}

ImVec2 Centre(const Box& box) {
  // A little beside the centre: two triangles may share an edge through the centre, and both would
  // count there.
  return {(box.x0 + box.x1) / 2 + 0.013F, (box.y0 + box.y1) / 2 + 0.029F};
}

bool Covered(const Scene& scene, const Glyph& glyph) {
  return scene.Showing(Centre(glyph.seen), glyph.order) < 0.5;
}

// Whether a visible character of `a` and one of `b` share more than `slack` pixels in both
// directions.
bool Collide(const Scene& scene, const SeenText& a, const SeenText& b, float slack) {
  for (const Glyph& one : a.glyphs) {
    for (const Glyph& other : b.glyphs) {
      const Box both = Common(one.seen, other.seen);
      if (both.width() <= slack || both.height() <= slack) continue;
      if (!Covered(scene, one) && !Covered(scene, other)) return true;
    }
  }
  return false;
}

Rgb Blended(Rgb behind, ImU32 ink) {
  const double alpha = (ink >> 24) / 255.0;
  return Mix(behind,
             {static_cast<std::uint8_t>(ink), static_cast<std::uint8_t>(ink >> 8),
              static_cast<std::uint8_t>(ink >> 16)},
             alpha);
}

// The median of the contrasts at five points, so that a thin line behind a character does not
// count.
double ContrastOf(const Scene& scene, const Glyph& glyph) {
  const Box& box = glyph.seen;
  const ImVec2 centre = Centre(box);
  const float x = 0.35F * box.width();
  const float y = 0.35F * box.height();
  std::array<double, 5> contrasts{};
  const std::array<ImVec2, 5> offsets = {{{0, 0}, {-x, -y}, {x, -y}, {-x, y}, {x, y}}};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Rgb behind =
        scene.Behind({centre.x + offsets[i].x, centre.y + offsets[i].y}, glyph.order);
    contrasts[i] = Contrast(Blended(behind, glyph.colour), behind);
  }
  std::sort(contrasts.begin(), contrasts.end());
  return contrasts[2];
}

std::string WithoutSpaces(std::string_view text) {
  std::string left;
  for (const char c : text) {
    if (c != ' ' && c != '\n') left += c;
  }
  return left;
}

}  // namespace

std::string_view NameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kClipped:
      return "clipped";
    case FaultKind::kOverlap:
      return "overlap";
    case FaultKind::kFaint:
      return "faint";
    case FaultKind::kUntranslated:
      return "untranslated";
    case FaultKind::kUnexplained:
      return "shortened without a tip";
  }
  return "";
}

std::vector<Fault> Clipped(const Scene& scene) {
  std::vector<Fault> faults;
  constexpr float kSlack = 1.5F;  // pixels that rounding may cost
  const Box screen{0, 0, scene.size().x, scene.size().y};
  for (const SeenText& text : scene.texts()) {
    const TextCall& call = text.call;
    if (Blank(call.text) || (call.colour >> 24) == 0) continue;
    const Box box = BoxOf(call);
    const Box clip = Common(ClipOf(call), screen);
    const bool above_or_below = box.y1 <= clip.y0 || box.y0 >= clip.y1;
    if (above_or_below && text.scrolls) continue;
    const bool wide =
        !text.scrolls_sideways && (box.x0 < clip.x0 - kSlack || box.x1 > clip.x1 + kSlack);
    // The box of a line is higher than its characters, so a part of it may be cut off. The boxes of
    // the characters may not.
    const float spare = 0.3F * call.size;
    bool high = box.y0 < clip.y0 - spare || box.y1 > clip.y1 + spare;
    for (const Glyph& glyph : text.glyphs) {
      high = high || glyph.ink.y0 < clip.y0 - kSlack || glyph.ink.y1 > clip.y1 + kSlack;
    }
    if (!wide && (!high || text.scrolls)) continue;
    faults.push_back(
        {FaultKind::kClipped, call.text,
         fmt::format("of {:.0f},{:.0f} to {:.0f},{:.0f} only what is within "
                     "{:.0f},{:.0f} to {:.0f},{:.0f}",
                     box.x0, box.y0, box.x1, box.y1, clip.x0, clip.y0, clip.x1, clip.y1),
         box});
  }
  return faults;
}

std::vector<Fault> Overlapping(const Scene& scene, const Looked& how) {
  struct Candidate {
    const SeenText* text;
    Box box;
  };
  std::vector<Candidate> candidates;
  for (const SeenText& text : scene.texts()) {
    const Box box = SeenBox(text);
    if (!box.empty() && (text.call.colour >> 24) != 0) candidates.push_back({&text, box});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.box.y0 < b.box.y0; });
  const float slack = 1.5F * how.scale;
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& a = candidates[i];
    for (std::size_t j = i + 1; j < candidates.size(); ++j) {
      const Candidate& b = candidates[j];
      if (b.box.y0 >= a.box.y1) break;
      if (a.text->root != b.text->root) continue;  // one window lies over the other on purpose
      const Box both = Common(a.box, b.box);
      if (both.width() <= slack || both.height() <= slack) continue;
      if (!Collide(scene, *a.text, *b.text, slack)) continue;
      faults.push_back(
          {FaultKind::kOverlap, a.text->call.text, "with \"" + b.text->call.text + "\"", both});
    }
  }
  return faults;
}

std::vector<Fault> Faint(const Scene& scene, const Looked& how) {
  std::vector<Fault> faults;
  for (const SeenText& text : scene.texts()) {
    const float height = text.call.size / how.scale;
    const bool large = height >= 24 || (text.call.font == how.bold && height >= 18.66F);
    const float alpha = static_cast<float>(text.call.colour >> 24) / 255;
    const bool disabled = std::abs(alpha - ImGui::GetStyle().DisabledAlpha) < 0.01F;
    const double least = large || disabled ? 3 : 4.5;
    double worst = 21;
    Box where;
    for (const Glyph& glyph : text.glyphs) {
      if (glyph.seen.width() < 1 || glyph.seen.height() < 1 || Covered(scene, glyph)) continue;
      const double contrast = ContrastOf(scene, glyph);
      if (contrast >= worst) continue;
      worst = contrast;
      where = glyph.seen;
    }
    // A colour channel has only 256 steps, which may change a contrast by up to 0.05.
    if (worst >= least - 0.05 || (text.call.colour >> 24) == 0) continue;
    faults.push_back(
        {FaultKind::kFaint, text.call.text, fmt::format("contrast {:.2f}", worst), where});
  }
  return faults;
}

std::vector<SeenText> Shortened(const Scene& scene) {
  std::vector<SeenText> shortened;
  for (const SeenText& text : scene.texts()) {
    const std::string& said = text.call.text;
    if (said == kEllipsis || !said.ends_with(kEllipsis) || said.ends_with("……")) continue;
    if (said.find('/') != std::string::npos || SeenBox(text).empty()) continue;
    constexpr float kTooThin = 3;  // pixels of the last row of a list, which nobody can point at
    const Box& seen = text.glyphs.front().seen;
    if (seen.y1 - seen.y0 < kTooThin) continue;
    shortened.push_back(text);
  }
  return shortened;
}

std::string TextOver(const Scene& scene, const SeenText& shortened) {
  std::string over;
  for (const SeenText& text : scene.texts()) {
    if (text.root != shortened.root) over += WithoutSpaces(text.call.text);
  }
  return over;
}

bool Explained(const Scene& scene, const SeenText& shortened) {
  const std::string over = TextOver(scene, shortened);
  std::string_view said = shortened.call.text;
  said.remove_suffix(kEllipsis.size());
  return over.find(WithoutSpaces(said)) != std::string::npos;
}

}  // namespace penstock::gui::testing
