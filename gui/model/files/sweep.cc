// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sweep.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <system_error>

#include <fmt/core.h>
#include <simdjson.h>

#include "analyzer/words/format.h"
#include "gui/model/files/foreign_file.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

constexpr std::string_view kSchema = "penstock.sweep/";
constexpr int kVersion = 1;
constexpr std::uintmax_t kMostBytes = 64U << 20U;
constexpr std::size_t kMostSweepCells = 20'000;
constexpr std::size_t kMostAxes = 16;
constexpr std::size_t kMostPlaces = 200'000;  // places of the grid; not all of them have a cell

tl::unexpected<SweepProblem> Broken(SweepFault fault, std::string what = {}) {
  return tl::unexpected(SweepProblem{fault, std::move(what)});
}

std::string TextAt(const element& object, const char* key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

bool TrueAt(const element& object, const char* key) {
  bool value = false;
  return object[key].get(value) == simdjson::SUCCESS && value;
}

// A finite number in [low, 1e15]; no figure of a sweep is larger.
std::optional<double> NumberAt(const element& object, const char* key, double low = 0) {
  double value = 0;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  if (!std::isfinite(value) || value < low || value > 1e15) return std::nullopt;
  return value;
}

int CountAt(const element& object, const char* key) {
  return static_cast<int>(std::min(1e9, NumberAt(object, key).value_or(0)));
}

std::vector<std::string> TextsAt(const element& object, const char* key) {
  std::vector<std::string> texts;
  simdjson::dom::array array;
  if (object[key].get(array) != simdjson::SUCCESS) return texts;
  for (const element one : array) {
    std::string_view text;
    texts.emplace_back(one.get(text) == simdjson::SUCCESS ? text : std::string_view());
  }
  return texts;
}

std::optional<SweepRate> RateOf(const element& cell) {
  element object;
  if (cell["samples_per_s"].get(object) != simdjson::SUCCESS) return std::nullopt;
  const auto median = NumberAt(object, "median");
  if (!median) return std::nullopt;
  SweepRate rate;
  rate.median = *median;
  rate.least = std::min(NumberAt(object, "min").value_or(*median), *median);
  rate.most = std::max(NumberAt(object, "max").value_or(*median), *median);
  rate.p25 = std::clamp(NumberAt(object, "p25").value_or(rate.least), rate.least, *median);
  rate.p75 = std::clamp(NumberAt(object, "p75").value_or(rate.most), *median, rate.most);
  return rate;
}

SweepState StateOf(const std::string& name) {
  if (name == "measured") return SweepState::kMeasured;
  if (name == "failed") return SweepState::kFailed;
  if (name == "unavailable") return SweepState::kUnavailable;
  return SweepState::kPending;
}

tl::expected<SweepCell, SweepProblem> CellOf(const element& object, const Sweep& sweep,
                                             std::size_t index) {
  SweepCell cell;
  cell.name = TextAt(object, "name");
  if (cell.name.empty()) return Broken(SweepFault::kDamaged, fmt::format("cells[{}].name", index));
  for (const SweepAxis& axis : sweep.axes) {
    std::string_view value;
    if (object["values"][axis.name].get(value) != simdjson::SUCCESS) {
      return Broken(SweepFault::kDamaged, fmt::format("cells[{}].values.{}", index, axis.name));
    }
    // The grid has no place for a value that is not on its axis.
    if (value != kAnyValue &&
        std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end()) {
      return Broken(SweepFault::kDamaged, fmt::format("cells[{}].values.{}", index, axis.name));
    }
    cell.values.emplace_back(value);
  }
  cell.state = StateOf(TextAt(object, "state"));
  cell.error = TextAt(object, "error");
  cell.rate = RateOf(object);
  if (cell.state == SweepState::kMeasured && !cell.rate) {
    return Broken(SweepFault::kDamaged, fmt::format("cells[{}].samples_per_s", index));
  }
  simdjson::dom::array runs;
  if (object["runs"].get(runs) == simdjson::SUCCESS) {
    for (const element one : runs) {
      double rate = 0;
      if (one.get(rate) == simdjson::SUCCESS && std::isfinite(rate)) cell.runs.push_back(rate);
    }
  }
  cell.of_best = NumberAt(object, "of_best");
  cell.within_noise = TrueAt(object, "within_noise");
  cell.wall = NumberAt(object, "wall_s");
  cell.first_batch = NumberAt(object, "first_batch_s");
  cell.seconds_per_sample = NumberAt(object, "seconds_per_sample");
  cell.increment = NumberAt(object, "increment_s", -1e15);
  cell.bottleneck = TextAt(object, "bottleneck");
  for (std::string& trace : TextsAt(object, "traces")) cell.traces.emplace_back(std::move(trace));
  return cell;
}

tl::expected<void, SweepProblem> TakeAxes(const element& object, Sweep& sweep) {
  simdjson::dom::array axes;
  if (object["axes"].get(axes) != simdjson::SUCCESS) return Broken(SweepFault::kDamaged, "axes");
  std::size_t places = 1;
  for (const element one : axes) {
    SweepAxis axis{TextAt(one, "name"), TextsAt(one, "values")};
    if (axis.name.empty() || axis.values.empty() || sweep.axes.size() == kMostAxes) {
      return Broken(SweepFault::kDamaged, fmt::format("axes[{}]", sweep.axes.size()));
    }
    places *= axis.values.size();
    if (places > kMostPlaces) return Broken(SweepFault::kTooLarge);
    sweep.axes.push_back(std::move(axis));
  }
  return {};
}

std::optional<std::size_t> CellNamed(const Sweep& sweep, const std::string& name) {
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    if (!name.empty() && sweep.cells[i].name == name && sweep.cells[i].rate) return i;
  }
  return std::nullopt;
}

