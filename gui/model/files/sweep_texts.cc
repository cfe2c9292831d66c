// SPDX-License-Identifier: Apache-2.0
//
// The texts of the sweep view: names, the result, the cells of the table, the line to paste.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <variant>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/predict/factors.h"
#include "analyzer/words/format.h"
#include "gui/model/files/sweep_grid.h"
#include "gui/model/overview.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::PercentText;
using analyzer::PlainText;
using analyzer::ShortNumber;

struct AxisWord {
  std::string_view name;
  Text text;
  std::string_view argument;  // its argument of DataLoader
};
constexpr std::array kAxes = {
    AxisWord{"workers", Text::kAxisWorkers, "num_workers"},
    AxisWord{"prefetch", Text::kAxisPrefetch, "prefetch_factor"},
    AxisWord{"batch", Text::kAxisBatch, "batch_size"},
    AxisWord{"pin", Text::kAxisPin, "pin_memory"},
    AxisWord{"persistent", Text::kAxisPersistent, "persistent_workers"},
};

const AxisWord* AxisWordOf(std::string_view axis) {
  const auto* found = std::find_if(kAxes.begin(), kAxes.end(),
                                   [&](const AxisWord& word) { return word.name == axis; });
  return found == kAxes.end() ? nullptr : found;
}

