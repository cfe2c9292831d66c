// SPDX-License-Identifier: Apache-2.0
//
// Cost of an NVTX range, through the function pointers that a program calls. The recording is real:
// a file without a collector, in the working directory. Input: names of 5 to 48 bytes, as in
// PyTorch, DALI and other programs. Each figure is for one push and one pop together, so the limit
// of 50 ns for a call means 100 ns here.

#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/nvtx_abi.h"

extern "C" int InitializeInjectionNvtx2(penstock::agent::nvtx::GetExportTable* get);

namespace {

using namespace penstock::agent;  // NOLINT: the subject of every line here

nvtx::AnyFunction* g_functions[2][nvtx::kCoreEnd];
nvtx::AnyFunction** g_slots[2][nvtx::kCoreEnd];

int GetModuleTable(uint32_t module, nvtx::AnyFunction**** table, unsigned* size) {
  const int at = module == nvtx::kModuleCore ? 0 : 1;
  for (uint32_t i = 0; i < nvtx::kCoreEnd; ++i) g_slots[at][i] = &g_functions[at][i];
  *table = g_slots[at];
  *size = nvtx::kCoreEnd;
  return 1;
}

const void* Tables(uint32_t /*id*/) {
  static const nvtx::ExportTableCallbacks callbacks = {sizeof callbacks, GetModuleTable};
  return &callbacks;
}

// Rewinds the thread's chunk, so that the disk is not measured.
void Rewind() {
  ThreadState* s = Self();
  if (s != nullptr && s->used > penstock::wire::kRecordsPerChunk - 8) s->used = 0;
}

using Push = int(const char*);
using PushEx = int(const void*, const nvtx::EventAttributes*);
using PopFromDomain = int(const void*);
using Pop = int();

template <class F>
F* Function(int table, uint32_t id) {
  return reinterpret_cast<F*>(g_functions[table][id]);
}

void BM_PushAndPop(benchmark::State& state) {
  const std::string name(static_cast<std::size_t>(state.range(0)), 'x');
  auto* push = Function<Push>(0, nvtx::kRangePushA);
  auto* pop = Function<Pop>(0, nvtx::kRangePop);
  for (auto _ : state) {
    benchmark::DoNotOptimize(push(name.c_str()));
    benchmark::DoNotOptimize(pop());
    Rewind();
  }
}
BENCHMARK(BM_PushAndPop)->Arg(5)->Arg(16)->Arg(48);

// Names as emit_nvtx makes them, all different.
void BM_PushAndPopNumbered(benchmark::State& state) {
  std::vector<std::string> names;
  for (int i = 0; i < 4096; ++i) {
    names.push_back("aten::convolution_overrideable, seq = " + std::to_string(100000 + i));
  }
  auto* push = Function<Push>(0, nvtx::kRangePushA);
  auto* pop = Function<Pop>(0, nvtx::kRangePop);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(push(names[i++ & 4095].c_str()));
    benchmark::DoNotOptimize(pop());
    Rewind();
  }
}
BENCHMARK(BM_PushAndPopNumbered);

void BM_PushAndPopRegistered(benchmark::State& state) {
  using Create = void*(const char*);
  using Register = void*(const void*, const char*);
  void* domain = Function<Create>(1, nvtx::kDomainCreateA)("bench");
  nvtx::EventAttributes a = {};
  a.size = sizeof a;
  a.message_type = nvtx::kRegistered;
  a.message = Function<Register>(1, nvtx::kDomainRegisterStringA)(domain, "a registered name");
  auto* push = Function<PushEx>(1, nvtx::kDomainRangePushEx);
  auto* pop = Function<PopFromDomain>(1, nvtx::kDomainRangePop);
  for (auto _ : state) {
    benchmark::DoNotOptimize(push(domain, &a));
    benchmark::DoNotOptimize(pop(domain));
    Rewind();
  }
}
BENCHMARK(BM_PushAndPopRegistered);

// Checks that the timed code writes the right record.
bool Check() {
  ThreadState* s = Self();
  if (s == nullptr) return false;
  const uint32_t before = s->used;
  Function<Push>(0, nvtx::kRangePushA)("check");
  Function<Pop>(0, nvtx::kRangePop)();
  if (s->used < before + 1) return false;
  const penstock::wire::Record& record = s->records[s->used - 1];
  return record.stage == penstock::wire::kMark &&
         record.name == static_cast<uint32_t>(penstock::wire::HashOf("check", 5));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  InitializeInjectionNvtx2(Tables);
  if (Function<Push>(0, nvtx::kRangePushA) == nullptr || !Check()) {
    std::fputs("agent_nvtx_bench: a range left no record\n", stderr);
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  unlink(g_config.out);
  return 0;
}
