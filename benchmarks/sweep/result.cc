// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/result.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "analyzer/stats/quantile.h"
#include "traces/base/json_text.h"

namespace penstock::sweep {
namespace {

// The value of an axis in a cell as a number; `otherwise` if there is no such axis or its value
// makes no difference in the cell.
double ValueOf(const SweepResult& result, const Cell& cell, std::string_view axis,
               double otherwise) {
  for (std::size_t a = 0; a < result.axes.size(); ++a) {
    if (result.axes[a].name != axis || cell.values[a] == kAny) continue;
    return std::strtod(cell.values[a].c_str(), nullptr);
  }
  return otherwise;
}

std::tuple<double, double, std::size_t> CostOf(const SweepResult& result, std::size_t index) {
  const Cell& cell = result.cells[index].cell;
  const double workers = ValueOf(result, cell, "workers", 0);
  const double prefetchers = result.mode == "command" ? std::max(1.0, workers) : 1;
  const double memory =
      ValueOf(result, cell, "batch", 1) * ValueOf(result, cell, "prefetch", 1) * prefetchers;
  return {workers, memory, index};
}

bool Counted(const CellResult& cell) {
  return cell.state == CellState::kMeasured && !cell.runs.empty();
}

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return "unknown";
}

int Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::string_view StateName(CellState state) {
  switch (state) {
    case CellState::kPending:
      return "pending";
    case CellState::kMeasured:
      return "measured";
    case CellState::kFailed:
      return "failed";
    case CellState::kUnavailable:
      return "unavailable";
  }
  return "pending";
}

// The median of the known values of a figure; negative if there are none.
double KnownMedian(const std::vector<Measurement>& runs, double Measurement::*figure) {
  std::vector<double> known;
  for (const Measurement& run : runs) {
    if (run.*figure >= 0) known.push_back(run.*figure);
  }
  return known.empty() ? -1 : analyzer::Median(std::move(known));
}

void Text(std::string& out, std::string_view key, std::string_view value) {
  AppendJson(out, key);
  out += ": ";
  AppendJson(out, value);
}

// The most frequent verdict of the runs.
std::string UsualBottleneck(const std::vector<Measurement>& runs) {
  std::string usual;
  std::ptrdiff_t most = 0;
  for (const Measurement& run : runs) {
    const auto count = std::count_if(runs.begin(), runs.end(), [&](const Measurement& other) {
      return other.bottleneck == run.bottleneck;
    });
    if (!run.bottleneck.empty() && count > most) {
      most = count;
      usual = run.bottleneck;
    }
  }
  return usual;
}

// Appends the recordings of the runs, in their order; "" for a run without a recording.
void AppendTraces(std::string& out, const std::vector<Measurement>& runs) {
  const auto kept = [](const Measurement& run) { return !run.trace.empty(); };
  if (std::none_of(runs.begin(), runs.end(), kept)) return;
  out += ", \"traces\": [";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i != 0) out += ", ";
    AppendJson(out, runs[i].trace);
  }
  out += "]";
}

void AppendRuns(std::string& out, const CellResult& cell) {
  const Spread spread = SpreadOf(cell.runs);
  out += fmt::format(
      ", \"samples_per_s\": {{\"median\": {:.6g}, \"min\": {:.6g}, \"max\": {:.6g}, \"p25\": "
      "{:.6g}, \"p75\": {:.6g}}}, \"runs\": [",
      spread.median, spread.least, spread.most, spread.p25, spread.p75);
  for (std::size_t i = 0; i < cell.runs.size(); ++i) {
    out += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", cell.runs[i].samples_per_s);
  }
  out += "]";
  if (const double wall = KnownMedian(cell.runs, &Measurement::wall_s); wall >= 0) {
    out += fmt::format(", \"wall_s\": {:.6g}", wall);
  }
  if (const double first = KnownMedian(cell.runs, &Measurement::first_batch_s); first >= 0) {
    out += fmt::format(", \"first_batch_s\": {:.6g}", first);
  }
  if (const std::string bottleneck = UsualBottleneck(cell.runs); !bottleneck.empty()) {
    out += ", ";
    Text(out, "bottleneck", bottleneck);
  }
  AppendTraces(out, cell.runs);
}

void AppendCell(std::string& out, const SweepResult& result, std::size_t index,
                const std::optional<Choice>& choice, const std::optional<Increment>& increment) {
  const CellResult& cell = result.cells[index];
  out += "  {";
  Text(out, "name", cell.cell.name);
  out += ", \"values\": {";
  for (std::size_t a = 0; a < result.axes.size(); ++a) {
    if (a != 0) out += ", ";
    Text(out, result.axes[a].name, cell.cell.values[a]);
  }
  out += "}, ";
  Text(out, "state", StateName(cell.state));
  if (!cell.error.empty()) {
    out += ", ";
    Text(out, "error", cell.error);
  }
  if (!cell.runs.empty()) AppendRuns(out, cell);
  if (choice && Counted(cell)) {
    out +=
        fmt::format(", \"of_best\": {:.4f}, \"within_noise\": {}",
                    SpreadOf(cell.runs).median / SpreadOf(result.cells[choice->best].runs).median,
                    choice->within_noise[index] ? "true" : "false");
  }
  if (increment) {
    out += fmt::format(", \"seconds_per_sample\": {:.6g}", increment->seconds_per_sample);
    if (increment->added) out += fmt::format(", \"increment_s\": {:.6g}", *increment->added);
  }
  out += "}";
}

}  // namespace

