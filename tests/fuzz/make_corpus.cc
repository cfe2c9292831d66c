// SPDX-License-Identifier: Apache-2.0
//
// Writes seeds for fuzz_trace_reader into a folder: undamaged inputs of each shape
// (trace_inputs.h), and one file that is cut off.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/traces/support.h"
#include "traces/packed/block_codec.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/section.h"
#include "traces/trace.h"

namespace {

using penstock::traces::RecordingWriter;
namespace packed = penstock::traces::packed;
namespace wire = penstock::wire;
using Bytes = std::vector<std::byte>;

void Seed(const std::filesystem::path& folder, const std::string& name, int shape, Bytes bytes) {
  bytes.insert(bytes.begin(), static_cast<std::byte>(shape));
  penstock::traces::testing::WriteFile(folder / name, bytes);
}

void Add(Bytes& out, std::span<const std::byte> part) {
  out.insert(out.end(), part.begin(), part.end());
}

// Returns the sections of a packed file as an input of shape 1.
Bytes Sections(std::span<const std::byte> file) {
  Bytes out;
  penstock::traces::Losses losses;
  packed::SectionDecoder decoder;
  for (const packed::SectionRef& section : packed::FindSections(file, losses).sections) {
    std::span<const std::byte> payload;
    if (!decoder.Decode(file, section, &payload)) {
      continue;
    }
    const auto& h = section.header;
    const auto low = [&out](std::uint64_t v) { out.push_back(static_cast<std::byte>(v)); };
    low(h.kind);
    low(h.items);
    low(h.items >> 8);
    low(h.thread);
    for (int i = 0; i < 4; ++i) {
      low(0);
    }
    const std::size_t size = std::min<std::size_t>(payload.size(), 0xffff);
    low(size);
    low(size >> 8);
    Add(out, payload.first(size));
  }
  return out;
}

// Returns a recording as an input of shape 2: the parts that trace_inputs.cc copies over its own
// recording.
Bytes Parts(RecordingWriter& recording) {
  const std::span<const std::byte> memory = recording.memory();
  Bytes out;
  Add(out, memory.subspan(24, 40));
  Add(out, memory.subspan(offsetof(wire::FileHeader, anchor_count), 4 + 3 * 24));
  Add(out, memory.subspan(offsetof(wire::FileHeader, processes), 2 * sizeof(wire::ProcessSlot)));
  for (std::uint32_t c = 0; c < 2; ++c) {
    const auto chunk =
        memory.subspan(wire::kHeaderSize + c * std::size_t{wire::kChunkSize}, wire::kChunkSize);
    Add(out, chunk.subspan(8, 16));
    Add(out,
        chunk.subspan(offsetof(wire::ChunkHeader, inflight_depth), 8 + 2 * sizeof(wire::Inflight)));
    Add(out, chunk.subspan(wire::kChunkHeaderSize, std::size_t{40} * wire::kRecordSize));
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_make_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  RecordingWriter linear = penstock::traces::testing::SmallRecording({.chunks = 2});
  RecordingWriter tsc = penstock::traces::testing::SmallRecording(
      {.clock = wire::kClockTsc, .ticks_per_second = 2'700'000'000, .chunks = 2});
  RecordingWriter ring =
      penstock::traces::testing::SmallRecording({.mode = wire::kRing, .chunks = 2});
  const penstock::traces::testing::TempFolder temp;
  penstock::traces::testing::WriteFile(temp / "r", linear.memory());
  if (!penstock::traces::PackTrace(temp / "r", temp / "p")) {
    return 1;
  }
  const Bytes file = penstock::traces::testing::ReadFile(temp / "p");
  Seed(folder, "packed", 0, file);
  Seed(folder, "part", 0, {file.begin(), file.end() - 200});
  Bytes sections = Sections(file);
  Seed(folder, "sections", 1, sections);
  Seed(folder, "linear", 2, Parts(linear));
  Seed(folder, "tsc", 2, Parts(tsc));
  Seed(folder, "ring", 3, Parts(ring));
  RecordingWriter followed = penstock::traces::testing::FollowedRecording();
  penstock::traces::testing::WriteFile(temp / "f", followed.memory());
  if (!penstock::traces::PackTrace(temp / "f", temp / "q")) {
    return 1;
  }
  Seed(folder, "followed", 2, Parts(followed));
  Seed(folder, "followed_sections", 1, Sections(penstock::traces::testing::ReadFile(temp / "q")));
  std::printf("8 seeds in %s\n", folder.c_str());
  return 0;
}
