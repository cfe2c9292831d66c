// SPDX-License-Identifier: Apache-2.0
//
// Limits the memory that a packed file may decode to, because a section of a few bytes can claim to
// hold gigabytes. The packer needs 3 bytes for an event and 10 for a span, which take 40 and 72
// bytes of memory. A file whose rows are twenty or more times as dense is not a trace. A value; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "traces/call_rows.h"
#include "traces/event.h"
#include "traces/packed/packed_layout.h"

namespace penstock::traces::packed {

class DecodeBudget {
 public:
  explicit DecodeBudget(std::size_t file_bytes)
      : left_(kFree + std::uint64_t{kPerByte} * file_bytes) {}

  // Takes memory from the budget. Returns false, and takes nothing, if it is spent.
  [[nodiscard]] bool Take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  // Takes the memory that a section decodes to. For texts only the payload counts here;
  // PackedStrings::Add() asks for the rest.
  [[nodiscard]] bool Take(const SectionHeader& header) { return Take(CostOf(header)); }

 private:
  static constexpr std::uint64_t kFree = std::uint64_t{256} << 20;
  static constexpr std::uint32_t kPerByte = 256;
  // The memory that an entry usually takes, as a multiple of its bytes in the payload. An entry of
  // empty texts takes four times as much. One whose index leaves a gap also takes memory for all
  // entries of the gap.
  static constexpr std::uint32_t kTableFactor = 8;

  static std::uint64_t CostOf(const SectionHeader& header) {
    switch (header.kind) {
      case kSpans:
        return std::uint64_t{header.items} * sizeof(Span);
      case kEvents:
        return std::uint64_t{header.items} * sizeof(Event);
      case kCounters:
        return std::uint64_t{header.items} * sizeof(CounterSample);
      case kUnits:
        return std::uint64_t{header.items} * sizeof(UnitRow);
      case kCalls:
        return std::uint64_t{header.items} * sizeof(CallRow);
      case kProcesses:
      case kThreads:
      case kFacts:
        return std::uint64_t{header.raw_size} * kTableFactor;
      default:
        return header.raw_size;
    }
  }

  std::uint64_t left_;
};

}  // namespace penstock::traces::packed
