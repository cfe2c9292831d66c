// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_builder.h"

#include <utility>

#include "traces/base/xxh64.h"

namespace penstock::traces {

TraceBuilder::TraceBuilder() {
  bool inserted = false;
  ids_.At(Xxh64("", 0), &inserted) = 0;
}

StringId TraceBuilder::Intern(std::string_view text) {
  bool inserted = false;
  std::uint32_t& id = ids_.At(Xxh64(text.data(), text.size()), &inserted);
  if (inserted) {
    id = static_cast<std::uint32_t>(data_.strings.size());
    data_.strings.emplace_back(text);
  }
  return StringId{id};
}

void TraceBuilder::SetString(StringId id, std::string_view text) {
  bool inserted = false;
  std::uint32_t& known = ids_.At(Xxh64(text.data(), text.size()), &inserted);
  if (inserted) {
    known = id.value;
  }
  if (id.value < data_.strings.size()) {
    data_.strings[id.value] = text;
  }
}

ThreadId TraceBuilder::AddThread(const ThreadInfo& thread) {
  data_.threads.push_back(thread);
  data_.spans.emplace_back();
  return ThreadId{static_cast<std::uint32_t>(data_.threads.size() - 1)};
}

ProcessId TraceBuilder::AddProcess(const ProcessInfo& process) {
  data_.processes.push_back(process);
  return ProcessId{static_cast<std::uint32_t>(data_.processes.size() - 1)};
}

void TraceBuilder::UpdateProcess(ProcessId id, const ProcessInfo& process) {
  if (id.value < data_.processes.size()) {
    data_.processes[id.value] = process;
  }
}

void TraceBuilder::UpdateThread(ThreadId id, const ThreadInfo& thread) {
  if (id.value < data_.threads.size()) {
    data_.threads[id.value] = thread;
  }
}

void TraceBuilder::SetFact(std::string_view key, std::string_view value) {
  data_.facts[std::string(key)] = value;
}

void TraceBuilder::AddSpan(ThreadId thread, const Span& span) {
  if (thread.value < data_.spans.size()) {
    data_.spans[thread.value].push_back(span);
  }
}

void TraceBuilder::AddEvent(const Event& event) {
  data_.events.push_back(event);
}

void TraceBuilder::AddCounter(const CounterSample& sample) {
  data_.counters.push_back(sample);
}

TraceData TraceBuilder::Take() {
  TraceData data = std::exchange(data_, TraceData{});
  *this = TraceBuilder();
  return data;
}

}  // namespace penstock::traces
