// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "traces/exchange/chrome_event.h"
#include "traces/exchange/import.h"
#include "traces/exchange/json_fields.h"
#include "traces/names.h"

namespace penstock::traces {
namespace {

namespace json = simdjson::ondemand;

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

// "Memcpy HtoD (Pageable -> Device)" -> h2d, "H2D pageable", as traces/FORMAT.md names copies.
std::pair<StageId, std::string> CopyOf(std::string_view name) {
  std::string kind;
  for (const auto& [theirs, ours] :
       {std::pair{"HtoD", "H2D"}, std::pair{"DtoH", "D2H"}, std::pair{"DtoD", "D2D"},
        std::pair{"HtoH", "H2H"}, std::pair{"PtoP", "P2P"}}) {
    if (name.find(theirs) != std::string_view::npos) kind = ours;
  }
  if (kind.empty()) return {StageId::kCopy, std::string(name)};
  for (const auto& [theirs, ours] :
       {std::pair{"Pageable", " pageable"}, std::pair{"Pinned", " pinned"},
        std::pair{"Managed", " managed"}}) {
    if (name.find(theirs) != std::string_view::npos) {
      kind += ours;
      break;
    }
  }
  return {kind.starts_with("H2D") ? StageId::kH2d : StageId::kCopy, kind};
}

class ChromeImporter {
 public:
  explicit ChromeImporter(Foreign& into) : into_(into) { into_.summary().format = "Chrome trace"; }

