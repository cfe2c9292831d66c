// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/collector.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "agent/record/sample/proc_fs.h"
#include "traces/host_facts.h"
#include "traces/output_place.h"

namespace penstock::record {
namespace {

constexpr TimeNs kSecond{1'000'000'000};
constexpr TimeNs kShortestPause{5'000'000};
constexpr TimeNs kLongestPause{100'000'000};
constexpr TimeNs kGrace{300'000'000};        // waits for descendants that outlive the command
constexpr TimeNs kOrphanGrace{500'000'000};  // without a launcher: waits for processes to attach
constexpr TimeNs kLate{1'000'000'000};       // waits for the records of devices, which come late
constexpr TimeNs kQuiet{200'000'000};        // waits for agents that are writing a record
constexpr TimeNs kLongestFlush{5'000'000'000};

// When the event of the message happened.
TimeNs TimeOf(const Message& message) {
  const TimeNs then{static_cast<std::int64_t>(message.values[1])};
  return std::min(then, MonotonicNow());
}

}  // namespace

Collector::Collector(CollectorConfig config, Channel channel)
    : config_(std::move(config)), channel_(std::move(channel)) {}

Result<void> Collector::OpenOutput() {
  std::filesystem::path& output = config_.options.output;
  std::error_code error;
  if (std::filesystem::is_directory(output, error)) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: is a directory", output.string()));
  }
  const bool force = config_.options.force;
  std::set<std::string> told;
  for (int tries = 0;; ++tries) {
    const auto place = traces::PlaceFor(output, force, config_.options.output_given);
    PENSTOCK_TRY(place);
    auto packed = traces::CreatePacked(
        place->path, {.keep = config_.options.keep, .may_replace = [force](const auto& path) {
                        return traces::MayBeReplaced(path, force);
                      }});
    for (const std::string& note : place->notes) {
      if (told.insert(note).second) Send(MessageType::kNote, note);
    }
    if (packed) {
      output = place->path;
      Send(MessageType::kPlaced, output.string());
      std::unique_ptr<traces::Packer> packer = std::move(*packed);
      if (!config_.options.stage.empty()) {
        stager_ = std::make_unique<Stager>(config_.options.stage);
        packer = std::make_unique<StagingPacker>(std::move(packer), *stager_);
      }
      packer_ = std::make_unique<EnrichingPacker>(std::move(packer));
      return {};
    }
    // Another recorder may have taken the name meanwhile.
    if (tries > 8 || LookAtName(output.string() + ".part").WhyNot().empty()) {
      return tl::unexpected(packed.error());
    }
  }
}

bool Collector::Send(MessageType type, const std::string& text) {
  Message message;
  message.type = type;
  message.set_text(text);
  return channel_.Send(message);
}

Result<void> Collector::Open() {
  if (const auto opened = OpenOutput(); !opened) return opened;
  clock_ = Clock::Choose(config_.force_monotonic);
  ArenaRequest request;
  request.buffer = config_.options.buffer;
  request.use_segment = config_.shm_folder.empty();
  if (!config_.shm_folder.empty()) request.shm_folder = config_.shm_folder;
  request.use_memfd = config_.use_memfd;
  request.beside = config_.options.output.string() + ".ring";
  if (!config_.options.buffer_given) {
    // In a container with little memory, the ring must not use up the memory limit.
    if (const auto limit = traces::OwnCgroupLimits().memory_limit) {
      request.buffer.value =
          std::clamp<std::uint64_t>(limit->value / 32, 8u << 20, request.buffer.value);
    }
  }
  auto arena = Arena::Create(request, clock_);
  PENSTOCK_TRY(arena);
  arena_.emplace(std::move(*arena));
  arena_->header().batch_limit = config_.options.limit_batches;
  arena_->header().probe_window = static_cast<std::uint64_t>(
      Seconds(config_.options.probe) * static_cast<double>(clock_.ticks_per_second()));
  drain_ = std::make_unique<traces::RecordingDrain>(arena_->memory(), true);
  if (auto ok = drain_->CheckHeader(); !ok) return ok;
  liveness_ = std::make_unique<Liveness>(arena_->header());
  sampler_ = std::make_unique<ProcSampler>(
      arena_->header(), *drain_, *liveness_, *packer_,
      MemoryWalks{config_.options.memory, config_.options.memory_every});
  if (config_.options.gpu != "off" && config_.options.gpu != "nvtx") {
    gpu_ = std::make_unique<GpuSampler>(arena_->header(), *drain_, *liveness_, *packer_);
  }
  is_dead_ = [this](std::uint32_t pid, std::uint64_t start, std::uint32_t tid) {
    return liveness_->ThreadIsDead({pid, start}, tid, MonotonicNow());
  };
  begin_ = MonotonicNow();
  realtime_begin_ = RealtimeNow();
  next_second_ = begin_ + kSecond;
  next_flush_ = begin_ + kSecond;
  pause_ = kShortestPause;
  facts_ = std::make_unique<RunFacts>(config_.options, *packer_);
  facts_->WriteFirst(config_.facts, clock_, arena_->memory().size(), realtime_begin_);
  packer_->SetRealtimeOffset(realtime_begin_ - begin_);
  // Written at once, so that the file says where the rest of the recording is, even if this process
  // is killed.
  packer_->SetFact("record.ring", arena_->path());
  const wire::FileHeader& header = arena_->header();
  packer_->SetFact("record.run", fmt::format("{:016x}{:016x}", header.uuid[0], header.uuid[1]));
  return packer_->Flush();
}

void Collector::EndStage() {
  if (!stager_) return;
  stager_->Stop();
  facts_->WriteStage(stager_->outcome());
  RemoveStage(config_.options.stage);
}

int Collector::Run() {
  if (auto opened = Open(); !opened) {
    Message refused;
    refused.type = MessageType::kRefused;
    refused.status = static_cast<std::int32_t>(opened.error().kind);
    refused.set_text(opened.error().message);
    Discard();
    channel_.Send(refused);
    return 0;
  }
  if (!Send(MessageType::kReady, arena_->path())) {
    Discard();
    return 0;
  }
  for (TimeNs now = MonotonicNow(); !Ended(now); now = MonotonicNow()) {
    if (!Listen(now + pause_)) {
      Discard();
      return 0;
    }
    Work(MonotonicNow());
  }
  // The launcher ended before it started the command, or could not open the ring.
  if (launcher_gone_ && !started_ && packer_->spans() == 0) {
    Discard();
    return 0;
  }
  return Finish();
}

bool Collector::Listen(TimeNs until) {
  while (!discard_) {
    const std::int64_t left = until.value - MonotonicNow().value;
    if (left <= 0) break;
    const int timeout = static_cast<int>((left + 999'999) / 1'000'000);
    if (launcher_gone_) {
      usleep(static_cast<useconds_t>(left / 1000));
      break;
    }
    Message message;
    const Channel::Event event = channel_.Receive(&message, timeout);
    if (event == Channel::Event::kClosed) launcher_gone_ = true;
    if (event == Channel::Event::kMessage) OnMessage(message);
    if (event == Channel::Event::kMessage && exited_) break;
  }
  return !discard_;
}

void Collector::OnMessage(const Message& message) {
  switch (message.type) {
    case MessageType::kStarted: {
      command_.pid = static_cast<std::uint32_t>(message.values[0]);
      const auto text = ReadFile(fmt::format("/proc/{}/stat", command_.pid), 4096);
      const auto stat = text ? ParseStat(*text) : std::nullopt;
      if (stat) command_.start = stat->start;
      arena_->header().root_pid = command_.pid;
      packer_->SetFact("record.root_pid", std::to_string(command_.pid));
      started_ = TimeOf(message);
      break;
    }
    case MessageType::kExited: {
      exit_status_ = message.status;
      exited_ = TimeOf(message);
      // Drain first: a process that has just begun must be known before it is sampled.
      if (!end_) {
        drain_->Drain(*packer_, is_dead_);
        sampler_->SampleAll(*exited_);
      }
      Send(MessageType::kSampled);
      break;
    }
    case MessageType::kDiscard:
      discard_ = true;
      break;
    default:
      break;
  }
}

void Collector::Work(TimeNs now) {
  // While the disk is full, the ring holds the recording. When the ring is full too, the agents
  // drop events and count them.
  const bool full = disk_.is_full();
  const std::uint64_t taken = full ? 0 : drain_->Drain(*packer_, is_dead_);
  sampler_->Tick(now);
  if (!full) sampler_->FreeEnded(now);
  if (gpu_) gpu_->Tick(now);
  if (now >= next_second_) {
    next_second_ = now + kSecond;
    AppendAnchor(arena_->header(), clock_.Anchor());
    packer_->SetRealtimeOffset(RealtimeNow() - MonotonicNow());
    Progress(now);
  }
  // Drained chunks stay in the ring until they are on disk. So when they take a quarter of the
  // ring, they are flushed to disk.
  if (now >= next_flush_ || (!full && drain_->Pending() > 0.25)) Flush(now);
  CheckLimits(now);
  pause_ = Pause(taken, MonotonicNow() - now);
}

void Collector::Flush(TimeNs now) {
  // In a long recording the blocks cover more time, since longer blocks compress better.
  const std::int64_t age = (now - begin_).value;
  next_flush_ = now + TimeNs{std::clamp(age / 60, kSecond.value, kLongestFlush.value)};
  if (disk_.is_full()) {
    packer_->SetFact("record.disk_full_ns", std::to_string(disk_.Total(now).value));
  }
  const auto flushed = packer_->Flush([this](std::uint64_t mark) { drain_->SaveProgress(mark); });
  if (packer_->WaitsForRoom()) {
    disk_.Begin(now);
    next_flush_ = now + kSecond;
    return;
  }
  if (!flushed) {
    if (trouble_.empty()) trouble_ = flushed.error().message;
    StopRecording("output");
    return;  // what is not on the disk stays in the ring, for penstock recover
  }
  disk_.End(now);
  drain_->Release();
}

TimeNs Collector::Pause(std::uint64_t taken, TimeNs worked) const {
  // The time in which a twentieth of the ring fills at the present rate.
  const double capacity =
      static_cast<double>(arena_->header().chunk_count) * wire::kRecordsPerChunk;
  const double period = static_cast<double>((pause_ + worked).value);
  const double rate = static_cast<double>(taken) / period;  // records per nanosecond
  const double pause = rate > 0 ? 0.05 * capacity / rate : static_cast<double>(kLongestPause.value);
  liveness_->SetPatience(rate * 250e6 > 0.25 * capacity ? TimeNs{20'000'000} : TimeNs{250'000'000});
  // Each pause is at most twice the last one, since a burst of records may come again.
  const double capped = std::min(pause, 2 * static_cast<double>(pause_.value));
  const auto length = static_cast<std::int64_t>(std::min(capped, 1e12));
  return TimeNs{std::clamp(length, kShortestPause.value, kLongestPause.value)};
}

void Collector::CheckLimits(TimeNs now) {
  const Options& options = config_.options;
  if (options.limit_time.value != 0 && started_ && now - *started_ >= options.limit_time) {
    limit_reached_ = true;
    StopRecording(fmt::format("for {}", options.limit_time_text));
  }
  if (options.limit_batches != 0 &&
      __atomic_load_n(&arena_->header().batches, __ATOMIC_RELAXED) >= options.limit_batches) {
    limit_reached_ = true;
    StopRecording(fmt::format("batches {}", options.limit_batches));
  }
}

void Collector::StopRecording(const std::string& why) {
  if (end_) return;
  __atomic_store_n(&arena_->header().recording, 0u, __ATOMIC_SEQ_CST);
  end_ = MonotonicNow();
  if (!why.empty()) stopped_ = why;
}

bool Collector::Ended(TimeNs now) {
  if (limit_reached_) return true;
  if (exited_) return sampler_->running() == 0 || now - *exited_ >= kGrace;
  if (!launcher_gone_) return false;
  // Without the launcher, record until the command and all traced processes have ended.
  const bool runs = command_.pid != 0 && liveness_->ProcessRuns(command_, now);
  if (runs || sampler_->running() != 0) return false;
  if (!started_) return true;
  if (now - begin_ < kOrphanGrace) return false;
  exited_ = now;
  return true;
}

void Collector::DrainLast() {
  const TimeNs now = MonotonicNow();
  if (sampler_->running() != 0) {
    sampler_->SampleAll(now);
    // Hooks that are running now may still finish their records.
    int quiet = 0;
    const auto late = [&] {
      return __atomic_load_n(&arena_->header().late_writers, __ATOMIC_ACQUIRE) != 0;
    };
    while (MonotonicNow() - now < (late() ? kLate : kQuiet) && (quiet < 3 || late())) {
      usleep(10'000);
      quiet = drain_->Drain(*packer_, is_dead_) == 0 ? quiet + 1 : 0;
    }
  }
  drain_->Drain(*packer_, is_dead_);
}

int Collector::Finish() {
  const bool output_failed = !trouble_.empty();
  StopRecording("");
  if (exited_) end_ = std::min(*end_, *exited_);
  if (limit_reached_) Send(MessageType::kStopped, stopped_);
  DrainLast();
  AppendAnchor(arena_->header(), clock_.Anchor());
  if (gpu_) gpu_->Stop(MonotonicNow());
  drain_->Finish(*packer_);
  packer_->ApplyAll();
  EndStage();
  facts_->WriteLast(
      {.duration = *end_ - started_.value_or(begin_),
       .launcher_gone = launcher_gone_,
       .exit_status = exit_status_,
       .stopped = stopped_,
       .disk_full = disk_.is_full() ? std::optional(disk_.Total(*end_)) : std::nullopt,
       .walks = sampler_->walks(),
       .walks_cpu = sampler_->walks_cpu()});
  const auto finished = packer_->Finish();
  if (!finished && trouble_.empty()) trouble_ = finished.error().message;
  // If the end of the trace could not be written, its records are all still in the ring.
  const bool recoverable = !finished && arena_->HasName();
  if (!recoverable) {
    __atomic_store_n(&arena_->header().sealed, 1u, __ATOMIC_RELEASE);
    arena_->Unlink();
  }
  Message message;
  message.type = MessageType::kFinished;
  message.status = finished ? 0 : 1;
  FillValues(message, *end_);
  const std::filesystem::path written = packer_->final_path();
  if (written != config_.options.output) Send(MessageType::kPlaced, written.string());
  if (const std::string note = packer_->note(); !note.empty()) Send(MessageType::kNote, note);
  if (output_failed && finished) {
    message.set_text(
        fmt::format("{}: the trace ends after {:.1f} s", trouble_, Seconds(*end_ - begin_)));
  } else if (recoverable) {
    message.set_text(fmt::format("{}; then: penstock recover {}", trouble_, written.string()));
  } else if (!finished) {
    message.set_text(fmt::format("{}: what was written is in {}.part", trouble_, written.string()));
  }
  channel_.Send(message);
  return finished ? 0 : 1;
}

void Collector::Discard() {
  drain_.reset();
  sampler_.reset();
  gpu_.reset();
  facts_.reset();
  if (packer_) packer_->Discard();
  packer_.reset();
  stager_.reset();
  RemoveStage(config_.options.stage);
  if (arena_) arena_->Unlink();
}

void Collector::FillValues(Message& message, TimeNs now) const {
  message.values[kElapsedNs] = static_cast<std::uint64_t>((now - begin_).value);
  message.values[kProcesses] = sampler_->running();
  message.values[kSpans] = packer_->spans();
  message.values[kBatches] = __atomic_load_n(&arena_->header().batches, __ATOMIC_RELAXED);
  message.values[kBytesWritten] = packer_->bytes_written();
  message.values[kLost] = drain_->losses().dropped_events;
}

void Collector::Progress(TimeNs now) {
  if (!config_.send_progress || launcher_gone_) return;
  Message message;
  message.type = MessageType::kProgress;
  FillValues(message, now);
  channel_.Offer(message);
}

}  // namespace penstock::record
