// SPDX-License-Identifier: Apache-2.0
#include <perfetto.pb.h>  // generated

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "traces/exchange/import.h"
#include "traces/exchange/tracks.h"
#include "traces/names.h"

namespace penstock::traces {
namespace {

namespace pb = ::penstock::perfetto;

constexpr std::uint32_t kTypeBegin = 1, kTypeEnd = 2, kTypeInstant = 3, kTypeCounter = 4;
constexpr std::uint32_t kFlagStateCleared = 1;
constexpr std::uint32_t kRealtimeClock = 1;
constexpr std::uint32_t kFirstOwnClock =
    64;  // lower ones are clocks of the machine, in nanoseconds
constexpr std::int64_t kLatest = std::int64_t{1} << 61;

// Shared, because many open spans may use a long name.
using Shared = std::shared_ptr<const std::string>;

struct Track {
  std::string pid, tid, name;
  std::uint64_t parent = 0;
  bool counter = false;
};

struct Open {
  Span span;
  Shared name, category;
  bool staged = false;   // the category is a stage: it is our own export
  bool is_call = false;  // of a followed unit in our own export
};

// The numbered names of a sequence of packets, and its defaults.
struct Names {
  std::unordered_map<std::uint64_t, Shared> events, categories, notes;
  std::uint64_t track = 0;
  std::uint32_t clock = 0;  // 0: the clock of the trace
};

Shared Look(const std::unordered_map<std::uint64_t, Shared>& names, std::uint64_t iid) {
  static const Shared kNone = std::make_shared<const std::string>();
  const auto found = names.find(iid);
  return found == names.end() ? kNone : found->second;
}
Shared Share(const std::string& text) {
  return std::make_shared<const std::string>(text);
}

class PerfettoImporter {
 public:
  explicit PerfettoImporter(Foreign& into) : into_(into) { into_.summary().format = "Perfetto"; }

  void Packet(const pb::TracePacket& packet) {
    Names& names = names_[packet.trusted_packet_sequence_id()];
    if ((packet.sequence_flags() & kFlagStateCleared) != 0) names = {};
    for (const auto& text : packet.interned_data().event_names())
      names.events[text.iid()] = Share(text.name());
    for (const auto& text : packet.interned_data().event_categories()) {
      names.categories[text.iid()] = Share(text.name());
    }
    for (const auto& text : packet.interned_data().debug_annotation_names()) {
      names.notes[text.iid()] = Share(text.name());
      if (text.name() != kOwnNote) continue;
      own_ = true;
      into_.KeepLanes();
    }
    if (packet.has_clock_snapshot()) Clocks(packet.clock_snapshot());
    if (packet.has_track_descriptor()) Describe(packet.track_descriptor());
    if (packet.has_trace_packet_defaults()) {
      const auto& defaults = packet.trace_packet_defaults();
      if (defaults.has_timestamp_clock_id()) names.clock = defaults.timestamp_clock_id();
      if (defaults.has_track_event_defaults()) {
        names.track = defaults.track_event_defaults().track_uuid();
      }
    }
    if (packet.has_track_event()) {
      const std::uint32_t clock =
          packet.has_timestamp_clock_id() ? packet.timestamp_clock_id() : names.clock;
      if (clock >= kFirstOwnClock) return into_.LeaveOut("events on clocks of their own");
      if (packet.timestamp() > kLatest) return into_.LeaveOut("events with impossible times");
      Event(packet.track_event(), TimeNs{static_cast<std::int64_t>(packet.timestamp())}, names);
    } else if (!packet.has_clock_snapshot() && !packet.has_track_descriptor() &&
               !packet.has_interned_data() && !packet.has_trace_packet_defaults()) {
      into_.LeaveOut("packets of other kinds (scheduling, compressed, statistics, ...)");
    }
  }

  void Finish() {
    for (auto& [uuid, stack] : open_) {
      for (Open& open : stack) {
        open.span.flags |= wire::kFlagUnfinished;
        Close(uuid, open, last_);
      }
    }
    into_.Finish();
  }

 private:
  void Clocks(const pb::ClockSnapshot& snapshot) {
    std::optional<std::uint64_t> real, trace;
    for (const auto& clock : snapshot.clocks()) {
      if (clock.clock_id() == kRealtimeClock) real = clock.timestamp();
      if (clock.clock_id() == snapshot.primary_trace_clock()) trace = clock.timestamp();
    }
    if (real && trace) {
      into_.out().SetRealtimeOffset(TimeNs{static_cast<std::int64_t>(*real - *trace)});
    }
  }

