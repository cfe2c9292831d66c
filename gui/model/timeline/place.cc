// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/place.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "traces/names.h"

namespace penstock::gui {
namespace {

constexpr double kSecond = 1e9;  // ns

template <class T>
bool ReadNumber(std::string_view text, std::optional<T>* to) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  *to = value;
  return true;
}

std::int64_t Ns(double seconds) {
  return std::llround(seconds * kSecond);
}

std::string OpenTimesText(const Times& times) {
  const auto text = [](const std::optional<double>& time) {
    return time ? SecondsText(Ns(*time)) : std::string();
  };
  return text(times.from) + ".." + text(times.to);
}

// By lane: whether it belongs to the worker that `place` names. If it names none, all lanes do.
std::vector<bool> LanesOf(const Timeline& timeline, const Place& place) {
  std::vector<bool> lanes(timeline.lanes.size(), !place.worker);
  for (const Group& group : timeline.groups) {
    const bool own = place.worker && group.kind == GroupKind::kWorker && group.worker_id >= 0 &&
                     static_cast<std::uint32_t>(group.worker_id) == *place.worker;
    for (const std::size_t lane : group.lanes) lanes[lane] = lanes[lane] || own;
  }
  return lanes;
}

bool InEpoch(const Timeline& timeline, const SpanDetail& detail, std::uint32_t epoch) {
  return detail.key().valid() && timeline.epochs.NumberOf(detail.generation) == epoch;
}

}  // namespace

TimeRange Times::Within(std::int64_t length) const {
  return {from ? std::clamp<std::int64_t>(Ns(*from), 0, length) : 0,
          to ? std::clamp<std::int64_t>(Ns(*to), 0, length) : length};
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

Result<Times> ReadTimes(const std::string& option, const std::string& text) {
  const std::size_t dots = text.find("..");
  Times times;
  if (dots == std::string::npos || text.size() == 2) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} {}: not two times; say 2.1s..2.4s", option, text));
  }
  const auto read = [&](const std::string& word, std::optional<double>* to) -> Result<void> {
    if (word.empty()) return {};
    const Result<double> time = ReadTime(option, word);
    PENSTOCK_TRY(time);
    *to = *time;
    return {};
  };
  PENSTOCK_TRY(read(text.substr(0, dots), &times.from));
  PENSTOCK_TRY(read(text.substr(dots + 2), &times.to));
  if (times.from.value_or(0) >= times.to.value_or(1e10)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} {}: the second time must be later", option, text));
  }
  return times;
}

Result<void> ReadSelected(const std::string& text, Place* place) {
  const auto refuse = [&text](const char* why) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--select {}: {}; say batch:12, epoch:3, sample:345, worker:2, "
                            "stage:decode or 2.1s..2.4s",
                            text, why));
  };
  const std::size_t colon = text.find(':');
  const std::string_view kind = std::string_view(text).substr(0, colon);
  if (colon == std::string::npos && text.find("..") != std::string::npos) {
    if (place->range.given()) return refuse("a second interval");
    const Result<Times> times = ReadTimes("--select", text);
    PENSTOCK_TRY(times);
    place->range = *times;
    return {};
  }
  if (colon == std::string::npos) return refuse("not known");
  const std::string_view value = std::string_view(text).substr(colon + 1);
  if (kind == "batch") {
    if (place->batch) return refuse("a second batch");
    const std::size_t at = value.find('@');
    const bool good =
        ReadNumber(value.substr(0, at), &place->batch) && *place->batch != wire::kNoBatch &&
        (at == std::string_view::npos || ReadNumber(value.substr(at + 1), &place->generation));
    return good ? Result<void>() : Result<void>(refuse("not the number of a batch"));
  }
  if (kind == "epoch") {
    if (place->epoch) return refuse("a second epoch");
    const bool good = ReadNumber(value, &place->epoch);
    return good ? Result<void>() : Result<void>(refuse("not the number of an epoch"));
  }
  if (kind == "worker") {
    if (place->worker) return refuse("a second worker");
    const bool good = ReadNumber(value, &place->worker);
    return good ? Result<void>() : Result<void>(refuse("not the number of a worker"));
  }
  if (kind == "sample") {
    if (place->sample) return refuse("a second sample");
    const bool good = ReadNumber(value, &place->sample) && *place->sample != SpanDetail::kNoSample;
    return good ? Result<void>() : Result<void>(refuse("not the number of a sample"));
  }
  if (kind == "stage") {
    if (place->stage) return refuse("a second stage");
    place->stage = traces::StageNamed(value);
    const bool good = place->stage && *place->stage != traces::StageId::kNone;
    return good ? Result<void>() : Result<void>(refuse("no such stage"));
  }
  return refuse("not known");
}

