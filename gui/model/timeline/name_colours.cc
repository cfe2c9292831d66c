// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/name_colours.h"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr std::array<StageId, ColourCell{}.size()> kNamedStages = {StageId::kMark, StageId::kCall};
constexpr std::size_t kMostListed = 12;  // names of one stage

// The time of each colour in one cell.
using CellTimes = std::array<ColourParts, ColourCell{}.size()>;

std::vector<CellTimes> TimesOfCells(const Level& level, std::size_t count,
                                    std::int64_t trace_length) {
  constexpr double kLeast = 1e-6;  // cells; a span without length counts a little
  std::vector<CellTimes> cells(count);
  const double width = static_cast<double>(trace_length) / static_cast<double>(count);
  for (std::size_t i = 0; i < level.size(); ++i) {
    const std::uint8_t colour = level.detail[i].colour;
    if (colour >= kNamedColours) continue;
    const std::size_t place = PlaceOfNamed(level.stage(i));
    const double from = std::max(static_cast<double>(level.start[i]) / width, 0.0);
    const double to = std::max(static_cast<double>(level.end(i)) / width, from + kLeast);
    for (auto c = static_cast<std::size_t>(from); c < count && static_cast<double>(c) < to; ++c) {
      const double begin = std::max(from, static_cast<double>(c));
      const double end = std::min(to, static_cast<double>(c + 1));
      cells[c][place][colour] += static_cast<float>(end - begin);
    }
  }
  return cells;
}

}  // namespace

std::uint8_t LargestOf(const ColourParts& parts) {
  const auto* most = std::max_element(parts.begin(), parts.end());
  return *most > 0 ? static_cast<std::uint8_t>(most - parts.begin()) : kColourOfStage;
}

std::uint8_t NameColours::Add(StageId stage, StringId name, std::int64_t length) {
  const std::size_t place = PlaceOfNamed(stage);
  if (place >= names_.size() || name.value == 0) return kColourOfStage;
  const auto [entry, fresh] = names_[place].try_emplace(name.value);
  if (fresh) entry->second.colour = ColourOfName(trace_.String(name));
  entry->second.time += length;
  return entry->second.colour;
}

std::vector<NamedPart> NameColours::Longest() const {
  std::vector<NamedPart> longest;
  for (std::size_t place = 0; place < names_.size(); ++place) {
    std::vector<NamedPart> parts;
    for (const auto& [name, found] : names_[place]) {
      parts.push_back({kNamedStages[place], StringId{name}, found.colour, found.time});
    }
    std::sort(parts.begin(), parts.end(), [](const NamedPart& a, const NamedPart& b) {
      return std::pair(-a.time, a.name) < std::pair(-b.time, b.name);
    });
    parts.resize(std::min(parts.size(), kMostListed));
    longest.insert(longest.end(), parts.begin(), parts.end());
  }
  return longest;
}

void FillColours(Level& level, std::int64_t trace_length) {
  level.colours.clear();
  const auto named = [](const SpanDetail& detail) { return detail.colour < kNamedColours; };
  if (level.density.empty() || std::none_of(level.detail.begin(), level.detail.end(), named)) {
    return;
  }
  std::vector<CellTimes> cells = TimesOfCells(level, level.density.front().size(), trace_length);
  for (const std::vector<Cell>& density : level.density) {
    // Cells are added in pairs until there are as many as in `density`.
    for (; cells.size() > density.size(); cells.resize(cells.size() / 2)) {
      for (std::size_t i = 0; i < cells.size() / 2; ++i) {
        CellTimes sum = cells[2 * i];
        for (std::size_t place = 0; place < sum.size(); ++place) {
          for (std::size_t k = 0; k < kNamedColours; ++k) {
            sum[place][k] += cells[2 * i + 1][place][k];
          }
        }
        cells[i] = sum;
      }
    }
    std::vector<ColourCell>& colours = level.colours.emplace_back(density.size());
    for (std::size_t c = 0; c < colours.size(); ++c) {
      for (std::size_t place = 0; place < colours[c].size(); ++place) {
        colours[c][place] = LargestOf(cells[c][place]);
      }
    }
  }
}

}  // namespace penstock::gui
