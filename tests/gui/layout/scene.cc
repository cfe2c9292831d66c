// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/layout/scene.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace penstock::gui::testing {
namespace {

constexpr float kCell = 32;  // pixels

struct Weights {
  std::array<float, 3> of{};
  bool inside = false;
};

Weights WeightsAt(const std::array<ImVec2, 3>& corners, ImVec2 at) {
  const auto& [a, b, c] = corners;
  const float whole = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  if (std::abs(whole) < 1e-6F) return {};
  const float at_b = ((at.x - a.x) * (c.y - a.y) - (c.x - a.x) * (at.y - a.y)) / whole;
  const float at_c = ((b.x - a.x) * (at.y - a.y) - (at.x - a.x) * (b.y - a.y)) / whole;
  const float at_a = 1 - at_b - at_c;
  return {{at_a, at_b, at_c}, at_a >= 0 && at_b >= 0 && at_c >= 0};
}

bool Contains(const Box& box, ImVec2 at) {
  return at.x >= box.x0 && at.x < box.x1 && at.y >= box.y0 && at.y < box.y1;
}

std::uint8_t Rounded(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

// Whether scrolling reaches the parts of the text that are cut off above or below: scrolling the
// text's own window, or a window around it.
bool ScrollReaches(const ImGuiWindow& window, const TextCall& call) {
  for (const ImGuiWindow* w = &window; w != nullptr; w = w->ParentWindow) {
    const bool moves = w->ScrollMax.y > 0 && (w->Flags & ImGuiWindowFlags_NoScrollbar) == 0;
    // In the text's own window, a frozen table head may cut off a text inside the clip rectangle.
    const bool beyond = w == &window || call.min.y < w->InnerClipRect.Min.y + 1 ||
                        call.max.y > w->InnerClipRect.Max.y - 1;
    if (moves && beyond) return true;
    if ((w->Flags & ImGuiWindowFlags_ChildWindow) == 0) break;
  }
  return false;
}

// Whether the window's scroll bar reaches the parts of a text beside the window.
bool ScrollsSideways(const ImGuiWindow& window) {
  return window.ScrollMax.x > 0 && (window.Flags & ImGuiWindowFlags_HorizontalScrollbar) != 0;
}

// Whether the text has a clip rectangle that is lower than the window's.
bool HasOwnEdges(const ImGuiWindow& window, const TextCall& call) {
  return call.clip.y > window.InnerClipRect.Min.y + 1 ||
         call.clip.w < window.InnerClipRect.Max.y - 1;
}

}  // namespace

Box Common(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

Scene::Scene(const ImDrawData& data, std::vector<TextCall> calls, bool scrolls_by_itself)
    : size_(data.DisplaySize),
      columns_(static_cast<int>(data.DisplaySize.x / kCell) + 1),
      rows_(static_cast<int>(data.DisplaySize.y / kCell) + 1) {
  cells_.resize(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_));
  std::map<const ImDrawList*, std::size_t> layers;
  for (int i = 0; i < data.CmdListsCount; ++i) {
    layers.emplace(data.CmdLists[i], static_cast<std::size_t>(i));
  }
  std::map<const ImDrawList*, const ImGuiWindow*> owners;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    owners.emplace(window->DrawList, window);
  }
  for (TextCall& call : calls) {
    const auto layer = layers.find(call.list);
    if (layer == layers.end()) continue;  // its window is not shown yet
    SeenText text;
    text.layer = layer->second;
    const auto owner = owners.find(call.list);
    if (owner != owners.end()) {
      text.window = owner->second->Name;
      text.root = owner->second->RootWindow->Name;
      text.scrolls = (scrolls_by_itself && HasOwnEdges(*owner->second, call)) ||
                     ScrollReaches(*owner->second, call);
      text.scrolls_sideways = ScrollsSideways(*owner->second);
    }
    text.call = std::move(call);
    texts_.push_back(std::move(text));
  }
  std::stable_sort(texts_.begin(), texts_.end(), [](const SeenText& a, const SeenText& b) {
    return std::pair(a.layer, a.call.first) < std::pair(b.layer, b.call.first);
  });
  for (int i = 0; i < data.CmdListsCount; ++i) {
    AddList(*data.CmdLists[i], static_cast<std::size_t>(i));
  }
}

