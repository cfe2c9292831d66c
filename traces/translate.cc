// SPDX-License-Identifier: Apache-2.0
#include "traces/translate.h"

#include <span>

namespace penstock::traces {

void CopyTrace(const Trace& from, Packer& to) {
  for (const auto& [key, value] : from.facts()) {
    to.SetFact(key, value);
  }
  std::vector<ProcessId> processes;
  for (const ProcessInfo& process : from.processes()) {
    processes.push_back(to.AddProcess(process));
  }
  const auto process_of = [&](ProcessId id) {
    return id.value < processes.size() ? processes[id.value] : id;
  };
  std::vector<ThreadId> threads;
  for (ThreadInfo thread : from.threads()) {
    thread.process = process_of(thread.process);
    threads.push_back(to.AddThread(thread));
  }
  StringTranslator translate(from, to);
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    from.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
      for (Span span : spans) {
        span.name = translate(span.name);
        span.object = translate(span.object);
        to.AddSpan(threads[i], span);
      }
    });
  }
  for (Event event : from.events()) {
    if (event.thread.value < threads.size()) event.thread = threads[event.thread.value];
    to.AddEvent(event);
  }
  for (CounterSample sample : from.counters()) {
    sample.name = translate(sample.name);
    sample.process = process_of(sample.process);
    to.AddCounter(sample);
  }
  for (UnitRow unit : from.unit_rows()) {
    if (unit.thread.value < threads.size()) unit.thread = threads[unit.thread.value];
    unit.name = translate(unit.name);
    to.AddUnit(unit);
  }
  for (CallRow call : from.call_rows()) {
    if (call.thread.value < threads.size()) call.thread = threads[call.thread.value];
    call.name = translate(call.name);
    call.file = translate(call.file);
    to.AddCall(call);
  }
  to.SetLosses(from.losses());
  to.SetRealtimeOffset(from.realtime_offset());
}

}  // namespace penstock::traces
