// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/paths.h"
#include "tests/traces/call_tree_maker.h"
#include "tests/traces/support.h"
#include "traces/exchange/formats.h"
#include "traces/trace.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

struct Imported {
  std::unique_ptr<Trace> trace;
  ImportSummary summary;
  std::string error;
};

void Put(const std::filesystem::path& path, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  testing::WriteFile(path, {bytes.begin(), bytes.end()});
}

Imported ImportFile(const testing::TempFolder& folder, const std::filesystem::path& from) {
  const std::filesystem::path to = folder / "imported.penstock";
  std::filesystem::remove(to);  // the file of an earlier import
  auto summary = ImportTrace(from, to);
  if (!summary) {
    EXPECT_FALSE(std::filesystem::exists(to));
    EXPECT_FALSE(std::filesystem::exists(to.string() + ".part"));
    return {nullptr, {}, summary.error().message};
  }
  auto trace = OpenTrace(to);
  EXPECT_TRUE(trace.has_value());
  return {std::move(*trace), *summary, ""};
}

Imported ImportText(std::string_view text) {
  const testing::TempFolder folder;
  Put(folder / "file", text);
  return ImportFile(folder, folder / "file");
}

// The fields of a span that must come back from both formats, Chrome's and Perfetto's.
using Row =
    std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t, std::int64_t,
               std::uint64_t, std::int64_t, std::uint32_t, std::uint32_t, std::uint32_t>;

std::vector<Row> Rows(const Trace& trace) {
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const ThreadInfo& thread = trace.threads()[i];
    for (const Span& span : trace.Spans(ThreadId{i})) {
      rows.emplace_back(StageName(span.stage), trace.String(span.name), trace.String(span.object),
                        span.start.value, span.duration.value, span.cpu.value, span.bytes.value,
                        std::max(wire::kNoSample, span.sample), span.batch.index,
                        trace.processes()[thread.process.value].pid, thread.tid);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(RoundTripTest, WhatWeExportComesBack) {
  const testing::TempFolder folder;
  for (const std::string sample : {"v1.penstock", "v1.recording"}) {
    const auto original = OpenTrace(std::string(paths::kSamples) + "/" + sample);
    ASSERT_TRUE(original);
    for (const char* format : {"chrome", "perfetto"}) {
      for (const char* ending : {"", ".gz"}) {
        const std::filesystem::path file = folder / (std::string(format) + ending);
        ASSERT_TRUE(ExportToFile(**original, *FindExportFormat(format), file));
        const Imported back = ImportFile(folder, file);
        ASSERT_NE(back.trace, nullptr) << back.error;
        EXPECT_EQ(Rows(*back.trace), Rows(**original)) << sample << " by " << format;
        EXPECT_EQ(back.trace->events().size(), (*original)->events().size()) << format;
        EXPECT_EQ(back.trace->counters().size(), (*original)->counters().size()) << format;
        EXPECT_EQ(back.trace->realtime_offset().value, (*original)->realtime_offset().value);
        std::map<std::uint32_t, std::string_view> roles, wanted;
        for (const ProcessInfo& process : back.trace->processes()) {
          roles[process.pid] = RoleName(process.role);
        }
        for (const ProcessInfo& process : (*original)->processes()) {
          wanted[process.pid] = RoleName(process.role);
        }
        EXPECT_EQ(roles, wanted) << format;
      }
    }
  }
}

// A file with two batches of a loader, one copy and one kernel. The arguments are the parts that
// differ between versions of PyTorch: the head of the file, four categories, the tid of a stream.
std::string Kineto(std::string_view top, std::string_view loop, std::string_view runtime,
                   std::string_view copy, std::string_view kernel, std::string_view stream) {
  return fmt::format(R"j({{{}"deviceProperties":[{{"id":0,"name":"A100","numSms":108}}],
    "distributedInfo":{{"rank":3,"world_size":8}},"traceEvents":[
    {{"ph":"M","name":"process_name","pid":77,"tid":0,"args":{{"name":"python"}}}},
    {{"ph":"X","cat":"{}","name":"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
      "pid":77,"tid":78,"ts":1000.125,"dur":20,"args":{{"External id":5,"Input Dims":[[],[2]]}}}},
    {{"ph":"X","cat":"{}","name":"cudaMemcpyAsync","pid":77,"tid":78,"ts":1030,"dur":4,
      "args":{{"correlation":9}}}},
    {{"ph":"X","cat":"{}","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":{},"ts":1031,
      "dur":7.5,"args":{{"device":0,"stream":7,"correlation":9,"bytes":4096}}}},
    {{"ph":"X","cat":"{}","name":"gemm","pid":0,"tid":{},"ts":1040,"dur":30,
      "args":{{"device":0,"stream":7,"correlation":10}}}},
    {{"ph":"X","cat":"{}","name":"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
      "pid":77,"tid":78,"ts":1100,"dur":1,"args":{{}}}},
    {{"ph":"i","name":"Record Window End","pid":"","tid":"","ts":1200,"s":"g"}}]}})j",
                     top, loop, runtime, copy, stream, kernel, stream, loop);
}

