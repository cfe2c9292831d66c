// SPDX-License-Identifier: Apache-2.0
//
// Turns the overlapping spans of one thread into times that may be added up. They are, for each
// span, its own time and the time of the reads, decodes and transforms inside it.
//
// Feed the spans of one thread in the order of Trace::ForEachBlock, then call Finish(). One sweep
// per thread; not thread-safe. Spans are copied. The sink gets reads, marks and spans of devices at
// once, and other spans when they end. It gets the opening of an image when the image is decoded,
// at the latest when a sample or fetch begins or ends.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "traces/event.h"

namespace penstock::traces {

// Time inside a container span, by stage. Units: nanoseconds.
struct Inside {
  std::int64_t read = 0;    // busy time of reads that overlap the container span, plus `queued`
  std::int64_t queued = 0;  // waiting before reads: for a lock, or for a file to open
  std::int64_t decode = 0;
  std::int64_t decode_cpu = 0;
  std::int64_t augment = 0;
  std::int64_t augment_cpu = 0;
  std::int64_t tokenize = 0;
  std::int64_t tokenize_cpu = 0;
  std::int64_t collate = 0;
  std::int64_t collate_cpu = 0;
  std::int64_t wait = 0;  // of a step: for other loaders
  // Parts of `decode` and `tokenize` in spans without a CPU time. The end of the sample or fetch
  // around them adds an estimate to decode_cpu and tokenize_cpu.
  std::int64_t decode_untimed = 0;
  std::int64_t tokenize_untimed = 0;
  std::int64_t read_cpu = 0;     // estimate: the rest of a sample's CPU time, see nesting.cc
  std::uint64_t read_bytes = 0;  // in reads that began inside
  StringId read_file{};          // the file of the first such read that has bytes
  std::uint64_t samples = 0;

  // Time of decoding and tokenizing, which does not count as augmenting.
  [[nodiscard]] std::int64_t told() const { return decode + tokenize; }
  [[nodiscard]] std::int64_t told_cpu() const { return decode_cpu + tokenize_cpu; }
  [[nodiscard]] std::int64_t untimed() const { return decode_untimed + tokenize_untimed; }
};

// One span that counts towards its stage. Valid during the call of the sink only.
struct Counted {
  const Span* span = nullptr;
  StageId stage = StageId::kNone;
  std::int64_t wall = 0;    // without the time of inner spans if docs/design.md 4 says so for the
                            // stage
  std::int64_t cpu = -1;    // of the same part; -1: not recorded
  bool outermost = true;    // false: listed below its stage, but not added to it
  bool apart = false;       // no sample or fetch is around it; not set for reads and marks
  bool synthetic = false;   // derived from a sample: its augmenting, or its waiting before reads
  bool opening = false;     // opens the image that the next call decodes: both are one decode
  std::int64_t opened = 0;  // time in which the image was opened, in a call of its own
  std::int64_t opened_cpu = -1;  // of the same; -1: not recorded
  Inside inside;                 // of a sample, fetch, wait or step

  // Time of the whole decode: opening the image and decoding it.
  [[nodiscard]] std::int64_t whole() const { return opened + wall; }
};

class NestingSink {
 public:
  virtual ~NestingSink() = default;
  virtual void OnCounted(const Counted& counted) = 0;
  // All calls of OnCounted() for a span have been made, right before this one. Every span has one
  // such call, also if it does not count: it is inside a span of its stage, or of a later version.
  // `row`: as it was given to Add().
  virtual void OnDone(std::int64_t /*row*/, const Span& /*span*/) {}
};

class NestingSweep {
 public:
  explicit NestingSweep(NestingSink& sink) : sink_(sink) {}

  // `opens`: the span only opens an image, which a later one decodes. `row`: any number, for
  // OnDone().
  void Add(const Span& span, bool opens = false, std::int64_t row = 0);
  void Finish();

 private:
  struct Open {
    Span span;
    std::int64_t row = 0;
    std::int64_t end = 0;
    bool outermost = true;
    bool opens = false;
    std::int64_t child = 0;  // of an augment span: time of named transforms inside it
    std::int64_t child_cpu = 0;
    std::int64_t last = 0;    // of a sample: end of the last span inside it
    std::int64_t before = 0;  // of a sample: time right before reads that no span covers
    Inside inside;
  };
  struct ActiveRead {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t busy = 0;
    bool whole = true;  // the thread read all the time; a whole read inside such a read is not
                        // counted again
  };

  void AddRead(const Span& span, std::int64_t row);
  void Close();
  void CloseTold(const Open& open);
  void EmitOpening(bool is_part);
  void EmitOpenings();
  void CloseAugment(const Open& open);
  [[nodiscard]] std::int64_t ShareCpu(std::int64_t cpu, Inside& inside);
  void CloseSample(const Open& open);
  void CloseFetch(const Open& open);
  void CloseCollate(const Open& open);
  void CloseOther(const Open& open);
  void Emit(const Open& open, std::int64_t wall, std::int64_t cpu, const Inside& inside);
  [[nodiscard]] bool IsOpen(StageId stage) const;
  [[nodiscard]] Counted CountedOf(const Open& open, std::int64_t wall, std::int64_t cpu,
                                  const Inside& inside) const;

  NestingSink& sink_;
  std::vector<Open> stack_;
  std::vector<ActiveRead> reads_;
  std::array<std::uint32_t, wire::kStageCount> open_{};
  struct Opening {
    Counted counted;
    Span span;
    std::int64_t row = 0;
  };
  std::deque<Opening> openings_;  // images that are open and not decoded, the oldest first
};

}  // namespace penstock::traces
