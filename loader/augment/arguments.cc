// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace penstock::loader {
namespace {

constexpr int kMaxSide = 16384;

// Reads a number from the front of `text` and removes it there.
template <class T>
std::optional<T> CutNumber(std::string_view& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// Reads `text` if it is a number and nothing else.
template <class T>
std::optional<T> NumberOnly(std::string_view text) {
  const auto value = CutNumber<T>(text);
  return text.empty() ? value : std::nullopt;
}

// Reads LOW-HIGH, or LOW alone. Returns both; the second one is empty if it is not given.
std::optional<std::pair<double, std::optional<double>>> ReadRange(std::string_view text) {
  const auto low = CutNumber<double>(text);
  if (!low) return std::nullopt;
  if (text.empty()) return std::pair{*low, std::optional<double>{}};
  if (text.front() != '-') return std::nullopt;
  const auto high = NumberOnly<double>(text.substr(1));
  if (!high || *high < *low) return std::nullopt;
  return std::pair{*low, high};
}

bool Within(double value, Range limits) {
  return value >= limits.low && value <= limits.high;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Arguments::Arguments(std::string_view op, std::string_view text) : op_(op) {
  if (text.empty()) return;
  for (const std::string_view part : Split(text.substr(1), ':')) {
    const std::size_t equals = part.find('=');
    Argument argument;
    if (equals != std::string_view::npos) argument.key = part.substr(0, equals);
    argument.value = equals == std::string_view::npos ? part : part.substr(equals + 1);
    arguments_.push_back(argument);
  }
}

std::optional<std::string_view> Arguments::Take(std::string_view key) {
  known_ += (known_.empty() ? "" : ", ") + std::string(key);
  const auto take = [this](std::string_view wanted) -> std::optional<std::string_view> {
    for (Argument& argument : arguments_) {
      if (!argument.taken && argument.key == wanted) {
        argument.taken = true;
        return argument.value;
      }
    }
    return std::nullopt;
  };
  const auto by_key = take(key);
  return by_key ? by_key : take({});
}

void Arguments::Complain(std::string message) {
  if (!mistake_) mistake_ = std::move(message);
}

Size Arguments::TakeSize(std::string_view key, bool short_side) {
  const char* example = short_side ? "N for the short side or HxW" : "N for NxN or HxW";
  const auto text = Take(key);
  if (!text) {
    Complain(fmt::format("needs a size: {0}={1}", op_, example));
    return {1, 1};
  }
  const std::size_t x = text->find('x');
  const auto height = NumberOnly<int>(text->substr(0, x));
  const auto width = x == std::string_view::npos ? height : NumberOnly<int>(text->substr(x + 1));
  if (!height || !width || std::min(*height, *width) < 1 || std::max(*height, *width) > kMaxSide) {
    Complain(fmt::format("\"{}\" is not a size: {}, each 1 to {}", *text, example, kMaxSide));
    return {1, 1};
  }
  return {short_side && x == std::string_view::npos ? 0 : *width, *height};
}

int Arguments::TakeInteger(std::string_view key, int low, int high, int otherwise) {
  const auto text = Take(key);
  if (!text) return otherwise;
  const auto value = NumberOnly<int>(*text);
  if (!value || *value < low || *value > high) {
    Complain(
        fmt::format("{} is \"{}\": an integer from {} to {} is needed", key, *text, low, high));
    return otherwise;
  }
  return *value;
}

double Arguments::TakeNumber(std::string_view key, Range limits, double otherwise) {
  const auto text = Take(key);
  if (!text) return otherwise;
  const auto value = NumberOnly<double>(*text);
  if (!value || !Within(*value, limits)) {
    Complain(fmt::format("{} is \"{}\": a number from {:g} to {:g} is needed", key, *text,
                         limits.low, limits.high));
    return otherwise;
  }
  return *value;
}

Range Arguments::TakeRange(std::string_view key, Range limits, Range otherwise) {
  const auto text = Take(key);
  if (!text) return otherwise;
  const auto range = ReadRange(*text);
  const double high = range ? range->second.value_or(range->first) : 0;
  if (!range || !Within(range->first, limits) || !Within(high, limits)) {
    Complain(fmt::format("{} is \"{}\": LOW-HIGH within {:g} to {:g} is needed", key, *text,
                         limits.low, limits.high));
    return otherwise;
  }
  return {range->first, high};
}

Range Arguments::ReadAmount(std::string_view text, std::string_view what, double centre,
                            Range limits) {
  const auto range = ReadRange(text);
  if (range && range->second && Within(range->first, limits) && Within(*range->second, limits)) {
    return {range->first, *range->second};
  }
  if (range && !range->second && range->first >= 0 && centre + range->first <= limits.high) {
    return {std::max(limits.low, centre - range->first), centre + range->first};
  }
  Complain(fmt::format(
      "{} is \"{}\": a number from 0 to {:g}, or LOW-HIGH within {:g} to {:g}, is needed", what,
      text, limits.high - centre, limits.low, limits.high));
  return {centre, centre};
}

Range Arguments::TakeAmount(std::string_view key, double centre, Range limits,
                            std::optional<Range> otherwise) {
  const auto text = Take(key);
  if (text) return ReadAmount(*text, key, centre, limits);
  if (!otherwise) Complain(fmt::format("needs an amount, for instance {}=0.2", op_));
  return otherwise.value_or(Range{centre, centre});
}

std::vector<Range> Arguments::TakeAmounts(std::string_view key, std::span<const ListItem> items,
                                          bool required) {
  std::vector<Range> amounts;
  const auto text = Take(key);
  if (!text) {
    if (required) Complain(fmt::format("needs amounts, for instance {}=0.4,0.4,0.4,0.1", op_));
    return amounts;
  }
  for (const std::string_view part : Split(*text, ',')) {
    if (amounts.size() == items.size()) {
      Complain(fmt::format("\"{}\" has more than {} numbers", *text, items.size()));
      break;
    }
    const ListItem& item = items[amounts.size()];
    amounts.push_back(ReadAmount(part, item.name, item.centre, item.limits));
  }
  return amounts;
}

std::vector<double> Arguments::TakeNumbers(std::string_view key, std::size_t count, Range limits,
                                           std::vector<double> otherwise) {
  const auto text = Take(key);
  if (!text) return otherwise;
  std::vector<double> numbers;
  for (const std::string_view part : Split(*text, ',')) {
    const auto value = NumberOnly<double>(part);
    if (value && Within(*value, limits)) numbers.push_back(*value);
  }
  if (numbers.size() != count || Split(*text, ',').size() != count) {
    Complain(
        fmt::format("{} is \"{}\": {} numbers from {:g} to {:g} are needed, for instance {}={:g}",
                    key, *text, count, limits.low, limits.high, key, fmt::join(otherwise, ",")));
    return otherwise;
  }
  return numbers;
}

Filter Arguments::TakeFilter(std::string_view key, Filter otherwise, bool antialiased) {
  const auto text = Take(key);
  if (!text) return otherwise;
  if (*text == "nearest") return Filter::kNearest;
  if (*text == "bilinear") return Filter::kBilinear;
  if (*text == "bilinear_noaa" && antialiased) return Filter::kBilinearNoAntialias;
  Complain(fmt::format("{} is \"{}\": nearest{} bilinear{} is needed", key, *text,
                       antialiased ? "," : " or", antialiased ? " or bilinear_noaa" : ""));
  return otherwise;
}

std::optional<std::string> Arguments::Finish() {
  for (const Argument& argument : arguments_) {
    if (argument.taken) continue;
    if (known_.empty()) {
      Complain("takes no arguments");
    } else if (argument.key.empty()) {
      Complain(
          fmt::format("takes no further argument \"{}\"; it takes {}", argument.value, known_));
    } else {
      Complain(fmt::format("has no argument \"{}\"; it takes {}", argument.key, known_));
    }
  }
  return mistake_;
}

}  // namespace penstock::loader
