// SPDX-License-Identifier: Apache-2.0
#include "loader/trace/file_tracer.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "loader/trace/file_thread.h"
#include "loader/trace/process_counters.h"
#include "traces/host_facts.h"
#include "traces/pack.h"
#include "traces/without_secrets.h"

namespace penstock::loader {
namespace {

using traces::EventType;

constexpr TimeNs kFlushPeriod{2'000'000'000};
constexpr TimeNs kCounterPeriod{1'000'000'000};
// The number of paths that are kept; their table lies in memory. Further paths are left out.
constexpr std::uint32_t kMaxStrings = std::uint32_t{1} << 21;

TimeNs RealtimeNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return TimeNs{std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

// While such an object exists, new threads begin with all signals blocked. So signals go to the
// program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class IntoFile final : public Tracer {
 public:
  IntoFile(const FileTracerOptions& options, std::unique_ptr<traces::Packer> packer)
      : interval_(options.interval),
        packer_(std::move(packer)),
        pool_(options.memory, [this] { full_.notify_one(); }),
        begin_(MonotonicNow()),
        first_(ReadProcessCounters()) {
    for (std::size_t i = 0; i < kNames.size(); ++i) counter_names_[i] = packer_->Intern(kNames[i]);
    info_ = DescribeProcess();
    info_.role = wire::kRoleConsumer;
    info_.command = options.command;
    info_.rank = options.rank;
    info_.world_size = options.world_size;
    info_.features = wire::kFeatureNative;
    process_ = packer_->AddProcess(info_);
    for (const auto& [key, value] : traces::HostFacts()) packer_->SetFact(key, value);
    const TimeNs realtime = RealtimeNow();
    packer_->SetRealtimeOffset(realtime - begin_);
    packer_->SetFact("command", traces::QuoteCommand(traces::WithoutSecrets(options.command)));
    if (!options.version.empty()) packer_->SetFact("penstock.version", options.version);
    packer_->SetFact("record.mode", "loader");
    packer_->SetFact("record.clock", "monotonic");
    packer_->SetFact("record.start_realtime_ns", std::to_string(realtime.value));
    SampleCounters(begin_);
    const SignalsBlocked blocked;
    writer_ = std::jthread([this](const std::stop_token& stop) { Write(stop); });
  }

  ~IntoFile() override {
    if (!finished_) {
      StopWriter();
      const std::lock_guard lock(packer_mutex_);
      Sweep();
      if (!packer_->Flush()) return;  // what is on disk stays readable
    }
  }

  bool on() const override { return true; }

  NameId Name(std::string_view text) override {
    const std::lock_guard lock(packer_mutex_);
    return {packer_->Intern(text).value};
  }

  ThreadTracer& Thread(std::string_view name, ThreadRole role, std::int32_t index) override {
    const std::int32_t worker = role == ThreadRole::kWorker ? index : -1;
    FileThread* thread = nullptr;
    {
      const std::lock_guard lock(packer_mutex_);
      const ThreadId id =
          packer_->AddThread({.process = process_,
                              .tid = static_cast<std::uint32_t>(syscall(SYS_gettid)),
                              .name = std::string(name)});
      thread = &threads_.emplace_back(pool_, id, worker);
    }
    if (worker >= 0) thread->Event(EventType::kWorkerStart, {}, worker);
    return *thread;
  }

  void Leave(ThreadTracer& thread) override {
    auto& own = static_cast<FileThread&>(thread);
    if (own.worker() >= 0) own.Event(EventType::kWorkerEnd, {}, own.worker());
    own.Close();
  }

  void Fact(std::string_view key, std::string_view value) override {
    const std::lock_guard lock(packer_mutex_);
    info_.facts[std::string(key)] = value;
    packer_->UpdateProcess(process_, info_);
    // Facts of loaders and epochs belong to a process, all others to the run.
    if (key.rfind("loader.", 0) != 0 && key.rfind("epoch.", 0) != 0) packer_->SetFact(key, value);
    if (key == "dataset.root") {
      const traces::Storage storage = traces::StorageOf(std::filesystem::path(value));
      packer_->SetFact("dataset.storage", fmt::format("{} {}", storage.filesystem, storage.device));
    }
  }

  Result<void> Finish() override {
    if (finished_) return status_;
    finished_ = true;
    StopWriter();
    const std::lock_guard lock(packer_mutex_);
    Sweep();
    const TimeNs now = MonotonicNow();
    SampleCounters(now);
    packer_->SetFact("duration_ns", std::to_string((now - begin_).value));
    status_ = packer_->Finish();
    return status_;
  }

 private:
  static constexpr std::array<std::string_view, 7> kNames = {
      "cpu_ns",      "rss_bytes",       "minor_faults", "major_faults",
      "rchar_bytes", "disk_read_bytes", "threads"};

  void StopWriter() {
    if (!writer_.joinable()) return;
    writer_.request_stop();
    {
      // With the lock held, the writer either sleeps or has yet to test for a stop.
      const std::lock_guard lock(wake_mutex_);
      full_.notify_one();
    }
    writer_.join();
  }

  void Write(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "penstock-trace");
    TimeNs next_flush = begin_ + kFlushPeriod;
    TimeNs next_counters = begin_ + kCounterPeriod;
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(wake_mutex_);
        if (!stop.stop_requested()) full_.wait_for(lock, interval_);
      }
      const std::lock_guard lock(packer_mutex_);
      Sweep();
      const TimeNs now = MonotonicNow();
      if (now >= next_counters) {
        next_counters = now + kCounterPeriod;
        SampleCounters(now);
      }
      if (now >= next_flush) {
        next_flush = now + kFlushPeriod;
        if (!packer_->Flush()) return;  // Finish() will report it
      }
    }
  }

