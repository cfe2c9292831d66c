// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/core_driver/ring.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_writer.h"
#include "traces/wire.h"

namespace penstock::agent::driver {
namespace {

const std::uint32_t kOnMeanwhile = 1;

std::uint64_t BytesOf(std::int64_t writer, std::uint64_t number) {
  return static_cast<std::uint64_t>(writer) * 1000003 + number * 17;
}

// Returns true if this process has no thread with this id.
bool ThreadIsGone(std::uint32_t tid) {
  return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

}  // namespace

void WriteSpan(std::int64_t writer, std::uint64_t number) {
  Context context;
  context.sample = writer;
  context.batch = static_cast<std::uint32_t>(number);
  EmitAt(context,
         {.stage = wire::kDecode, .start = Now(), .duration = 1, .bytes = BytesOf(writer, number)});
}

// A Packer that counts spans and events, and stores none.
class Ring::Counter final : public traces::Packer {
 public:
  explicit Counter(Taken* taken) : taken_(*taken) {}

  StringId Intern(std::string_view text) override {
    const auto [at, added] =
        ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.emplace_back(text);
    return StringId{at->second};
  }
  void SetString(StringId id, std::string_view text) override { texts_[id.value] = text; }
  ThreadId AddThread(const traces::ThreadInfo&) override { return ThreadId{threads_++}; }
  ProcessId AddProcess(const traces::ProcessInfo&) override { return ProcessId{processes_++}; }
  void UpdateProcess(ProcessId, const traces::ProcessInfo&) override {}
  void UpdateThread(ThreadId, const traces::ThreadInfo&) override {}
  void SetFact(std::string_view, std::string_view) override {}
  void AddSpan(ThreadId, const traces::Span& span) override {
    if ((span.flags & wire::kFlagUnfinished) != 0) {
      ++taken_.unfinished;
    } else if (span.stage == traces::StageId::kRead) {
      ++taken_.reads;
      bytes_[span.object.value] += static_cast<std::uint64_t>(span.bytes.value);
    } else if (span.stage == traces::StageId::kDecode && span.sample >= 0) {
      const std::uint64_t number = span.batch.index;
      std::vector<bool>& seen = taken_.spans[span.sample];
      if (static_cast<std::uint64_t>(span.bytes.value) != BytesOf(span.sample, number)) {
        ++taken_.wrong;
        return;
      }
      if (seen.size() <= number) seen.resize(number + 1);
      taken_.twice += seen[number] ? 1u : 0u;
      seen[number] = true;
      ++taken_.count;
    }
  }
  void AddEvent(const traces::Event&) override { ++taken_.events; }
  void AddCounter(const traces::CounterSample&) override {}
  void SetLosses(const traces::Losses& losses) override { taken_.losses = losses; }
  void SetRealtimeOffset(TimeNs) override {}
  Result<void> Flush(const BeforeMark& /*before_mark*/) override { return {}; }
  Result<void> Finish() override { return {}; }
  [[nodiscard]] std::uint64_t bytes_written() const override { return 0; }

  void NameBytes() {
    for (const auto& [id, bytes] : bytes_) {
      taken_.bytes[id < texts_.size() ? texts_[id] : ""] += bytes;
    }
    for (const std::string& text : texts_) taken_.texts.insert(text);
  }

 private:
  Taken& taken_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::vector<std::string> texts_;
  std::map<std::uint32_t, std::uint64_t> bytes_;
  std::uint32_t threads_ = 0;
  std::uint32_t processes_ = 0;
};

Ring::Ring(std::uint32_t chunks) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  traces::RecordingWriter empty(
      {.mode = wire::kRing,
       .chunks = chunks,
       .start_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count())});
  const auto bytes = empty.memory();
  fd_ = memfd_create("penstock-driver", MFD_CLOEXEC);
  if (fd_ < 0 || pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", getpid(), fd_);
  std::memcpy(g_config.arena, path.c_str(), path.size() + 1);
  g_config.on = true;
  g_recording = &kOnMeanwhile;
  g_header = nullptr;
  g_slot = nullptr;
  *g_guard = 0;  // as after a fork: the states of threads belong to an earlier process
  std::uint64_t token = 0;
  if (!EnsureProcess(&token)) {
    std::abort();
  }
  memory_ = {reinterpret_cast<std::byte*>(g_header), bytes.size()};
}

Ring::~Ring() {
  if (drainer_.joinable()) StopDraining();
  g_recording = &kOnMeanwhile;
  munmap(memory_.data(), memory_.size());
  g_header = nullptr;
  g_slot = nullptr;
  *g_guard = 0;
  close(fd_);
}

void Ring::StartDraining(unsigned pause_us) {
  drainer_ = std::thread([this, pause_us] {
    traces::RecordingDrain drain(memory_, true);
    Counter out(&taken_);
    const auto pid = static_cast<std::uint32_t>(getpid());
    const auto is_dead = [&](std::uint32_t of, std::uint64_t, std::uint32_t tid) {
      if (of == pid) return ThreadIsGone(tid);
      const std::lock_guard lock(mutex_);
      return dead_.contains(of);
    };
    while (!stop_.load(std::memory_order_acquire)) {
      drain.Drain(out, is_dead);
      drain.Release();
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
    drain.Drain(out, is_dead);
    drain.Release();
    drain.Drain(out, is_dead);
    drain.Release();
    out.NameBytes();
  });
}

const Taken& Ring::StopDraining() {
  stop_.store(true, std::memory_order_release);
  drainer_.join();
  return taken_;
}

void Ring::NoteDead(std::uint32_t pid) {
  const std::lock_guard lock(mutex_);
  dead_.insert(pid);
}

std::uint32_t Ring::ChunksInUse() const {
  std::uint32_t used = 0;
  for (std::size_t at = wire::kHeaderSize; at < memory_.size(); at += wire::kChunkSize) {
    const auto* chunk = reinterpret_cast<const wire::ChunkHeader*>(memory_.data() + at);
    used += __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) != wire::kChunkFree ? 1u : 0u;
  }
  return used;
}

std::uint64_t Ring::Dropped() const {
  const auto* header = reinterpret_cast<const wire::FileHeader*>(memory_.data());
  return __atomic_load_n(&header->dropped, __ATOMIC_RELAXED);
}

}  // namespace penstock::agent::driver
