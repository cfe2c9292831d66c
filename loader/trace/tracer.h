// SPDX-License-Identifier: Apache-2.0
//
// What the loader says of itself: spans, events, counters and facts of its own threads, in the
// vocabulary of a trace. One Tracer per program; it owns a ThreadTracer for each thread.
// Threads: Tracer's functions may be called from any thread, a ThreadTracer only from the thread
// that asked for it. Nothing here fails towards the pipeline: what cannot be kept is counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "traces/base/result.h"
#include "traces/base/units.h"
#include "traces/event.h"

namespace penstock::loader {

// A name that was given to Tracer::Name(); valid for that tracer and all its threads.
struct NameId {
  std::uint32_t value = 0;
};

// Which sample of which batch of which epoch (generation, counted from 0) a thread works on.
struct Place {
  std::int64_t sample = wire::kNoSample;  // dataset index
  std::uint32_t batch = wire::kNoBatch;   // index in its epoch
  std::uint16_t generation = 0;
};

// A moment by the tracer's own clock: from ThreadTracer::Now(), for ThreadTracer::Emit() alone.
struct Tick {
  std::uint64_t value = 0;
  std::uint64_t other = 0;  // by the second clock, where two tracers listen
};

enum class ThreadRole { kConsumer, kWorker, kOther };

// The face of one thread. Spans nest: End() and Cancel() speak of the innermost open one, and a
// span gets the place that holds when it ends. All of it costs a test when nothing is recorded.
class ThreadTracer {
 public:
  ThreadTracer(const ThreadTracer&) = delete;
  ThreadTracer& operator=(const ThreadTracer&) = delete;
  virtual ~ThreadTracer() = default;

  // False: nothing is recorded; what is only needed to describe a span need not be worked out.
  [[nodiscard]] bool on() const { return on_; }

  void SetContext(const Place& place) {
    if (on_) DoSetContext(place);
  }
  // Opens a span. CPU time of the thread is taken where the stage works (TakesCpuTime).
  void Begin(traces::StageId stage, NameId name) {
    if (on_) DoBegin(stage, name);
  }
  // Closes it. `object`: path of the file it was about. `flags`: wire::kFlagError,
  // kFlagMapped.
  void End(Bytes bytes = {}, std::string_view object = {}, std::uint8_t flags = 0) {
    if (on_) DoEnd(bytes, object, flags);
  }
  // Forgets it.
  void Cancel() {
    if (on_) DoCancel();
  }

  [[nodiscard]] Tick Now() const { return on_ ? DoNow() : Tick{}; }
  // A span whose ends the caller knows, such as a read in flight beside other work. `place`: of
  // its own, since the thread may be busy with another sample.
  void Emit(traces::StageId stage, NameId name, const Place& place, Tick start, Tick end,
            Bytes bytes = {}, std::string_view object = {}, std::uint8_t flags = 0) {
    if (on_) DoEmit(stage, name, place, start, end, bytes, object, flags);
  }

  // Of the batch in `place`; for an epoch only its generation counts.
  void Event(traces::EventType type, const Place& place, std::int64_t value = 0) {
    if (on_) DoEvent(type, place, value);
  }
  // The batch `place` has been handed to the program: as Event(kBatchDelivered), and counts it
  // towards the number of batches that a recording was asked for.
  void Delivered(const Place& place) {
    if (on_) DoDelivered(place);
  }
  void Counter(NameId name, std::int64_t value) {
    if (on_) DoCounter(name, value);
  }

 protected:
  explicit ThreadTracer(bool is_on) : on_(is_on) {}

  virtual void DoSetContext(const Place& place) = 0;
  virtual void DoBegin(traces::StageId stage, NameId name) = 0;
  virtual void DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) = 0;
  virtual void DoCancel() = 0;
  [[nodiscard]] virtual Tick DoNow() const = 0;
  virtual void DoEmit(traces::StageId stage, NameId name, const Place& place, Tick start, Tick end,
                      Bytes bytes, std::string_view object, std::uint8_t flags) = 0;
  virtual void DoEvent(traces::EventType type, const Place& place, std::int64_t value) = 0;
  virtual void DoDelivered(const Place& place) = 0;
  virtual void DoCounter(NameId name, std::int64_t value) = 0;

 private:
  bool on_;
};

class Tracer {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  virtual ~Tracer() = default;

  // False: nothing will be recorded.
  [[nodiscard]] virtual bool on() const = 0;
  // The id of a name; call once per name, at the start.
  [[nodiscard]] virtual NameId Name(std::string_view text) = 0;
  // The face of the calling thread, which lives as long as the tracer. `index`: number of a worker.
  // A worker's start is recorded here; call Leave() at its end.
  [[nodiscard]] virtual ThreadTracer& Thread(std::string_view name, ThreadRole role,
                                             std::int32_t index = -1) = 0;
  // `thread` will record nothing any more.
  virtual void Leave(ThreadTracer& thread) = 0;
  // A fact of this process: "loader.0.kind", "epoch.3", ...: traces/FORMAT.md.
  virtual void Fact(std::string_view key, std::string_view value) = 0;
  // All threads have left. The trace appears under its name. Errors: kOutput.
  virtual Result<void> Finish() = 0;
};

// Where thread CPU time is worth the system call: where the stage works rather than waits.
[[nodiscard]] constexpr bool TakesCpuTime(traces::StageId stage) {
  using traces::StageId;
  return stage != StageId::kRead && stage != StageId::kWait && stage != StageId::kIdle &&
         stage != StageId::kStep && stage != StageId::kMark;
}

// Records nothing, at the price of a test.
[[nodiscard]] std::unique_ptr<Tracer> NoTracer();

// Speaks to the agent that is preloaded into this process; nullptr if there is none or it is not
// recording. The agent's own hooks write no spans of reads and decodes where the loader speaks for
// itself: kAlone, nowhere in this process and in those that it forks; kBesideOthers, not inside the
// loader's spans of these stages, so that others in the process keep theirs.
enum class Company { kAlone, kBesideOthers };
[[nodiscard]] std::unique_ptr<Tracer> AgentTracer(Company company = Company::kAlone);

// Span after span into both; Finish() of both. Where one is nullptr, the other.
[[nodiscard]] std::unique_ptr<Tracer> BothTracers(std::unique_ptr<Tracer> first,
                                                  std::unique_ptr<Tracer> second);

// The same as `inner`, with an NVTX range (domain "penstock") around every span, if a tool is
// attached that collects NVTX; else `inner` itself.
[[nodiscard]] std::unique_ptr<Tracer> WithNvtx(std::unique_ptr<Tracer> inner);

// A span for as long as the object lives.
class SpanScope {
 public:
  SpanScope(ThreadTracer& tracer, traces::StageId stage, NameId name) : tracer_(tracer) {
    tracer.Begin(stage, name);
  }
  ~SpanScope() {
    if (open_) tracer_.End(bytes_, object_, flags_);
  }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

  void SetBytes(Bytes bytes) { bytes_ = bytes; }
  // `object` must live as long as this.
  void SetObject(std::string_view object) { object_ = object; }
  void SetFlags(std::uint8_t flags) { flags_ = flags; }
  void Cancel() {
    open_ = false;
    tracer_.Cancel();
  }

 private:
  ThreadTracer& tracer_;
  Bytes bytes_;
  std::string_view object_;
  std::uint8_t flags_ = 0;
  bool open_ = true;
};

}  // namespace penstock::loader
