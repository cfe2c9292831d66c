// SPDX-License-Identifier: Apache-2.0
//
// Counters over time: their growth, and whose threads they count.
#include "analyzer/model/counter_series.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;

TEST(CounterSeriesTest, GrowthIsCountedInTheWindowsThatTheSamplesCover) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const TimeNs begin{5 * kSecond};
  const CounterSeries series{"minor_faults", {}, {1, 2, 3, 4}, {10, 30, 5, 15}};
  const auto window = [&](double from, double to) {
    const auto at = [&](double time) {
      return begin.value + static_cast<std::int64_t>(time * static_cast<double>(kSecond));
    };
    return std::pair{at(from), at(to)};
  };
  const std::array windows = {window(0, 1.5), window(2, 3), window(3.5, 9), window(8, 9)};
  const CounterGrowth growth = GrowthWithin(series, windows, begin);
  EXPECT_DOUBLE_EQ(growth.value, 10 + 0 + 5);       // the counter is reset between 2 and 3
  EXPECT_DOUBLE_EQ(growth.seconds, 0.5 + 1 + 0.5);  // none after the last sample
  const CounterSeries single{"minor_faults", {}, {1}, {10}};
  EXPECT_EQ(GrowthWithin(single, windows, begin).seconds, 0);
}

// The agent looks for stalls in a thread of its own. That thread must not look like a pool of the
// workers.
TEST(CounterSeriesTest, ThreadsOfTheAgentDoNotCount) {
  traces::TraceData data = testing::MakeSynthetic(Synthetic{});
  for (const std::uint32_t process : {1U, 2U}) {
    testing::AddCounter(data, "threads", process, 1000, 4);
    testing::AddCounter(data, "threads", process, 1100, 1);
  }
  data.processes[2].facts["agent.threads"] = "1";
  std::map<std::uint32_t, std::vector<double>> threads;
  for (const CounterSeries& series : ReadCounters(*traces::MakeTrace(std::move(data)))) {
    if (series.name == "threads") threads[series.process.value] = series.value;
  }
  EXPECT_EQ(threads[1], (std::vector<double>{4, 1}));
  EXPECT_EQ(threads[2], (std::vector<double>{3, 1}));
}

}  // namespace
}  // namespace penstock::analyzer
