// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/proc_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "agent/record/sample/clock.h"
#include "agent/record/sample/proc_fs.h"

namespace penstock::record {
namespace {

constexpr TimeNs kStatPeriod{100'000'000};
constexpr TimeNs kIoPeriod{500'000'000};
constexpr TimeNs kYoung{2'000'000'000};  // /proc/PID/io of younger processes is read more often
constexpr TimeNs kLeastWalkPeriod{2'000'000'000};
constexpr std::int64_t kMemoryPerAge = 8;  // next walk of a process: after 1/8 of its age
constexpr TimeNs kMapsPeriod{10'000'000'000};
// Counters of a process are written some 3,000 times in its first five minutes, and 2,000 times in
// each doubling of its age. Ten times a second for a day would give more counters than spans.
constexpr std::int64_t kToldPerAge = 3000;
constexpr TimeNs kLongestProcessPeriod{5'000'000'000};
constexpr std::uint64_t kBigProcess = 50u << 20;
constexpr TimeNs kStartOfBig{3'000'000'000};
// A walk (reading smaps_rollup) that took t is repeated after 600 t at the soonest. All walks
// together may take a thousandth of the cores' time, and 24 ms more at the start.
constexpr std::int64_t kWalkShare = 600;
constexpr std::int64_t kBudgetShare = 1000;
constexpr TimeNs kFirstWalks{24'000'000};
constexpr std::int64_t kAskedShare = 20;  // replaces kWalkShare if the user asked for a period
// The training process is the largest, so it is walked less often. Walks of its workers show how
// much memory they share with it.
constexpr std::int64_t kTrainerPeriods = 4;
constexpr std::int64_t kWalkNsPerMegabyte = 20'000;  // assumed until a walk was timed

bool IsLoader(const wire::ProcessSlot& slot) {
  const std::uint32_t role = __atomic_load_n(&slot.role, __ATOMIC_RELAXED);
  return role == wire::kRoleConsumer || role == wire::kRoleWorker;
}

// CPU time of all threads of another process, in nanoseconds. It is read from the process's clock,
// since /proc counts only in steps of 10 ms.
std::optional<std::uint64_t> ProcessCpu(std::uint32_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(static_cast<pid_t>(pid), &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

bool ProcSampler::WalkBudget::Allows(TimeNs now, TimeNs cost) {
  if (begin_.value == 0) begin_ = now;
  const std::int64_t earned =
      (now - begin_).value / kBudgetShare * static_cast<std::int64_t>(cores_);
  return spent_.value + cost.value <= earned + kFirstWalks.value;
}

ProcSampler::ProcSampler(wire::FileHeader& header, traces::RecordingDrain& drain,
                         Liveness& liveness, EnrichingPacker& out, MemoryWalks walks)
    : header_(header),
      drain_(drain),
      liveness_(liveness),
      out_(out),
      budget_(std::max(1u, std::thread::hardware_concurrency())),
      walks_(walks),
      host_(out),
      page_size_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))),
      clock_ticks_(static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK))),
      cpu_ns_(out.Intern("cpu_ns")),
      children_cpu_ns_(out.Intern("children_cpu_ns")),
      run_delay_ns_(out.Intern("run_delay_ns")),
      rss_bytes_(out.Intern("rss_bytes")),
      minor_faults_(out.Intern("minor_faults")),
      major_faults_(out.Intern("major_faults")),
      threads_(out.Intern("threads")),
      disk_read_bytes_(out.Intern("disk_read_bytes")),
      rchar_bytes_(out.Intern("rchar_bytes")),
      pss_bytes_(out.Intern("pss_bytes")),
      uss_bytes_(out.Intern("uss_bytes")),
      private_dirty_bytes_(out.Intern("private_dirty_bytes")),
      anonymous_bytes_(out.Intern("anonymous_bytes")),
      pss_anon_bytes_(out.Intern("pss_anon_bytes")),
      swap_bytes_(out.Intern("swap_bytes")),
      rss_anon_bytes_(out.Intern("rss_anon_bytes")) {}

void ProcSampler::Add(ProcessKey key, StringId name, std::uint64_t value, TimeNs now) {
  ProcessId process;
  if (quiet_ || !drain_.ProcessOf(key.pid, key.start, &process)) return;
  out_.AddCounter({now, name, process, static_cast<std::int64_t>(value)});
}

bool ProcSampler::SampleStat(ProcessKey key, Tracked& tracked, TimeNs now) {
  const auto text = ReadFile(fmt::format("/proc/{}/stat", tracked.host_pid), 4096);
  const auto stat = text ? ParseStat(*text) : std::nullopt;
  if (!stat) return liveness_.ProcessRuns(key, now);  // the kernel may be short of memory
  if (key.start != 0 && stat->start != key.start) return false;
  const std::uint64_t coarse = stat->cpu_clock_ticks * (1'000'000'000u / clock_ticks_);
  Add(key, cpu_ns_, ProcessCpu(tracked.host_pid).value_or(coarse), now);
  // For programs that run only for a moment and record nothing, the CPU time of reaped children is
  // the only figure. A zero is written before the first value.
  if (!quiet_ && stat->children_clock_ticks != tracked.children_ticks) {
    const std::uint64_t tick = 1'000'000'000u / clock_ticks_;
    if (tracked.children_ticks == 0) Add(key, children_cpu_ns_, 0, now - kStatPeriod);
    Add(key, children_cpu_ns_, stat->children_clock_ticks * tick, now);
    tracked.children_ticks = stat->children_clock_ticks;
  }
  const auto sched = ReadFile(fmt::format("/proc/{}/schedstat", tracked.host_pid), 256);
  if (const auto delay = sched ? ParseRunDelay(*sched) : std::nullopt) {
    Add(key, run_delay_ns_, *delay, now);
  }
  Add(key, minor_faults_, stat->minor_faults, now);
  Add(key, major_faults_, stat->major_faults, now);
  const bool gone = stat->gone() && stat->threads <= 1;
  // Once the first thread of a process has ended, the kernel shows no memory of it, even if other
  // threads still run. Writing that zero would look as if the memory were freed.
  if (!stat->gone()) {
    tracked.rss = stat->rss_pages * page_size_;
    Add(key, rss_bytes_, tracked.rss, now);
  }
  if (!gone) Add(key, threads_, stat->threads, now);
  return !gone;
}

void ProcSampler::SampleIo(const wire::ProcessSlot& slot, ProcessKey key, Tracked& tracked,
                           TimeNs now) {
  const std::string folder = fmt::format("/proc/{}", tracked.host_pid);
  Coverage coverage;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t before = __atomic_load_n(&slot.bytes_hooked, __ATOMIC_RELAXED);
    if (!tracked.io.Sample(folder)) return;
    const std::uint64_t after = __atomic_load_n(&slot.bytes_hooked, __ATOMIC_RELAXED);
    coverage = tracked.io.Pair(Bytes{slot.rchar_at_start}, Bytes{before}, Bytes{after});
    if (before == after) break;
  }
  Add(key, rchar_bytes_, coverage.kernel.value, now);
  Add(key, disk_read_bytes_, tracked.io.own().read_bytes.value, now);
  KernelView& view = out_.view(key);
  view.coverage = true;
  view.bytes_hooked = coverage.hooked;
  view.bytes_kernel = coverage.kernel;
}

void ProcSampler::OnGone(const wire::ProcessSlot& slot, ProcessKey key, const Tracked& tracked) {
  out_.Apply(key);
  for (auto& [other, parent] : tracked_) {
    if (other.pid == slot.parent && !parent.gone) parent.io.AddChild(tracked.io.whole());
  }
}

void ProcSampler::TellCpuAtEnd(const wire::ProcessSlot& slot, ProcessKey key, TimeNs now) {
  const std::uint64_t used = __atomic_load_n(&slot.cpu_at_end, __ATOMIC_RELAXED);
  if (used > 0) Add(key, cpu_ns_, used, now);
}

void ProcSampler::SampleAnonymous(ProcessKey key, const Tracked& tracked, TimeNs now) {
  const auto text = ReadFile(fmt::format("/proc/{}/statm", tracked.host_pid), 256);
  const auto pages = text ? AnonymousPages(*text) : std::nullopt;
  if (pages) Add(key, rss_anon_bytes_, *pages * page_size_, now);
}

// A walk holds the process's memory lock, so a big process is walked less often.
TimeNs ProcSampler::NextWalk(const Tracked& tracked, TimeNs now, TimeNs took) const {
  if (walks_.every.value != 0) {
    return now + TimeNs{std::max(walks_.every.value, took.value * kAskedShare)};
  }
  const std::int64_t age = (now - tracked.first).value;
  const std::int64_t pause =
      std::max({kLeastWalkPeriod.value, age / kMemoryPerAge, took.value * kWalkShare});
  return now + TimeNs{first_worker_ && !tracked.is_worker ? pause * kTrainerPeriods : pause};
}

void ProcSampler::SampleMemory(ProcessKey key, Tracked& tracked, TimeNs now) {
  const TimeNs begin = ThreadCpuNow();
  const auto text = ReadFile(fmt::format("/proc/{}/smaps_rollup", tracked.host_pid), 8192);
  const TimeNs took = ThreadCpuNow() - begin;
  budget_.Spend(took);
  tracked.memory_cost = took;
  tracked.next_memory = NextWalk(tracked, now, took);
  ++walk_count_;
  const auto memory = text ? ParseRollup(*text) : std::nullopt;
  if (!memory) return;
  Add(key, pss_bytes_, memory->pss.value, now);
  Add(key, uss_bytes_, memory->uss.value, now);
  Add(key, private_dirty_bytes_, memory->private_dirty.value, now);
  Add(key, anonymous_bytes_, memory->anonymous.value, now);
  if (memory->pss_anonymous) Add(key, pss_anon_bytes_, memory->pss_anonymous->value, now);
  if (memory->swap.value != 0) Add(key, swap_bytes_, memory->swap.value, now);
}

void ProcSampler::SampleMemoryInTurn(TimeNs now) {
  const bool asked = walks_.every.value != 0;
  std::pair<const ProcessKey, Tracked>* longest = nullptr;
  for (auto& entry : tracked_) {
    const Tracked& tracked = entry.second;
    // A big process is not walked while it starts: the walk takes milliseconds, and the process
    // cannot map memory during it.
    const TimeNs patience = asked || tracked.rss < kBigProcess ? TimeNs{0} : kStartOfBig;
    if (tracked.gone || !tracked.wants_memory || now < tracked.next_memory ||
        now - tracked.first < patience) {
      continue;
    }
    // Workers are walked before the training process. The walk of a worker shows how much memory it
    // has copied; a walk of the training process may use up the budget.
    if (!asked && first_worker_ && !tracked.is_worker &&
        now - *first_worker_ < kStartOfBig + kStartOfBig) {
      continue;
    }
    if (longest == nullptr || tracked.next_memory < longest->second.next_memory) longest = &entry;
  }
  if (longest == nullptr) return;
  Tracked& tracked = longest->second;
  const TimeNs cost =
      tracked.memory_cost.value != 0
          ? tracked.memory_cost
          : TimeNs{static_cast<std::int64_t>(tracked.rss >> 20) * kWalkNsPerMegabyte};
  if (asked || budget_.Allows(now, cost)) SampleMemory(longest->first, tracked, now);
}

void ProcSampler::ScanMaps(ProcessKey key, Tracked& tracked, TimeNs now) {
  const TimeNs begin = ThreadCpuNow();
  KernelView& view = out_.view(key);
  if (const auto maps = ReadFile(fmt::format("/proc/{}/maps", tracked.host_pid), 16u << 20)) {
    view.allocator = AllocatorLibrary(*maps);
    for (std::string& library : CodecLibraries(*maps)) {
      if (std::find(view.libraries.begin(), view.libraries.end(), library) ==
          view.libraries.end()) {
        view.libraries.push_back(std::move(library));
      }
    }
  }
  std::error_code error;
  const std::filesystem::path fds = fmt::format("/proc/{}/fd", tracked.host_pid);
  int looked_at = 0;
  for (std::filesystem::directory_iterator it(fds, error), end; !error && it != end;
       it.increment(error)) {
    if (++looked_at > 1024) break;
    std::error_code ignored;
    if (std::filesystem::read_symlink(it->path(), ignored) == "anon_inode:[io_uring]") {
      view.features |= wire::kFeatureIoUring;
    }
  }
  ++tracked.scans;
  const TimeNs took = ThreadCpuNow() - begin;
  budget_.Spend(took);
  // A worker needs no second scan soon: its libraries are loaded before it asks for an index.
  const bool again = tracked.scans == 1 && !tracked.is_worker;
  const TimeNs pause = again ? TimeNs{1'500'000'000} : kMapsPeriod;
  tracked.next_maps = now + TimeNs{std::max(pause.value, took.value * kWalkShare)};
}

void ProcSampler::Sample(const wire::ProcessSlot& slot, ProcessKey key, Tracked& tracked,
                         TimeNs now, bool last) {
  if (tracked.host_pid == 0) {
    const auto pid = liveness_.HostPid(key, now);
    if (!pid) {
      tracked.gone = !liveness_.ProcessRuns(key, now);
      if (tracked.gone) TellCpuAtEnd(slot, key, now);
      return;  // it ended before it could be looked at
    }
    tracked.host_pid = *pid;
    tracked.first = now;
    tracked.next_memory = now + TimeNs{200'000'000};
    tracked.next_maps = now + TimeNs{500'000'000};
  }
  const TimeNs period{
      std::min((now - tracked.first).value / kToldPerAge, kLongestProcessPeriod.value)};
  const bool tell = last || now >= tracked.next_tell;
  if (tell) tracked.next_tell = now + period;
  quiet_ = !tell;
  if (last || now >= tracked.next_stat) {
    tracked.next_stat = now + kStatPeriod;
    tracked.gone = !SampleStat(key, tracked, now);
    if (tracked.gone) last = true;  // a zombie still has its io counters
  }
  if (last || now >= tracked.next_io) {
    tracked.next_io = now + (now - tracked.first < kYoung ? kStatPeriod : kIoPeriod);
    quiet_ = !last && now < tracked.next_tell_io;
    if (!quiet_) tracked.next_tell_io = now + period;
    SampleIo(slot, key, tracked, now);
    if (!tracked.gone && tracked.wants_memory) SampleAnonymous(key, tracked, now);
  }
  quiet_ = false;
  if (tracked.gone) {
    TellCpuAtEnd(slot, key, now);
    OnGone(slot, key, tracked);
    return;
  }
  tracked.wants_memory = IsLoader(slot) || tracked.rss >= kBigProcess;
  if (!tracked.wants_memory) return;
  tracked.is_worker = __atomic_load_n(&slot.role, __ATOMIC_RELAXED) == wire::kRoleWorker;
  if (tracked.is_worker && !first_worker_) first_worker_ = now;
  if (last && walks_.on) SampleMemory(key, tracked, now);
  if (last || now >= tracked.next_maps) ScanMaps(key, tracked, now);
}

void ProcSampler::Tick(TimeNs now) {
  if (now < next_tick_) return;
  next_tick_ = now + TimeNs{kStatPeriod.value / 2};
  std::uint32_t running = 0;
  for (const wire::ProcessSlot& slot : header_.processes) {
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != wire::kProcessLive) continue;
    const ProcessKey key{slot.pid, slot.process_start};
    Tracked& tracked = tracked_[key];
    if (tracked.gone) continue;
    if (!has_first_) {
      first_ = key;
      has_first_ = true;
    }
    Sample(slot, key, tracked, now, false);
    if (tracked.gone) {
      tracked.gone_at = now;
    } else {
      ++running;
    }
  }
  running_ = running;
  if (walks_.on) SampleMemoryInTurn(now);
  SampleHost(now, false);
}

void ProcSampler::SampleAll(TimeNs now) {
  std::uint32_t running = 0;
  for (const wire::ProcessSlot& slot : header_.processes) {
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != wire::kProcessLive) continue;
    const ProcessKey key{slot.pid, slot.process_start};
    Tracked& tracked = tracked_[key];
    if (!tracked.gone) Sample(slot, key, tracked, now, true);
    if (!tracked.gone) ++running;
  }
  running_ = running;
  SampleHost(now, true);
}

void ProcSampler::SampleHost(TimeNs now, bool last) {
  ProcessId process;
  if (!has_first_ || !drain_.ProcessOf(first_.pid, first_.start, &process)) return;
  host_.Sample(process, now, last);
}

}  // namespace penstock::record
