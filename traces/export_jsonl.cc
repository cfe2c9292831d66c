// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "traces/base/json_text.h"
#include "traces/export.h"
#include "traces/export_text.h"

namespace penstock::traces {
namespace {

void Text(TextBuffer& out, std::string_view key, std::string_view value) {
  out.Format(",\"{}\":", key);
  AppendJson(out.text(), value);
}

void Texts(TextBuffer& out, std::string_view key, const std::vector<std::string>& values) {
  out.Format(",\"{}\":[", key);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.text() += i > 0 ? "," : "";
    AppendJson(out.text(), values[i]);
  }
  out.text() += ']';
}

void WriteLosses(const Trace& trace, TextBuffer& out) {
  const Losses& l = trace.losses();
  out.Format(
      "{{\"type\":\"losses\",\"dropped_events\":{},\"damaged_records\":{},\"damaged_bytes\":{},"
      "\"damaged_chunks\":{},\"lost_threads\":{},\"truncated\":{},\"unsealed\":{},"
      "\"realtime_offset_ns\":{}}}",
      l.dropped_events, l.damaged_records, l.damaged_bytes, l.damaged_chunks, l.lost_threads,
      l.truncated, l.unsealed, trace.realtime_offset().value);
  out.Line();
}

void WriteProcess(const ProcessInfo& p, TextBuffer& out) {
  out.Format(
      "{{\"type\":\"process\",\"pid\":{},\"parent\":{},\"role\":\"{}\",\"worker_id\":{},"
      "\"rank\":{},\"local_rank\":{},\"world_size\":{},\"features\":{},\"process_start\":{}",
      p.pid, p.parent, RoleName(p.role), p.worker_id, p.rank, p.local_rank, p.world_size,
      p.features, p.process_start);
  Text(out, "comm", p.comm);
  Texts(out, "command", p.command);
  Texts(out, "libraries", p.libraries);
  out.text() += ",\"facts\":{";
  bool first = true;
  for (const auto& [key, value] : p.facts) {
    out.text() += first ? "" : ",";
    first = false;
    AppendJson(out.text(), key);
    out.text() += ':';
    AppendJson(out.text(), value);
  }
  out.Format(
      "}},\"bytes_hooked\":{},\"bytes_dataset\":{},\"bytes_network\":{},\"bytes_mapped\":{},"
      "\"bytes_kernel\":{},\"dropped\":{},\"hook_misses\":{}}}",
      p.bytes_hooked.value, p.bytes_dataset.value, p.bytes_network.value, p.bytes_mapped.value,
      p.bytes_kernel.value, p.dropped, p.hook_misses);
  out.Line();
}

void WriteThread(const ThreadInfo& thread, const ProcessInfo& process, TextBuffer& out) {
  out.Format(
      "{{\"type\":\"thread\",\"pid\":{},\"tid\":{},\"spans\":{},\"first_ns\":{},\"last_ns\":{}",
      process.pid, thread.tid, thread.spans, thread.first.value, thread.last.value);
  Text(out, "name", thread.name);
  out.text() += '}';
  out.Line();
}

void WriteSpan(const Trace& trace, const Span& s, std::string_view tail, TextBuffer& out) {
  out.Format("{{\"type\":\"span\",\"stage\":\"{}\"", StageName(s.stage));
  Text(out, "name", trace.String(s.name));
  Text(out, "object", trace.String(s.object));
  out.Format(",\"start_ns\":{},\"duration_ns\":{},\"cpu_ns\":", s.start.value, s.duration.value);
  if (s.cpu.value >= 0) {
    out.Format("{}", s.cpu.value);
  } else {
    out.text() += "null";
  }
  out.Format(
      ",\"busy_ns\":{},\"bytes\":{},\"sample\":{},\"batch\":{},\"generation\":{},\"flags\":{},"
      "\"depth\":{}",
      s.busy.value >= 0 ? s.busy.value : s.duration.value, s.bytes.value, s.sample,
      BatchIndex(s.batch), s.batch.generation, s.flags, s.depth);
  out.text() += tail;
  out.Line();
}

void WriteEvent(const Trace& trace, const Event& e, TextBuffer& out) {
  const ThreadInfo& thread = trace.threads()[e.thread.value];
  out.Format(
      "{{\"type\":\"event\",\"event\":\"{}\",\"at_ns\":{},\"pid\":{},\"tid\":{},\"batch\":{},"
      "\"generation\":{},\"value\":{}}}",
      EventName(e.type), e.at.value, trace.processes()[thread.process.value].pid, thread.tid,
      BatchIndex(e.batch), e.batch.generation, e.value);
  out.Line();
}

void WriteCounter(const Trace& trace, const CounterSample& c, TextBuffer& out) {
  const std::span<const ProcessInfo> processes = trace.processes();
  out.Format("{{\"type\":\"counter\",\"at_ns\":{},\"pid\":{},\"value\":{}", c.at.value,
             c.process.value < processes.size() ? processes[c.process.value].pid : 0, c.value);
  Text(out, "name", trace.String(c.name));
  out.text() += '}';
  out.Line();
}

void WriteUnit(const Trace& trace, const UnitRow& u, TextBuffer& out) {
  const ThreadInfo& thread = trace.threads()[u.thread.value];
  out.Format(
      "{{\"type\":\"unit\",\"at_ns\":{},\"pid\":{},\"tid\":{},\"stage\":\"{}\",\"duration_ns\":{},"
      "\"cost_ns\":{},\"spread_percent\":{},\"ordinary_ns\":{},\"neighbours\":{},\"events\":{},"
      "\"nodes\":{},\"flags\":{}",
      u.at.value, trace.processes()[thread.process.value].pid, thread.tid, StageName(u.stage),
      u.duration.value, u.cost.value, u.spread, u.ordinary.value, u.neighbours, u.events, u.nodes,
      u.flags);
  if (u.sample >= 0) out.Format(",\"sample\":{}", u.sample);
  if (u.batch.valid()) {
    out.Format(",\"batch\":{},\"generation\":{}", u.batch.index, u.batch.generation);
  }
  Text(out, "name", trace.String(u.name));
  out.text() += '}';
  out.Line();
}

void WriteCall(const Trace& trace, const CallRow& c, TextBuffer& out) {
  const ThreadInfo& thread = trace.threads()[c.thread.value];
  out.Format(
      "{{\"type\":\"followed_call\",\"unit_at_ns\":{},\"pid\":{},\"tid\":{},\"node\":{},"
      "\"parent\":{},\"kind\":{},\"line\":{},\"count\":{},\"total_ns\":{},\"own_ns\":{},\"cost_"
      "ns\":{}",
      c.at.value, trace.processes()[thread.process.value].pid, thread.tid, c.node,
      c.parent == wire::kNoNode ? -1 : static_cast<int>(c.parent), static_cast<int>(c.kind), c.line,
      c.count, c.total.value, c.own.value, c.cost.value);
  Text(out, "name", trace.String(c.name));
  Text(out, "file", trace.String(c.file));
  out.text() += '}';
  out.Line();
}

void WriteHeads(const Trace& trace, TextBuffer& out) {
  WriteLosses(trace, out);
  for (const auto& [key, value] : trace.facts()) {
    out.text() += "{\"type\":\"fact\"";
    Text(out, "key", key);
    Text(out, "value", value);
    out.text() += '}';
    out.Line();
  }
  for (const ProcessInfo& process : trace.processes()) {
    WriteProcess(process, out);
  }
}

}  // namespace

