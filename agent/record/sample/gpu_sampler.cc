// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/gpu_sampler.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "agent/record/sample/clock.h"

namespace penstock::record {
namespace {

constexpr TimeNs kOpenedPeriod{5'000'000'000};
// A counter is written some 3,000 times in its first ten minutes and 2,000 times in each doubling
// of its age, for the same reason as kToldPerAge in proc_sampler.cc.
constexpr std::int64_t kGpuPerAge = 3000;
constexpr TimeNs kLongestGpuPeriod{5'000'000'000};
constexpr std::size_t kMostEarly = 4096;
constexpr std::size_t kRecordsAtOnce = 64;

template <std::size_t kSize>
std::string TextOf(const char (&text)[kSize]) {
  return {text, strnlen(text, kSize)};
}

}  // namespace

GpuSampler::GpuSampler(wire::FileHeader& header, const traces::RecordingDrain& drain,
                       Liveness& liveness, EnrichingPacker& out)
    : header_(header), drain_(drain), liveness_(liveness), out_(out), moved_(MonotonicNow()) {
  void* const shared =
      mmap(nullptr, sizeof(GpuProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> ends{-1, -1};
  if (shared != MAP_FAILED) progress_ = new (shared) GpuProgress;
  if (progress_ == nullptr || pipe2(ends.data(), O_CLOEXEC) != 0) {
    SetStatus(fmt::format("unavailable: {}", std::strerror(errno)));
    return;
  }
  const pid_t self = getpid();
  child_ = fork();
  if (child_ == 0) RunNvmlChild({ends[1], self, progress_});
  close(ends[1]);
  fd_ = ends[0];
  fcntl(fd_, F_SETFL, O_NONBLOCK);
  if (child_ < 0) {
    SetStatus(fmt::format("unavailable: {}", std::strerror(errno)));
    End();
  }
}

GpuSampler::~GpuSampler() {
  End();
  // A child that hangs in the driver still has its own mapping of the page.
  if (progress_ != nullptr) munmap(progress_, sizeof(GpuProgress));
}

void GpuSampler::End() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, WNOHANG);  // if it still runs, another process inherits and reaps it
  child_ = -1;
}

void GpuSampler::SetStatus(const std::string& text) {
  if (text == status_) return;
  status_ = text;
  out_.SetFact("gpu.nvml", text);
}

void GpuSampler::Read(TimeNs now) {
  std::array<char, kRecordsAtOnce * sizeof(GpuRecord)> bytes{};
  while (fd_ >= 0) {
    const ssize_t got = read(fd_, bytes.data(), bytes.size());
    if (got < 0) return;  // the pipe is empty
    if (got == 0) {
      int status = 0;
      // The child closes the pipe a moment before it becomes a zombie, so it may not be reapable
      // yet.
      if (waitpid(child_, &status, WNOHANG) != child_) return;
      child_ = -1;
      if (WIFSIGNALED(status)) {
        SetStatus(fmt::format("ended by signal {} in {}", WTERMSIG(status),
                              progress_->call.load(std::memory_order_relaxed)));
      }
      close(fd_);
      fd_ = -1;
      return;
    }
    unread_.insert(unread_.end(), bytes.data(), bytes.data() + got);
    std::size_t taken = 0;
    for (; taken + sizeof(GpuRecord) <= unread_.size(); taken += sizeof(GpuRecord)) {
      GpuRecord record;
      std::memcpy(&record, unread_.data() + taken, sizeof record);
      Take(record, now);
    }
    unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(taken));
  }
}

void GpuSampler::Take(const GpuRecord& record, TimeNs now) {
  const std::string key = TextOf(record.key);
  const std::string text = TextOf(record.text);
  switch (record.kind) {
    case GpuRecord::kStatus:
      answered_ = text.empty();
      if (!text.empty()) SetStatus(text);
      return;
    case GpuRecord::kFact:
      if (record.device < 0) {
        out_.SetFact("gpu." + key, text);
        return;
      }
      if (key == "model") models_[record.device] = text;
      devices_.try_emplace(record.device);
      if (key == "minor") devices_[record.device].minor = text;
      out_.SetFact(fmt::format("gpu.{}.{}", record.device, key), text);
      return;
    case GpuRecord::kCounter:
      AddCounter(record);
      return;
    case GpuRecord::kProcess:
    case GpuRecord::kListed:
      TakeListing(devices_[record.device], record, now);
      return;
    default:
      return;
  }
}

// Counters of devices belong to the first process that the drain announces, as counters of the host
// do. The drain never retires that process. The counters cannot be tied to a slot, since slots are
// freed and reused.
void GpuSampler::AddCounter(const GpuRecord& record) {
  ++samples_;
  const std::string name = fmt::format("gpu.{}.{}", record.device, TextOf(record.key));
  auto at = names_.find(name);
  if (at == names_.end()) at = names_.emplace(name, Told{out_.Intern(name), {}}).first;
  if (first_counter_.value == 0) first_counter_.value = record.at;
  Told& told = at->second;
  if (record.at < told.next.value) return;
  const std::int64_t age = record.at - first_counter_.value;
  told.next.value = record.at + std::min(age / kGpuPerAge, kLongestGpuPeriod.value);
  early_.push_back({TimeNs{record.at}, told.name, ProcessId{0}, record.value});
  if (early_.size() > kMostEarly) early_.pop_front();
}

bool GpuSampler::KnowsProcess() const {
  ProcessId process;
  for (const wire::ProcessSlot& slot : header_.processes) {
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == wire::kProcessFree) continue;
    if (drain_.ProcessOf(slot.pid, slot.process_start, &process)) return true;
  }
  return false;
}

std::map<std::uint32_t, ProcessKey> GpuSampler::HostPids(TimeNs now) {
  std::map<std::uint32_t, ProcessKey> pids;
  for (const wire::ProcessSlot& slot : header_.processes) {
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != wire::kProcessLive) continue;
    const ProcessKey key{slot.pid, slot.process_start};
    if (const auto pid = liveness_.HostPid(key, now)) pids[*pid] = key;
  }
  return pids;
}

