// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/grid.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace penstock::sweep {
namespace {

constexpr std::size_t kMostCells = 10'000;
constexpr std::uint64_t kMost = 1u << 20;  // largest value of workers, prefetch and batch

bool Counts(const std::string& name) {
  return name == "workers" || name == "prefetch" || name == "batch";
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<std::uint64_t> Number(const std::string& text) {
  if (text.empty() || text.size() > 7) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > kMost) return std::nullopt;
  return value;
}

// The numbers of "4" or "1..4". Errors: kUsage.
Result<std::vector<std::string>> Numbers(const std::string& name, const std::string& text) {
  const auto wrong = [&] {
    return Fail(ErrorKind::kUsage,
                fmt::format("--{}: '{}' is not a number{} up to {}: give 1,2,4 or 1..4", name, text,
                            name == "workers" ? "" : " from 1", kMost));
  };
  const std::size_t dots = text.find("..");
  const auto first = Number(text.substr(0, dots));
  const auto last = dots == std::string::npos ? first : Number(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kMostCells) return wrong();
  if (*first == 0 && name != "workers") return wrong();
  std::vector<std::string> numbers;
  for (std::uint64_t value = *first; value <= *last; ++value) {
    numbers.push_back(std::to_string(value));
  }
  return numbers;
}

}  // namespace

Result<Axis> ParseAxis(const std::string& name, const std::string& text) {
  Axis axis;
  axis.name = name;
  for (const std::string& part : Split(text, ',')) {
    if (!Counts(name)) {
      axis.values.push_back(part);
      continue;
    }
    Result<std::vector<std::string>> numbers = Numbers(name, part);
    PENSTOCK_TRY(numbers);
    axis.values.insert(axis.values.end(), numbers->begin(), numbers->end());
  }
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    if (value.empty()) {
      return Fail(ErrorKind::kUsage, fmt::format("--{}: a value is empty in '{}'", name, text));
    }
    if (!seen.insert(value).second) {
      return Fail(ErrorKind::kUsage, fmt::format("--{}: {} is there twice", name, value));
    }
  }
  return axis;
}

Result<std::vector<Cell>> MakeGrid(const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
    if (count > kMostCells) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("more than {} configurations; give fewer values", kMostCells));
    }
  }
  std::vector<Cell> cells;
  std::set<std::vector<std::string>> seen;
  for (std::size_t number = 0; number < count; ++number) {
    Cell cell;
    cell.values.resize(axes.size());
    std::size_t rest = number;
    bool no_workers = false;
    for (std::size_t a = axes.size(); a-- > 0;) {
      cell.values[a] = axes[a].values[rest % axes[a].values.size()];
      rest /= axes[a].values.size();
      no_workers |= axes[a].name == "workers" && cell.values[a] == "0";
    }
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (no_workers && axes[a].name == "prefetch") cell.values[a] = kAny;
      cell.name += fmt::format("{}{}:{}", a == 0 ? "" : "/", axes[a].name, cell.values[a]);
    }
    if (seen.insert(cell.values).second) cells.push_back(std::move(cell));
  }
  return cells;
}

std::string Describe(const std::vector<Axis>& axes, const Cell& cell) {
  if (axes.empty()) return cell.name;
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (cell.values[a] == kAny) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axes[a].name, cell.values[a]);
  }
  return text;
}

}  // namespace penstock::sweep