void CheckKineto(const Imported& imported) {
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  const Trace& trace = *imported.trace;
  EXPECT_EQ(imported.summary.batches, 2u);
  const std::vector<Row> rows = Rows(trace);
  ASSERT_EQ(rows.size(), 5u);
  std::map<std::string, Row> by_stage;
  for (const Row& row : rows) by_stage[std::get<0>(row)] = row;
  EXPECT_EQ(std::get<1>(by_stage["h2d"]), "H2D pageable");
  EXPECT_EQ(std::get<3>(by_stage["h2d"]), 1'031'000);
  EXPECT_EQ(std::get<4>(by_stage["h2d"]), 7'500);
  EXPECT_EQ(std::get<6>(by_stage["h2d"]), 4096u);
  EXPECT_EQ(std::get<9>(by_stage["h2d"]), 77u);  // the stream belongs to the process that called
  EXPECT_EQ(std::get<10>(by_stage["h2d"]), wire::LaneOf(0, 7));
  EXPECT_EQ(std::get<1>(by_stage["kernel"]), "gemm");
  EXPECT_EQ(std::get<1>(by_stage["call"]), "cudaMemcpyAsync");
  EXPECT_EQ(std::get<10>(by_stage["wait"]), 78u);
  EXPECT_EQ(trace.facts().at("gpu.model"), "A100");
  std::size_t delivered = 0;
  for (const Event& event : trace.events()) delivered += event.type == EventType::kBatchDelivered;
  EXPECT_EQ(delivered, 2u);
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    for (const Span& span : trace.Spans(ThreadId{i})) {
      if (span.stage != StageId::kH2d && span.stage != StageId::kCall) continue;
      EXPECT_EQ(wire::CorrelationOf(span.sample), 9u);
    }
  }
}

TEST(KinetoTest, ReadsThreeYearsOfDialects) {
  CheckKineto(ImportText(
      Kineto("\"schemaVersion\":1,", "Operator", "Runtime", "Memcpy", "Kernel", "\"stream 7\"")));
  CheckKineto(ImportText(
      Kineto("\"schemaVersion\":1,", "cpu_op", "cuda_runtime", "gpu_memcpy", "kernel", "7")));
  const Imported newest =
      ImportText(Kineto("\"schemaVersion\":1,\"baseTimeNanoseconds\":1700000000000000000,",
                        "user_annotation", "cuda_driver", "gpu_memcpy", "kernel", "7"));
  CheckKineto(newest);
  EXPECT_EQ(newest.trace->realtime_offset().value, 1'700'000'000'000'000'000);
}

TEST(KinetoTest, AFractionOfAMicrosecondIsNotLostInALargeDate) {
  const Imported imported = ImportText(
      R"([{"ph":"X","name":"a","pid":"Spans","tid":"x","ts":1661203462599123.457,"dur":0.25}])");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  const std::vector<Row> rows = Rows(*imported.trace);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(std::get<3>(rows[0]), 1'661'203'462'599'123'457);
  EXPECT_EQ(std::get<4>(rows[0]), 250);
  EXPECT_EQ(imported.trace->processes()[0].comm, "Spans");
}

