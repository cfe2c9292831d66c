// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace penstock::sweep {
namespace {

using TextRow = std::vector<std::string>;

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kDim = "\033[2m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kPlain = "\033[0m";

std::string Rate(double value) {
  if (value >= 9999.5) return fmt::format("{:.0f}", value);
  return value >= 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string Percent(double fraction) {
  return fmt::format("{:.{}f} %", 100 * fraction, fraction > 0.9 && fraction < 1 ? 1 : 0);
}

std::string Range(const Spread& spread) {
  return fmt::format("{} to {}", Rate(spread.least), Rate(spread.most));
}

std::string Micros(double seconds, bool sign) {
  return sign ? fmt::format("{:+.1f}", 1e6 * seconds) : fmt::format("{:.1f}", 1e6 * seconds);
}

// Number of characters on screen. UTF-8 continuation bytes take no room.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Puts columns side by side, each as wide as its widest text. Columns in `left` are aligned to the
// left, the others to the right.
std::vector<std::string> Align(const std::vector<TextRow>& rows, const std::vector<bool>& left) {
  std::vector<std::size_t> widths(left.size(), 0);
  for (const TextRow& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Width(row[c]));
  }
  std::vector<std::string> lines;
  for (const TextRow& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - Width(row[c]), ' ');
      line += c == 0 ? "" : "  ";
      line += left[c] ? row[c] + space : space + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Paint(std::string_view colour, const std::string& text, const TableStyle& style) {
  return style.colour ? std::string(colour) + text + std::string(kPlain) : text;
}

std::string NoteOf(const SweepResult& result, std::size_t index,
                   const std::optional<Choice>& choice) {
  const CellResult& cell = result.cells[index];
  if (cell.state == CellState::kFailed || cell.state == CellState::kUnavailable) return cell.error;
  if (!choice || cell.state != CellState::kMeasured) return {};
  std::string note;
  if (index == choice->best) note = "best";
  if (choice->within_noise[index]) note = "not told apart";
  if (choice->as_good[index]) note = "as good";
  if (index == choice->suggested) note += note.empty() ? "suggested" : ", suggested";
  return note;
}

// Adds the figures of a cell, in the order of RenderTable()'s header.
void AddFigures(const SweepResult& result, std::size_t index, const std::optional<Choice>& choice,
                const std::optional<Increment>& increment, TextRow& row) {
  const CellResult& cell = result.cells[index];
  const bool ablation = result.mode == "ablation";
  if (cell.runs.empty()) {
    const bool failed = cell.state == CellState::kFailed;
    row.emplace_back(failed ? "failed" : cell.state == CellState::kUnavailable ? "n/a" : ".");
    row.resize(row.size() + (ablation ? 3 : 2));
    return;
  }
  const Spread spread = SpreadOf(cell.runs);
  row.push_back(Rate(spread.median));
  row.push_back(cell.runs.size() > 1 ? Range(spread) : "");
  if (ablation) {
    row.push_back(increment ? Micros(increment->seconds_per_sample, false) : "");
    row.push_back(increment && increment->added ? Micros(*increment->added, true) : "");
    return;
  }
  const bool known = choice && cell.state == CellState::kMeasured;
  row.push_back(known ? Percent(spread.median / SpreadOf(result.cells[choice->best].runs).median)
                      : "");
}

}  // namespace

std::string RenderTable(const SweepResult& result, const TableStyle& style) {
  const std::optional<Choice> choice = Choose(result);
  const auto increments = Increments(result);
  const bool ablation = result.mode == "ablation";
  TextRow header;
  std::vector<bool> left;
  for (const Axis& axis : result.axes) {
    header.push_back(axis.name);
    left.push_back(axis.values.front().find_first_not_of("0123456789.") != std::string::npos);
  }
  if (result.axes.empty()) {
    header.emplace_back("configuration");
    left.push_back(true);
  }
  const TextRow figures = ablation ? TextRow{"samples/s", "range", "us/sample", "added us", ""}
                                   : TextRow{"samples/s", "range", "of best", ""};
  header.insert(header.end(), figures.begin(), figures.end());
  left.resize(header.size(), false);
  left.back() = true;
  std::vector<TextRow> rows = {header};
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    TextRow row = result.cells[i].cell.values;
    if (result.axes.empty()) row.push_back(result.cells[i].cell.name);
    AddFigures(result, i, choice, increments[i], row);
    row.push_back(NoteOf(result, i, choice));
    rows.push_back(std::move(row));
  }
  const std::vector<std::string> lines = Align(rows, left);
  std::string out = Paint(kBold, lines[0], style) + "\n";
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellState state = result.cells[i].state;
    const bool marked = choice && (i == choice->best || i == choice->suggested);
    const std::string& line = lines[i + 1];
    out += state == CellState::kFailed     ? Paint(kRed, line, style)
           : state != CellState::kMeasured ? Paint(kDim, line, style)
           : marked                        ? Paint(kBold, line, style)
                                           : line;
    out += "\n";
  }
  return out;
}

