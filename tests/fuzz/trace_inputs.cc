// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/trace_inputs.h"

#include <algorithm>
#include <cstring>

#include "traces/base/xxh64.h"
#include "traces/export.h"
#include "traces/order.h"
#include "traces/packed/packed_layout.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"
#include "traces/trace_builder.h"

namespace penstock::traces::fuzz {
namespace {

using packed::SectionHeader;

template <class T>
void AppendValue(std::vector<std::byte>& to, const T& value) {
  // This does not use insert(), in which gcc 12 wrongly warns of an overflow.
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

// Makes a packed file of sections. The input has for each section: kind, items (2 bytes), thread,
// first and last (2 bytes each), size (2 bytes), payload. This adds magic numbers and checksums,
// which the fuzzer cannot guess.
std::vector<std::byte> Sections(std::span<const std::uint8_t> input) {
  std::vector<std::byte> file;
  packed::PackedHeader header{};
  std::memcpy(header.magic, packed::kMagic, sizeof header.magic);
  header.major = packed::kMajor;
  AppendValue(file, header);
  constexpr std::size_t kPrefix = 10;
  while (input.size() > kPrefix) {
    const auto u16 = [&input](std::size_t i) {
      return static_cast<std::uint16_t>(input[i] | input[i + 1] << 8);
    };
    SectionHeader section{};
    section.magic = packed::kSectionMagic;
    section.kind = input[0];
    section.items = u16(1);
    section.thread = input[3];
    section.first = u16(4);
    section.last = u16(6);
    const std::size_t size = std::min<std::size_t>(u16(8), input.size() - kPrefix);
    const auto payload = std::as_bytes(input.subspan(kPrefix, size));
    section.raw_size = section.stored_size = static_cast<std::uint32_t>(size);
    section.payload_check = Xxh64(payload.data(), payload.size());
    section.header_check = Xxh64(&section, offsetof(SectionHeader, header_check));
    AppendValue(file, section);
    file.insert(file.end(), payload.begin(), payload.end());
    input = input.subspan(kPrefix + size);
  }
  return file;
}

void Overlay(std::byte* to, std::size_t size, std::span<const std::uint8_t>& input) {
  const std::size_t n = std::min(size, input.size());
  if (n > 0) {
    std::memcpy(to, input.data(), n);
  }
  input = input.subspan(n);
}

RecordingWriter Recording(std::span<const std::uint8_t> input, wire::FileMode mode) {
  RecordingWriter recording({.mode = mode, .chunks = 2});
  recording.AddProcess(1, 1, wire::kRoleConsumer, -1);
  recording.AddProcess(2, 2, wire::kRoleWorker, 0);
  std::byte* base = recording.memory().data();
  // Overlays the header after magic and version, the header's anchors, and the first two slots of
  // processes.
  Overlay(base + 24, 40, input);
  Overlay(base + offsetof(wire::FileHeader, anchor_count), 4 + 3 * 24, input);
  Overlay(base + offsetof(wire::FileHeader, processes), 2 * sizeof(wire::ProcessSlot), input);
  for (std::uint32_t c = 0; c < 2; ++c) {
    wire::ChunkHeader& chunk = recording.chunk(c);
    chunk.magic = wire::kChunkMagic;
    chunk.pid = 1 + c;
    chunk.process_start = 1 + c;
    chunk.state = wire::kChunkOwned;
    chunk.anchor = recording.Anchor(recording.options().start_ns);
    std::byte* at = base + wire::kHeaderSize + c * std::size_t{wire::kChunkSize};
    Overlay(at + 8, 16, input);
    Overlay(at + offsetof(wire::ChunkHeader, inflight_depth), 8 + 2 * sizeof(wire::Inflight),
            input);
    const std::size_t records =
        std::min<std::size_t>(wire::kRecordsPerChunk, input.size() / (c == 0 ? 128 : 64));
    for (std::size_t r = 0; r < records; ++r) {
      std::byte* record = at + wire::kChunkHeaderSize + r * wire::kRecordSize;
      Overlay(record, wire::kRecordSize, input);
      if (record[2] != std::byte{0xff}) {  // these records keep their wrong check
        const std::uint16_t check = wire::CheckOf(record);
        std::memcpy(record + 2, &check, sizeof check);
      }
    }
  }
  return recording;
}

void Walk(const Trace& trace) {
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    std::uint64_t spans = 0;
    Span before;
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        if (span.duration.value < 0 || (spans > 0 && StartsBefore(span, before))) {
          __builtin_trap();  // ForEachBlock() promises this order
        }
        before = span;
        ++spans;
      }
    });
    if (trace.threads()[i].process.value >= trace.processes().size()) {
      __builtin_trap();
    }
  }
  if ((trace.end() - trace.begin()).value < 0 ||
      trace.realtime_offset() + trace.begin() > trace.realtime_offset() + trace.end()) {
    __builtin_trap();
  }
  const TextSink sink = [](std::string_view) { return true; };
  if (!ExportJsonLines(trace, sink) || !ExportCsv(trace, sink)) {
    __builtin_trap();
  }
}

}  // namespace

InputShape ShapeOf(std::span<const std::uint8_t> input) {
  return input.empty() ? InputShape::kFile : static_cast<InputShape>(input[0] % 4);
}

std::vector<std::byte> MakeFile(std::span<const std::uint8_t> input) {
  const InputShape shape = ShapeOf(input);
  input = input.subspan(std::min<std::size_t>(1, input.size()));
  if (shape == InputShape::kSections) {
    return Sections(input);
  }
  if (shape == InputShape::kFile) {
    const auto bytes = std::as_bytes(input);
    return {bytes.begin(), bytes.end()};
  }
  RecordingWriter recording =
      Recording(input, shape == InputShape::kRing ? wire::kRing : wire::kLinear);
  const std::span<std::byte> memory = recording.memory();
  return {memory.begin(), memory.end()};
}

void ReadEverything(std::span<const std::uint8_t> input) {
  std::vector<std::byte> file = MakeFile(input);
  if (ShapeOf(input) == InputShape::kRing) {
    RecordingDrain drain(file, true);
    TraceBuilder builder;
    drain.Drain(builder, [](std::uint32_t, std::uint64_t, std::uint32_t) { return false; });
    drain.Drain(builder, [](std::uint32_t pid, std::uint64_t, std::uint32_t) { return pid == 1; });
    drain.Finish(builder);
    Walk(*builder.Build());
    return;
  }
  if (const auto trace = OpenTraceBytes(std::move(file), "input")) {
    Walk(**trace);
  }
}

}  // namespace penstock::traces::fuzz