// Fails, with the reason, if this program does not read `schema`.
tl::expected<void, SweepProblem> CheckSchema(const std::string& schema) {
  if (schema.rfind(kSchema, 0) != 0) return Broken(SweepFault::kForeign, schema);
  int version = 0;
  const char* begin = schema.data() + kSchema.size();
  const auto [end, error] = std::from_chars(begin, schema.data() + schema.size(), version);
  if (error != std::errc{} || end != schema.data() + schema.size() || version < 1) {
    return Broken(SweepFault::kForeign, schema);
  }
  if (version > kVersion) return Broken(SweepFault::kNewer, schema);
  return {};
}

}  // namespace

std::size_t Sweep::measured() const {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(), [](const SweepCell& cell) { return cell.rate.has_value(); }));
}

tl::expected<Sweep, SweepProblem> ParseSweep(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Broken(SweepFault::kEmpty);
  }
  simdjson::dom::parser parser;
  element object;
  const auto error = parser.parse(text.data(), text.size()).get(object);
  if (error != simdjson::SUCCESS) return Broken(SweepFault::kNotJson);
  if (!object.is_object()) return Broken(SweepFault::kForeign);
  PENSTOCK_TRY(CheckSchema(TextAt(object, "schema")));
  Sweep sweep;
  sweep.mode = TextAt(object, "mode");
  sweep.subject = TextsAt(object, "subject");
  sweep.repeats = CountAt(object, "repeats");
  sweep.interrupted = TrueAt(object, "interrupted");
  sweep.tie = std::min(1.0, NumberAt(object, "tie").value_or(sweep.tie));
  if (element machine; object["machine"].get(machine) == simdjson::SUCCESS) {
    sweep.cores = CountAt(machine, "cores");
    sweep.cpu = TextAt(machine, "cpu");
  }
  PENSTOCK_TRY(TakeAxes(object, sweep));
  simdjson::dom::array cells;
  if (object["cells"].get(cells) != simdjson::SUCCESS) {
    return Broken(SweepFault::kDamaged, "cells");
  }
  for (const element one : cells) {
    if (sweep.cells.size() == kMostSweepCells) return Broken(SweepFault::kTooLarge);
    auto cell = CellOf(one, sweep, sweep.cells.size());
    PENSTOCK_TRY(cell);
    sweep.cells.push_back(std::move(*cell));
  }
  if (sweep.cells.empty()) return Broken(SweepFault::kNoCells);
  sweep.best = CellNamed(sweep, TextAt(object, "best"));
  sweep.suggested = CellNamed(sweep, TextAt(object, "suggested"));
  return sweep;
}

tl::expected<Sweep, SweepProblem> ReadSweep(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Broken(SweepFault::kUnreadable, "no such file");
  if (!fs::is_regular_file(status)) return Broken(SweepFault::kUnreadable, "not a file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMostBytes) return Broken(SweepFault::kTooLarge);
  std::ifstream file(path, std::ios::binary);
  if (!file) return Broken(SweepFault::kUnreadable, "cannot be read");
  std::string text(error ? 0 : static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  auto sweep = ParseSweep(text);
  if (!sweep) return sweep;
  sweep->path = path;
  for (SweepCell& cell : sweep->cells) {
    for (fs::path& trace : cell.traces) {
      if (trace.is_relative() && !trace.empty()) trace = path.parent_path() / trace;
    }
  }
  return sweep;
}

std::string ProblemText(const SweepProblem& problem, const std::string& name, Language language) {
  const std::string what = analyzer::PlainText(problem.what, 80);
  const auto text = [&](Text one) { return Filled(one, language, name, what); };
  switch (problem.fault) {
    case SweepFault::kUnreadable:
      return text(Text::kSweepUnreadable);
    case SweepFault::kEmpty:
      return text(Text::kSweepEmptyFile);
    case SweepFault::kTooLarge:
      return text(Text::kSweepTooLarge);
    case SweepFault::kNotJson:
      return text(Text::kSweepNotJson);
    case SweepFault::kForeign:
      return text(what.empty() ? Text::kSweepNoSchema : Text::kSweepForeign);
    case SweepFault::kNewer:
      return text(Text::kSweepNewer);
    case SweepFault::kDamaged:
      return text(Text::kSweepDamaged);
    case SweepFault::kNoCells:
      return text(Text::kSweepNoCells);
  }
  return name;
}

FileKind KindOf(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    std::array<char, 4096> head{};
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), head.size());
    const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
    if (IsForeign(text, path)) return FileKind::kForeign;
    const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string_view::npos) {
      if (text[first] == '{' || text[first] == '[') return FileKind::kJson;
      if (text.rfind("PENST", 0) == 0) return FileKind::kTrace;
    }
  }
  return path.extension() == ".json" ? FileKind::kJson : FileKind::kTrace;
}

}  // namespace penstock::gui
