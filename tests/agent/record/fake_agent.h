// SPDX-License-Identifier: Apache-2.0
//
// Writes into the ring as the agent does, so that launcher and collector can be tested without the
// agent. A process has one FakeProcess, and each of its threads has one FakeThread.
#pragma once

#include <cstdint>
#include <string>

#include "traces/wire.h"

namespace penstock::record {

class FakeProcess {
 public:
  // Maps the ring that `arena`, the value of PENSTOCK_ARENA, names, and claims a slot. If there is
  // no ring, ok() is false.
  explicit FakeProcess(const char* arena);
  // To be called after fork(): claims a slot for the child.
  void Claim();

  [[nodiscard]] bool ok() const { return header_ != nullptr; }
  [[nodiscard]] wire::FileHeader& header() const { return *header_; }
  [[nodiscard]] wire::ProcessSlot& slot() const { return header_->processes[slot_]; }
  [[nodiscard]] std::uint32_t slot_index() const { return slot_; }
  [[nodiscard]] wire::ChunkHeader* chunk(std::uint32_t index) const;
  [[nodiscard]] std::uint64_t Now() const;

 private:
  wire::FileHeader* header_ = nullptr;
  std::uint32_t slot_ = 0;
};

class FakeThread {
 public:
  explicit FakeThread(FakeProcess& process) : process_(process) {}

  // Writes a span with this sample number. Returns false if the ring was full; the span then counts
  // as dropped.
  bool Span(std::int64_t sample, std::uint64_t start);
  // Shows an open span in the chunk's header, for a reader that finds this thread dead. The next
  // Span() ends it.
  void Open(std::int64_t sample);
  void Text(wire::TextType type, std::uint64_t id, const std::string& text);

 private:
  bool NextChunk();
  bool Room(std::uint32_t records);
  void Commit(const void* record);

  FakeProcess& process_;
  wire::ChunkHeader* chunk_ = nullptr;
  std::uint32_t sequence_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace penstock::record