bool ExportJsonHeads(const Trace& trace, const TextSink& sink) {
  TextBuffer out(sink);
  WriteHeads(trace, out);
  for (const ThreadInfo& thread : trace.threads()) {
    WriteThread(thread, trace.processes()[thread.process.value], out);
  }
  return out.Flush();
}

bool ExportJsonLines(const Trace& trace, const TextSink& sink) {
  TextBuffer out(sink);
  WriteHeads(trace, out);
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const ThreadInfo& thread = trace.threads()[i];
    const ProcessInfo& process = trace.processes()[thread.process.value];
    WriteThread(thread, process, out);
    const std::string tail =
        fmt::format(",\"pid\":{},\"tid\":{},\"role\":\"{}\",\"worker_id\":{}}}", process.pid,
                    thread.tid, RoleName(process.role), process.worker_id);
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if (out.ok()) {
          WriteSpan(trace, span, tail, out);
        }
      }
    });
  }
  for (const Event& event : trace.events()) {
    WriteEvent(trace, event, out);
  }
  for (const CounterSample& sample : trace.counters()) {
    WriteCounter(trace, sample, out);
  }
  for (const UnitRow& unit : trace.unit_rows()) WriteUnit(trace, unit, out);
  for (const CallRow& call : trace.call_rows()) WriteCall(trace, call, out);
  return out.Flush();
}

}  // namespace penstock::traces