  void Describe(const pb::TrackDescriptor& described) {
    Track& track = tracks_[described.uuid()];
    track.parent = described.parent_uuid();
    track.name = described.name();
    track.counter = described.has_counter();
    if (described.has_process()) {
      track.pid = std::to_string(described.process().pid());
      const std::string& name = described.process().process_name();
      into_.NameProcess(track.pid, name);
      Role(into_.Process(track.pid), name);
      // A process may be described several times: by each sequence, and when its state is cleared.
      // The last description holds.
      if (const auto& words = described.process().cmdline(); !words.empty()) {
        into_.Process(track.pid).command.assign(words.begin(), words.end());
      }
    }
    if (described.has_thread()) {
      track.pid = std::to_string(described.thread().pid());
      track.tid = std::to_string(described.thread().tid());
      into_.NameThread(track.pid, track.tid, described.thread().thread_name());
      named_[{track.pid, described.thread().thread_name()}] = track.tid;
    }
  }

  // Reads the labels of our export: "worker 3", "consumer", with ", rank 1".
  static void Role(ProcessInfo& process, const std::string& label) {
    int number = -1;
    if (label.starts_with("consumer")) process.role = wire::kRoleConsumer;
    if (std::sscanf(label.c_str(), "worker %d", &number) == 1) {
      process.role = wire::kRoleWorker;
      process.worker_id = number;
    }
    const std::size_t rank = label.find(", rank ");
    if (rank != std::string::npos) process.rank = std::atoi(label.c_str() + rank + 7);
  }

  // The thread to which the spans of a track belong: the track's own, or the one in its name.
  ThreadId ThreadOf(std::uint64_t uuid) {
    const auto known = threads_.find(uuid);
    if (known != threads_.end()) return known->second;
    const Track& track = tracks_[uuid];
    std::string pid = track.pid, tid = track.tid;
    std::uint64_t parent = track.parent;
    for (int depth = 0; pid.empty() && parent != 0 && depth < 16; ++depth) {
      const Track& above = tracks_[parent];
      pid = above.pid;
      if (!above.tid.empty()) tid = above.tid;
      parent = above.parent;
    }
    constexpr std::string_view kOverlapping = " (overlapping)";  // suffix that our export adds
    if (tid.empty() && track.name.ends_with(kOverlapping)) {
      const auto same =
          named_.find({pid, track.name.substr(0, track.name.size() - kOverlapping.size())});
      if (same != named_.end()) tid = same->second;
    }
    if (tid.empty()) tid = track.name.empty() ? fmt::format("track {}", uuid) : track.name;
    const ThreadId thread = into_.Thread(pid.empty() ? "0" : pid, tid);
    threads_[uuid] = thread;
    return thread;
  }

  static std::uint64_t TrackOf(const pb::TrackEvent& event, const Names& names) {
    return event.has_track_uuid() ? event.track_uuid() : names.track;
  }

  void Event(const pb::TrackEvent& event, TimeNs at, const Names& names) {
    last_ = std::max(last_, at);
    const std::uint64_t uuid = TrackOf(event, names);
    switch (event.type()) {
      case kTypeBegin:
        return Begin(event, at, names);
      case kTypeEnd: {
        std::vector<Open>& stack = open_[uuid];
        if (stack.empty()) return into_.LeaveOut("ends without a begin");
        Close(uuid, stack.back(), at);
        stack.pop_back();
        return;
      }
      case kTypeCounter: {
        const Track& track = tracks_[uuid];
        const std::string pid = track.parent != 0 ? tracks_[track.parent].pid : track.pid;
        const double real = event.double_counter_value();
        if (event.has_double_counter_value() && !(std::abs(real) < 9e18)) {
          return into_.LeaveOut("values that cannot be");
        }
        const std::int64_t value = event.has_double_counter_value()
                                       ? static_cast<std::int64_t>(real)
                                       : event.counter_value();
        return into_.AddCounter(pid.empty() ? "0" : pid, track.name, at, value);
      }
      case kTypeInstant:
        return Instant(event, at, names);
      default:
        into_.LeaveOut("other events");
    }
  }

  static Shared NameOf(const pb::TrackEvent& event, const Names& names) {
    return event.has_name() ? Share(event.name()) : Look(names.events, event.name_iid());
  }
  static Shared CategoryOf(const pb::TrackEvent& event, const Names& names) {
    if (event.categories_size() > 0) return Share(event.categories(0));
    return Look(names.categories, event.category_iids_size() > 0 ? event.category_iids(0) : 0);
  }

