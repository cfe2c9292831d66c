// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/foreign.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace penstock::traces {
namespace {

// If the file gives a process or thread no number that we can keep, it gets one from here on. No
// system has such a pid or tid.
constexpr std::uint32_t kFirstGiven = 0x70000000;
constexpr std::string_view kLoaderRange = "enumerate(DataLoader)#";
constexpr std::string_view kNext = ".__next__";
constexpr std::string_view kBackward = "autograd::engine::evaluate_function";

// "-1029147072" is a number too, not a name: if PyTorch's profiler does not know a thread's number,
// it writes half of its pthread_t.
bool IsNumber(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// A name as a trace holds it: one section has the names of many threads, and 64 MiB at most.
std::string_view Short(std::string_view name) {
  constexpr std::size_t kLongestName = 4096;
  return name.substr(0, kLongestName);
}

}  // namespace

bool Foreign::Plausible(TimeNs start, TimeNs duration) {
  return start.value >= 0 && duration.value >= 0 && start <= kFarthestTime &&
         duration <= kFarthestTime - start;
}

std::uint32_t Foreign::Number(std::string_view word, std::uint32_t otherwise) {
  std::uint32_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  return read.ec == std::errc() && read.ptr == word.data() + word.size() ? number : otherwise;
}

std::size_t Foreign::ProcessIndex(std::string_view pid) {
  const auto [found, fresh] = process_of_.try_emplace(std::string(pid), processes_.size());
  if (fresh) {
    ProcessInfo info;
    info.pid = Number(pid, kFirstGiven + given_);
    if (info.pid == kFirstGiven + given_) {
      ++given_;
      info.comm = Short(pid);
    }
    process_ids_.push_back(out_.AddProcess(info));
    processes_.push_back(std::move(info));
  }
  return found->second;
}

ProcessInfo& Foreign::Process(std::string_view pid) {
  return processes_[ProcessIndex(pid)];
}

ThreadId Foreign::Thread(std::string_view pid, std::string_view tid) {
  const auto [found, fresh] = thread_of_.try_emplace({std::string(pid), std::string(tid)});
  if (fresh) {
    ThreadInfo info;
    info.process = process_ids_[ProcessIndex(pid)];
    info.tid = Number(tid, kFirstGiven + given_);
    if (!keeps_lanes_ && wire::IsDeviceLane(info.tid)) info.tid = kFirstGiven + given_;
    if (info.tid == kFirstGiven + given_) {
      ++given_;
      if (!IsNumber(tid)) info.name = Short(tid);
    }
    found->second = out_.AddThread(info);
    threads_.push_back(std::move(info));
  }
  return found->second;
}

ThreadId Foreign::Lane(std::uint32_t device, std::uint32_t stream, std::string_view pid) {
  const auto [found, fresh] = lanes_.try_emplace({std::string(pid), device, stream});
  if (fresh) {
    if (pid.empty() && processes_.empty()) static_cast<void>(ProcessIndex("0"));
    ThreadInfo info;
    info.process = process_ids_[pid.empty() ? 0 : ProcessIndex(pid)];
    info.tid = wire::LaneOf(device, stream);
    info.name = fmt::format("GPU {} stream {}", device, stream);
    found->second = out_.AddThread(info);
    threads_.push_back(std::move(info));
  }
  return found->second;
}

void Foreign::NameProcess(std::string_view pid, std::string_view name) {
  Process(pid).comm = Short(name);
}

void Foreign::NameThread(std::string_view pid, std::string_view tid, std::string_view name) {
  threads_[Thread(pid, tid).value].name = Short(name);
}

void Foreign::Alias(std::string_view pid, std::string_view tid, std::string_view of) {
  const ThreadId thread = Thread(pid, of);
  thread_of_[{std::string(pid), std::string(tid)}] = thread;
}

void Foreign::Calls(ThreadId thread) {
  ++calls_[thread.value];
}

void Foreign::Add(ThreadId thread, Span span) {
  if (!Plausible(span.start, span.duration)) {
    LeaveOut("events with impossible times");
    return;
  }
  ++summary_.spans;
  out_.AddSpan(thread, span);
}

void Foreign::AddEvent(const Event& event) {
  if (!Plausible(event.at, {})) return LeaveOut("events with impossible times");
  out_.AddEvent(event);
}

void Foreign::AddWait(ThreadId thread, Span span) {
  if (!Plausible(span.start, span.duration)) return LeaveOut("events with impossible times");
  span.stage = StageId::kWait;
  span.object = {};
  span.batch = {waits_[thread.value]++, 1};
  ++summary_.batches;
  for (const auto& [at, type] : {std::pair{span.start, EventType::kNextEntered},
                                 std::pair{span.end(), EventType::kBatchDelivered}}) {
    AddEvent({.at = at, .thread = thread, .batch = span.batch, .value = 0, .type = type});
  }
  Add(thread, span);
}

void Foreign::AddRange(ThreadId thread, Span span, std::string_view name, std::string_view domain) {
  span.name = out_.Intern(name);
  span.stage = StageId::kMark;
  span.object = out_.Intern(domain);
  if (name.starts_with(kLoaderRange) && name.ends_with(kNext)) {
    if (name.find("SingleProcess") != std::string_view::npos) no_workers_.insert(thread.value);
    return AddWait(thread, span);
  }
  if (name.starts_with(kBackward)) backward_.insert(thread.value);
  if (name == "aten::pin_memory" || name == "aten::_pin_memory") {
    span.stage = StageId::kPin;
    span.object = {};
  }
  Add(thread, span);
}

void Foreign::AddCounter(std::string_view pid, std::string_view name, TimeNs at,
                         std::int64_t value) {
  if (!Plausible(at, {})) return LeaveOut("events with impossible times");
  ++summary_.counters;
  out_.AddCounter({.at = at,
                   .name = out_.Intern(name),
                   .process = process_ids_[ProcessIndex(pid)],
                   .value = value});
}

void Foreign::Finish() {
  // Streams belong to the process that called the device most.
  const auto most =
      std::max_element(calls_.begin(), calls_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [key, lane] : lanes_) {
    if (key.pid.empty() && most != calls_.end())
      threads_[lane.value].process = threads_[most->first].process;
  }
  for (const std::uint32_t thread : backward_) {
    // The profiler's name for a thread repeats its number: "thread -1029147072 (python)".
    std::string& name = threads_[thread].name;
    if (waits_.count(thread) == 0 && (name.empty() || name.starts_with("thread "))) {
      name = kBackwardThread;
    }
  }
  for (const auto& [thread, batches] : waits_) {
    ProcessInfo& consumer = processes_[threads_[thread].process.value];
    consumer.role = wire::kRoleConsumer;
    consumer.facts["loader.0.kind"] = "pytorch";
    consumer.facts["epoch.1"] = "0";
    if (no_workers_.count(thread) != 0) consumer.facts["loader.0.num_workers"] = "0";
  }
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    out_.UpdateProcess(process_ids_[i], processes_[i]);
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) out_.UpdateThread(ThreadId{i}, threads_[i]);
}

}  // namespace penstock::traces
