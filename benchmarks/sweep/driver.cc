// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/driver.h"

#include <benchmark/benchmark.h>

#include <fmt/format.h>

namespace penstock::sweep {
namespace {

// Prints nothing, since penstock-sweep prints its own table.
class Silence : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void RunOne(benchmark::State& state, Session& session, std::size_t index) {
  for (auto _ : state) {
    const Result<Measurement> measured = session.Measure(index);
    if (!measured) {
      state.SkipWithError(measured.error().message.c_str());
      break;
    }
    // The time of an iteration is the time of one sample.
    state.SetIterationTime(measured->samples_per_s > 0 ? 1 / measured->samples_per_s : 0);
    state.counters["samples_per_s"] = measured->samples_per_s;
    if (measured->wall_s >= 0) state.counters["wall_s"] = measured->wall_s;
    if (measured->first_batch_s >= 0) state.counters["first_batch_s"] = measured->first_batch_s;
  }
}

// The value of the last flag with that name; empty if there is none.
std::string FlagValue(const std::vector<std::string>& flags, const std::string& name) {
  std::string value;
  for (const std::string& flag : flags) {
    if (flag == name) value = "true";
    if (flag.rfind(name + "=", 0) == 0) value = flag.substr(name.size() + 1);
  }
  return value;
}

}  // namespace

Result<Driven> Drive(SweepResult& result, Session& session, const DriverOptions& options) {
  std::vector<std::string> words = {"penstock-sweep", "--benchmark_enable_random_interleaving=true",
                                    fmt::format("--benchmark_repetitions={}", options.repeats)};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: Google Benchmark does not know this flag or its value", argv[1]));
  }
  Driven driven;
  driven.own_format = !FlagValue(options.flags, "--benchmark_format").empty();
  const std::string listing = FlagValue(options.flags, "--benchmark_list_tests");
  driven.listed = !listing.empty() && listing != "false" && listing != "0";
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    if (result.cells[i].state == CellState::kUnavailable) continue;
    benchmark::RegisterBenchmark(
        result.cells[i].cell.name.c_str(),
        [&session, i](benchmark::State& state) { RunOne(state, session, i); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  if (!driven.listed) {
    PENSTOCK_TRY(session.WarmUp(options.warmup));
  }
  Silence silence;
  const bool theirs = driven.own_format || driven.listed;
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks(theirs ? nullptr : &silence);
  benchmark::Shutdown();
  if (session.fatal()) return tl::unexpected<Error>(*session.fatal());
  if (ran == 0) return Fail(ErrorKind::kUsage, "--benchmark_filter: it leaves no configuration");
  return driven;
}

}  // namespace penstock::sweep
