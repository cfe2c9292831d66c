// SPDX-License-Identifier: Apache-2.0
//
// Runs commands of penstock on traces and other files on disk.
#include "analyzer/main/commands.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/main/external.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/write_packed.h"
#include "tests/traces/support.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;
using traces::testing::TempFolder;

std::string Write(const TempFolder& folder, const std::string& name,
                  const traces::TraceData& data) {
  const std::filesystem::path path = folder / name;
  testing::WritePacked(path, data);
  return path.string();
}

// The file with the program's name is not executable, so RunExternal() returns even if it finds it.
TEST(RunExternalTest, RunsNothingOfTheWorkingDirectory) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  traces::testing::WriteFile(folder / "penstock-probe", {});
  std::filesystem::current_path(folder / "");
  EXPECT_EQ(RunExternal({}, "probe", {}), 2);
  EXPECT_EQ(RunExternal(folder / "", "probe", {}), 3);
  EXPECT_EQ(RunExternal(folder / "", "../probe", {}), 2);
  std::filesystem::current_path(before);
}

TEST(ReportCommandTest, APageDoesNotReplaceATrace) {
  const TempFolder folder;
  const std::string trace = Write(folder, "a.penstock", testing::MakeSynthetic({}));
  const std::string other = (folder / "b.penstock").string();
  std::filesystem::copy_file(trace, other);
  const auto before = traces::testing::ReadFile(other);
  EXPECT_EQ(ReportCommand({trace, "--html", other}), 2);
  EXPECT_EQ(ReportCommand({other, "--html", other}), 2);
  EXPECT_EQ(traces::testing::ReadFile(other), before);
  const std::string page = (folder / "page.html").string();
  EXPECT_EQ(ReportCommand({trace, "--html", page}), 0);
  EXPECT_EQ(ReportCommand({trace, "--html", page}), 0);  // a page may replace a page
}

TEST(MergeCommandTest, AMergeReplacesNoRecordedTrace) {
  const TempFolder folder;
  const std::string one = Write(folder, "0.penstock", testing::MakeSynthetic({}));
  const std::string two = Write(folder, "1.penstock", testing::MakeSynthetic({}));
  const std::string three = Write(folder, "2.penstock", testing::MakeSynthetic({}));
  const auto before = traces::testing::ReadFile(one);
  EXPECT_EQ(MergeCommand({"-o", one, two, three}), 2);
  EXPECT_EQ(traces::testing::ReadFile(one), before);
  const std::string merged = (folder / "merged.penstock").string();
  EXPECT_EQ(MergeCommand({"-o", merged, two, three}), 0);
  EXPECT_EQ(MergeCommand({"-o", merged, two, three}), 0);  // a merged trace may replace another
}

// A program with two epochs, each with its own loader. Lines 10 and 20 of train.py make the
// loaders.
traces::TraceData TwoLoaders(std::function<testing::Costs(int, int)> costs, bool fixed) {
  Synthetic run;
  run.epochs = 2;
  run.costs = std::move(costs);
  traces::TraceData data = testing::MakeSynthetic(run);
  auto& facts = data.processes[0].facts;
  facts["epoch.2"] = "1";
  for (const std::string loader : {"loader.0.", "loader.1."}) {
    facts[loader + "num_workers"] = std::to_string(run.workers);
    facts[loader + "prefetch_factor"] = std::to_string(run.prefetch);
    facts[loader + "batch_size"] = std::to_string(run.batch_size);
    facts[loader + "made_at"] = loader == "loader.0." ? "/a/train.py:10" : "/a/train.py:20";
    if (fixed) facts[loader + "fixed_batch"] = "true";
  }
  return data;
}

TEST(WhatifCommandTest, TheMeasuredCeilingIsThatOfTheSameLoader) {
  const TempFolder folder;
  testing::Costs slow;
  slow.decode = 40;
  slow.step = 8;
  const std::string run = Write(folder, "run.penstock", TwoLoaders(testing::Always(slow), false));
  const auto no_data = [](int epoch, int) {
    testing::Costs costs{0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 8, 0};
    if (epoch == 0) costs = {0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 4, 0};  // the loop waits most here
    return costs;
  };
  const std::string fixed = Write(folder, "fixed.penstock", TwoLoaders(no_data, true));
  ::testing::internal::CaptureStdout();
  const int status = WhatifCommand(
      {run, "--loader", "train.py:20", "--workers", "2,4", "--fixed-batch", fixed, "--json"});
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, 0);
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS) << text;
  EXPECT_EQ(std::string_view(json["ceiling"]["source"]), "fixed-batch");
  EXPECT_NEAR(double(json["ceiling"]["samples_per_s"]), 500, 5);  // 4 samples in 8 ms
}

TEST(WhatifCommandTest, RefusesDeviceCostsThatCannotBeRead) {
  const TempFolder folder;
  const std::string run = Write(folder, "run.penstock", testing::MakeSynthetic({}));
  const auto status = [&](const std::string& costs) {
    return WhatifCommand({run, "--workers", "2", "--device-costs", costs});
  };
  EXPECT_EQ(status((folder / "").string()), 4);
  EXPECT_EQ(status((folder / "missing").string()), 4);
  const std::string costs = (folder / "costs").string();
  traces::testing::WriteFile(costs, {});
  EXPECT_EQ(status(costs), 0);  // nothing is replaced
  const std::string_view line = "decode 0.25 by a sweep\n";
  traces::testing::WriteFile(costs, std::as_bytes(std::span(line)));
  EXPECT_EQ(status(costs), 0);
}

}  // namespace
}  // namespace penstock::analyzer
