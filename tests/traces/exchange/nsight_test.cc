// SPDX-License-Identifier: Apache-2.0
//
// Databases as nsys exported them in several years: with missing tables and different enums.
#include <sqlite3.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/traces/support.h"
#include "traces/exchange/import.h"
#include "traces/trace.h"

namespace penstock::traces {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStrings = R"sql(
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES(1,'cudaMemcpyAsync_v3020'),(2,'gemm<float>'),(3,'cudaStreamSynchronize_v3020'),
  (4,'pt_main_thread'),(5,'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__');
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.11.0');
)sql";

// A globalTid: process 40, thread 41.
constexpr std::int64_t kThread = (std::int64_t{40} << 24) + 41;

struct ImportedDatabase {
  std::unique_ptr<Trace> trace;
  ImportSummary summary;
  std::string error;
};

ImportedDatabase ImportDatabase(const std::string& statements) {
  const testing::TempFolder folder;
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open((folder / "n.sqlite").c_str(), &database), SQLITE_OK);
  char* wrong = nullptr;
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &wrong), SQLITE_OK)
      << wrong;
  sqlite3_close(database);
  auto summary = ImportTrace(folder / "n.sqlite", folder / "t");
  if (!summary) return {nullptr, {}, summary.error().message};
  auto trace = OpenTrace(folder / "t");
  EXPECT_TRUE(trace);
  return {std::move(*trace), *summary, ""};
}

std::string Activity(const std::string& memory_columns, const std::string& memory_values) {
  const std::string thread = std::to_string(kThread);
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, "
         "correlationId INTEGER, nameId INTEGER);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(100,150," +
         thread + ",7,1),(300,390," + thread +
         ",9,3);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, "
         "streamId INTEGER, correlationId INTEGER, bytes INTEGER, copyKind INTEGER" +
         memory_columns +
         ");"
         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(160,200,1,7,7,4096,1" +
         memory_values + ");";
}

std::map<std::string, Span> ByName(const Trace& trace) {
  std::map<std::string, Span> spans;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    for (const Span& span : trace.Spans(ThreadId{i}))
      spans[std::string(trace.String(span.name))] = span;
  }
  return spans;
}

TEST(NsightTest, ReadsCallsCopiesKernelsAndRanges) {
  const ImportedDatabase imported = ImportDatabase(
      kStrings + Activity(", srcKind INTEGER, dstKind INTEGER", ",1,2") +
      "CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER, name TEXT, label TEXT);"
      "INSERT INTO ENUM_CUDA_MEM_KIND VALUES(0,'P','Pageable'),(1,'N','Pinned'),(2,'D','Device');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, "
      "streamId "
      "INTEGER, correlationId INTEGER, demangledName INTEGER, shortName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(210,260,1,7,8,2,2);"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId "
      "INTEGER,"
      " globalTid INTEGER, domainId INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES(10,90,59,NULL,5," +
      std::to_string(kThread) +
      ",0),"
      "(95,NULL,59,'open',NULL," +
      std::to_string(kThread) + ",0),(96,NULL,33,'mark',NULL," + std::to_string(kThread) +
      ",0);"
      "CREATE TABLE ThreadNames(nameId INTEGER, globalTid INTEGER);"
      "INSERT INTO ThreadNames VALUES(4," +
      std::to_string(kThread) +
      ");"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000000000);");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  const Trace& trace = *imported.trace;
  const auto spans = ByName(trace);
  EXPECT_EQ(spans.at("H2D pinned").stage, StageId::kH2d);
  EXPECT_EQ(spans.at("H2D pinned").bytes.value, 4096u);
  EXPECT_EQ(wire::CorrelationOf(spans.at("cudaMemcpyAsync").sample), 7u);
  EXPECT_EQ(spans.at("cudaStreamSynchronize").stage, StageId::kSync);
  EXPECT_EQ(spans.at("gemm<float>").duration.value, 50);
  EXPECT_NE(spans.at("open").flags & wire::kFlagUnfinished, 0);
  EXPECT_EQ(imported.summary.batches, 1u);
  EXPECT_EQ(imported.summary.left_out.at("NVTX marks, domains and categories"), 1u);
  EXPECT_EQ(trace.realtime_offset().value, 1'700'000'000'000'000'000);
  bool named = false, lane = false;
  for (const ThreadInfo& thread : trace.threads()) {
    named = named || (thread.tid == 41 && thread.name == "pt_main_thread");
    lane = lane ||
           (thread.tid == wire::LaneOf(1, 7) && trace.processes()[thread.process.value].pid == 40);
  }
  EXPECT_TRUE(named);
  EXPECT_TRUE(lane);
}

TEST(NsightTest, ColumnsThatAreNotThereAreNotKnown) {
  const ImportedDatabase imported = ImportDatabase(kStrings + Activity("", ""));
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_EQ(ByName(*imported.trace).count("H2D"), 1u);
}

TEST(NsightTest, KindsOfMemoryGoByTheirNames) {
  const ImportedDatabase imported = ImportDatabase(
      kStrings + Activity(", srcKind INTEGER, dstKind INTEGER", ",5,2") +
      "CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER, name TEXT, label TEXT);"
      "INSERT INTO ENUM_CUDA_MEM_KIND VALUES(5,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable');");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_EQ(ByName(*imported.trace).count("H2D pageable"), 1u);
}

TEST(NsightTest, StreamsOfTwoRanksAreTheirs) {
  const ImportedDatabase imported =
      ImportDatabase(kStrings + Activity("", "") +
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId "
                     "INTEGER, streamId "
                     "INTEGER, correlationId INTEGER, shortName INTEGER, globalPid INTEGER);"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(210,260,0,7,8,2," +
                     std::to_string(std::int64_t{40} << 24) + "),(210,270,0,7,8,2," +
                     std::to_string(std::int64_t{50} << 24) +
                     ");"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER); INSERT INTO "
                     "CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1),(2);");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  std::map<std::uint32_t, std::uint64_t> kernels;
  for (const ThreadInfo& thread : imported.trace->threads()) {
    if (thread.tid == wire::LaneOf(0, 7)) {
      kernels[imported.trace->processes()[thread.process.value].pid] += thread.spans;
    }
  }
  EXPECT_EQ(kernels, (std::map<std::uint32_t, std::uint64_t>{{40, 1}, {50, 1}}));
  EXPECT_EQ(imported.summary.left_out.at("rows of CUPTI_ACTIVITY_KIND_GRAPH_TRACE"), 2u);
}

TEST(NsightTest, AViewIsNoTable) {
  const ImportedDatabase imported =
      ImportDatabase("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);" + Activity("", "") +
                     "CREATE VIEW StringIds(id, value) AS WITH RECURSIVE c(x) AS (SELECT 1 UNION "
                     "ALL SELECT x+1 FROM "
                     "c) SELECT x, 'word' FROM c;");
  EXPECT_EQ(imported.trace, nullptr);
  EXPECT_THAT(imported.error, HasSubstr("StringIds"));
}

TEST(NsightTest, AnotherDatabaseIsRefused) {
  EXPECT_THAT(ImportDatabase("CREATE TABLE t(x); INSERT INTO t VALUES(1);").error,
              HasSubstr("none that nsys"));
  EXPECT_THAT(ImportDatabase(kStrings).error, HasSubstr("no spans"));
}

}  // namespace
}  // namespace penstock::traces