TEST(ChromeTest, PairsBeginsWithEndsAndCountsWhatItLeavesOut) {
  const Imported imported = ImportText(R"({"traceEvents":[
      {"ph":"B","name":"outer","cat":"c","pid":1,"tid":2,"ts":10},
      {"ph":"B","name":"inner","cat":"c","pid":1,"tid":2,"ts":20},
      {"ph":"E","pid":1,"tid":2,"ts":30},
      {"ph":"E","pid":1,"tid":2,"ts":50},
      {"ph":"E","pid":1,"tid":2,"ts":60},
      {"ph":"B","name":"open","cat":"c","pid":1,"tid":2,"ts":70},
      {"ph":"C","name":"memory","pid":1,"ts":80,"args":{"used":5,"free":7}},
      {"ph":"b","name":"async","id":1,"pid":1,"tid":2,"ts":90},
      {"ph":"X","name":"wrong","pid":1,"tid":2,"ts":-5,"dur":3}]})");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  const std::vector<Row> rows = Rows(*imported.trace);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(std::get<1>(rows[0]), "inner");
  EXPECT_EQ(std::get<4>(rows[0]), 10'000);
  EXPECT_EQ(std::get<1>(rows[1]), "open");
  EXPECT_EQ(std::get<4>(rows[1]), 20'000);  // it lasts to the latest time in the file
  EXPECT_EQ(std::get<4>(rows[2]), 40'000);
  EXPECT_EQ(imported.trace->counters().size(), 2u);
  EXPECT_THAT(imported.summary.left_out, Contains(Key("ends without a begin")));
  EXPECT_THAT(imported.summary.left_out, Contains(Key("asynchronous and other events")));
  EXPECT_THAT(imported.summary.left_out, Contains(Key("events without a time")));
}

TEST(ChromeTest, LongTextIsReadWhereverItStands) {
  const std::string large(100'000, 'x');
  const Imported imported = ImportText(
      R"([{"args":{"name":")" + large + R"(","value":")" + large + R"("},"ph":"C","name":")" +
      large +
      R"(","pid":1,"ts":1},{"args":{"bytes":7,"stream":3,"device":0},"ph":"X","cat":"kernel","name":")" +
      large + R"(","pid":0,"tid":3,"ts":1,"dur":1}])");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  const std::vector<Row> rows = Rows(*imported.trace);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(std::get<1>(rows[0]), large);
  EXPECT_EQ(std::get<6>(rows[0]), 7u);
}

TEST(ChromeTest, AnArrayWithoutItsEndIsReadToItsLastWholeEvent) {
  const std::string line = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},)";
  const Imported imported = ImportText("[\n" + line + "\n" + line + "\n{\"ph\":\"X\",\"na");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_EQ(imported.summary.spans, 2u);
  EXPECT_THAT(imported.summary.left_out, Contains(Key("the last event, which is cut off")));
}

