// SPDX-License-Identifier: Apache-2.0
#include "gui/main/options.h"

#include <fmt/core.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "gui/model/files/sweep.h"

namespace penstock::gui {
namespace {

constexpr std::string_view kTooManyFiles = "too many files: at most two traces and a sweep";

// The value of --view that opens the functions half of the stages view.
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

Result<void> ReadPlace(const OptionWords& words, Place* place) {
  const bool ends = !words.from.empty() || !words.to.empty();
  if (!words.at.empty() && ends) {
    return Fail(ErrorKind::kUsage, "--at already says what --from and --to say: give one of them");
  }
  if (!words.at.empty()) {
    const Result<Times> times = ReadTimes("--at", words.at);
    PENSTOCK_TRY(times);
    place->at = *times;
  }
  const auto time = [](const char* option, const std::string& text,
                       std::optional<double>* to) -> Result<void> {
    if (text.empty()) return {};
    const Result<double> read = ReadTime(option, text);
    PENSTOCK_TRY(read);
    *to = *read;
    return {};
  };
  PENSTOCK_TRY(time("--from", words.from, &place->at.from));
  PENSTOCK_TRY(time("--to", words.to, &place->at.to));
  if (place->at.from && place->at.to && *place->at.to <= *place->at.from) {
    return Fail(ErrorKind::kUsage, "--to must be later than --from");
  }
  for (const std::string& word : words.select) PENSTOCK_TRY(ReadSelected(word, place));
  return {};
}

}  // namespace

void Declare(traces::CommandLine& line, OptionWords* words) {
  line.Add("file", words->files,
           "Trace to open; a second trace to compare with it; a sweep (its JSON)")
      .AtMost(3);
  line.Add("--view", words->view, "What to show first: " + ViewNames());
  line.Add("--from", words->from, "Show the run from this time on, like 1.2s or 350ms");
  line.Add("--to", words->to, "Show the run up to this time");
  line.Add("--at", words->at, "Show these times only, like 2.1s..2.4s").ShowValueAs("FROM..TO");
  line.Add("--select", words->select,
           "Select batch:12, epoch:3, sample:345, worker:2, stage:decode, or an interval like "
           "2.1s..2.4s (repeatable: a span must match all; an interval is apart)")
      .ShowValueAs("SPEC")
      .OneValueEach();
  line.Add("--search", words->search,
           "Search in the timeline: \"decode >5ms\", \"epoch 3 batch 12\", or a table: "
           "\"stage:decode group:file top 20\"")
      .ShowValueAs("TEXT");
  line.Add("--sql", words->sql,
           "Ask this of the trace, over the tables and views of penstock export --to sqlite")
      .ShowValueAs("QUESTION");
  line.Add("--loader", words->loader, "Show the loader that this line makes: train.py:88")
      .ShowValueAs("LINE");
  line.Add("--screenshot", words->screenshot,
           "Draw one picture into this PNG file and exit; needs no display")
      .ShowValueAs("PNG");
  line.Add("--size", words->size, "Size of the window or picture, like 1920x1080");
  line.Add("--theme", words->theme, "light or dark");
  line.Add("--lang", words->language, "en or zh");
  line.Add("--scale", words->scale, "Size of everything: 0.75 to 3");
  line.Add("--state", words->state).Hide();  // for tests
}

Result<Options> ReadOptions(const OptionWords& words) {
  Options options;
  options.files.assign(words.files.begin(), words.files.end());
  options.screenshot = words.screenshot;
  options.state = words.state;
  if (options.files.size() > 3) {
    return Fail(ErrorKind::kUsage, std::string(kTooManyFiles));
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
  PENSTOCK_TRY(ReadPlace(words, &options.place));
  options.place.loader = words.loader;
  options.place.search = words.search;
  options.place.sql = words.sql;
  if (!words.sql.empty() && !options.view) options.view = ViewId::kSql;
  // These open the timeline unless a view is set.
  if (!words.at.empty() || options.place.range.given() || options.place.NamesSpan() ||
      !words.search.empty()) {
    if (!options.view) options.view = ViewId::kTimeline;
  }
  if (!words.screenshot.empty() && words.files.empty()) {
    return Fail(ErrorKind::kUsage, "--screenshot needs a trace or a sweep");
  }
  return options;
}

Result<void> CheckFiles(const Options& options) {
  const auto sweeps =
      std::count_if(options.files.begin(), options.files.end(),
                    [](const auto& path) { return KindOf(path) == FileKind::kJson; });
  const auto others = static_cast<std::ptrdiff_t>(options.files.size()) - sweeps;
  if (others <= 2 && sweeps <= 1) return {};
  return Fail(ErrorKind::kUsage, std::string(kTooManyFiles));
}

}  // namespace penstock::gui