  void Top(json::document& document) {
    if (document.type() == json::json_type::array) return Events(document.get_array());
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "traceEvents") {
        Events(value.get_array());
      } else if (key == "penstockTrace") {
        own_ = true;
        into_.KeepLanes();
        into_.summary().format = "Penstock's own export";
      } else if (key == "otherData" && value.type() == json::json_type::object) {
        for (auto fact : value.get_object()) {
          const std::string name(std::string_view(fact.unescaped_key()));
          into_.out().SetFact(name, Word(fact.value()));
        }
      } else if (key == "realtimeOffsetNanoseconds" || key == "baseTimeNanoseconds") {
        into_.out().SetRealtimeOffset(TimeNs{Whole(Word(value), 0)});
      } else if (key == "droppedEvents") {
        losses_.dropped_events =
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, Whole(Word(value), 0)));
      } else if (key == "damagedBytes") {
        losses_.damaged_bytes =
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, Whole(Word(value), 0)));
      } else if (key == "deviceProperties") {
        Devices(value);
      } else if (key == "distributedInfo") {
        Ranks(value);
      } else if (key == "schemaVersion") {
        into_.summary().format = "PyTorch profiler";
      } else if (key == "trace_id" || key == "traceName") {
        into_.out().SetFact("import." + std::string(key), Word(value));
      }
    }
  }

  void Finish() {
    for (auto& [thread, open] : open_) {
      for (auto& [name, category, span] : open) {
        span.duration = last_ - span.start;
        span.flags |= wire::kFlagUnfinished;
        into_.AddRange(ThreadId{thread}, span, name, category);
      }
    }
    if (rank_ >= 0) {
      for (const std::string& pid : consumers_) into_.Process(pid).rank = rank_;
    }
    into_.out().SetLosses(losses_);
    into_.Finish();
  }

 private:
  struct Open {
    std::string name, category;
    Span span;
  };

  void Devices(json::value value) {
    if (value.type() != json::json_type::array) return;
    bool first = true;
    for (json::value device : value.get_array()) {
      if (device.type() != json::json_type::object) continue;
      for (auto field : device.get_object()) {
        const std::string_view key = field.unescaped_key();
        if (first && key == "name") {
          into_.out().SetFact("gpu.model", Word(field.value()));
          first = false;
        }
      }
    }
  }

  void Ranks(json::value value) {
    if (value.type() != json::json_type::object) return;
    for (auto field : value.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "rank") rank_ = static_cast<std::int32_t>(Whole(Word(field.value()), -1));
      if (key == "world_size") into_.out().SetFact("import.world_size", Word(field.value()));
    }
  }

  void Events(json::array events) {
    for (json::object event : events) Take(ReadChromeEvent(event));
  }

  void Take(const ChromeEvent& event) {
    if (event.phase.size() != 1) return into_.LeaveOut("events without a phase");
    const char phase = event.phase[0];
    if (phase == 'M') return Metadata(event);
    if (event.start.value < 0) return into_.LeaveOut("events without a time");
    if (Foreign::Plausible(event.start, event.duration)) {
      last_ = std::max(last_, event.start + event.duration);
    }
    switch (phase) {
      case 'X':
        return Complete(event);
      case 'B':
      case 'E':
        return Half(event, phase == 'B');
      case 'C':
        for (const auto& [series, value] : event.values) {
          const bool single = own_ || event.values.size() == 1;
          into_.AddCounter(
              event.pid,
              single ? std::string(event.name) : fmt::format("{}.{}", event.name, series),
              event.start, Whole(value, 0));
        }
        return;
      case 'i':
      case 'I':
        return Instant(event);
      case 's':
      case 't':
      case 'f':
        if (!own_) into_.LeaveOut("flow arrows");
        return;
      default:
        into_.LeaveOut("asynchronous and other events");
    }
  }

  void Metadata(const ChromeEvent& event) {
    if (event.name == "thread_name") {
      if (event.of.empty()) {
        into_.NameThread(event.pid, event.tid, event.label);
      } else {
        into_.Alias(event.pid, event.tid, event.of);
      }
    } else if (event.name == "process_name") {
      into_.NameProcess(event.pid, event.label);
      if (!own_) return;
      ProcessInfo& process = into_.Process(event.pid);
      for (const auto role : {wire::kRoleOther, wire::kRoleConsumer, wire::kRoleWorker}) {
        if (event.role == RoleName(role)) process.role = role;
      }
      process.worker_id = static_cast<std::int32_t>(Whole(event.worker, -1));
      process.rank = static_cast<std::int32_t>(Whole(event.rank, -1));
      process.parent = static_cast<std::uint32_t>(Whole(event.parent, 0));
      for (const auto& [key, value] : event.facts) process.facts[std::string(key)] = value;
    }
  }

  Span SpanOf(const ChromeEvent& event) {
    Span span;
    span.start = event.start;
    span.duration = event.duration;
    span.cpu = event.cpu;
    span.bytes.value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, Whole(event.bytes, 0)));
    if (const std::int64_t correlation = Whole(event.correlation, -1);
        correlation > 0 && correlation <= 0xffffffff) {
      span.sample = wire::SampleOfCorrelation(static_cast<std::uint32_t>(correlation));
    }
    if (event.unfinished == "true") span.flags |= wire::kFlagUnfinished;
    if (event.failed == "true") span.flags |= wire::kFlagError;
    return span;
  }

  void Complete(const ChromeEvent& event) {
    Span span = SpanOf(event);
    if (own_) {
      const std::optional<StageId> stage = StageNamed(event.category);
      if (!stage) return into_.LeaveOut("spans of stages of a later version");
      span.stage = *stage;
      span.name = into_.out().Intern(event.name == event.category ? "" : event.name);
      span.object = into_.out().Intern(event.file);
      span.sample = Whole(event.sample, wire::kNoSample);
      span.batch = BatchOf(event);
      return into_.Add(into_.Thread(event.pid, event.tid), span);
    }
    if (Device(event, span)) return;
    const bool runtime = SameIgnoringCase(event.category, "cuda_runtime") ||
                         SameIgnoringCase(event.category, "cuda_driver") ||
                         SameIgnoringCase(event.category, "runtime");
    if (event.category == "Trace" || event.category == "overhead") {
      return into_.LeaveOut("the profiler's own spans");
    }
    const ThreadId thread = into_.Thread(event.pid, event.tid);
    if (runtime) {
      into_.Calls(thread);
      const bool waits = event.name.find("Synchronize") != std::string_view::npos;
      span.stage = waits ? StageId::kSync : StageId::kCall;
      span.name = into_.out().Intern(event.name);
      return into_.Add(thread, span);
    }
    if (rank_ >= 0) consumers_.insert(std::string(event.pid));
    into_.AddRange(thread, span, event.name, event.category);
  }

  // Adds kernels, copies and other work of a stream; returns false if the event is none of them.
  bool Device(const ChromeEvent& event, Span span) {
    const bool kernel = SameIgnoringCase(event.category, "kernel");
    const bool copy = SameIgnoringCase(event.category, "gpu_memcpy") ||
                      SameIgnoringCase(event.category, "memcpy");
    const bool set = SameIgnoringCase(event.category, "gpu_memset") ||
                     SameIgnoringCase(event.category, "memset");
    if (event.category == "gpu_user_annotation" || event.category == "cuda_sync") {
      into_.LeaveOut("annotations and synchronisation on streams");
      return true;
    }
    if (!kernel && !copy && !set) return false;
    std::string_view stream = event.stream.empty() ? event.tid : event.stream;
    if (stream.starts_with("stream ")) stream.remove_prefix(7);
    const std::int64_t device = Whole(event.device.empty() ? event.pid : event.device, 0);
    const ThreadId lane = into_.Lane(
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(device, 0, 0x7fe)),
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(Whole(stream, 0), 0, 0xffffe)));
    span.stage = kernel ? StageId::kKernel : StageId::kCopy;
    std::string name(event.name);
    if (copy) std::tie(span.stage, name) = CopyOf(event.name);
    if (set) name = "memset";
    span.name = into_.out().Intern(name);
    into_.Add(lane, span);
    return true;
  }

  static BatchKey BatchOf(const ChromeEvent& event) {
    const std::int64_t batch = Whole(event.batch, -1);
    if (batch < 0 || batch >= wire::kNoBatch) return {};
    return {static_cast<std::uint32_t>(batch),
            static_cast<std::uint16_t>(std::clamp<std::int64_t>(Whole(event.epoch, 0), 0, 0xffff))};
  }

  void Instant(const ChromeEvent& event) {
    if (own_ && event.category == "order") {
      if (const auto type = EventNamed(event.name)) {
        // If "args" came before "ph", all arguments are in `values`.
        const auto value = std::find_if(event.values.begin(), event.values.end(),
                                        [](const auto& one) { return one.first == "value"; });
        return into_.AddEvent({.at = event.start,
                               .thread = into_.Thread(event.pid, event.tid),
                               .batch = BatchOf(event),
                               .value = value != event.values.end() ? Whole(value->second, 0) : 0,
                               .type = *type});
      }
    }
    into_.LeaveOut("instants");
  }

  void Half(const ChromeEvent& event, bool begin) {
    std::vector<Open>& open = open_[into_.Thread(event.pid, event.tid).value];
    if (begin) {
      constexpr std::size_t kDeepest = 10'000;
      if (open.size() >= kDeepest) return into_.LeaveOut("spans nested too deep");
      open.push_back({std::string(event.name), std::string(event.category), SpanOf(event)});
      return;
    }
    if (open.empty()) return into_.LeaveOut("ends without a begin");
    Open& last = open.back();
    last.span.duration = event.start - last.span.start;
    into_.AddRange(into_.Thread(event.pid, event.tid), last.span, last.name, last.category);
    open.pop_back();
  }

  Foreign& into_;
  bool own_ = false;
  Losses losses_;
  std::int32_t rank_ = -1;
  std::set<std::string> consumers_;
  TimeNs last_{};
  std::map<std::uint32_t, std::vector<Open>> open_;
};