TEST(ChromeTest, TimesThatCannotBeAreLeftOut) {
  const Imported imported =
      ImportText(R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":8e15,"dur":8e15},
      {"ph":"X","name":"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__","pid":1,"tid":1,
       "ts":99999999999999999999,"dur":1},
      {"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1}])");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_EQ(imported.summary.spans, 1u);
  EXPECT_EQ(imported.summary.batches, 0u);
  EXPECT_TRUE(imported.trace->events().empty());
}

TEST(RoundTripTest, LossesComeBack) {
  TraceBuilder builder;
  ProcessInfo process;
  process.pid = 4;
  ThreadInfo info;
  info.process = builder.AddProcess(process);
  const ThreadId thread = builder.AddThread(info);
  Span span;
  span.start.value = 10;
  span.duration.value = 10;
  span.stage = StageId::kRead;
  builder.AddSpan(thread, span);
  Losses losses;
  losses.dropped_events = 12;
  losses.damaged_bytes = 34;
  builder.SetLosses(losses);
  const auto trace = builder.Build();
  for (const char* format : {"chrome", "perfetto"}) {
    const testing::TempFolder folder;
    ASSERT_TRUE(ExportToFile(*trace, *FindExportFormat(format), folder / "f"));
    const Imported back = ImportFile(folder, folder / "f");
    ASSERT_NE(back.trace, nullptr) << back.error;
    EXPECT_EQ(back.trace->losses().dropped_events, 12u) << format;
    EXPECT_EQ(back.trace->losses().damaged_bytes, 34u) << format;
  }
}

TEST(ImportTest, LeavesFollowedCallsOfOurOwnExportOut) {
  TraceBuilder builder;
  const ThreadId thread = builder.AddThread({.process = builder.AddProcess({}), .tid = 11});
  Span span;
  span.start.value = 1000;
  span.duration.value = 50'000;
  span.stage = StageId::kSample;
  builder.AddSpan(thread, span);
  UnitRow unit;
  unit.at = TimeNs{2000};
  unit.duration = TimeNs{40'000};
  unit.stage = StageId::kSample;
  unit.thread = thread;
  testing::FollowedUnit followed(unit);
  followed.Function("load", "/a/data.py", 50, {TimeNs{30'000}, TimeNs{30'000}});
  followed.AddTo(builder);
  const testing::TempFolder folder;
  ASSERT_TRUE(ExportToFile(*builder.Build(), *FindExportFormat("perfetto"), folder / "f"));
  const Imported back = ImportFile(folder, folder / "f");
  ASSERT_NE(back.trace, nullptr) << back.error;
  EXPECT_EQ(back.trace->threads().size(), 1u);
  EXPECT_EQ(back.trace->span_count(), 1u);
}

TEST(ImportTest, SaysWhatIsWrongWithAFile) {
  const std::string good =
      R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},)";
  EXPECT_THAT(ImportText(good + R"({"ph":"X" "name":"b"}]})").error, HasSubstr("offset"));
  EXPECT_THAT(ImportText(good).error, HasSubstr("malformed JSON"));
  EXPECT_THAT(ImportText("PK\x03\x04").error, HasSubstr("is none of"));
  EXPECT_THAT(ImportText("").error, HasSubstr("is empty"));
  EXPECT_THAT(ImportText("{}").error, HasSubstr("no spans"));
  EXPECT_THAT(ImportText("\x1f\x8b garbage").error, HasSubstr("gzip at offset"));
  EXPECT_THAT(ImportText("SQLite format 3").error, HasSubstr("nsys"));
}