// A number with a comma between the thousands: "12,345". Requires: value >= 0.
std::string Grouped(double value) {
  std::string text = fmt::format("{:.0f}", value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// The step that a row of an ablation adds to an earlier row. The name of the row ends with it:
// "normalise" for "    + flip, normalise". "" for the row "all", because many steps together make
// its increment.
std::string StepOf(const std::string& name) {
  std::string step = name;
  for (const std::string_view mark : {"+ ", ", "}) {
    if (const std::size_t at = step.rfind(mark); at != std::string::npos) {
      step.erase(0, at + mark.size());
    }
  }
  return step == "all" ? "" : PlainText(step, 40);
}

SweepAnswer AblationAnswer(const Sweep& sweep, Language language) {
  const SweepCell* most = nullptr;  // the cell with the most expensive step
  double whole = 0;                 // seconds of a sample in the most expensive cell
  for (const SweepCell& cell : sweep.cells) {
    if (cell.seconds_per_sample) whole = std::max(whole, *cell.seconds_per_sample);
    if (!cell.increment || *cell.increment <= 0 || StepOf(cell.name).empty()) continue;
    if (most == nullptr || *cell.increment > *most->increment) most = &cell;
  }
  if (most == nullptr || whole <= 0) return {std::string(TextOf(Text::kSweepNoStep, language)), {}};
  return {Filled(Text::kSweepDearest, language, StepOf(most->name), DurationText(*most->increment),
                 PercentText(*most->increment / whole)),
          {}};
}

// How many cells were not measured: a clause for each reason, each with a separator in front.
std::string Missing(const Sweep& sweep, Language language) {
  std::array<std::size_t, 4> count{};
  for (const SweepCell& cell : sweep.cells) ++count[static_cast<std::size_t>(cell.state)];
  std::string text;
  const auto add = [&](SweepState state, Text name) {
    const std::size_t n = count[static_cast<std::size_t>(state)];
    if (n > 0) text += "  ·  " + Filled(name, language, n);
  };
  add(SweepState::kFailed, Text::kSweepFailed);
  add(SweepState::kUnavailable, Text::kSweepUnavailable);
  add(SweepState::kPending, sweep.interrupted ? Text::kSweepInterrupted : Text::kSweepPending);
  return text;
}

// The longest line to paste, in bytes. Real commands are shorter; a cut command would not run.
// Without a limit, a damaged file could block the window.
constexpr std::size_t kMostPasted = 4096;

std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The sort key of a row: a number, or a text where there is none.
std::variant<double, std::string> KeyOf(const Sweep& sweep, const SweepCell& cell,
                                        std::size_t column) {
  if (column < sweep.axes.size()) {
    const std::string& text = cell.values[column];
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    // NaN has no order among numbers: "nan" is sorted as a text.
    if (!text.empty() && *end == '\0' && !std::isnan(value)) return value;
    return text;
  }
  const auto columns = ColumnsOf(sweep);
  const std::size_t rest = column - sweep.axes.size();
  if (rest >= columns.size()) return 0.0;
  switch (columns[rest]) {
    case SweepColumn::kRate:
      return cell.rate ? cell.rate->median : 0.0;
    case SweepColumn::kSpread:
      return cell.rate ? cell.rate->most - cell.rate->least : 0.0;
    case SweepColumn::kOfBest:
      return cell.of_best.value_or(0);
    case SweepColumn::kFirstBatch:
      return cell.first_batch.value_or(0);
    case SweepColumn::kBottleneck:
      return cell.bottleneck;
    case SweepColumn::kPerSample:
      return cell.seconds_per_sample.value_or(0);
    case SweepColumn::kIncrement:
      return cell.increment.value_or(0);
    case SweepColumn::kNote:
      return cell.error;
  }
  return 0.0;
}

// Whether all runs of a cell were slower than all runs of the best one.
bool IsBelowBest(const Sweep& sweep, const SweepCell& cell) {
  if (!sweep.best || !cell.rate) return false;
  const auto& best = sweep.cells[*sweep.best].rate;
  return best && cell.rate->most < best->least;
}

std::string NoteOf(const Sweep& sweep, const SweepCell& cell, Language language) {
  switch (cell.state) {
    case SweepState::kPending:
      return std::string(TextOf(Text::kCellPending, language));
    case SweepState::kFailed:
      return Filled(Text::kCellFailed, language, PlainText(cell.error, 200));
    case SweepState::kUnavailable:
      return Filled(Text::kCellUnavailable, language, PlainText(cell.error, 200));
    case SweepState::kMeasured:
      break;
  }
  if (!cell.within_noise) return {};
  // The file rounds the share to four places.
  const bool as_good = cell.of_best && *cell.of_best >= 1 - sweep.tie - 5e-5;
  if (!as_good) return Filled(Text::kCellWithinNoise, language, cell.runs.size());
  if (IsBelowBest(sweep, cell)) return Filled(Text::kCellNear, language, PercentText(sweep.tie));
  return std::string(TextOf(Text::kCellAsGood, language));
}

// The window's word for a factor that the file names, such as "transfer". An unknown name stays as
// it is.
std::string PartText(const std::string& name, Language language) {
  for (int i = 0; i <= static_cast<int>(analyzer::Factor::kNone); ++i) {
    const auto factor = static_cast<analyzer::Factor>(i);
    if (analyzer::FactorName(factor) == name) return std::string(TextOf(NameOf(factor), language));
  }
  return PlainText(name, 24);
}

}  // namespace

std::string NumberText(double rate) {
  return rate >= 1000 ? Grouped(rate) : ShortNumber(rate);
}

std::string AxisName(const std::string& axis, Language language) {
  const AxisWord* word = AxisWordOf(axis);
  return word == nullptr ? PlainText(axis, 24) : std::string(TextOf(word->text, language));
}

std::string DescribeCell(const Sweep& sweep, const SweepCell& cell, Language language) {
  std::string text;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (cell.values[a] == kAnyValue) continue;
    if (!text.empty()) text += TextOf(Text::kListComma, language);
    text +=
        fmt::format("{} {}", AxisName(sweep.axes[a].name, language), PlainText(cell.values[a], 24));
  }
  return text.empty() ? PlainText(cell.name, 60) : text;
}

std::string RateText(double rate, Language language) {
  return fmt::format("{} {}", NumberText(rate), TextOf(Text::kSamplesPerSecond, language));
}

