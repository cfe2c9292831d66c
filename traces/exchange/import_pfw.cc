// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "traces/exchange/import.h"
#include "traces/exchange/json_fields.h"

namespace penstock::traces {
namespace {

namespace json = simdjson::ondemand;

struct PfwEvent {
  std::string_view phase, category, name, pid, tid;
  TimeNs start{-1}, duration{};
  std::string_view label, value, file, ret, size, image;
  bool hashed = false;  // `file` is a hash
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The stage of a POSIX call, or of an event of DFTracer's conventions for AI programs (its
// documentation of ai_logging). kMark: the event has no stage.
StageId StageOf(const PfwEvent& event) {
  const std::string_view name = event.name;
  if (event.category == "POSIX" || event.category == "STDIO") {
    const bool reads = name == "read" || name == "pread" || name == "pread64" || name == "readv" ||
                       name == "preadv" || name == "fread" || name == "mmap" || name == "mmap64";
    return reads ? StageId::kRead : StageId::kMark;
  }
  // For each iteration DFTracer writes the wait for its element, and then the work on it.
  if (event.category == "dataloader" && Contains(name, "fetch")) {
    return name.ends_with(".yield") ? StageId::kStep : StageId::kWait;
  }
  if (event.category == "data" || event.category == "data_loader") {
    if (Contains(name, "decode")) return StageId::kDecode;
    if (Contains(name, "tokeniz")) return StageId::kTokenize;
    if (Contains(name, "collate")) return StageId::kCollate;
    if (Contains(name, "preprocess") || Contains(name, "augment")) return StageId::kAugment;
    if (Contains(name, "item") || Contains(name, "__getitem__")) return StageId::kSample;
  }
  if (event.category == "reader") return StageId::kRead;
  if (event.category == "device" && Contains(name, "transfer")) return StageId::kH2d;
  if (event.category == "compute" || event.category == "ai_framework") return StageId::kStep;
  return StageId::kMark;
}

class PfwImporter {
 public:
  explicit PfwImporter(Foreign& into) : into_(into) {
    into_.summary().format = "DFTracer";
    // The file may be our own export. DFTracer itself writes the tids of the system, which never
    // look like those of streams.
    into_.KeepLanes();
  }

  void Line(json::object object) {
    PfwEvent event;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "ph") event.phase = Word(value);
      if (key == "cat") event.category = Word(value);
      if (key == "name") event.name = Word(value);
      if (key == "pid") event.pid = Word(value);
      if (key == "tid") event.tid = Word(value);
      if (key == "ts") event.start = Microseconds(Word(value));
      if (key == "dur") event.duration = Microseconds(Word(value));
      if (key != "args" || value.type() != json::json_type::object) continue;
      for (auto argument : value.get_object())
        Argument(event, argument.unescaped_key(), argument.value());
    }
    Take(event);
  }

  // Requires: all lines were read, because the path of a file may come after its uses.
  void Finish() {
    for (const auto& [hash, id] : used_) {
      const auto file = files_.find(hash);
      if (file != files_.end()) into_.out().SetString(id, file->second);
    }
    into_.Finish();
  }

 private:
  static void Argument(PfwEvent& event, std::string_view key, json::value value) {
    const json::json_type type = value.type();
    if (type == json::json_type::object || type == json::json_type::array) return;
    if (key == "name") event.label = Word(value);
    if (key == "value") event.value = Word(value);
    if (key == "fhash" || key == "fname" || key == "filename") {
      event.file = Word(value);
      event.hashed = key == "fhash";
    }
    if (key == "ret") event.ret = Word(value);
    if (key == "size" || key == "image_size") event.size = Word(value);
    if (key == "image_idx") event.image = Word(value);
  }

  void Take(const PfwEvent& event) {
    const bool complete = event.phase == "X" || event.phase == "1";
    if (event.phase == "M" || event.name == "FH" || event.name == "HH" || event.name == "SH") {
      // The line that tells the path for a hash comes before or after the uses of the hash.
      if (event.name == "FH") files_[std::string(event.value)] = event.label;
      if (event.name == "HH") into_.out().SetFact("host", event.label);
      if (event.name == "PR" && !event.pid.empty()) into_.NameProcess(event.pid, event.label);
      return;
    }
    if (event.start.value < 0 || !complete)
      return into_.LeaveOut("events without a start or a duration");
    Span span;
    span.start = event.start;
    span.duration = event.duration;
    span.stage = StageOf(event);
    span.name = into_.out().Intern(event.name);
    const std::int64_t bytes =
        Whole(span.stage == StageId::kRead && !event.ret.empty() ? event.ret : event.size, 0);
    span.bytes.value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes));
    if (span.stage == StageId::kRead && bytes < 0) span.flags |= wire::kFlagError;
    if (!event.file.empty()) {
      const auto [file, fresh] = used_.try_emplace(std::string(event.file));
      // A path is used as it is. A hash gets a text of its own, which Finish() replaces by the
      // path.
      const std::string text(event.file);
      if (fresh) file->second = into_.out().Intern(event.hashed ? "file " + text : text);
      span.object = file->second;
    }
    if (span.stage == StageId::kMark) {
      span.object = into_.out().Intern(event.category);
    } else if (!event.image.empty()) {
      span.sample = std::max<std::int64_t>(wire::kNoSample, Whole(event.image, -1));
    }
    const ThreadId thread = into_.Thread(event.pid, event.tid);
    if (span.stage == StageId::kWait) return into_.AddWait(thread, span);
    into_.Add(thread, span);
  }

  Foreign& into_;
  std::unordered_map<std::string, std::string> files_;  // paths by hash
  std::unordered_map<std::string, StringId> used_;      // texts by the hash or path in a span
};

}  // namespace

Result<void> ImportPfw(std::string_view text, std::size_t capacity,
                       const std::filesystem::path& name, Foreign& into) {
  json::parser parser;
  PfwImporter importer(into);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t last = end;
    while (last > at && (text[last - 1] == '\r' || text[last - 1] == ' ' || text[last - 1] == ','))
      --last;
    const auto skip_blanks = [&] {
      while (at < last && (text[at] == ' ' || text[at] == '\t')) ++at;
    };
    skip_blanks();
    if (last > at + 1 && text[at] == '[') ++at;  // "[" on the line of the first event
    skip_blanks();
    if (last > at && text[at] == '{') {
      try {
        json::document line = parser.iterate(
            simdjson::padded_string_view(text.data() + at, last - at, capacity - at));
        importer.Line(line.get_object());
      } catch (const simdjson::simdjson_error& error) {
        // If the run was killed, its last line may be cut off. All others must be complete.
        if (end < text.size()) {
          return Fail(ErrorKind::kInput, fmt::format("{}: malformed line at offset {}: {}",
                                                     name.string(), at, error.what()));
        }
        into.LeaveOut("a last line that is cut off");
      }
    } else if (last > at && text[at] != '[' && text[at] != ']') {
      return Fail(ErrorKind::kInput, fmt::format("{}: no event at offset {}", name.string(), at));
    }
    at = end + 1;
  }
  importer.Finish();
  return {};
}

}  // namespace penstock::traces