// The array form may lack its end, because writers append to it until they are killed, or never
// write the "]". Cuts `text` after the last whole event, and adds the end. Sets `*rest` if
// something after that event was cut off. Returns false, and leaves `text` as it is, if the array
// has its end, or if the text is malformed before its last event.
bool CloseArray(std::string_view& text, std::string& room, bool* rest) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '[' || text[last] == ']') return false;
  std::size_t whole = 0;  // where the last whole event ends
  std::size_t at = first + 1;
  while (true) {
    at = text.find_first_not_of(" \t\r\n,", at);
    if (at == std::string_view::npos) break;
    if (text[at] != '{') return false;
    const std::size_t end = EndOfValue(text, at);
    if (end == std::string_view::npos) break;
    whole = at = end;
  }
  *rest = at != std::string_view::npos;
  if (whole == 0 || (*rest && text.find("},\n{", at) != std::string_view::npos)) return false;
  room.assign(text.substr(0, whole));
  room += ']';
  const std::size_t size = room.size();
  room.resize(size + simdjson::SIMDJSON_PADDING);
  text = {room.data(), size};
  return true;
}

}  // namespace

Result<void> ImportChrome(std::string_view text, std::size_t capacity,
                          const std::filesystem::path& name, Foreign& into) {
  json::parser parser;
  json::document document;
  ChromeImporter importer(into);
  std::string room;
  bool rest = false;
  if (CloseArray(text, room, &rest)) {
    capacity = room.size();
    if (rest) into.LeaveOut("the last event, which is cut off");
  }
  bool started = false;  // before that the document has no position
  try {
    document = parser.iterate(simdjson::padded_string_view(text.data(), text.size(), capacity));
    started = true;
    importer.Top(document);
  } catch (const simdjson::simdjson_error& error) {
    const char* at = nullptr;
    const bool known = started && document.current_location().get(at) == simdjson::SUCCESS;
    return Fail(ErrorKind::kInput,
                fmt::format("{}: malformed JSON{}: {}", name.string(),
                            known ? fmt::format(" at offset {}", at - text.data()) : " at its end",
                            error.what()));
  }
  importer.Finish();
  return {};
}

}  // namespace penstock::traces