Spread SpreadOf(const std::vector<Measurement>& runs) {
  std::vector<double> rates;
  rates.reserve(runs.size());
  for (const Measurement& run : runs) rates.push_back(run.samples_per_s);
  std::sort(rates.begin(), rates.end());
  return {analyzer::Quantile(rates, 0.5), rates.front(), rates.back(),
          analyzer::Quantile(rates, 0.25), analyzer::Quantile(rates, 0.75)};
}

std::optional<Choice> Choose(const SweepResult& result) {
  if (result.mode == "ablation") return std::nullopt;
  Choice choice;
  std::optional<double> highest;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    if (!Counted(result.cells[i])) continue;
    const double median = SpreadOf(result.cells[i].runs).median;
    if (highest && median <= *highest) continue;
    highest = median;
    choice.best = i;
  }
  if (!highest) return std::nullopt;
  const double least_of_best = SpreadOf(result.cells[choice.best].runs).least;
  choice.suggested = choice.best;
  choice.as_good.assign(result.cells.size(), false);
  choice.within_noise = choice.as_good;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    if (!Counted(result.cells[i])) continue;
    const Spread spread = SpreadOf(result.cells[i].runs);
    const bool tied = spread.median >= *highest * (1 - result.tie);
    choice.as_good[i] = i != choice.best && tied;
    choice.within_noise[i] = i != choice.best && (tied || spread.most >= least_of_best);
    if (tied && CostOf(result, i) < CostOf(result, choice.suggested)) choice.suggested = i;
  }
  return choice;
}

std::vector<std::optional<Increment>> Increments(const SweepResult& result) {
  std::vector<std::optional<Increment>> increments(result.cells.size());
  if (result.mode != "ablation") return increments;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    if (!Counted(cell)) continue;
    const double median = SpreadOf(cell.runs).median;
    if (median <= 0) continue;
    Increment increment{result.threads / median, std::nullopt};
    if (cell.against && increments[*cell.against]) {
      increment.added =
          increment.seconds_per_sample - increments[*cell.against]->seconds_per_sample;
    }
    increments[i] = increment;
  }
  return increments;
}

std::string ToJson(const SweepResult& result) {
  std::string out = "{";
  Text(out, "schema", "penstock.sweep/1");
  out += ", ";
  Text(out, "mode", result.mode);
  out += ",\n \"subject\": [";
  for (std::size_t i = 0; i < result.subject.size(); ++i) {
    if (i != 0) out += ", ";
    AppendJson(out, result.subject[i]);
  }
  out += fmt::format(
      "],\n \"figure\": \"samples_per_s\", \"repeats\": {}, \"interrupted\": {}, \"tie\": {},\n"
      " \"machine\": {{\"cores\": {}, ",
      result.repeats, result.interrupted ? "true" : "false", result.tie, Cores());
  Text(out, "cpu", CpuModel());
  out += "},\n \"axes\": [";
  for (std::size_t a = 0; a < result.axes.size(); ++a) {
    out += a == 0 ? "{" : ", {";
    Text(out, "name", result.axes[a].name);
    out += ", \"values\": [";
    for (std::size_t v = 0; v < result.axes[a].values.size(); ++v) {
      if (v != 0) out += ", ";
      AppendJson(out, result.axes[a].values[v]);
    }
    out += "]}";
  }
  out += "],\n \"cells\": [\n";
  const std::optional<Choice> choice = Choose(result);
  const auto increments = Increments(result);
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    AppendCell(out, result, i, choice, increments[i]);
    out += i + 1 < result.cells.size() ? ",\n" : "\n";
  }
  out += " ]";
  if (choice) {
    out += ",\n ";
    Text(out, "best", result.cells[choice->best].cell.name);
    out += ", ";
    Text(out, "suggested", result.cells[choice->suggested].cell.name);
  }
  out += "}\n";
  return out;
}

std::string ToCsv(const SweepResult& result) {
  std::string out;
  if (result.axes.empty()) out += "configuration,";
  for (const Axis& axis : result.axes) {
    AppendCsv(out, axis.name);
    out += ",";
  }
  out += "state,median,min,max,p25,p75,runs,of_best,within_noise,first_batch_s,error\n";
  const std::optional<Choice> choice = Choose(result);
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    if (result.axes.empty()) {
      AppendCsv(out, cell.cell.name);
      out += ",";
    }
    for (const std::string& value : cell.cell.values) {
      AppendCsv(out, value);
      out += ",";
    }
    out += std::string(StateName(cell.state)) + ",";
    if (cell.runs.empty()) {
      out += ",,,,,0,";
    } else {
      const Spread spread = SpreadOf(cell.runs);
      out += fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},", spread.median, spread.least,
                         spread.most, spread.p25, spread.p75, cell.runs.size());
    }
    if (choice && Counted(cell)) {
      out +=
          fmt::format("{:.4f},{},",
                      SpreadOf(cell.runs).median / SpreadOf(result.cells[choice->best].runs).median,
                      choice->within_noise[i] ? 1 : 0);
    } else {
      out += ",,";
    }
    const double first = KnownMedian(cell.runs, &Measurement::first_batch_s);
    if (first >= 0) out += fmt::format("{:.6g}", first);
    out += ",";
    AppendCsv(out, cell.error);
    out += "\n";
  }
  return out;
}

}  // namespace penstock::sweep
