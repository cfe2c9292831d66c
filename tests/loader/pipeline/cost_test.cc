// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "loader/pipeline/stop.h"

namespace penstock::loader {
namespace {

Cost Parsed(const std::string& text) {
  const auto cost = Cost::Parse(text, true);
  EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
  return cost ? *cost : Cost();
}

std::vector<double> Draws(const Cost& cost, std::uint64_t count) {
  std::vector<double> drawn;
  for (std::uint64_t i = 0; i < count; ++i) {
    drawn.push_back(static_cast<double>(cost.Draw({1, 2, i}, 3).value));
  }
  return drawn;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double Deviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(CostTest, ReadsEverySpelling) {
  EXPECT_EQ(Parsed("5ms").mean().value, 5'000'000);
  EXPECT_EQ(Parsed("5").mean().value, 5'000'000);
  EXPECT_EQ(Parsed("1.5s").mean().value, 1'500'000'000);
  EXPECT_EQ(Parsed("20us").mean().value, 20'000);
  EXPECT_EQ(Parsed("700ns").mean().value, 700);
  EXPECT_TRUE(Parsed("5ms").burns());
  EXPECT_FALSE(Parsed("sleep:5ms").burns());
  EXPECT_TRUE(Cost::Parse("burn:5ms", false)->burns());
  EXPECT_FALSE(Cost::Parse("5ms", false)->burns());
  EXPECT_TRUE(Parsed("0ms").none());
  for (const char* text : {"5ms±2", "5ms±2ms", "5ms+-2", "5ms+/-2ms", "5ms~normal:2ms"}) {
    EXPECT_EQ(Parsed(text).shape(), Cost::Shape::kNormal) << text;
  }
  EXPECT_EQ(Parsed("5ms~uniform:2ms").shape(), Cost::Shape::kUniform);
  EXPECT_EQ(Parsed("5ms~exponential").shape(), Cost::Shape::kExponential);
  EXPECT_EQ(Parsed("5ms~lognormal:0.5").shape(), Cost::Shape::kLognormal);
  EXPECT_EQ(Parsed("sleep:5ms~pareto:1.5").shape(), Cost::Shape::kPareto);
}

TEST(CostTest, RefusesWhatHasNoMeaningInOneLine) {
  for (const char* text :
       {"", "ms", "-5ms", "5 ms", "5m", "5ms±", "5ms~", "5ms~gamma:2", "5ms~pareto:1", "5ms~pareto",
        "5ms~lognormal:9", "2ms~uniform:3ms", "5ms2", "sleep:", "nan", "inf", "1e9s", "5ms±x"}) {
    const auto cost = Cost::Parse(text, true);
    ASSERT_FALSE(cost) << text;
    EXPECT_EQ(cost.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(cost.error().message.find('\n'), std::string::npos);
    EXPECT_NE(cost.error().message.find("lognormal"), std::string::npos);
  }
}

TEST(CostTest, RefusesParametersTooLargeForADraw) {
  for (const char* text : {"5ms±1e308s", "5ms~pareto:1e308"}) {
    const auto cost = Cost::Parse(text, true);
    ASSERT_FALSE(cost) << text;
    EXPECT_NE(cost.error().message.find("too large"), std::string::npos) << cost.error().message;
  }
}

TEST(CostTest, DrawsHaveTheMeanTheyAreNamedAfter) {
  for (const char* text : {"5ms", "5ms±2", "5ms±9", "5ms~uniform:3ms", "5ms~exponential",
                           "5ms~lognormal:0.5", "5ms~pareto:3"}) {
    EXPECT_NEAR(Mean(Draws(Parsed(text), 40'000)), 5e6, 0.1e6) << text;
  }
}

TEST(CostTest, DrawsHaveTheSpreadTheyAreNamedAfter) {
  EXPECT_EQ(Deviation(Draws(Parsed("5ms"), 100)), 0);
  EXPECT_NEAR(Deviation(Draws(Parsed("5ms±1"), 40'000)), 1e6, 0.02e6);
  EXPECT_NEAR(Deviation(Draws(Parsed("5ms~uniform:3ms"), 40'000)), 3e6 / std::sqrt(3.0), 0.02e6);
  EXPECT_NEAR(Deviation(Draws(Parsed("5ms~exponential"), 40'000)), 5e6, 0.15e6);
}

TEST(CostTest, NoDrawIsNegative) {
  for (const char* text : {"1ms±5", "1ms~uniform:1ms", "1ms~pareto:1.1", "1ms~lognormal:5"}) {
    for (const double drawn : Draws(Parsed(text), 20'000)) ASSERT_GE(drawn, 0) << text;
  }
}

TEST(CostTest, DrawDependsOnSeedEpochSampleAndStageAlone) {
  const Cost cost = Parsed("5ms~lognormal:0.5");
  const std::int64_t drawn = cost.Draw({1, 2, 3}, 4).value;
  EXPECT_EQ(cost.Draw({1, 2, 3}, 4).value, drawn);
  EXPECT_NE(cost.Draw({2, 2, 3}, 4).value, drawn);
  EXPECT_NE(cost.Draw({1, 3, 3}, 4).value, drawn);
  EXPECT_NE(cost.Draw({1, 2, 4}, 4).value, drawn);
  EXPECT_NE(cost.Draw({1, 2, 3}, 5).value, drawn);
}

TEST(BurnTest, SpendsThatCpuTimeAndLittleMore) {
  const StopFlag stop;
  const TimeNs before = ThreadCpuNow();
  for (int i = 0; i < 20; ++i) Burn(TimeNs{500'000}, stop);
  const std::int64_t spent = (ThreadCpuNow() - before).value;
  EXPECT_GE(spent, 10'000'000);
  EXPECT_LT(spent, 15'000'000);  // CPU time: other programs on the machine do not count
}

TEST(BurnTest, EndsWhenStopped) {
  StopFlag stop;
  stop.Set();
  const TimeNs before = ThreadCpuNow();
  Burn(TimeNs{60'000'000'000}, stop);
  SleepUntil(SteadyNow() + TimeNs{60'000'000'000}, stop);
  EXPECT_LT((ThreadCpuNow() - before).value, 1'000'000'000);
}

TEST(SleepTest, TakesTimeButNoCpu) {
  const StopFlag stop;
  const TimeNs wall = SteadyNow();
  const TimeNs cpu = ThreadCpuNow();
  Spend(*Cost::Parse("sleep:30ms", true), TimeNs{30'000'000}, stop);
  EXPECT_GE((SteadyNow() - wall).value, 30'000'000);
  EXPECT_LT((ThreadCpuNow() - cpu).value, 10'000'000);
}

}  // namespace
}  // namespace penstock::loader
