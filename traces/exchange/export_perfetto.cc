// SPDX-License-Identifier: Apache-2.0
#include <perfetto.pb.h>  // generated

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "traces/base/json_text.h"
#include "traces/call_trees.h"
#include "traces/exchange/formats.h"
#include "traces/exchange/tracks.h"

namespace penstock::traces {
namespace {

namespace pb = ::penstock::perfetto;

constexpr std::uint32_t kRealtime = 1, kMonotonic = 3;                     // BuiltinClock
constexpr std::uint32_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;  // TrackEvent.Type
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;                // SequenceFlags
constexpr std::uint32_t kSequence = 1;
constexpr std::size_t kBuffer = std::size_t{1} << 18;

// Ids of tracks, which must be distinct: the upper bits say what the track is of.
std::uint64_t ProcessTrack(std::uint32_t process) {
  return std::uint64_t{1} << 40 | process;
}
static_assert(Nesting::kMostTracks <= 256);
std::uint64_t ThreadTrack(std::uint32_t thread, std::uint32_t track) {
  return std::uint64_t{2} << 40 | std::uint64_t{thread} << 8 | track;
}
std::uint64_t CounterTrack(std::size_t counter) {
  return std::uint64_t{3} << 40 | counter;
}
std::uint64_t FunctionTrack(std::uint32_t thread) {
  return std::uint64_t{4} << 40 | thread;
}

// The numbers of the names of debug annotations.
enum Note : std::uint64_t {
  kBatch = 1,
  kEpoch,
  kSample,
  kBytes,
  kCpu,
  kFile,
  kState,
  kValue,
  kDropped,
  kDamaged,
  kOwn,
  kCalls,
  kChosen,
  kCost
};
constexpr std::array<std::pair<Note, const char*>, 14> kNotes = {{{kBatch, "batch"},
                                                                  {kEpoch, "epoch"},
                                                                  {kSample, "sample"},
                                                                  {kBytes, "bytes"},
                                                                  {kCpu, "cpu_ns"},
                                                                  {kFile, "file"},
                                                                  {kState, "state"},
                                                                  {kValue, "value"},
                                                                  {kDropped, "dropped_events"},
                                                                  {kDamaged, "damaged_bytes"},
                                                                  {kOwn, kOwnNote},
                                                                  {kCalls, "calls"},
                                                                  {kChosen, "chosen"},
                                                                  {kCost, "cost_ns"}}};

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, const TextSink& sink) : trace_(trace), sink_(sink) {}

  bool Write() {
    WriteStart();
    for (std::uint32_t i = 0; i < trace_.processes().size(); ++i) WriteProcess(i);
    for (std::uint32_t i = 0; ok_ && i < trace_.threads().size(); ++i) WriteThread(i);
    WriteFunctions();
    WriteLosses();
    for (const Event& event : trace_.events()) WriteEvent(event);
    for (const CounterSample& sample : trace_.counters()) WriteCounter(sample);
    return Flush();
  }

 private:
  // Appends the packet as an element of Trace.packet, and clears it.
  void Emit() {
    packet_.set_trusted_packet_sequence_id(kSequence);
    if (!packet_.has_sequence_flags()) packet_.set_sequence_flags(kNeedsState);
    const std::size_t size = packet_.ByteSizeLong();
    buffer_ += '\x0a';  // field 1, length-delimited
    for (std::size_t rest = size;; rest >>= 7) {
      buffer_ += static_cast<char>(rest < 128 ? rest : (rest & 127) | 128);
      if (rest < 128) break;
    }
    packet_.AppendToString(&buffer_);
    packet_.Clear();
    if (buffer_.size() >= kBuffer) Flush();
  }
  bool Flush() {
    if (ok_ && !buffer_.empty()) ok_ = sink_(buffer_);
    buffer_.clear();
    return ok_;
  }

