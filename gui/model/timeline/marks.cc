// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/marks.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/core.h>

#include "gui/model/lines.h"

namespace penstock::gui {
namespace {

// Reads numbers one by one from the front of a value.
class MarkWords {
 public:
  explicit MarkWords(std::string_view text) : text_(text) {}
  template <class Number>
  [[nodiscard]] bool Take(Number* number) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *number);
    if (error != std::errc{}) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (!text_.empty() && text_.front() != ' ') return false;
    if (!text_.empty()) text_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

// Whether additions to these times cannot overflow.
bool Plausible(TimeRange range) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  return range.from > -kMost && range.from < range.to && range.to < kMost;
}

void Take(std::string_view key, std::string_view value, Marks& marks) {
  constexpr std::size_t kMost = 1000;  // per kind of mark; further ones are ignored
  MarkWords words(value);
  TimeRange range;
  Pin pin;
  std::uint32_t pid = 0;
  std::size_t digit = 0;
  if (key == "bookmark") {
    const bool whole = words.Take(&digit) && words.Take(&range.from) && words.Take(&range.to);
    if (whole && digit >= 1 && digit <= marks.bookmarks.size() && Plausible(range)) {
      marks.bookmarks[digit - 1] = range;
    }
  } else if (key == "note" && marks.notes.size() < kMost) {
    if (words.Take(&range.from) && words.Take(&range.to) && Plausible(range)) {
      marks.notes.push_back({range, std::string(words.rest())});
    }
  } else if ((key == "lane" || key == "counter") && marks.pins.size() < kMost) {
    pin.kind = key == "lane" ? RowKind::kLevel : RowKind::kCounter;
    const bool whole = words.Take(&pin.pid) && words.Take(&pin.part);
    const bool twice = std::find(marks.pins.begin(), marks.pins.end(), pin) != marks.pins.end();
    if (whole && !twice) marks.pins.push_back(pin);
  } else if (key == "folded" && marks.folded.size() < kMost) {
    if (words.Take(&pid)) marks.folded.insert(pid);
  }
}

// FNV-1a, which gives the same name on every machine.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

Marks MarksOf(const Timeline& timeline, const TimelineState& state) {
  Marks marks;
  for (std::size_t b = 0; b < marks.bookmarks.size(); ++b) {
    if (state.bookmarks[b]) marks.bookmarks[b] = Shifted(*state.bookmarks[b], timeline.begin);
  }
  for (const Note& note : state.notes) {
    marks.notes.push_back({Shifted(note.range, timeline.begin), note.text});
  }
  marks.pins = state.pins;
  for (const std::uint32_t group : state.folded) {
    if (group == Row::kAllGroups) marks.folded.insert(group);
    if (group < timeline.groups.size()) marks.folded.insert(timeline.groups[group].pid);
  }
  return marks;
}

void Restore(const Marks& marks, const Timeline& timeline, TimelineState& state) {
  for (std::size_t b = 0; b < marks.bookmarks.size(); ++b) {
    if (marks.bookmarks[b] && !state.bookmarks[b]) {
      state.bookmarks[b] = Shifted(*marks.bookmarks[b], -timeline.begin);
    }
  }
  for (const Note& note : marks.notes) {
    const Note own{Shifted(note.range, -timeline.begin), note.text};
    const bool there = std::find(state.notes.begin(), state.notes.end(), own) != state.notes.end();
    if (!there) state.notes.push_back(own);
  }
  for (const Pin& pin : marks.pins) {
    if (!state.IsPinned(pin)) state.pins.push_back(pin);
  }
  if (marks.folded.contains(Row::kAllGroups)) state.folded.insert(Row::kAllGroups);
  for (std::uint32_t g = 0; g < timeline.groups.size(); ++g) {
    if (marks.folded.contains(timeline.groups[g].pid)) state.folded.insert(g);
  }
}

Marks ParseMarks(const std::string& text) {
  Marks marks;
  ForEachSetting(text,
                 [&](std::string_view key, std::string_view value) { Take(key, value, marks); });
  return marks;
}

std::string MarksText(const Marks& marks) {
  std::string text;
  for (std::size_t b = 0; b < marks.bookmarks.size(); ++b) {
    const auto& mark = marks.bookmarks[b];
    if (mark) text += fmt::format("bookmark={} {} {}\n", b + 1, mark->from, mark->to);
  }
  for (const Note& note : marks.notes) {
    std::string line = note.text;
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += fmt::format("note={} {} {}\n", note.range.from, note.range.to, line);
  }
  for (const Pin& pin : marks.pins) {
    const char* key = pin.kind == RowKind::kCounter ? "counter" : "lane";
    text += fmt::format("{}={} {}\n", key, pin.pid, pin.part);
  }
  for (const std::uint32_t pid : marks.folded) text += fmt::format("folded={}\n", pid);
  return text;
}

std::string MarksName(const traces::Trace& trace, const std::filesystem::path& path) {
  const traces::ProcessInfo* first = nullptr;
  const auto place = [](const traces::ProcessInfo& info) {
    return std::tuple(info.process_start, info.pid);
  };
  for (const traces::ProcessInfo& process : trace.processes()) {
    if (process.process_start == 0) continue;
    if (first == nullptr || place(process) < place(*first)) first = &process;
  }
  std::error_code error;
  std::string identity = std::filesystem::absolute(path, error).lexically_normal().string();
  if (first != nullptr) {
    const auto fact = [&](const char* key) {
      const auto found = trace.facts().find(key);
      return found == trace.facts().end() ? std::string() : found->second;
    };
    identity = fmt::format("{} {} {} {} {}", fact("host"), fact("boot_id"), first->process_start,
                           first->pid, fact("command"));
  }
  return fmt::format("{:016x}.marks", HashOf(identity));
}

std::filesystem::path MarksFolder(const std::string& state, const std::string& home) {
  // The XDG Base Directory Specification asks to ignore relative paths.
  if (!state.empty() && state.front() == '/') {
    return std::filesystem::path(state) / "penstock" / "marks";
  }
  if (home.empty()) return {};
  return std::filesystem::path(home) / ".local" / "state" / "penstock" / "marks";
}

Marks LoadMarks(const std::filesystem::path& path) {
  return ParseMarks(ReadSmallFile(path).value_or(""));
}

Result<void> SaveMarks(const std::filesystem::path& path, const Marks& marks) {
  std::error_code error;
  if (marks.empty()) {
    std::filesystem::remove(path, error);
    return {};
  }
  return WriteSmallFile(path, MarksText(marks));
}

}  // namespace penstock::gui
