// SPDX-License-Identifier: Apache-2.0
//
// Requests over HTTP by host, in the model and in the report.
#include "analyzer/model/requests.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <utility>

#include "analyzer/report/report.h"
#include "analyzer/report/request_report.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer {
namespace {

using testing::AddCounter;
using testing::Always;
using testing::MakeSynthetic;
using testing::Synthetic;

// Two workers and the training process send requests to two hosts.
traces::TraceData Asking(int workers) {
  Synthetic run;
  run.workers = workers;
  run.costs = Always({.read = 30, .decode = 2, .step = 4});
  traces::TraceData data = MakeSynthetic(run);
  for (std::uint32_t process = 0; process < data.processes.size(); ++process) {
    for (int i = 0; i < 100; ++i) {
      AddCounter(data, "http.first_byte_ns@near:8080", process, 2000 + i, 2e6);
      AddCounter(data, "http.first_byte_ns@far.example", process, 2000 + i, i == 99 ? 900e6 : 40e6);
      if (i < 3) AddCounter(data, "http.connect_ns@far.example", process, 2000 + i, 80e6);
    }
  }
  return data;
}

TEST(RequestsTest, AreThoseOfTheWorkersByHost) {
  const auto trace = traces::MakeTrace(Asking(2));
  const std::vector<HostRequests> hosts = FindRequests(BuildRunModel(*trace));
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].host, "far.example");
  EXPECT_EQ(hosts[0].requests(), 200u);  // not those of the training process
  EXPECT_EQ(hosts[0].connections(), 6u);
  EXPECT_NEAR(hosts[0].first_byte.median, 0.04, 1e-9);
  EXPECT_NEAR(hosts[0].first_byte.sum, 2 * (99 * 0.04 + 0.9), 1e-6);
  EXPECT_NEAR(hosts[0].connect.sum, 6 * 0.08, 1e-9);
  EXPECT_EQ(hosts[1].host, "near:8080");
  EXPECT_EQ(hosts[1].connections(), 0u);
}

TEST(RequestsTest, WithoutWorkersTheyAreThoseOfTheLoop) {
  const auto trace = traces::MakeTrace(Asking(0));
  const std::vector<HostRequests> hosts = FindRequests(BuildRunModel(*trace));
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].requests(), 100u);
}

// In each of two ranks, fetching takes 7 s. Of these, reading takes 6 s, which include 4 s of
// connecting.
TEST(RequestsTest, OfOneRankAreComparedWithTheReadsOfThatRank) {
  Synthetic run;
  run.costs = Always({30, 2, 2, 1, 0.1, 0.2, 4, 0});
  traces::TraceData data = testing::SideBySide(run, 2);
  for (std::uint32_t process = 0; process < data.processes.size(); ++process) {
    if (data.processes[process].role != wire::kRoleWorker) continue;
    for (int i = 0; i < 400; ++i) {
      AddCounter(data, "http.connect_ns", process, 2000 + i, 5e6);
      AddCounter(data, "http.first_byte_ns", process, 2000 + i, 2e6);
    }
  }
  const auto finding = testing::FindingOf("connection-not-reused", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(testing::Evidence(*finding, "share_of_data_time"), 4.0 / 7, 0.02);
  ASSERT_TRUE(finding->predicted);
  EXPECT_GT(finding->predicted->speedup, 2);
}

TEST(RequestsTest, AreInEveryFormOfTheReport) {
  const auto trace = traces::MakeTrace(Asking(2));
  const Report report = BuildReport(*trace, "run.penstock");
  const std::string text = RequestsText(report);
  EXPECT_NE(text.find("far.example: 200 requests over 6 connections"), std::string::npos) << text;
  EXPECT_NE(text.find("near:8080: 200 requests over 0 connections"), std::string::npos) << text;
  EXPECT_EQ(text.find("0 connections; opening"), std::string::npos) << text;
  EXPECT_NE(ReportText(report, Colour::kOff).find(text), std::string::npos);
  EXPECT_NE(RequestsHtml(report, Language::kChinese).find("far.example"), std::string::npos);
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(ReportJson(report));
  EXPECT_EQ(json["hosts"].get_array().size(), 2u);
  EXPECT_EQ(std::string_view(json["hosts"].at(0)["host"]), "far.example");
  EXPECT_EQ(std::uint64_t(json["hosts"].at(0)["connections"]), 6u);
  EXPECT_NEAR(double(json["hosts"].at(0)["first_byte_p50_s"]), 0.04, 1e-9);
}

TEST(RequestsTest, HostsThatAreLeftOutAreCounted) {
  Report report = BuildReport(*traces::MakeTrace(Asking(2)), "t");
  report.requests.resize(4, report.requests.front());
  EXPECT_EQ(RequestsText(report).find("more"), std::string::npos) << RequestsText(report);
  report.requests.resize(5, report.requests.front());
  EXPECT_NE(RequestsText(report).find(" 1 more host\n"), std::string::npos) << RequestsText(report);
  EXPECT_NE(RequestsHtml(report, Language::kChinese).find("另有 1 台主机"), std::string::npos);
}

TEST(RequestsTest, ARunWithoutRequestsSaysNothing) {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 2, .step = 4});
  const auto trace = traces::MakeTrace(MakeSynthetic(run));
  const Report report = BuildReport(*trace, "run.penstock");
  EXPECT_TRUE(report.requests.empty());
  EXPECT_EQ(RequestsText(report), "");
  EXPECT_EQ(RequestsHtml(report, Language::kEnglish), "");
}

}  // namespace
}  // namespace penstock::analyzer
