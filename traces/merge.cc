// SPDX-License-Identifier: Apache-2.0
#include "traces/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "traces/names.h"
#include "traces/translate.h"

namespace penstock::traces {
namespace {

constexpr std::string_view kOfProcess = "process_memory_bytes";
constexpr std::array<std::string_view, 2> kOfSystem = {"shm_used_bytes", "memory_available_bytes"};
constexpr std::uint32_t kPidsOfPart = 10'000'000;  // a kernel has at most 4,194,304
constexpr std::size_t kMostMoved = 200;
static_assert((kMostMoved + 1) * kPidsOfPart <= wire::kDeviceLane);  // also fits viewers' 31 bits

std::string Fact(const Trace& trace, const std::string& key) {
  const auto found = trace.facts().find(key);
  return found == trace.facts().end() ? std::string() : found->second;
}

// The identity of a part's host. A part that does not name its host counts as a host of its own.
std::string HostOf(const Trace& trace, std::size_t part) {
  for (const char* key : {"boot_id", "host"}) {
    if (std::string value = Fact(trace, key); !value.empty()) return value;
  }
  return fmt::format("#{}", part);
}

struct HostState {
  std::uint32_t first_gpu = 0;     // number of its GPU 0 in the merged trace
  std::set<std::string> counters;  // counters of the host that an earlier part has brought
  std::map<std::string, std::string> gpu_facts;
};

class Merger {
 public:
  Merger(std::span<const MergePart> parts, Packer& out) : parts_(parts), out_(out) {}

  void Run() {
    PlaceGpus();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      AddFacts(i);
      AddProcesses(i);
      AddThreads(i);
      AddSeries(i);
      AddSpans(i);
      AddUnits(i);
      AddLosses(parts_[i].trace->losses());
    }
    for (const auto& [host, state] : hosts_) {
      for (const auto& [key, value] : state.gpu_facts) out_.SetFact(key, value);
    }
    out_.SetFact("merged.parts", std::to_string(parts_.size()));
    out_.SetFact("record.mode", "merged");
    if (!exit_status_.empty()) out_.SetFact("exit.status", exit_status_);
    out_.SetLosses(losses_);
    out_.SetRealtimeOffset(parts_.front().trace->realtime_offset());
  }

 private:
  [[nodiscard]] HostState& Host(std::size_t part) {
    return hosts_[HostOf(*parts_[part].trace, part)];
  }

  void PlaceGpus() {
    std::vector<std::string> order;
    std::map<std::string, std::uint32_t> count;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Trace& trace = *parts_[i].trace;
      const std::string host = HostOf(trace, i);
      if (count.emplace(host, 0).second) order.push_back(host);
      const auto see = [&](std::string_view name) {
        if (const auto gpu = SplitGpuName(name))
          count[host] = std::max(count[host], gpu->device + 1);
      };
      for (const auto& [key, value] : trace.facts()) see(key);
      std::set<std::uint32_t> names;
      for (const CounterSample& sample : trace.counters()) {
        if (names.insert(sample.name.value).second) see(trace.String(sample.name));
      }
    }
    std::uint32_t next = 0;
    for (const std::string& host : order) {
      hosts_[host].first_gpu = next;
      next += count[host];
    }
  }

  void AddFacts(std::size_t part) {
    const Trace& trace = *parts_[part].trace;
    HostState& host = Host(part);
    const std::string prefix = fmt::format("part.{}.", part);
    for (const auto& [key, value] : trace.facts()) {
      out_.SetFact(prefix + key, value);
      if (const auto gpu = SplitGpuName(key)) {
        AddGpuFact(fmt::format("gpu.{}.", host.first_gpu + gpu->device), gpu->rest, value, host);
      } else if (part == 0 && key != "duration_ns") {
        out_.SetFact(key, value);
      }
    }
    for (const auto& [key, value] : parts_[part].facts) out_.SetFact(prefix + key, value);
    out_.SetFact(prefix + "file", parts_[part].name);
    out_.SetFact(prefix + "begin_ns", std::to_string(Shift(part, trace.begin()).value));
    const std::string status = Fact(trace, "exit.status");
    if (exit_status_.empty() || exit_status_ == "0") exit_status_ = status;
  }

  // Each rank's recorder knows which GPUs its own processes used, so a GPU is used if any of them
  // says so.
  static void AddGpuFact(const std::string& prefix, std::string_view rest, const std::string& value,
                         HostState& host) {
    std::string& kept = host.gpu_facts[prefix + std::string(rest)];
    if (rest == "processes" && !kept.empty() && !value.empty()) {
      kept += " " + value;
    } else if (kept.empty() || (rest == "used" && kept != "process")) {
      kept = value;
    }
  }

  // Viewers know processes by their pids. If a part has a pid of an earlier part, all its pids are
  // moved to numbers that a person still recognises. Its tids are moved too, because a main thread
  // has its process's pid.
  void AddProcesses(std::size_t part) {
    const auto processes = parts_[part].trace->processes();
    const bool clash =
        std::any_of(processes.begin(), processes.end(),
                    [&](const ProcessInfo& process) { return pids_.count(process.pid) != 0; });
    move_ = clash && part <= kMostMoved ? static_cast<std::uint32_t>(part) * kPidsOfPart : 0;
    processes_.clear();
    for (ProcessInfo process : processes) {
      process.facts["part"] = std::to_string(part);
      if (move_ != 0) process.facts["pid"] = std::to_string(process.pid);
      if (process.pid < kPidsOfPart) process.pid += move_;
      if (process.parent != 0 && process.parent < kPidsOfPart) process.parent += move_;
      pids_.insert(process.pid);
      processes_.push_back(out_.AddProcess(process));
    }
  }

