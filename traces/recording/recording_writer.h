// SPDX-License-Identifier: Apache-2.0
//
// Makes recordings in memory as an agent would, for tests, fuzzing and samples. Each
// RecordingWriter::Thread may be used by one thread at a time; different ones of a recording may
// write concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traces/wire.h"

namespace penstock::traces {

struct RecordingOptions {
  wire::FileMode mode = wire::kLinear;
  wire::ClockKind clock = wire::kClockMonotonic;
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::uint32_t chunks = 4;
  std::uint64_t start_ns = 1'000'000'000'000;  // time of the first anchor
};

class RecordingWriter {
 public:
  explicit RecordingWriter(const RecordingOptions& options);

  [[nodiscard]] std::span<std::byte> memory() {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes of words
    return {reinterpret_cast<std::byte*>(words_.data()), words_.size() * sizeof(std::uint64_t)};
  }
  [[nodiscard]] wire::FileHeader& header();
  [[nodiscard]] wire::ChunkHeader& chunk(std::uint32_t i);
  [[nodiscard]] const RecordingOptions& options() const { return options_; }

  // The exact tick of a time, consistent with the anchors.
  [[nodiscard]] std::uint64_t Ticks(std::uint64_t ns) const;
  [[nodiscard]] wire::ClockAnchor Anchor(std::uint64_t ns) const;
  void AddAnchor(std::uint64_t ns);
  // Claims a slot and returns its index.
  std::uint32_t AddProcess(std::uint32_t pid, std::uint64_t process_start, wire::ProcessRole role,
                           std::int32_t worker_id);
  void Seal();

  class Thread {
   public:
    Thread(RecordingWriter& recording, std::uint32_t slot, std::uint32_t tid,
           std::string_view name);

    // Sets the check and publishes the record. Returns false if there is no chunk; the record then
    // counts as dropped.
    bool Write(wire::Record record);
    // Writes a text of less than 64 KiB in its parts; returns its id.
    std::uint64_t Text(wire::TextType type, std::string_view text);
    void Open(const wire::Inflight& operation);
    void Close();
    void Exit();  // gives the chunk back, like a thread that ends by itself
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

   private:
    [[nodiscard]] bool Room(std::uint32_t records);
    bool Claim();
    void Publish(const void* record);
    void Count(const wire::Record& record);

    RecordingWriter& recording_;
    std::uint32_t slot_;
    std::uint32_t tid_;
    char name_[16] = {};
    wire::ChunkHeader* chunk_ = nullptr;
    std::uint32_t used_ = 0;
    std::uint32_t sequence_ = 0;
    std::uint64_t dropped_ = 0;
  };

 private:
  wire::ChunkHeader* ClaimChunk(std::uint32_t* index);

  RecordingOptions options_;
  std::vector<std::uint64_t> words_;
};

// A span record without batch, sample and object. Times in nanoseconds are turned into ticks.
[[nodiscard]] wire::Record SpanRecord(const RecordingWriter& recording, wire::Stage stage,
                                      std::uint32_t name, std::uint64_t start_ns,
                                      std::uint64_t duration_ns);

}  // namespace penstock::traces
