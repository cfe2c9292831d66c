// SPDX-License-Identifier: Apache-2.0
#include "tests/analyzer/synthetic_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::analyzer::testing {
namespace {

using traces::Span;
using traces::StageId;

constexpr std::int64_t kStart = 1'000'000'000'000;  // the true clock at the first iteration
constexpr std::int64_t kWall = 1'700'000'000'000'000'000;

struct Turn {
  double entered = 0;  // ms since kStart
  double delivered = 0;
  double met = 0;
  double ended = 0;
};

// Returns the turns by iteration and rank.
std::vector<std::vector<Turn>> Play(const Ranked& run) {
  std::vector<double> now(static_cast<std::size_t>(run.ranks), 0.0);
  std::vector<std::vector<Turn>> turns;
  for (int i = 0; i < run.batches * run.epochs; ++i) {
    std::vector<Turn> turn(now.size());
    double all = 0;
    for (int r = 0; r < run.ranks; ++r) {
      Turn& own = turn[static_cast<std::size_t>(r)];
      own.entered = now[static_cast<std::size_t>(r)];
      own.delivered = own.entered + run.wait(r, i);
      all = std::max(all, own.delivered + run.compute);
    }
    for (int r = 0; r < run.ranks; ++r) {
      Turn& own = turn[static_cast<std::size_t>(r)];
      own.met = run.together ? all + run.collective : own.delivered + run.compute;
      own.ended = own.met + run.after(r, i);
      now[static_cast<std::size_t>(r)] = own.ended;
    }
    turns.push_back(std::move(turn));
  }
  return turns;
}

}  // namespace

Ranked OneIsSlow() {
  Ranked run;
  run.ranks = 4;
  run.wait = [](int rank, int) { return rank == 2 ? 6.0 : 1.0; };
  return run;
}

traces::TraceData TraceOfRank(const Ranked& run, int rank, const Skew& skew) {
  const auto shown = [&](double ms) {
    const double since = ms * 1e6;
    return TimeNs{kStart + std::llround(since * (1 + skew.drift) + skew.offset_s * 1e9)};
  };
  traces::TraceData data;
  data.facts = {{"boot_id", skew.boot},
                {"host", skew.host},
                {"cpu.cores", "16"},
                {"cpu.affinity", "0-15"},
                {"memory.total", "64000000000"},
                {"clock.offset_ns", std::to_string(skew.namespace_ns)}};
  data.realtime_offset.value =
      kWall - kStart - std::llround(skew.offset_s * 1e9) + skew.wall_error_ns;
  traces::ProcessInfo process;
  process.pid = 100;
  process.role = wire::kRoleConsumer;
  process.rank = process.local_rank = rank;
  process.world_size = run.ranks;
  process.features = wire::kFeaturePython;
  process.facts = {{"loader.0.kind", "pytorch"},
                   {"loader.0.num_workers", std::to_string(run.workers)},
                   {"loader.0.prefetch_factor", "2"},
                   {"loader.0.batch_size", "8"},
                   {"rank.local_size", std::to_string(run.ranks)},
                   {"rank.launcher", "torch"}};
  for (int e = 0; e < run.epochs; ++e) process.facts["epoch." + std::to_string(e)] = "0";
  data.processes.push_back(process);
  traces::ThreadInfo thread;
  thread.tid = 100;
  data.threads.push_back(thread);
  data.spans.emplace_back();
  if (run.kernels) {
    thread.tid = 0x80000007u;
    data.threads.push_back(thread);
    data.spans.emplace_back();
  }
  const auto turns = Play(run);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[i][static_cast<std::size_t>(rank)];
    Span wait;
    wait.stage = StageId::kWait;
    wait.batch.generation = static_cast<std::uint16_t>(i / static_cast<std::size_t>(run.batches));
    wait.batch.index = static_cast<std::uint32_t>(i % static_cast<std::size_t>(run.batches));
    wait.start = shown(turn.entered);
    wait.duration = shown(turn.delivered) - wait.start;
    Span step = wait;
    step.stage = StageId::kStep;
    step.start = shown(turn.delivered);
    step.duration = shown(turn.ended) - step.start;
    data.spans[0].push_back(wait);
    data.spans[0].push_back(step);
    if (!run.kernels) continue;
    Span kernel = wait;
    kernel.stage = StageId::kKernel;
    kernel.name = data.Intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)");
    kernel.start = shown(turn.met - run.collective);
    kernel.duration = shown(turn.met) - kernel.start;
    data.spans[1].push_back(kernel);
  }
  return data;
}

void AddBeside(traces::TraceData& data, traces::TraceData other, std::uint32_t pids) {
  const auto processes = static_cast<std::uint32_t>(data.processes.size());
  const auto threads = static_cast<std::uint32_t>(data.threads.size());
  for (traces::ProcessInfo& process : other.processes) {
    process.pid += pids;
    if (process.parent != 0) process.parent += pids;
    data.processes.push_back(std::move(process));
  }
  for (traces::ThreadInfo& thread : other.threads) {
    thread.process.value += processes;
    thread.tid += pids;
    data.threads.push_back(thread);
  }
  std::vector<StringId> ids;
  for (const std::string& text : other.strings) ids.push_back(data.Intern(text));
  const auto text = [&](StringId& id) { id = ids[id.value]; };
  for (auto& spans : other.spans) {
    for (Span& span : spans) {
      text(span.name);
      text(span.object);
    }
    data.spans.push_back(std::move(spans));
  }
  for (traces::Event event : other.events) {
    event.thread.value += threads;
    data.events.push_back(event);
  }
  for (traces::CounterSample sample : other.counters) {
    text(sample.name);
    sample.process.value += processes;
    data.counters.push_back(sample);
  }
}

traces::TraceData TraceOfAll(const Ranked& run) {
  traces::TraceData data = TraceOfRank(run, 0);
  for (int rank = 1; rank < run.ranks; ++rank) {
    AddBeside(data, TraceOfRank(run, rank), 1000 * static_cast<std::uint32_t>(rank));
  }
  return data;
}

traces::TraceData SideBySide(const Synthetic& each, int ranks) {
  traces::TraceData data;
  for (int rank = 0; rank < ranks; ++rank) {
    traces::TraceData one = MakeSynthetic(each);
    for (traces::ProcessInfo& process : one.processes) {
      process.rank = process.local_rank = rank;
      process.world_size = ranks;
    }
    if (rank == 0) {
      data = std::move(one);
    } else {
      AddBeside(data, std::move(one), 1000 * static_cast<std::uint32_t>(rank));
    }
  }
  return data;
}

}  // namespace penstock::analyzer::testing
