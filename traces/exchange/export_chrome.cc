// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "traces/base/json_text.h"
#include "traces/exchange/formats.h"
#include "traces/exchange/tracks.h"
#include "traces/export_text.h"

namespace penstock::traces {
namespace {

constexpr std::uint64_t kExtraTrack = 1'000'000'000'000;  // above any tid

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, const TextSink& sink) : trace_(trace), out_(sink) {}

  bool Write() {
    out_.Format(
        "{{\"penstockTrace\":1,\"realtimeOffsetNanoseconds\":{},\"displayTimeUnit\":\"ms\",",
        trace_.realtime_offset().value);
    out_.Format("\"droppedEvents\":{},\"damagedBytes\":{},", trace_.losses().dropped_events,
                trace_.losses().damaged_bytes);
    out_.text() += "\"otherData\":{";
    bool first = true;
    for (const auto& [key, value] : trace_.facts()) {
      if (!first) out_.text() += ',';
      first = false;
      AppendJson(out_.text(), key);
      out_.text() += ':';
      AppendJson(out_.text(), value);
    }
    out_.text() += "},\n\"traceEvents\":[";
    WriteProcesses();
    for (std::uint32_t i = 0; i < trace_.threads().size(); ++i) WriteThread(i);
    WriteEvents();
    WriteCounters();
    out_.text() += "\n]}\n";
    return out_.Flush();
  }