std::string SecondsText(std::int64_t ns) {
  const std::int64_t size = ns < 0 ? -ns : ns;
  std::string text =
      fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "s";
}

std::string TimesText(TimeRange range) {
  return SecondsText(std::max<std::int64_t>(range.from, 0)) + ".." + SecondsText(range.to);
}

std::vector<std::string> SelectedWords(const Place& place) {
  std::vector<std::string> words;
  if (place.range.given()) words.push_back(OpenTimesText(place.range));
  if (place.epoch) words.push_back(fmt::format("epoch:{}", *place.epoch));
  if (place.batch) {
    words.push_back(fmt::format("batch:{}", *place.batch));
    if (place.generation) words.back() += fmt::format("@{}", *place.generation);
  }
  if (place.sample) words.push_back(fmt::format("sample:{}", *place.sample));
  if (place.worker) words.push_back(fmt::format("worker:{}", *place.worker));
  if (place.stage) words.push_back(fmt::format("stage:{}", traces::StageName(*place.stage)));
  return words;
}

std::string PlaceText(const Place& place) {
  std::string text = place.at.given() ? OpenTimesText(place.at) : "";
  for (const std::string& word : SelectedWords(place)) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::optional<SpanRef> FindSelected(const Timeline& timeline, const Place& place) {
  const TimeRange visible = place.at.Within(timeline.length);
  const TimeRange range = place.range.Within(timeline.length);
  std::optional<SpanRef> found;
  std::int64_t longest = -1;
  bool is_inside = false;
  const std::vector<bool> lanes = LanesOf(timeline, place);
  for (std::uint32_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const std::vector<Level>& levels = timeline.lanes[lane].levels;
    if (!lanes[lane]) continue;
    for (std::uint32_t at = 0; at < levels.size(); ++at) {
      const Level& level = levels[at];
      for (std::uint32_t i = 0; i < level.size(); ++i) {
        const SpanDetail& detail = level.detail[i];
        if (place.stage && level.stage(i) != *place.stage) continue;
        if (place.sample && detail.sample != *place.sample) continue;
        if (place.batch && detail.batch != *place.batch) continue;
        if (place.generation && detail.generation != *place.generation) continue;
        if (place.epoch && !InEpoch(timeline, detail, *place.epoch)) continue;
        if (level.start[i] > visible.to || level.end(i) < visible.from) continue;
        const bool inside = level.start[i] >= range.from && level.start[i] <= range.to;
        const bool better = inside != is_inside ? inside : level.length(i) > longest;
        if (found && !better) continue;
        found = SpanRef{lane, at, i};
        longest = level.length(i);
        is_inside = inside;
      }
    }
  }
  return found;
}

Place SelectedIn(const Timeline& timeline, const TimelineState& state) {
  Place place;
  const TimeRange range = state.selection ? Inside(timeline, *state.selection) : TimeRange{};
  if (!range.empty()) {
    place.range.from = static_cast<double>(range.from) / kSecond;
    place.range.to = static_cast<double>(range.to) / kSecond;
  }
  if (!state.span || timeline.preview) return place;
  const SpanDetail& detail = timeline.detail(*state.span);
  place.stage = timeline.stage(*state.span);
  if (detail.sample != SpanDetail::kNoSample) place.sample = detail.sample;
  if (detail.key().valid()) {
    place.batch = detail.batch;
    if (timeline.epochs.several() && !timeline.epochs.several_loaders()) {
      place.epoch = timeline.epochs.NumberOf(detail.generation);
    } else {
      place.generation = detail.generation;
    }
  }
  return place;
}

}  // namespace penstock::gui
