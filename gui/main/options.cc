// SPDX-License-Identifier: Apache-2.0
#include "gui/main/options.h"

#include <fmt/core.h>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace penstock::gui {
namespace {

// The name, for --view, of the half of the stages view that is about functions.
constexpr std::string_view kFunctionsName = "functions";

std::string ViewNames() {
  std::string names;
  for (const ViewInfo& view : kViews) {
    names += (names.empty() ? "" : ", ") + std::string(view.name);
    if (view.id == ViewId::kStages) names += ", " + std::string(kFunctionsName);
  }
  return names;
}

Result<void> ReadSize(const std::string& text, Options* options) {
  const std::size_t x = text.find('x');
  const auto number = [](std::string_view part) {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && end == part.data() + part.size() ? value : -1;
  };
  if (x != std::string::npos) {
    options->width = number(std::string_view(text).substr(0, x));
    options->height = number(std::string_view(text).substr(x + 1));
  }
  const bool good = x != std::string::npos && options->width >= 320 && options->width <= 8192 &&
                    options->height >= 240 && options->height <= 8192;
  if (good) return {};
  return Fail(ErrorKind::kUsage,
              fmt::format("--size {}: say WIDTHxHEIGHT, from 320x240 to 8192x8192", text));
}

// Refuses "nan", "inf" and hexadecimal numbers. strtod() accepts them, and a range check would let
// some of them pass.
Result<double> ReadScale(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
  if (!plain || *end != '\0' || !(value >= 0.75 && value <= 3)) {
    return Fail(ErrorKind::kUsage, fmt::format("--scale {}: say a number from 0.75 to 3", text));
  }
  return value;
}

}  // namespace

void Declare(traces::CommandLine& line, OptionWords* words) {
  line.Add("file", words->files,
           "Trace to open; a second trace to compare with it; a sweep (its JSON)")
      .AtMost(3);
  line.Add("--view", words->view, "What to show first: " + ViewNames());
  line.Add("--from", words->from, "Timeline: from this time on, like 1.2s or 350ms");
  line.Add("--to", words->to, "Timeline: up to this time");
  line.Add("--screenshot", words->screenshot,
           "Draw one picture into this PNG file and exit; needs no display")
      .ShowValueAs("PNG");
  line.Add("--size", words->size, "Size of the window or picture, like 1920x1080");
  line.Add("--theme", words->theme, "light or dark");
  line.Add("--lang", words->language, "en or zh");
  line.Add("--scale", words->scale, "Size of everything: 0.75 to 3");
  line.Add("--state", words->state).Hide();  // for tests
}

Result<double> ReadTime(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string_view unit = end;
  const double scale = unit.empty() || unit == "s" ? 1
                       : unit == "ms"              ? 1e-3
                       : unit == "us"              ? 1e-6
                                                   : -1;
  if (end == text.c_str() || scale < 0 || !std::isfinite(value) || std::abs(value) > 1e9) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} {}: not a time; say 1.2s, 350ms or 20us", option, text));
  }
  return value * scale;
}

Result<Options> ReadOptions(const OptionWords& words) {
  Options options;
  options.files.assign(words.files.begin(), words.files.end());
  options.screenshot = words.screenshot;
  options.state = words.state;
  if (options.files.size() > 3) {
    return Fail(ErrorKind::kUsage, "too many files: at most two traces and a sweep");
  }
  if (!words.scale.empty()) {
    const Result<double> scale = ReadScale(words.scale);
    PENSTOCK_TRY(scale);
    options.scale = *scale;
  }
  if (!words.view.empty()) {
    bool known = false;
    options.functions = words.view == kFunctionsName;
    const std::string_view name = options.functions ? "stages" : std::string_view(words.view);
    for (const ViewInfo& view : kViews) {
      if (view.name != name) continue;
      options.view = view.id;
      known = true;
    }
    if (!known) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--view {}: there is {}", words.view, ViewNames()));
    }
  }
  if (!words.size.empty()) {
    PENSTOCK_TRY(ReadSize(words.size, &options));
    options.size_given = true;
  }
  if (!words.theme.empty() && words.theme != "dark" && words.theme != "light") {
    return Fail(ErrorKind::kUsage, fmt::format("--theme {}: there is light, dark", words.theme));
  }
  if (!words.language.empty() && words.language != "en" && words.language != "zh") {
    return Fail(ErrorKind::kUsage, fmt::format("--lang {}: there is en, zh", words.language));
  }
  if (!words.theme.empty()) options.theme = words.theme == "dark" ? Theme::kDark : Theme::kLight;
  if (!words.language.empty()) {
    options.language = words.language == "zh" ? Language::kChinese : Language::kEnglish;
  }
  const auto time = [](const char* option, const std::string& text, std::optional<double>* to) {
    if (text.empty()) return Result<void>();
    const Result<double> read = ReadTime(option, text);
    if (!read) return Result<void>(tl::unexpected<Error>(read.error()));
    *to = *read;
    return Result<void>();
  };
  PENSTOCK_TRY(time("--from", words.from, &options.from));
  PENSTOCK_TRY(time("--to", words.to, &options.to));
  if (options.from && options.to && *options.to <= *options.from) {
    return Fail(ErrorKind::kUsage, "--to must be later than --from");
  }
  if (!words.screenshot.empty() && words.files.empty()) {
    return Fail(ErrorKind::kUsage, "--screenshot needs a trace or a sweep");
  }
  return options;
}

}  // namespace penstock::gui