std::string RenderMatrix(const SweepResult& result, const TableStyle& style) {
  std::vector<std::size_t> wide;
  for (std::size_t a = 0; a < result.axes.size(); ++a) {
    if (result.axes[a].values.size() > 1) wide.push_back(a);
  }
  if (wide.size() < 2) return {};
  const Axis& down = result.axes[wide[0]];
  const Axis& across = result.axes[wide[1]];
  const std::optional<Choice> choice = Choose(result);
  // One block for each combination of the other axes' values.
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::string>> blocks;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    Cell rest = cell.cell;
    rest.values[wide[0]] = rest.values[wide[1]] = kAny;
    const std::string title = Describe(result.axes, rest);
    if (blocks.find(title) == blocks.end()) order.push_back(title);
    std::string text = cell.state == CellState::kFailed ? "failed" : ".";
    if (!cell.runs.empty()) text = Rate(SpreadOf(cell.runs).median);
    if (choice && i == choice->best) text += "*";
    const std::string& column = cell.cell.values[wide[1]];
    blocks[title][{cell.cell.values[wide[0]], column == kAny ? across.values[0] : column}] = text;
  }
  std::string out;
  for (const std::string& title : order) {
    TextRow header = {down.name + " \\ " + across.name};
    header.insert(header.end(), across.values.begin(), across.values.end());
    std::vector<TextRow> rows = {header};
    for (const std::string& value : down.values) {
      TextRow row = {value};
      for (const std::string& column : across.values) row.push_back(blocks[title][{value, column}]);
      rows.push_back(std::move(row));
    }
    if (!title.empty()) out += title + "\n";
    const std::vector<std::string> lines = Align(rows, std::vector<bool>(header.size(), false));
    out += Paint(kBold, lines[0], style) + "\n";
    for (std::size_t i = 1; i < lines.size(); ++i) out += lines[i] + "\n";
    out += "\n";
  }
  return out;
}

namespace {

// A warning if the command ignores DataLoader's arguments: then every cell has measured the same.
std::string IgnoredOverride(const SweepResult& result) {
  const auto axis = std::find_if(result.axes.begin(), result.axes.end(),
                                 [](const Axis& one) { return one.name == "workers"; });
  if (result.mode != "command" || axis == result.axes.end()) return "";
  const auto place = static_cast<std::size_t>(axis - result.axes.begin());
  for (const CellResult& cell : result.cells) {
    for (const Measurement& run : cell.runs) {
      const std::string& asked = cell.cell.values[place];
      if (run.workers < 0 || asked == kAny || std::to_string(run.workers) == asked) continue;
      return fmt::format(
          "note: the command ran with {} workers where {} were asked for: it "
          "ignores overrides, so its figures do not belong to their settings",
          run.workers, asked);
    }
  }
  return "";
}

}  // namespace

std::string RenderVerdict(const SweepResult& result, const TableStyle& style) {
  std::string out;
  const auto count = [&](CellState state) {
    return std::count_if(result.cells.begin(), result.cells.end(),
                         [&](const CellResult& cell) { return cell.state == state; });
  };
  if (const std::optional<Choice> choice = Choose(result)) {
    const auto line = [&](std::size_t index) {
      const CellResult& cell = result.cells[index];
      const Spread spread = SpreadOf(cell.runs);
      return fmt::format("{}: {} samples/s ({})", Describe(result.axes, cell.cell),
                         Rate(spread.median), Range(spread));
    };
    out += Paint(kBold, "best: " + line(choice->best), style) + "\n";
    if (choice->suggested != choice->best) {
      out += Paint(kBold, "take: " + line(choice->suggested), style) +
             fmt::format("\n      the cheapest within {:.0f} % of the best\n", 100 * result.tie);
    }
    const auto ties = std::count(choice->within_noise.begin(), choice->within_noise.end(), true);
    if (ties > 0) {
      out += fmt::format(
          "{} other configuration{}: within {:.0f} % of the best, or not told apart from it\n",
          ties, ties == 1 ? "" : "s", 100 * result.tie);
    }
  }
  if (const auto failed = count(CellState::kFailed); failed > 0) {
    out += fmt::format("{} of {} configurations failed\n", failed, result.cells.size());
  }
  if (result.mode == "ablation" && result.repeats < 2) {
    out += "one run each: an increment that is small or negative may be noise; --repeats 5 tells\n";
  }
  if (const std::string ignored = IgnoredOverride(result); !ignored.empty()) out += ignored + "\n";
  if (result.interrupted) {
    out += fmt::format("interrupted: {} of {} configurations have no figure\n",
                       count(CellState::kPending), result.cells.size());
  }
  return out;
}

}  // namespace penstock::sweep
