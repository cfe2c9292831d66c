// SPDX-License-Identifier: Apache-2.0
//
// Turns the overlapping spans of one thread into times that may be added up: what of a span is its
// own, and what belongs to the reads, decodes and transforms inside it.
//
// Feed the spans of one thread in the order of Trace::ForEachBlock, then Finish(). One sweep per
// thread; not thread-safe. Spans are copied; the sink hears of each counted span when it closes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/event.h"

namespace penstock::analyzer {

// Time inside a container span, by what it was for. Units: nanoseconds.
struct Inside {
  std::int64_t read = 0;    // busy time of reads that overlap it, and `queued`
  std::int64_t queued = 0;  // waiting before reads: for a lock, or for a file to open
  std::int64_t decode = 0;
  std::int64_t decode_cpu = 0;
  std::int64_t augment = 0;
  std::int64_t augment_cpu = 0;
  std::int64_t tokenize = 0;
  std::int64_t tokenize_cpu = 0;
  std::int64_t collate = 0;
  std::int64_t collate_cpu = 0;
  std::int64_t transfer = 0;  // put, get and pin
  std::int64_t h2d = 0;
  std::int64_t read_cpu = 0;  // estimated: what is left of a sample's CPU time, see nesting.cc
  std::uint64_t read_bytes = 0;
  std::uint64_t samples = 0;

  // Time of decoding and tokenizing, which are told apart from the rest that the dataset does to
  // samples.
  [[nodiscard]] std::int64_t told() const { return decode + tokenize; }
  [[nodiscard]] std::int64_t told_cpu() const { return decode_cpu + tokenize_cpu; }
};

// One span that counts towards its stage.
struct Counted {
  const traces::Span* span = nullptr;
  traces::StageId stage = traces::StageId::kNone;
  std::int64_t wall = 0;   // exclusive where docs/design.md 4 asks for it
  std::int64_t cpu = -1;   // of the same part; -1: not taken
  bool outermost = true;   // false: a child, to be listed below its stage, not added to it
  bool apart = false;      // no sample or fetch is around it
  bool synthetic = false;  // not a span of its own: what a sample augments, or waits before reads
  Inside inside;           // sample, fetch, wait, step
};

class NestingSink {
 public:
  virtual ~NestingSink() = default;
  virtual void OnCounted(const Counted& counted) = 0;
};

class NestingSweep {
 public:
  explicit NestingSweep(NestingSink& sink) : sink_(sink) {}

  void Add(const traces::Span& span);
  void Finish();

 private:
  struct Open {
    traces::Span span;
    std::int64_t end = 0;
    bool outermost = true;
    std::int64_t child = 0;  // augment: time of named transforms inside it
    std::int64_t child_cpu = 0;
    std::int64_t last = 0;    // sample: end of what was seen in it so far
    std::int64_t before = 0;  // sample: time in which nothing was seen, before reads
    Inside inside;
  };
  struct ActiveRead {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t busy = 0;
    bool whole = true;  // busy all the time: covers reads inside it
  };

  void AddRead(const traces::Span& span);
  void Close();
  void CloseTold(const Open& open);
  void CloseAugment(const Open& open);
  void CloseSample(const Open& open);
  void CloseFetch(const Open& open);
  void CloseCollate(const Open& open);
  void CloseOther(const Open& open);
  void Emit(const Open& open, std::int64_t wall, std::int64_t cpu, const Inside& inside);
  [[nodiscard]] bool IsOpen(traces::StageId stage) const;

  NestingSink& sink_;
  std::vector<Open> stack_;
  std::vector<ActiveRead> reads_;
  std::array<std::uint32_t, wire::kStageCount> open_{};
};

}  // namespace penstock::analyzer