void GpuSampler::TakeListing(Device& device, const GpuRecord& record, TimeNs now) {
  if (record.kind == GpuRecord::kProcess) {
    device.listing[static_cast<std::uint32_t>(record.value)] = record.extra;
    return;
  }
  const auto listing = std::exchange(device.listing, {});
  if (listing.empty()) return;
  const auto pids = HostPids(now);
  const std::string name = fmt::format("gpu.{}.process_memory_bytes", record.device);
  for (const auto& [pid, bytes] : listing) {
    const auto traced = pids.find(pid);
    if (traced == pids.end()) continue;
    device.owners.insert(traced->second.pid);
    ProcessId process;
    if (bytes < 0 || !drain_.ProcessOf(traced->second.pid, traced->second.start, &process))
      continue;
    out_.AddCounter({TimeNs{record.at}, out_.Intern(name), process, bytes});
  }
}

void GpuSampler::FindOpened(TimeNs now) {
  next_opened_ = now + kOpenedPeriod;
  for (const auto& [pid, key] : HostPids(now)) {
    std::error_code error;
    int looked_at = 0;
    for (std::filesystem::directory_iterator it(fmt::format("/proc/{}/fd", pid), error), end;
         !error && it != end && ++looked_at <= 1024; it.increment(error)) {
      std::error_code ignored;
      const std::string path = std::filesystem::read_symlink(it->path(), ignored).string();
      for (auto& [index, device] : devices_) {
        if (!device.minor.empty() && path == "/dev/nvidia" + device.minor) device.opened = true;
      }
    }
  }
}

void GpuSampler::Watch(TimeNs now) {
  if (child_ <= 0) return;
  const std::uint64_t count = progress_->count.load(std::memory_order_relaxed);
  if (count != last_count_) {
    last_count_ = count;
    moved_ = now;
    if (answered_) SetStatus("sampled");
  } else if (now - moved_ >= kNvmlSilence) {
    SetStatus(fmt::format("no answer from {}", progress_->call.load(std::memory_order_relaxed)));
  }
}

void GpuSampler::Tick(TimeNs now) {
  Read(now);
  Watch(now);
  if (!process_known_ && !early_.empty()) process_known_ = KnowsProcess();
  if (process_known_) {
    for (const traces::CounterSample& sample : early_) out_.AddCounter(sample);
    early_.clear();
  }
  const bool owned = std::any_of(devices_.begin(), devices_.end(),
                                 [](const auto& entry) { return !entry.second.owners.empty(); });
  if (!devices_.empty() && !owned && now >= next_opened_) FindOpened(now);
}

void GpuSampler::WriteDevices() {
  std::string model;
  for (const auto& [index, device] : devices_) {
    std::string owners;
    for (const std::uint32_t pid : device.owners) owners += fmt::format(" {}", pid);
    const bool used = !device.owners.empty();
    out_.SetFact(fmt::format("gpu.{}.used", index), used            ? "process"
                                                    : device.opened ? "open"
                                                                    : "no");
    if (used) out_.SetFact(fmt::format("gpu.{}.processes", index), owners.substr(1));
    if (model.empty() && (used || device.opened) && models_.count(index) > 0) {
      model = models_[index];
    }
  }
  if (model.empty() && !models_.empty()) model = models_.begin()->second;
  if (!model.empty()) out_.SetFact("gpu.model", model);
  if (answered_) out_.SetFact("gpu.nvml.samples", std::to_string(samples_));
}

void GpuSampler::Stop(TimeNs now) {
  Tick(now);
  if (status_.empty()) {
    SetStatus(answered_ ? "sampled"
                        : fmt::format("no answer from {} before the recording ended",
                                      progress_->call.load(std::memory_order_relaxed)));
  }
  WriteDevices();
  End();
}

}  // namespace penstock::record