  struct Notes {
    std::map<std::string, std::int64_t> numbers;
    std::map<std::string, std::string> texts;
    [[nodiscard]] std::int64_t Number(const std::string& key, std::int64_t otherwise) const {
      const auto found = numbers.find(key);
      return found == numbers.end() ? otherwise : found->second;
    }
  };
  static Notes NotesOf(const pb::TrackEvent& event, const Names& names) {
    Notes notes;
    for (const auto& note : event.debug_annotations()) {
      const std::string key = note.has_name() ? note.name() : *Look(names.notes, note.name_iid());
      if (note.has_string_value()) {
        notes.texts[key] = note.string_value();
      } else {
        notes.numbers[key] =
            note.has_int_value() ? note.int_value() : static_cast<std::int64_t>(note.uint_value());
      }
    }
    return notes;
  }
  static BatchKey BatchOf(const Notes& notes) {
    const std::int64_t batch = notes.Number("batch", -1);
    if (batch < 0 || batch >= wire::kNoBatch) return {};
    return {static_cast<std::uint32_t>(batch),
            static_cast<std::uint16_t>(notes.Number("epoch", 0) & 0xffff)};
  }

  void Begin(const pb::TrackEvent& event, TimeNs at, const Names& names) {
    constexpr std::size_t kDeepest = 10'000;
    std::vector<Open>& stack = open_[TrackOf(event, names)];
    if (stack.size() >= kDeepest) return into_.LeaveOut("spans nested too deep");
    Open open;
    open.name = NameOf(event, names);
    open.category = CategoryOf(event, names);
    open.span.start = at;
    const Notes notes = NotesOf(event, names);
    if (const auto stage = own_ ? StageNamed(*open.category) : std::nullopt) {
      open.staged = true;
      open.span.stage = *stage;
      open.span.batch = BatchOf(notes);
      open.span.sample = notes.Number("sample", wire::kNoSample);
      open.span.cpu.value = notes.Number("cpu_ns", -1);
      open.span.bytes.value =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, notes.Number("bytes", 0)));
      if (const auto file = notes.texts.find("file"); file != notes.texts.end()) {
        open.span.object = into_.out().Intern(file->second);
      }
      if (const auto state = notes.texts.find("state"); state != notes.texts.end()) {
        open.span.flags |= state->second == "failed" ? wire::kFlagError : wire::kFlagUnfinished;
      }
    }
    open.is_call = own_ && *open.category == kFunctionsCategory;
    stack.push_back(std::move(open));
  }

  void Close(std::uint64_t uuid, Open& open, TimeNs at) {
    if (open.is_call) return into_.LeaveOut("calls of followed samples");
    open.span.duration = at - open.span.start;
    const ThreadId thread = ThreadOf(uuid);
    if (open.staged) {
      open.span.name = into_.out().Intern(*open.name == *open.category ? "" : *open.name);
      into_.Add(thread, open.span);
    } else {
      into_.AddRange(thread, open.span, *open.name, *open.category);
    }
  }

  void Instant(const pb::TrackEvent& event, TimeNs at, const Names& names) {
    const Shared shared_name = NameOf(event, names), shared_category = CategoryOf(event, names);
    const std::string& name = *shared_name;
    const std::string& category = *shared_category;
    if (own_ && category == "losses") {
      const Notes notes = NotesOf(event, names);
      Losses losses;
      losses.dropped_events = static_cast<std::uint64_t>(notes.Number("dropped_events", 0));
      losses.damaged_bytes = static_cast<std::uint64_t>(notes.Number("damaged_bytes", 0));
      return into_.out().SetLosses(losses);
    }
    if (own_ && category == "order") {
      if (const auto type = EventNamed(name)) {
        const Notes notes = NotesOf(event, names);
        return into_.AddEvent({.at = at,
                               .thread = ThreadOf(TrackOf(event, names)),
                               .batch = BatchOf(notes),
                               .value = notes.Number("value", 0),
                               .type = *type});
      }
    }
    into_.LeaveOut("instants");
  }

  Foreign& into_;
  bool own_ = false;                                // whether this is our own export
  std::unordered_map<std::uint32_t, Names> names_;  // by sequence
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::unordered_map<std::uint64_t, ThreadId> threads_;
  std::map<std::pair<std::string, std::string>, std::string> named_;  // (pid, name) -> the last tid
  std::map<std::uint64_t, std::vector<Open>> open_;
  TimeNs last_{};
};

}  // namespace

Result<void> ImportPerfetto(std::string_view bytes, const std::filesystem::path& name,
                            Foreign& into) {
  PerfettoImporter importer(into);
  pb::TracePacket packet;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    std::uint64_t length = 0;
    bool whole = bytes[at++] == '\x0a';
    for (int shift = 0; whole; shift += 7) {
      whole = at < bytes.size() && shift <= 28;
      if (!whole) break;
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      length |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    whole = whole && length <= bytes.size() - at &&
            packet.ParseFromArray(bytes.data() + at, static_cast<int>(length));
    if (!whole) {
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: damaged or cut off at offset {}", name.string(), begin));
    }
    importer.Packet(packet);
    at += length;
  }
  importer.Finish();
  return {};
}

}  // namespace penstock::traces