SweepAnswer AnswerOf(const Sweep& sweep, Language language) {
  if (sweep.measured() == 0) {
    std::string why;
    for (const SweepCell& cell : sweep.cells) {
      if (why.empty()) why = PlainText(cell.error, 160);
    }
    return {std::string(TextOf(Text::kSweepNothing, language)), why};
  }
  if (sweep.ablation()) return AblationAnswer(sweep, language);
  if (!sweep.best) return {std::string(TextOf(Text::kSweepNoBest, language)), {}};
  const SweepCell& best = sweep.cells[*sweep.best];
  const SweepRate& rate = *best.rate;
  SweepAnswer answer;
  const std::size_t runs = std::max<std::size_t>(best.runs.size(), 1);
  answer.sentence =
      runs < 2 ? Filled(Text::kSweepBestOnce, language, DescribeCell(sweep, best, language),
                        RateText(rate.median, language))
               : Filled(Text::kSweepBest, language, DescribeCell(sweep, best, language),
                        RateText(rate.median, language), NumberText(rate.least),
                        NumberText(rate.most), runs);
  if (sweep.suggested && *sweep.suggested != *sweep.best) {
    const SweepCell& cheap = sweep.cells[*sweep.suggested];
    answer.second = Filled(Text::kSweepCheaper, language, DescribeCell(sweep, cheap, language),
                           PercentText(rate.median > 0 ? cheap.rate->median / rate.median : 0));
  } else if (sweep.measured() > 1) {
    answer.second = Filled(Text::kSweepNoCheaper, language, PercentText(sweep.tie));
  }
  // Besides the best cell and the suggested one, which are named already: those of which a run is
  // as fast as one of the best, and those that only come near.
  std::size_t tied = 0;
  std::size_t near = 0;
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    const SweepCell& cell = sweep.cells[i];
    if (!cell.within_noise || sweep.suggested == i) continue;
    ++(IsBelowBest(sweep, cell) ? near : tied);
  }
  const auto add = [&](const std::string& clause) {
    answer.second += TextOf(Text::kClauseComma, language);
    answer.second += clause;
  };
  if (tied > 0) add(Filled(Text::kSweepTied, language, tied));
  if (near > 0) add(Filled(Text::kSweepNear, language, PercentText(sweep.tie), near));
  return answer;
}

std::string SweepNote(const Sweep& sweep, Language language) {
  std::string text;
  for (const std::string& word : sweep.subject) text += (text.empty() ? "" : " ") + word;
  text = PlainText(text, 120);
  if (!text.empty()) text += "  ·  ";
  text += Filled(Text::kSweepCells, language, sweep.measured(), sweep.cells.size());
  if (sweep.repeats > 0) text += "  ·  " + Filled(Text::kSweepRuns, language, sweep.repeats);
  if (sweep.cores > 0) {
    text += "  ·  " + Filled(Text::kSweepMachine, language, sweep.cores, PlainText(sweep.cpu, 48));
  }
  return text + Missing(sweep, language);
}

std::vector<SweepColumn> ColumnsOf(const Sweep& sweep) {
  const auto any = [&](auto known) {
    return std::any_of(sweep.cells.begin(), sweep.cells.end(), known);
  };
  std::vector<SweepColumn> columns = {SweepColumn::kRate};
  if (any([](const SweepCell& c) { return c.rate && c.runs.size() != 1; })) {
    columns.push_back(SweepColumn::kSpread);
  }
  if (any([](const SweepCell& c) { return c.of_best.has_value(); })) {
    columns.push_back(SweepColumn::kOfBest);
  }
  if (any([](const SweepCell& c) { return c.seconds_per_sample.has_value(); })) {
    columns.push_back(SweepColumn::kPerSample);
  }
  if (any([](const SweepCell& c) { return c.increment.has_value(); })) {
    columns.push_back(SweepColumn::kIncrement);
  }
  if (any([](const SweepCell& c) { return c.first_batch.has_value(); })) {
    columns.push_back(SweepColumn::kFirstBatch);
  }
  if (any([](const SweepCell& c) { return !c.bottleneck.empty(); })) {
    columns.push_back(SweepColumn::kBottleneck);
  }
  if (any([](const SweepCell& c) { return c.state != SweepState::kMeasured || c.within_noise; })) {
    columns.push_back(SweepColumn::kNote);
  }
  return columns;
}

