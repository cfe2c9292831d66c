// SPDX-License-Identifier: Apache-2.0
//
// Files of other tools that are cut off, or whose numbers are at the limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/traces/support.h"
#include "traces/exchange/formats.h"
#include "traces/exchange/import.h"
#include "traces/trace.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

struct LimitedImport {
  std::unique_ptr<Trace> trace;
  ImportSummary summary;
  std::string error;
};

LimitedImport ImportLimited(std::string_view text) {
  const testing::TempFolder folder;
  testing::WriteFile(folder / "file", std::as_bytes(std::span(text.data(), text.size())));
  auto summary = ImportTrace(folder / "file", folder / "imported.penstock");
  if (!summary) return {nullptr, {}, summary.error().message};
  auto trace = OpenTrace(folder / "imported.penstock");
  EXPECT_TRUE(trace.has_value());
  return {std::move(*trace), *summary, ""};
}

// The names of all spans, thread by thread.
std::vector<std::string> SpanNames(const Trace& trace) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    for (const Span& span : trace.Spans(ThreadId{i})) names.emplace_back(trace.String(span.name));
  }
  return names;
}

TEST(ImportLimitsTest, ASpanThatIsTooLongCostsNoOtherSpanOfItsBlock) {
  // The start of the event "late" and its duration are each the largest number that is accepted. So
  // the event ends later than a trace can express.
  const LimitedImport imported = ImportLimited(R"([
      {"ph":"B","name":"open","pid":1,"tid":1,"ts":5},
      {"ph":"X","name":"late","pid":1,"tid":1,"ts":2251799813685248,"dur":2251799813685248},
      {"ph":"X","name":"good","pid":1,"tid":1,"ts":10,"dur":1}])");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_FALSE(imported.trace->losses().any());
  EXPECT_THAT(SpanNames(*imported.trace), ElementsAre("open", "good"));
  EXPECT_EQ(imported.trace->end().value, 11'000);
  EXPECT_THAT(imported.summary.left_out, Contains(Key("events with impossible times")));
}

std::string OneEvent(std::string_view name) {
  return R"({"ph":"X","cat":"c","name":")" + std::string(name) +
         R"(","args":{"a":["]"]},"pid":1,"tid":1,"ts":1,"dur":1})";
}

TEST(ImportLimitsTest, AnArrayWithoutItsEndLosesNoWholeEvent) {
  const std::string a = OneEvent("a"), b = OneEvent("{,\\\"[");
  for (const std::string& text :
       {"[" + a + "," + b, "[\n" + a + ",\n" + b + "\n", "[\r\n" + a + ",\r\n" + b + ",\r\n"}) {
    const LimitedImport imported = ImportLimited(text);
    ASSERT_NE(imported.trace, nullptr) << imported.error;
    EXPECT_THAT(SpanNames(*imported.trace), UnorderedElementsAre("a", "{,\"[")) << text;
    EXPECT_THAT(imported.summary.left_out, IsEmpty()) << text;
  }
}

TEST(ImportLimitsTest, AnArrayThatIsDamagedBeforeItsLastEventIsRefused) {
  const std::string a = OneEvent("a");
  const LimitedImport imported = ImportLimited("[\n" + a + ",\n{\"ph\":\n" + a + ",\n{\"ph\"");
  EXPECT_EQ(imported.trace, nullptr);
  EXPECT_THAT(imported.error, HasSubstr("malformed JSON"));
}

TEST(ImportLimitsTest, AnArrayWithItsCommasInFrontIsNoFileOfLines) {
  const LimitedImport imported =
      ImportLimited("[\n" + OneEvent("a") + "\n," + OneEvent("b") + "\n]\n");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  EXPECT_EQ(imported.summary.format, "Chrome trace");
  EXPECT_EQ(imported.summary.spans, 2u);
}