TEST(ImportTest, EveryCutOfAFileIsRefusedOrRead) {
  const testing::TempFolder folder;
  const auto original = OpenTrace(std::string(paths::kSamples) + "/v1.penstock");
  ASSERT_TRUE(original);
  for (const char* name : {"chrome", "perfetto", "chrome.gz"}) {
    const std::string format(name, std::string_view(name).find('.') == std::string_view::npos
                                       ? std::string_view(name).size()
                                       : std::string_view(name).find('.'));
    ASSERT_TRUE(ExportToFile(**original, *FindExportFormat(format), folder / name));
    const auto size = std::filesystem::file_size(folder / name);
    int refused = 0;
    for (std::uintmax_t part = 0; part < 40; ++part) {
      std::filesystem::copy_file(folder / name, folder / "cut",
                                 std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(folder / "cut", size * part / 40);
      const Imported imported = ImportFile(folder, folder / "cut");
      refused += imported.trace == nullptr;
      EXPECT_NE(imported.trace == nullptr, imported.error.empty());
    }
    EXPECT_GE(refused, 30) << name;
  }
}

TEST(PfwTest, ReadsCallsFilesAndAiConventions) {
  const Imported imported = ImportText(
      "[\n"
      R"({"id":0,"name":"HH","cat":"dftracer","pid":5,"tid":5,"ph":"M","args":{"hhash":"h","name":"node1","value":"h"}})"
      "\n"
      R"({"id":1,"name":"read","cat":"POSIX","pid":5,"tid":6,"ts":100,"dur":7,"ph":"X","args":{"hhash":"h","fhash":"f1","ret":512}})"
      "\n"
      R"({"id":2,"name":"FH","cat":"dftracer","pid":5,"tid":5,"ph":"M","args":{"hhash":"h","name":"/data/a.jpg","value":"f1"}})"
      "\n"
      R"({"id":3,"name":"fetch.iter","cat":"dataloader","type":1,"pid":5,"tid":5,"ts":200,"dur":9,"ph":1,"args":{"hhash":"h"}})"
      "\n"
      R"({"id":7,"name":"fetch.yield","cat":"dataloader","type":1,"pid":5,"tid":5,"ts":210,"dur":4,"ph":1})"
      "\n"
      R"({"id":8,"name":"fread","cat":"STDIO","pid":5,"tid":6,"ts":130,"dur":2,"ph":"X","args":{"fname":"/data/b.jpg","ret":3}})"
      "\n"
      R"({"id":4,"name":"item","cat":"data","pid":5,"tid":6,"ts":90,"dur":30,"ph":"X","args":{"image_idx":"12"}})"
      "\n"
      R"({"id":5,"name":"open64","cat":"POSIX","pid":5,"tid":6,"ts":95,"dur":1,"ph":"X"})"
      "\n"
      R"({"id":6,"name":"cut)");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_EQ(imported.trace->facts().at("host"), "node1");
  std::map<std::string, Row> by_name;
  for (const Row& row : Rows(*imported.trace)) by_name[std::get<1>(row)] = row;
  EXPECT_EQ(std::get<2>(by_name["read"]), "/data/a.jpg");  // the line with the path comes later
  EXPECT_EQ(std::get<6>(by_name["read"]), 512u);
  EXPECT_EQ(std::get<3>(by_name["read"]), 100'000);
  EXPECT_EQ(std::get<2>(by_name["fread"]), "/data/b.jpg");
  EXPECT_EQ(std::get<0>(by_name["item"]), "sample");
  EXPECT_EQ(std::get<7>(by_name["item"]), 12);
  EXPECT_EQ(std::get<2>(by_name["open64"]), "POSIX");
  EXPECT_EQ(std::get<0>(by_name["fetch.yield"]), "step");  // the work on the batch
  EXPECT_EQ(imported.summary.batches, 1u);
  EXPECT_THAT(imported.summary.left_out, Contains(Key("a last line that is cut off")));
}

TEST(PfwTest, BlanksBeforeAnEventDoNotMatterAndImpossibleTimesAreLeftOut) {
  const Imported imported = ImportText(
      R"([ {"name":"read","cat":"POSIX","pid":5,"tid":6,"ts":100,"dur":7,"ph":"X"})"
      "\n"
      R"(  {"name":"mmap64","cat":"POSIX","pid":5,"tid":6,"ts":110.5,"dur":7,"ph":"X"})"
      "\n"
      R"({"name":"before","cat":"POSIX","pid":5,"tid":6,"ts":"-0.5","dur":7,"ph":"X"})"
      "\n"
      R"({"name":"letters","cat":"POSIX","pid":5,"tid":6,"ts":"120.5abc","dur":7,"ph":"X"})"
      "\n");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  std::map<std::string, Row> by_name;
  for (const Row& row : Rows(*imported.trace)) by_name[std::get<1>(row)] = row;
  EXPECT_EQ(by_name.size(), 2u);
  EXPECT_EQ(std::get<0>(by_name["read"]), "read");
  EXPECT_EQ(std::get<0>(by_name["mmap64"]), "read");
  EXPECT_EQ(std::get<3>(by_name["mmap64"]), 110'500);
  EXPECT_THAT(imported.summary.left_out, Contains(Key("events without a start or a duration")));
}

TEST(KinetoTest, AThreadWithoutANumberIsNamedByWhatItDoes) {
  const Imported imported = ImportText(R"json({"traceEvents": [
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": -1029147072,
     "args": {"name": "thread -1029147072 (python)"}},
    {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": -1029147072, "ts": 10, "dur": 5,
     "name": "autograd::engine::evaluate_function: AddBackward0"},
    {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": -99, "ts": 10, "dur": 5, "name": "aten::add"},
    {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": 7, "ts": 10, "dur": 5, "name": "aten::mm"}
  ]})json");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  std::vector<std::string> names;
  for (const ThreadInfo& thread : imported.trace->threads()) {
    if (thread.spans > 0) names.push_back(thread.name);
  }
  EXPECT_THAT(names, Contains("backward pass (autograd)"));
  for (const std::string& name : names) EXPECT_EQ(name.find('-'), std::string::npos) << name;
}

}  // namespace
}  // namespace penstock::traces