std::string CellText(const Sweep& sweep, const SweepCell& cell, SweepColumn column,
                     Language language) {
  switch (column) {
    case SweepColumn::kRate:
      return cell.rate ? NumberText(cell.rate->median) : "-";
    case SweepColumn::kSpread:
      if (!cell.rate || cell.runs.size() == 1) return "-";
      return fmt::format("{} – {}", NumberText(cell.rate->least), NumberText(cell.rate->most));
    case SweepColumn::kOfBest:
      return cell.of_best ? PercentText(*cell.of_best) : "-";
    case SweepColumn::kFirstBatch:
      return cell.first_batch ? DurationText(*cell.first_batch) : "-";
    case SweepColumn::kBottleneck:
      return cell.bottleneck.empty() ? "-" : PartText(cell.bottleneck, language);
    case SweepColumn::kPerSample:
      return cell.seconds_per_sample ? DurationText(*cell.seconds_per_sample) : "-";
    case SweepColumn::kIncrement:
      if (!cell.increment) return "-";
      return (*cell.increment < 0 ? "-" : "+") + DurationText(std::abs(*cell.increment));
    case SweepColumn::kNote:
      return NoteOf(sweep, cell, language);
  }
  return {};
}

std::string NoteTip(const Sweep& sweep, const SweepCell& cell, Language language) {
  const std::string note = CellText(sweep, cell, SweepColumn::kNote, language);
  if (cell.state != SweepState::kMeasured || !cell.within_noise) return note;
  return note + "\n" + Filled(Text::kCellWithinNoiseTip, language, PercentText(sweep.tie));
}

std::vector<std::size_t> SortedCells(const Sweep& sweep, int column, bool descending) {
  std::vector<std::size_t> order(sweep.cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (column < 0) return order;
  std::vector<std::variant<double, std::string>> keys;
  keys.reserve(order.size());
  for (const SweepCell& cell : sweep.cells) {
    keys.push_back(KeyOf(sweep, cell, static_cast<std::size_t>(column)));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool known_a = sweep.cells[a].rate.has_value();
    const bool known_b = sweep.cells[b].rate.has_value();
    if (known_a != known_b) return known_a;
    return descending ? keys[b] < keys[a] : keys[a] < keys[b];
  });
  return order;
}

std::string SettingsLine(const Sweep& sweep, const SweepCell& cell) {
  std::string text;
  if (sweep.mode == "command") {
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
      if (cell.values[a] == kAnyValue) continue;
      const AxisWord* word = AxisWordOf(sweep.axes[a].name);
      std::string value = cell.values[a];
      if (word != nullptr && (word->name == "pin" || word->name == "persistent")) {
        value = value == "0" ? "False" : "True";
      }
      text +=
          fmt::format("{}{}={}", text.empty() ? "" : ", ",
                      word == nullptr ? sweep.axes[a].name : std::string(word->argument), value);
    }
    return PlainText(text, kMostPasted);
  }
  if (sweep.axes.empty()) return {};
  for (const std::string& word : sweep.subject) text += (text.empty() ? "" : " ") + ShellWord(word);
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (cell.values[a] == kAnyValue) continue;
    text += fmt::format(" --{} {}", sweep.axes[a].name, ShellWord(cell.values[a]));
  }
  return PlainText(text, kMostPasted);
}

std::filesystem::path TraceOf(const SweepCell& cell) {
  std::filesystem::path nearest;
  double distance = 0;
  for (std::size_t i = 0; i < cell.traces.size(); ++i) {
    if (cell.traces[i].empty()) continue;
    const double off =
        i < cell.runs.size() && cell.rate ? std::abs(cell.runs[i] - cell.rate->median) : HUGE_VAL;
    if (nearest.empty() || off < distance) {
      nearest = cell.traces[i];
      distance = off;
    }
  }
  return nearest;
}

}  // namespace penstock::gui