  void AddThreads(std::size_t part) {
    threads_.clear();
    for (ThreadInfo thread : parts_[part].trace->threads()) {
      if (thread.process.value < processes_.size()) {
        thread.process = processes_[thread.process.value];
      }
      if (thread.tid < kPidsOfPart) thread.tid += move_;
      threads_.push_back(out_.AddThread(thread));
    }
  }

  void AddSeries(std::size_t part) {
    const Trace& trace = *parts_[part].trace;
    for (Event event : trace.events()) {
      if (event.thread.value >= threads_.size()) continue;
      event.thread = threads_[event.thread.value];
      event.at = Shift(part, event.at);
      out_.AddEvent(event);
    }
    HostState& host = Host(part);
    std::map<std::uint32_t, std::optional<StringId>>
        names;  // nullopt: an earlier part has brought it
    std::set<std::string> own;
    for (CounterSample sample : trace.counters()) {
      const auto [name, first] = names.try_emplace(sample.name.value);
      if (first) name->second = NameOf(trace.String(sample.name), host, own);
      if (!name->second || sample.process.value >= processes_.size()) continue;
      sample.name = *name->second;
      sample.process = processes_[sample.process.value];
      sample.at = Shift(part, sample.at);
      out_.AddCounter(sample);
    }
    host.counters.merge(own);
  }

  std::optional<StringId> NameOf(std::string_view name, const HostState& host,
                                 std::set<std::string>& own) {
    const auto gpu = SplitGpuName(name);
    const bool of_host = (gpu && gpu->rest != kOfProcess) ||
                         std::find(kOfSystem.begin(), kOfSystem.end(), name) != kOfSystem.end();
    if (of_host && host.counters.count(std::string(name)) != 0) return std::nullopt;
    if (of_host) own.emplace(name);
    if (!gpu) return out_.Intern(name);
    return out_.Intern(JoinGpuName(host.first_gpu + gpu->device, gpu->rest));
  }

  void AddSpans(std::size_t part) {
    const Trace& trace = *parts_[part].trace;
    StringTranslator translate(trace, out_);
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
        for (Span span : spans) {
          span.start = Shift(part, span.start);
          span.name = translate(span.name);
          span.object = translate(span.object);
          out_.AddSpan(threads_[i], span);
        }
      });
    }
  }

  void AddUnits(std::size_t part) {
    const Trace& trace = *parts_[part].trace;
    StringTranslator translate(trace, out_);
    for (UnitRow unit : trace.unit_rows()) {
      if (unit.thread.value >= threads_.size()) continue;
      unit.thread = threads_[unit.thread.value];
      unit.at = Shift(part, unit.at);
      unit.name = translate(unit.name);
      out_.AddUnit(unit);
    }
    for (CallRow call : trace.call_rows()) {
      if (call.thread.value >= threads_.size()) continue;
      call.thread = threads_[call.thread.value];
      call.at = Shift(part, call.at);
      call.name = translate(call.name);
      call.file = translate(call.file);
      out_.AddCall(call);
    }
  }

  void AddLosses(const Losses& more) {
    losses_.dropped_events += more.dropped_events;
    losses_.damaged_records += more.damaged_records;
    losses_.damaged_bytes += more.damaged_bytes;
    losses_.damaged_chunks += more.damaged_chunks;
    losses_.lost_threads += more.lost_threads;
    losses_.truncated = losses_.truncated || more.truncated;
    losses_.unsealed = losses_.unsealed || more.unsealed;
  }

  [[nodiscard]] TimeNs Shift(std::size_t part, TimeNs time) const {
    return parts_[part].clock.At(time);
  }

  std::span<const MergePart> parts_;
  Packer& out_;
  std::map<std::string, HostState> hosts_;
  std::vector<ProcessId> processes_;  // by index in the current part
  std::vector<ThreadId> threads_;
  std::uint32_t move_ = 0;        // added to its pids and tids
  std::set<std::uint32_t> pids_;  // pids in use
  Losses losses_;
  std::string exit_status_;  // the first one that is not 0
};

}  // namespace

TimeNs ClockShift::At(TimeNs time) const {
  const double since = static_cast<double>(time.value - from.value);
  return time + offset + TimeNs{std::llround(drift * since)};
}

bool IsMerged(const Trace& trace) {
  return trace.facts().count("merged.parts") != 0;
}

Result<void> MergeTraces(std::span<const MergePart> parts, Packer& out) {
  for (const MergePart& part : parts) {
    if (!IsMerged(*part.trace)) continue;
    return Fail(
        ErrorKind::kInput,
        fmt::format("{}: is a merged trace; give the traces from which it was made", part.name));
  }
  Merger(parts, out).Run();
  return {};
}

}  // namespace penstock::traces