void Scene::AddList(const ImDrawList& list, std::size_t layer) {
  const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
  const auto begin = std::partition_point(texts_.begin(), texts_.end(),
                                          [&](const SeenText& t) { return t.layer < layer; });
  const auto end = std::partition_point(begin, texts_.end(),
                                        [&](const SeenText& t) { return t.layer == layer; });
  for (const ImDrawCmd& cmd : list.CmdBuffer) {
    if (cmd.UserCallback != nullptr) continue;
    const Box clip = Common({cmd.ClipRect.x, cmd.ClipRect.y, cmd.ClipRect.z, cmd.ClipRect.w},
                            {0, 0, size_.x, size_.y});
    for (unsigned i = 0; i + 2 < cmd.ElemCount; i += 3, ++order_) {
      std::array<int, 3> index{};
      Fill fill{{}, {}, clip, order_};
      bool plain = true;
      for (std::size_t k = 0; k < 3; ++k) {
        index[k] = static_cast<int>(list.IdxBuffer[static_cast<int>(cmd.IdxOffset + i + k)] +
                                    cmd.VtxOffset);
        const ImDrawVert& vertex = list.VtxBuffer[index[k]];
        fill.at[k] = vertex.pos;
        fill.colour[k] = vertex.col;
        plain = plain && vertex.uv.x == white.x && vertex.uv.y == white.y;
      }
      // The text that these vertices belong to, if any: the last text whose vertices begin at or
      // before them.
      auto text = std::partition_point(begin, end,
                                       [&](const SeenText& t) { return t.call.first <= index[0]; });
      if (text != begin && index[0] < std::prev(text)->call.end) {
        --text;
        if ((index[0] - text->call.first) % 4 != 0 || index[1] != index[0] + 1) continue;
        const ImVec2 a = list.VtxBuffer[index[0]].pos;
        const ImVec2 b = list.VtxBuffer[index[0] + 2].pos;
        const Box ink{a.x, a.y, b.x, b.y};
        text->glyphs.push_back({ink, Common(ink, clip), order_, fill.colour[0]});
      } else if (plain) {
        AddFill(fill);
      }
    }
  }
}

void Scene::AddFill(const Fill& fill) {
  Box box{size_.x, size_.y, 0, 0};
  for (const ImVec2& at : fill.at) {
    box = {std::min(box.x0, at.x), std::min(box.y0, at.y), std::max(box.x1, at.x),
           std::max(box.y1, at.y)};
  }
  box = Common(box, fill.clip);
  if (box.empty()) return;
  const auto column = [this](float x) {
    return std::clamp(static_cast<int>(x / kCell), 0, columns_ - 1);
  };
  const auto row = [this](float y) {
    return std::clamp(static_cast<int>(y / kCell), 0, rows_ - 1);
  };
  for (int y = row(box.y0); y <= row(box.y1); ++y) {
    for (int x = column(box.x0); x <= column(box.x1); ++x) {
      cells_[static_cast<std::size_t>(y * columns_ + x)].push_back(fills_.size());
    }
  }
  fills_.push_back(fill);
}

// Calls use(fill, colour) for each fill that covers the point, in the order of drawing. `colour` is
// the fill's colour at the point.
template <class Use>
void Scene::ForFills(ImVec2 at, const Use& use) const {
  if (!Contains({0, 0, size_.x, size_.y}, at)) return;
  const int cell = static_cast<int>(at.y / kCell) * columns_ + static_cast<int>(at.x / kCell);
  for (const std::size_t i : cells_[static_cast<std::size_t>(cell)]) {
    const Fill& fill = fills_[i];
    if (!Contains(fill.clip, at)) continue;
    const Weights weights = WeightsAt(fill.at, at);
    if (!weights.inside) continue;
    std::array<double, 4> colour{};
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t channel = 0; channel < 4; ++channel) {
        colour[channel] +=
            static_cast<double>(weights.of[k]) * (fill.colour[k] >> (8 * channel) & 255U);
      }
    }
    use(fill, colour);
  }
}

Rgb Scene::Behind(ImVec2 at, std::size_t order) const {
  std::array<double, 3> behind{};
  ForFills(at, [&](const Fill& fill, const std::array<double, 4>& colour) {
    if (fill.order >= order) return;
    const double alpha = colour[3] / 255;
    for (std::size_t channel = 0; channel < 3; ++channel) {
      behind[channel] += alpha * (colour[channel] - behind[channel]);
    }
  });
  return {Rounded(behind[0]), Rounded(behind[1]), Rounded(behind[2])};
}

double Scene::Showing(ImVec2 at, std::size_t order) const {
  double showing = 1;
  ForFills(at, [&](const Fill& fill, const std::array<double, 4>& colour) {
    if (fill.order > order) showing *= 1 - colour[3] / 255;
  });
  return showing;
}

}  // namespace penstock::gui::testing