  void WriteStart() {
    packet_.set_sequence_flags(kStateCleared);
    packet_.mutable_trace_packet_defaults()->set_timestamp_clock_id(kMonotonic);
    pb::ClockSnapshot& clocks = *packet_.mutable_clock_snapshot();
    clocks.set_primary_trace_clock(kMonotonic);
    for (const auto& [id, offset] :
         {std::pair{kMonotonic, TimeNs{}}, std::pair{kRealtime, trace_.realtime_offset()}}) {
      pb::ClockSnapshot::Clock& clock = *clocks.add_clocks();
      clock.set_clock_id(id);
      clock.set_timestamp(static_cast<std::uint64_t>((trace_.begin() + offset).value));
    }
    for (const auto& [note, name] : kNotes) {
      pb::InternedText& text = *packet_.mutable_interned_data()->add_debug_annotation_names();
      text.set_iid(note);
      text.set_name(name);
    }
    Emit();
  }

  void WriteProcess(std::uint32_t index) {
    const ProcessInfo& process = trace_.processes()[index];
    pb::TrackDescriptor& track = *packet_.mutable_track_descriptor();
    track.set_uuid(ProcessTrack(index));
    track.mutable_process()->set_pid(static_cast<std::int32_t>(process.pid));
    track.mutable_process()->set_process_name(ToUtf8(ProcessLabel(process)));
    for (const std::string& word : process.command) {
      track.mutable_process()->add_cmdline(ToUtf8(word));
    }
    Emit();
  }

  void DescribeThread(std::uint32_t index, std::uint32_t level) {
    const ThreadInfo& thread = trace_.threads()[index];
    pb::TrackDescriptor& track = *packet_.mutable_track_descriptor();
    track.set_uuid(ThreadTrack(index, level));
    if (level == 0) {
      track.set_parent_uuid(ProcessTrack(thread.process.value));
      pb::ThreadDescriptor& described = *track.mutable_thread();
      described.set_pid(static_cast<std::int32_t>(trace_.processes()[thread.process.value].pid));
      described.set_tid(thread.tid);
      described.set_thread_name(ToUtf8(ThreadLabel(thread)));
    } else {  // beside the thread's track, not below it: its spans do not nest in the thread's
      track.set_parent_uuid(ProcessTrack(thread.process.value));
      track.set_name(ToUtf8(ThreadLabel(thread)) + " (overlapping)");
    }
    Emit();
  }

