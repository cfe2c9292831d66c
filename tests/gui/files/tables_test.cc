// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/analyzer/synthetic.h"
#include "tests/gui/files/sweep_samples.h"
#include "tests/gui/support.h"
#include "traces/base/file.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Reads the text as rows of fields (RFC 4180).
std::vector<std::vector<std::string>> Parse(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        rows.back().back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

// Every row has as many fields as the head, and there are at least `least` rows below it.
void ExpectTable(const std::string& text, std::size_t least) {
  const auto rows = Parse(text);
  ASSERT_GE(rows.size(), least + 1) << text;
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << text;
}

analyzer::Report ReportOfTables(const Synthetic& run) {
  return analyzer::BuildReport(*SyntheticTrace(run), "/t/run.penstock");
}

Synthetic Usual() {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 12, .augment = 3, .step = 4});
  return run;
}

TEST(TablesTest, PercentilesOfCallsOfSeveralKindsAreEmpty) {
  analyzer::Report report = ReportOfTables(Usual());
  const auto decode = std::find_if(report.stages.begin(), report.stages.end(),
                                   [](const auto& row) { return row.name == "decode"; });
  ASSERT_NE(decode, report.stages.end());
  decode->mixed = true;
  const auto rows = Parse(StagesCsv(report));
  const auto column = [&](std::string_view name) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), name);
    return static_cast<std::size_t>(found - rows[0].begin());
  };
  for (const auto& row : rows) {
    if (row[0] != "decode" && row[0] != "read") continue;
    EXPECT_EQ(row.at(column("p50_s")).empty(), row[0] == "decode");
    EXPECT_EQ(row.at(column("p99_s")).empty(), row[0] == "decode");
  }
  ExpectTable(StagesCsv(report), 4);
}

TEST(TablesTest, EveryTableOfARunIsRegular) {
  const analyzer::Report report = ReportOfTables(Usual());
  ExpectTable(StagesCsv(report), 4);
  ExpectTable(WorkersCsv(report), 2);
  ExpectTable(FindingsCsv(report), report.findings.size());
  ExpectTable(SweepCsv(testing::SampleSweep()), 9);
  const auto answer = Ask(report.diagnosis, Recorded(report.diagnosis));
  ASSERT_TRUE(answer);
  ExpectTable(WhatIfCsv(*answer), answer->curve.size());
}

TEST(TablesTest, FiguresAreThoseOfTheReport) {
  const analyzer::Report report = ReportOfTables(Usual());
  const auto rows = Parse(StagesCsv(report));
  EXPECT_EQ(rows[0][2], "wall_s");
  EXPECT_EQ(rows[1][0], report.stages[0].name);
  EXPECT_NEAR(std::stod(rows[1][2]), report.stages[0].wall, 1e-6 * report.stages[0].wall);
  const auto workers = Parse(WorkersCsv(report));
  EXPECT_NEAR(std::stod(workers[1][2]), report.diagnosis.run.loader().workers[0].busy, 1e-6);
}

constexpr analyzer::Message kAwkward{"test.awkward", "{text:text}", "{text:text}"};

TEST(TablesTest, CommasAndQuotesInATextStayOneField) {
  analyzer::Report report = ReportOfTables(Usual());
  analyzer::Finding finding;
  finding.id = "id";
  finding.seen = analyzer::Say<kAwkward>(analyzer::Give<"text">("a, \"b\"\nc"));
  report.findings = {finding};
  const auto rows = Parse(FindingsCsv(report));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][2], "a, \"b\"\nc");
}

TEST(TablesTest, TheSelectionCountsWhatIsInside) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 100, traces::StageId::kDecode}, {200, 100, traces::StageId::kDecode}}});
  const auto rows = Parse(SelectionCsv(Aggregate(timeline, {0, 250}), {0, 250}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][0], "decode");
  EXPECT_EQ(rows[1][1], "2");
  EXPECT_NEAR(std::stod(rows[1][2]), 150e-9, 1e-12);
  EXPECT_NEAR(std::stod(rows[1][3]), 100e-9, 1e-12) << "the mean of whole calls";
}

TEST(TablesTest, ASweepsCellsWithoutAFigureHaveEmptyFields) {
  const auto rows = Parse(SweepCsv(testing::SampleSweep()));
  EXPECT_EQ(rows[0][1], "workers");
  EXPECT_EQ(rows[1][5], "100");
  EXPECT_EQ(rows[8][4], "failed");
  EXPECT_EQ(rows[8][5], "");
}

TEST(TablesTest, NamesAreProposedBesideTheSource) {
  for (const ExportInfo& info : Exports()) {
    const fs::path name = ProposedName("/t/run.penstock", info);
    EXPECT_EQ(name.parent_path(), "/t");
    EXPECT_THAT(name.filename().string(), StartsWith("run"));
    EXPECT_NE(name.extension(), ".penstock") << "the trace itself must not be proposed";
    EXPECT_FALSE(ProposedName({}, info).filename().empty());
  }
}

TEST(TablesTest, AFileIsReplacedWholeOrNotAtAll) {
  const fs::path folder = fs::path(::testing::TempDir()) / "tables_test";
  fs::create_directories(folder);
  const auto write = [&](const fs::path& path, const std::string& text) {
    return WriteWhole(path, std::as_bytes(std::span(text)));
  };
  EXPECT_TRUE(write(folder / "a.csv", "old and long"));
  EXPECT_TRUE(write(folder / "a.csv", "new"));
  std::ifstream file(folder / "a.csv");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "new");
  EXPECT_FALSE(fs::exists(folder / "a.csv.part"));
  const auto failed = write(folder / "none" / "a.csv", "x");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kOutput);
  EXPECT_THAT(failed.error().message, HasSubstr("a.csv"));
  EXPECT_FALSE(write(folder, "x")) << "a folder must not be replaced";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace penstock::gui