 private:
  void Next() {
    if (!first_) out_.text() += ',';
    first_ = false;
    out_.Line();
  }
  void Time(const char* key, TimeNs time) {
    out_.Format("\"{}\":{}.{:03}", key, time.value / 1000, time.value % 1000);
  }
  void Name(std::string_view kind, std::uint32_t pid, std::uint64_t tid, std::string_view name) {
    Next();
    out_.Format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":", kind,
                pid, tid);
    AppendJson(out_.text(), name);
    out_.text() += "}}";
  }
  [[nodiscard]] const ProcessInfo& ProcessOf(ThreadId thread) const {
    return trace_.processes()[trace_.threads()[thread.value].process.value];
  }

  void WriteProcesses() {
    for (std::size_t i = 0; i < trace_.processes().size(); ++i) {
      const ProcessInfo& process = trace_.processes()[i];
      Name("process_name", process.pid, 0, ProcessLabel(process));
      out_.text().resize(out_.text().size() - 2);  // further properties, for `penstock import`
      out_.Format(",\"role\":\"{}\",\"worker_id\":{},\"rank\":{},\"parent\":{},\"facts\":{{",
                  RoleName(process.role), process.worker_id, process.rank, process.parent);
      bool first = true;
      for (const auto& [key, value] : process.facts) {
        if (!first) out_.text() += ',';
        first = false;
        AppendJson(out_.text(), key);
        out_.text() += ':';
        AppendJson(out_.text(), value);
      }
      out_.text() += "}}}";
      Next();  // the training process first, then its workers in order
      const std::int64_t order =
          process.role == wire::kRoleWorker ? std::int64_t{1} + std::max(0, process.worker_id) : 0;
      out_.Format(
          "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"tid\":0,"
          "\"args\":{{\"sort_index\":{}}}}}",
          process.pid, process.role == wire::kRoleOther ? 1'000'000 : order);
    }
  }

  void WriteThread(std::uint32_t index) {
    const ThreadInfo& thread = trace_.threads()[index];
    const std::uint32_t pid = ProcessOf(ThreadId{index}).pid;
    Name("thread_name", pid, thread.tid, ThreadLabel(thread));
    const std::int32_t rank = RankOf(trace_, index);
    Nesting nesting;
    std::uint32_t named = 1;
    trace_.ForEachBlock(ThreadId{index}, [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if (!out_.ok()) return;
        const std::uint32_t track = nesting.Place(span, [](std::uint32_t, TimeNs) {});
        const std::uint64_t tid = track == 0 ? thread.tid : TrackOf(index, track);
        for (; named < nesting.tracks(); ++named) {
          Name("thread_name", pid, TrackOf(index, named), ThreadLabel(thread) + " (overlapping)");
          out_.text().resize(out_.text().size() - 2);
          out_.Format(",\"of\":{}}}}}", thread.tid);
        }
        WriteSpan(span, pid, tid, rank);
      }
    });
  }

  static std::uint64_t TrackOf(std::uint32_t thread, std::uint32_t track) {
    return kExtraTrack + std::uint64_t{thread} * 1000 + track;
  }

  void WriteSpan(const Span& span, std::uint32_t pid, std::uint64_t tid, std::int32_t rank) {
    Next();
    out_.text() += "{\"ph\":\"X\",\"cat\":\"";
    out_.text() += StageName(span.stage);
    out_.text() += "\",\"name\":";
    AppendJson(out_.text(), SpanLabel(trace_, span));
    out_.Format(",\"pid\":{},\"tid\":{},", pid, tid);
    Time("ts", span.start);
    out_.text() += ',';
    Time("dur", span.duration);
    if (span.cpu.value >= 0) {
      out_.text() += ',';
      Time("tdur", span.cpu);
    }
    out_.Format(",\"args\":{{\"batch\":{},\"epoch\":{},\"sample\":{},\"bytes\":{}",
                BatchIndex(span.batch), span.batch.generation, span.sample, span.bytes.value);
    if (const std::string_view object = trace_.String(span.object); !object.empty()) {
      out_.text() += ",\"file\":";
      AppendJson(out_.text(), object);
    }
    if ((span.flags & wire::kFlagUnfinished) != 0) out_.text() += ",\"unfinished\":true";
    if ((span.flags & wire::kFlagError) != 0) out_.text() += ",\"failed\":true";
    out_.text() += "}}";
    const FlowStep step = FlowStepOf(span);
    if (step == FlowStep::kNone) return;
    Next();
    const char* const phase = step == FlowStep::kBegin ? "s" : step == FlowStep::kStep ? "t" : "f";
    out_.Format(
        "{{\"ph\":\"{}\",\"bp\":\"e\",\"cat\":\"batch\",\"name\":\"batch\",\"id\":{},\"pid\":{},"
        "\"tid\":{},",
        phase, FlowId(span.batch, rank), pid, tid);
    // A viewer binds a flow to the span that contains its time. The flow gets the middle of the
    // span, because the end of a span may be the start of the next one.
    Time("ts", span.start + TimeNs{span.duration.value / 2});
    out_.text() += '}';
  }

  void WriteEvents() {
    for (const Event& event : trace_.events()) {
      if (!out_.ok()) return;
      Next();
      out_.Format("{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"order\",\"name\":\"{}\",\"pid\":{},",
                  EventName(event.type), ProcessOf(event.thread).pid);
      out_.Format("\"tid\":{},", trace_.threads()[event.thread.value].tid);
      Time("ts", event.at);
      out_.Format(",\"args\":{{\"batch\":{},\"epoch\":{},\"value\":{}}}}}", BatchIndex(event.batch),
                  event.batch.generation, event.value);
    }
  }

  void WriteCounters() {
    for (const CounterSample& sample : trace_.counters()) {
      if (!out_.ok()) return;
      Next();
      const std::uint32_t pid = sample.process.value < trace_.processes().size()
                                    ? trace_.processes()[sample.process.value].pid
                                    : 0;
      out_.text() += "{\"ph\":\"C\",\"name\":";
      AppendJson(out_.text(), trace_.String(sample.name));
      out_.Format(",\"pid\":{},\"tid\":0,", pid);
      Time("ts", sample.at);
      out_.Format(",\"args\":{{\"value\":{}}}}}", sample.value);
    }
  }

  const Trace& trace_;
  TextBuffer out_;
  bool first_ = true;
};

}  // namespace

bool ExportChrome(const Trace& trace, const TextSink& sink) {
  return ChromeWriter(trace, sink).Write();
}

}  // namespace penstock::traces
