// SPDX-License-Identifier: Apache-2.0
#include "analyzer/main/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "traces/base/json_text.h"

namespace penstock::analyzer {
namespace {

bool ReadCount(std::string_view text, int& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

std::optional<int> Parse(traces::CommandLine& line, const std::vector<std::string>& arguments,
                         std::string_view hint) {
  line.AddVersion(line.name());
  const auto print = line.Read(arguments);
  if (!print) {
    fmt::print(stderr, "{}: {}; {}\n", line.name(), print.error().message,
               hint.empty() ? fmt::format("see: {} --help", line.name()) : std::string(hint));
    return 2;
  }
  if (!*print) return std::nullopt;
  static_cast<void>(std::fputs((*print)->c_str(), stdout));
  return 0;
}

int Complain(std::string_view command, const Error& error) {
  fmt::print(stderr, "penstock {}: {}\n", command, VisibleText(error.message));
  return ExitStatus(error.kind);
}

std::unique_ptr<traces::Trace> OpenOrComplain(std::string_view command, const std::string& path,
                                              int& status) {
  auto trace = traces::OpenTrace(path);
  if (trace) return std::move(*trace);
  std::error_code ignored;
  const bool part =
      !std::filesystem::exists(path, ignored) && std::filesystem::exists(path + ".part", ignored);
  Error error = std::move(trace.error());
  if (part) error.message += fmt::format("; {0}.part is there: penstock recover {0}", path);
  status = Complain(command, error);
  return nullptr;
}

SplitWords SplitAtDashes(const std::vector<std::string>& arguments) {
  SplitWords words;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  words.own.assign(arguments.begin(), dashes);
  if (dashes != arguments.end()) words.command.assign(dashes + 1, arguments.end());
  return words;
}

Result<std::vector<int>> ParseCounts(std::string_view text, int least) {
  constexpr int kMost = 1024;
  constexpr std::size_t kLongest = 4096;
  const std::string whole(text);
  const auto wrong = [&] {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: not a list of numbers from {} to {}, like 4 or 1..16 or 2,4,8",
                            whole, least, kMost));
  };
  std::vector<int> counts;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dots = part.find("..");
    int first = 0;
    if (!ReadCount(part.substr(0, dots), first)) return wrong();
    int last = first;
    if (dots != std::string_view::npos && !ReadCount(part.substr(dots + 2), last)) return wrong();
    if (first < least || last < first || last > kMost) return wrong();
    for (int count = first; count <= last; ++count) counts.push_back(count);
    if (counts.size() > kLongest) return wrong();
    if (comma == std::string_view::npos) return counts;
    text.remove_prefix(comma + 1);
  }
}

Result<double> ParseSize(std::string_view text) {
  const std::string whole(text);
  char* end = nullptr;
  const double number = std::strtod(whole.c_str(), &end);
  std::string unit(end);
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  const bool binary = unit.size() >= 2 && unit[1] == 'I';
  const std::string rest = unit.empty() ? "" : unit.substr(binary ? 2 : 1);
  constexpr std::string_view kUnits = "KMGT";
  const bool plain = unit.empty() || unit == "B";
  const std::size_t power = plain ? 0 : kUnits.find(unit[0]) + 1;  // 0: not found
  const bool known = plain || (power > 0 && (rest.empty() || rest == "B"));
  const double bytes = number * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power));
  if (end == whole.c_str() || !known || !(bytes > 0) || !std::isfinite(bytes)) {
    return Fail(ErrorKind::kUsage, fmt::format("{}: not a size like 500M or 8G", whole));
  }
  return bytes;
}

}  // namespace penstock::analyzer