  // Requires: packer_mutex_, like all functions below.
  void Sweep() {
    traces::Losses losses;
    for (FileThread& thread : threads_) {
      thread.Collect([&](const TraceEntry& entry, std::string_view object) {
        Add(thread.id(), entry, object);
      });
      losses.dropped_events += thread.dropped();
    }
    info_.dropped = losses.dropped_events;
    packer_->SetLosses(losses);
  }

  void Add(ThreadId thread, const TraceEntry& entry, std::string_view object) {
    switch (entry.kind) {
      case TraceEntry::Kind::kSpan: {
        traces::Span span = entry.span;
        if (!object.empty() && strings_full_ == 0) {
          span.object = packer_->Intern(object);
          if (span.object.value >= kMaxStrings) {
            strings_full_ = 1;
            packer_->SetFact("trace.objects", std::to_string(kMaxStrings));
          }
        }
        packer_->AddSpan(thread, span);
        return;
      }
      case TraceEntry::Kind::kEvent:
        packer_->AddEvent({.at = entry.span.start,
                           .thread = thread,
                           .batch = entry.span.batch,
                           .value = entry.span.cpu.value,
                           .type = entry.event});
        return;
      case TraceEntry::Kind::kCounter:
        packer_->AddCounter({entry.span.start, entry.span.name, process_, entry.span.cpu.value});
        return;
    }
  }

  void SampleCounters(TimeNs now) {
    const ProcessCounters counters = ReadProcessCounters();
    const Bytes rchar = counters.rchar - first_.rchar;
    const std::array<std::uint64_t, kNames.size()> values = {
        static_cast<std::uint64_t>(counters.cpu.value),
        counters.rss.value,
        counters.minor_faults,
        counters.major_faults,
        rchar.value,
        counters.disk_read.value,
        counters.threads};
    for (std::size_t i = 0; i < values.size(); ++i) {
      packer_->AddCounter({now, counter_names_[i], process_, static_cast<std::int64_t>(values[i])});
    }
    info_.bytes_dataset = {};
    info_.bytes_mapped = {};
    for (const FileThread& thread : threads_) {
      info_.bytes_dataset += thread.read();
      info_.bytes_mapped += thread.mapped();
    }
    if (info_.bytes_mapped.value != 0) info_.features |= wire::kFeatureMapped;
    info_.bytes_hooked = info_.bytes_dataset;
    info_.bytes_kernel = rchar;
    packer_->UpdateProcess(process_, info_);
  }

  const std::chrono::milliseconds interval_;
  std::mutex packer_mutex_;  // guards all that follows, down to status_
  std::unique_ptr<traces::Packer> packer_;
  ChunkPool pool_;
  std::deque<FileThread> threads_;
  traces::ProcessInfo info_;
  ProcessId process_;
  std::array<StringId, kNames.size()> counter_names_;
  int strings_full_ = 0;
  Result<void> status_;

  const TimeNs begin_;
  const ProcessCounters first_;
  bool finished_ = false;
  std::mutex wake_mutex_;
  std::condition_variable full_;
  std::jthread writer_;
};

}  // namespace

Result<std::unique_ptr<Tracer>> FileTracer(const FileTracerOptions& options) {
  Result<std::unique_ptr<traces::Packer>> packer = traces::CreatePacked(options.path);
  PENSTOCK_TRY(packer);
  return std::unique_ptr<Tracer>(std::make_unique<IntoFile>(options, std::move(*packer)));
}

}  // namespace penstock::loader
