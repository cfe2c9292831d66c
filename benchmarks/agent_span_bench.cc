// SPDX-License-Identifier: Apache-2.0
//
// Cost of recording an event in the agent. The recording is real: a file without a collector in
// $TMPDIR, with chunks claimed and published. Before anything is timed, records are written and
// read back as a check. The program needs no input.

#include <benchmark/benchmark.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"

namespace {

using namespace penstock::agent;  // NOLINT: the subject of every line here

PENSTOCK_NAME(g_name, "bench");

// Rewinds the thread's chunk, so that the disk is not measured. BM_SpanWithChunkClaims measures
// claiming a chunk every 1008 records.
void Rewind() {
  ThreadState* s = Self();
  if (s != nullptr && s->used > penstock::wire::kRecordsPerChunk - 8) {
    s->used = 0;
  }
}

void BM_Span(benchmark::State& state) {
  const uint32_t name = Name(&g_name);
  for (auto _ : state) {
    Token t = Begin(penstock::wire::kAugment, name, __builtin_frame_address(0), false);
    benchmark::DoNotOptimize(t);
    End(t, 0, 0, 0);
    Rewind();
  }
}
BENCHMARK(BM_Span);

void BM_SpanKnownEnds(benchmark::State& state) {
  const uint32_t name = Name(&g_name);
  for (auto _ : state) {
    const uint64_t start = Now();
    Emit({.stage = penstock::wire::kRead,
          .name = name,
          .start = start,
          .duration = Now() - start,
          .bytes = 4096,
          .object = 1});
    Rewind();
  }
}
BENCHMARK(BM_SpanKnownEnds);

void BM_SpanWithThreadCpu(benchmark::State& state) {
  const uint32_t name = Name(&g_name);
  for (auto _ : state) {
    Token t = Begin(penstock::wire::kDecode, name, __builtin_frame_address(0), true);
    End(t, 0, 0, 0);
    Rewind();
  }
}
BENCHMARK(BM_SpanWithThreadCpu);

void BM_ClockTwice(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Now());
    benchmark::DoNotOptimize(Now());
  }
}
BENCHMARK(BM_ClockTwice);

void BM_SpanWithChunkClaims(benchmark::State& state) {
  const uint32_t name = Name(&g_name);
  for (auto _ : state) {
    Token t = Begin(penstock::wire::kAugment, name, __builtin_frame_address(0), false);
    End(t, 0, 0, 0);
  }
  state.counters["dropped"] = static_cast<double>(g_header->dropped);
}
BENCHMARK(BM_SpanWithChunkClaims)->Iterations(2000000);

// The test with which every hook begins, when recording is off.
void BM_HookRecordingOff(benchmark::State& state) {
  const uint32_t off = 0;
  const uint32_t* saved = g_recording;
  g_recording = &off;
  for (auto _ : state) {
    bool on = Recording();
    benchmark::DoNotOptimize(on);
  }
  g_recording = saved;
}
BENCHMARK(BM_HookRecordingOff);

// Checks that the records written are in the first chunk of the segment.
bool RecordsReadBack() {
  Token t = Begin(penstock::wire::kDecode, Name(&g_name), __builtin_frame_address(0), false);
  End(t, 12345, 0, 0);
  if (g_header == nullptr) {
    return false;
  }
  const char* bytes = reinterpret_cast<const char*>(g_header) + penstock::wire::kHeaderSize;
  penstock::wire::ChunkHeader chunk;
  std::memcpy(&chunk, bytes, sizeof chunk);
  if (chunk.committed == 0) {
    return false;
  }
  penstock::wire::Record last;
  std::memcpy(&last, bytes + penstock::wire::kChunkHeaderSize + (chunk.committed - 1) * sizeof last,
              sizeof last);
  return last.bytes == 12345 && last.stage == penstock::wire::kDecode &&
         last.check == penstock::wire::CheckOf(&last);
}

}  // namespace

int main(int argc, char** argv) {
  const char* out = std::getenv("PENSTOCK_OUT");
  if (out == nullptr) {
    const std::string path = "/tmp/penstock-bench-" + std::to_string(getpid()) + ".penstock";
    setenv("PENSTOCK_OUT", path.c_str(), 1);
    setenv("PENSTOCK_MAX_BYTES", "1073741824", 1);
    unsetenv("PENSTOCK_RUN");
    execv("/proc/self/exe", argv);
    return 3;
  }
  benchmark::Initialize(&argc, argv);
  if (!RecordsReadBack()) {
    std::fprintf(stderr, "agent_span_bench: the recording %s does not hold what was written\n",
                 out);
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  unlink(out);
  return 0;
}