  void WriteThread(std::uint32_t index) {
    DescribeThread(index, 0);
    Nesting nesting;
    std::uint32_t described = 1;
    const auto ended = [&](std::uint32_t track, TimeNs end) {
      packet_.set_timestamp(static_cast<std::uint64_t>(end.value));
      packet_.mutable_track_event()->set_type(kEnd);
      packet_.mutable_track_event()->set_track_uuid(ThreadTrack(index, track));
      Emit();
    };
    const std::int32_t rank = RankOf(trace_, index);
    trace_.ForEachBlock(ThreadId{index}, [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if (!ok_) return;
        const std::uint32_t track = nesting.Place(span, ended);
        for (; described < nesting.tracks(); ++described) DescribeThread(index, described);
        WriteBegin(span, ThreadTrack(index, track), rank);
      }
    });
    nesting.Finish(ended);
  }

  pb::DebugAnnotation& Annotate(Note note) {
    pb::DebugAnnotation& annotation = *packet_.mutable_track_event()->add_debug_annotations();
    annotation.set_name_iid(note);
    return annotation;
  }
  void AnnotateBatch(BatchKey batch) {
    if (!batch.valid()) return;
    Annotate(kBatch).set_uint_value(batch.index);
    Annotate(kEpoch).set_uint_value(batch.generation);
  }

  // The number of a name; its text is written at the first use.
  std::uint64_t Name(std::uint64_t iid, std::string_view text) {
    if (names_.insert(iid).second) {
      pb::InternedText& name = *packet_.mutable_interned_data()->add_event_names();
      name.set_iid(iid);
      name.set_name(ToUtf8(text));
    }
    return iid;
  }
  std::uint64_t Category(StageId stage) {
    const std::uint64_t iid = static_cast<std::uint64_t>(stage) + 1;
    if (categories_.insert(iid).second) {
      pb::InternedText& name = *packet_.mutable_interned_data()->add_event_categories();
      name.set_iid(iid);
      name.set_name(std::string(StageName(stage)));
    }
    return iid;
  }
  void WriteBegin(const Span& span, std::uint64_t track, std::int32_t rank) {
    packet_.set_timestamp(static_cast<std::uint64_t>(span.start.value));
    pb::TrackEvent& event = *packet_.mutable_track_event();
    event.set_type(kBegin);
    event.set_track_uuid(track);
    event.add_category_iids(Category(span.stage));
    const bool named = !trace_.String(span.name).empty();
    event.set_name_iid(
        named ? Name(1000 + std::uint64_t{span.name.value}, trace_.String(span.name))
              : Name(1 + static_cast<std::uint64_t>(span.stage), StageName(span.stage)));
    AnnotateBatch(span.batch);
    if (span.sample >= 0) Annotate(kSample).set_int_value(span.sample);
    if (span.bytes.value > 0) Annotate(kBytes).set_uint_value(span.bytes.value);
    if (span.cpu.value >= 0) Annotate(kCpu).set_int_value(span.cpu.value);
    if (const std::string_view file = trace_.String(span.object); !file.empty()) {
      Annotate(kFile).set_string_value(ToUtf8(file));
    }
    if ((span.flags & wire::kFlagUnfinished) != 0) Annotate(kState).set_string_value("unfinished");
    if ((span.flags & wire::kFlagError) != 0) Annotate(kState).set_string_value("failed");
    const FlowStep step = FlowStepOf(span);
    if (step == FlowStep::kEnd) {
      event.add_terminating_flow_ids(FlowId(span.batch, rank));
    } else if (step != FlowStep::kNone) {
      event.add_flow_ids(FlowId(span.batch, rank));
    }
    Emit();
  }

  // Writes followed units on a track beside their thread. A node stands for all calls along one
  // path, so it is as long as they are together. It begins where the node before it ends.
  void WriteFunctions() {
    std::unordered_set<std::uint32_t> described;
    for (const CallTree& tree : ReadCallTrees(trace_).trees) {
      if (!ok_) return;
      const std::uint32_t thread = tree.unit.thread.value;
      if (tree.nodes.empty() || thread >= trace_.threads().size()) continue;
      if (described.insert(thread).second) {
        pb::TrackDescriptor& track = *packet_.mutable_track_descriptor();
        track.set_uuid(FunctionTrack(thread));
        track.set_parent_uuid(ProcessTrack(trace_.threads()[thread].process.value));
        track.set_name(ToUtf8(ThreadLabel(trace_.threads()[thread])) + " (followed calls)");
        Emit();
      }
      WriteUnit(tree, FunctionTrack(thread));
    }
  }

  void BeginCalls(std::uint64_t track, TimeNs at, std::string name) {
    packet_.set_timestamp(static_cast<std::uint64_t>(at.value));
    pb::TrackEvent& event = *packet_.mutable_track_event();
    event.set_type(kBegin);
    event.set_track_uuid(track);
    event.add_categories(kFunctionsCategory);
    event.set_name(ToUtf8(name));
  }

  void EndCalls(std::uint64_t track, TimeNs at) {
    packet_.set_timestamp(static_cast<std::uint64_t>(at.value));
    packet_.mutable_track_event()->set_type(kEnd);
    packet_.mutable_track_event()->set_track_uuid(track);
    Emit();
  }

  void WriteUnit(const CallTree& tree, std::uint64_t track) {
    const UnitRow& unit = tree.unit;
    const TimeNs unit_end = unit.at + std::max(unit.duration, tree.total());
    // The nodes of a stall are a stack without times: each is shown as long as the unit.
    const bool stall = (unit.flags & wire::kUnitStall) != 0;
    BeginCalls(track, unit.at, stall ? "stands still" : std::string(StageName(unit.stage)));
    AnnotateBatch(unit.batch);
    if (unit.sample >= 0) Annotate(kSample).set_int_value(unit.sample);
    Annotate(kCost).set_int_value(unit.cost.value);
    if ((unit.flags & wire::kUnitChosen) != 0) Annotate(kChosen).set_uint_value(1);
    Emit();
    // The nodes directly inside each node; the last entry has those of the unit itself.
    std::vector<std::vector<std::uint32_t>> inside(tree.nodes.size() + 1);
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
      const std::uint32_t above = tree.nodes[i].parent;
      inside[above == kNoCall ? tree.nodes.size() : above].push_back(i);
    }
    struct Open {
      std::size_t node;
      TimeNs next;  // where the next node inside begins
      TimeNs end;
      std::size_t done = 0;
    };
    std::vector<Open> open = {{tree.nodes.size(), unit.at, unit_end}};
    while (ok_ && !open.empty()) {
      Open& top = open.back();
      if (top.done == inside[top.node].size()) {
        EndCalls(track, top.end);
        open.pop_back();
        continue;
      }
      const std::uint32_t at = inside[top.node][top.done++];
      const CallNode& node = tree.nodes[at];
      const TimeNs begin = top.next;
      const TimeNs end = stall ? top.end : std::min(begin + node.total, top.end);
      top.next = end;
      WriteNode(node, track, begin);
      open.push_back({at, begin, end});
    }
  }

  void WriteNode(const CallNode& node, std::uint64_t track, TimeNs begin) {
    const std::string_view file = trace_.String(node.file);
    std::string name(trace_.String(node.name));
    if (node.line > 0 && node.kind == CallKind::kLine) {
      name = "line " + std::to_string(node.line);
    } else if (node.line > 0) {
      const std::string_view base = file.substr(file.rfind('/') + 1);
      name += " (" + std::string(base) + ":" + std::to_string(node.line) + ")";
    }
    BeginCalls(track, begin, std::move(name));
    Annotate(kCalls).set_uint_value(node.count);
    if (!file.empty()) Annotate(kFile).set_string_value(ToUtf8(file));
    Emit();
  }

  // Writes dropped events and damage as a moment at the start of the first process, where a viewer
  // shows it first. Other losses are not written.
  void WriteLosses() {
    const Losses& losses = trace_.losses();
    if (losses.dropped_events == 0 && losses.damaged_bytes == 0) return;
    packet_.set_timestamp(static_cast<std::uint64_t>(trace_.begin().value));
    pb::TrackEvent& instant = *packet_.mutable_track_event();
    instant.set_type(kInstant);
    instant.set_track_uuid(ProcessTrack(0));
    instant.add_categories("losses");
    instant.set_name("This recording is not whole");
    Annotate(kDropped).set_uint_value(losses.dropped_events);
    Annotate(kDamaged).set_uint_value(losses.damaged_bytes);
    Emit();
  }

  void WriteEvent(const Event& event) {
    if (!ok_) return;
    packet_.set_timestamp(static_cast<std::uint64_t>(event.at.value));
    pb::TrackEvent& instant = *packet_.mutable_track_event();
    instant.set_type(kInstant);
    instant.set_track_uuid(ThreadTrack(event.thread.value, 0));
    instant.add_categories("order");
    instant.set_name_iid(Name(500 + static_cast<std::uint64_t>(event.type), EventName(event.type)));
    AnnotateBatch(event.batch);
    Annotate(kValue).set_int_value(event.value);
    Emit();
  }

  void WriteCounter(const CounterSample& sample) {
    if (!ok_) return;
    const auto [found, fresh] =
        counters_.try_emplace({sample.process.value, sample.name.value}, counters_.size());
    if (fresh) {
      pb::TrackDescriptor& track = *packet_.mutable_track_descriptor();
      track.set_uuid(CounterTrack(found->second));
      const std::string_view name = trace_.String(sample.name);
      track.set_name(ToUtf8(name));
      if (sample.process.value < trace_.processes().size()) {
        track.set_parent_uuid(ProcessTrack(sample.process.value));
      }
      const CounterUnit unit = UnitOf(name);
      track.mutable_counter()->set_unit(unit == CounterUnit::kNanoseconds ? 1
                                        : unit == CounterUnit::kCount     ? 2
                                                                          : 3);
      Emit();
    }
    packet_.set_timestamp(static_cast<std::uint64_t>(sample.at.value));
    packet_.mutable_track_event()->set_type(kCounter);
    packet_.mutable_track_event()->set_track_uuid(CounterTrack(found->second));
    packet_.mutable_track_event()->set_counter_value(sample.value);
    Emit();
  }

  const Trace& trace_;
  const TextSink& sink_;
  pb::TracePacket packet_;
  std::string buffer_;
  bool ok_ = true;
  std::unordered_set<std::uint64_t> names_, categories_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> counters_;
};

}  // namespace

bool ExportPerfetto(const Trace& trace, const TextSink& sink) {
  return PerfettoWriter(trace, sink).Write();
}

}  // namespace penstock::traces