// A thread may be known only by the low half of its pthread_t. The highest bit of that half is set
// in about every second thread.
TEST(ImportLimitsTest, AThreadWithALargeNumberIsNoStreamOfADevice) {
  const LimitedImport imported = ImportLimited(R"({"traceEvents":[
      {"ph":"X","name":"a","pid":1,"tid":3265777408,"ts":5,"dur":1},
      {"ph":"X","name":"b","pid":1,"tid":3265777409,"ts":5,"dur":1}]})");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  ASSERT_EQ(imported.trace->threads().size(), 2u);
  const ThreadInfo& a = imported.trace->threads()[0];
  const ThreadInfo& b = imported.trace->threads()[1];
  EXPECT_FALSE(wire::IsDeviceLane(a.tid));
  EXPECT_FALSE(wire::IsDeviceLane(b.tid));
  EXPECT_NE(a.tid, b.tid);
}

TEST(ImportLimitsTest, AStreamOfOurOwnExportStaysAStream) {
  TraceBuilder builder;
  const ThreadId lane =
      builder.AddThread({.process = builder.AddProcess({}), .tid = wire::LaneOf(1, 7)});
  Span span;
  span.start.value = 10;
  span.duration.value = 10;
  span.stage = StageId::kKernel;
  builder.AddSpan(lane, span);
  const auto trace = builder.Build();
  for (const char* format : {"chrome", "perfetto"}) {
    const testing::TempFolder folder;
    ASSERT_TRUE(ExportToFile(*trace, *FindExportFormat(format), folder / "f"));
    const auto imported = ImportTrace(folder / "f", folder / "back.penstock");
    ASSERT_TRUE(imported.has_value()) << format;
    const auto back = OpenTrace(folder / "back.penstock");
    ASSERT_TRUE(back.has_value());
    ASSERT_EQ((*back)->threads().size(), 1u) << format;
    EXPECT_EQ((*back)->threads()[0].tid, wire::LaneOf(1, 7)) << format;
  }
}

TEST(ImportLimitsTest, AProcessThatIsDescribedTwiceHasItsCommandOnce) {
  TraceBuilder builder;
  ProcessInfo process;
  process.pid = 4;
  process.command = {"python", "train.py"};
  const ThreadId thread = builder.AddThread({.process = builder.AddProcess(process), .tid = 4});
  Span span;
  span.start.value = 10;
  span.duration.value = 10;
  span.stage = StageId::kRead;
  builder.AddSpan(thread, span);
  const testing::TempFolder folder;
  ASSERT_TRUE(ExportToFile(*builder.Build(), *FindExportFormat("perfetto"), folder / "f"));
  std::vector<std::byte> twice = testing::ReadFile(folder / "f");
  const std::vector<std::byte> once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  testing::WriteFile(folder / "f", twice);
  ASSERT_TRUE(ImportTrace(folder / "f", folder / "back.penstock").has_value());
  const auto back = OpenTrace(folder / "back.penstock");
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ((*back)->processes().size(), 1u);
  EXPECT_EQ((*back)->processes()[0].command, process.command);
}

TEST(ImportLimitsTest, OurOwnEventsKeepTheirValuesWhenAnotherToolSortsTheirKeys) {
  const LimitedImport imported = ImportLimited(R"({"penstockTrace":1,"traceEvents":[
      {"args":{"batch":4,"epoch":1,"value":77},"cat":"order","name":"batch_put","ph":"i","pid":1,
       "s":"t","tid":1,"ts":5},
      {"args":{"batch":4},"cat":"fetch","dur":1,"name":"fetch","ph":"X","pid":1,
       "tid":1,"ts":4}]})");
  ASSERT_NE(imported.trace, nullptr) << imported.error;
  ASSERT_EQ(imported.trace->events().size(), 1u);
  EXPECT_EQ(imported.trace->events()[0].value, 77);
  EXPECT_EQ(imported.trace->events()[0].batch.index, 4u);
}

TEST(ImportLimitsTest, ANameOfMegabytesIsCut) {
  TraceBuilder builder;
  Foreign into(builder);
  const std::string large(1'000'000, 'x');
  into.NameProcess("1", large);
  into.NameThread("1", "2", large);
  static_cast<void>(into.Thread(large, large));
  into.Finish();
  const auto trace = builder.Build();
  for (const ProcessInfo& process : trace->processes()) EXPECT_EQ(process.comm.size(), 4096u);
  for (const ThreadInfo& thread : trace->threads()) EXPECT_EQ(thread.name.size(), 4096u);
}

}  // namespace
}  // namespace penstock::traces
