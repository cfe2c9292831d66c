// SPDX-License-Identifier: Apache-2.0
#include "traces/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "tests/traces/support.h"
#include "traces/base/json_text.h"
#include "traces/base/program.h"
#include "traces/trace_builder.h"
#include "traces/validate.h"

namespace penstock::traces {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<Trace> OneSpan() {
  TraceBuilder builder;
  ProcessInfo process;
  process.pid = 10;
  process.role = wire::kRoleWorker;
  process.worker_id = 2;
  const ThreadId thread =
      builder.AddThread({.process = builder.AddProcess(process), .tid = 11, .name = "w"});
  Span span;
  span.start.value = 100;
  span.duration.value = 20;
  span.stage = StageId::kDecode;
  span.name = builder.Intern("jpeg");
  span.object = builder.Intern("/data/a \"b\",\nc.jpg");
  span.bytes.value = 5;
  span.sample = 7;
  span.batch = {3, 1};
  span.depth = 2;
  builder.AddSpan(thread, span);
  builder.AddEvent({.at = TimeNs{130},
                    .thread = thread,
                    .batch = {3, 1},
                    .value = 9,
                    .type = EventType::kBatchPut});
  builder.SetFact("host", "h");
  return builder.Build();
}

using Export = bool (*)(const Trace& trace, const TextSink& sink);

std::string Exported(Export format, const Trace& trace) {
  std::string text;
  EXPECT_TRUE(format(trace, [&text](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

TEST(ExportTest, ASpanIsOneJsonObjectWithAllItsFields) {
  const std::string text = Exported(&ExportJsonLines, *OneSpan());
  EXPECT_THAT(
      text,
      HasSubstr("{\"type\":\"span\",\"stage\":\"decode\",\"name\":\"jpeg\","
                "\"object\":\"/data/a \\\"b\\\",\\nc.jpg\",\"start_ns\":100,\"duration_ns\":20,"
                "\"cpu_ns\":null,\"busy_ns\":20,\"bytes\":5,\"sample\":7,\"batch\":3,"
                "\"generation\":1,\"flags\":0,\"depth\":2,\"pid\":10,\"tid\":11,"
                "\"role\":\"worker\",\"worker_id\":2}\n"));
}

TEST(ExportTest, JsonLinesHoldEveryKindOfThing) {
  const std::string text = Exported(&ExportJsonLines, *OneSpan());
  for (const char* type : {"losses", "fact", "process", "thread", "span", "event"}) {
    EXPECT_THAT(text, HasSubstr(std::string("{\"type\":\"") + type + "\"")) << type;
  }
}

TEST(ExportTest, ACsvFieldWithACommaIsQuoted) {
  const std::string text = Exported(&ExportCsv, *OneSpan());
  EXPECT_THAT(text, StartsWith("stage,name,object,start_ns"));
  EXPECT_THAT(text, HasSubstr("decode,jpeg,\"/data/a \"\"b\"\",\nc.jpg\",100,20,,20,5,7,3,1,10,11,"
                              "worker,2,0,2\n"));
}

TEST(ExportTest, ACsvFieldIsNoFormulaAndMovesNoCursor) {
  const auto field = [](std::string_view text) {
    std::string out;
    AppendCsv(out, text);
    return out;
  };
  for (const char* text : {"=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(1)"}) {
    EXPECT_EQ(field(text), std::string("'") + text);
  }
  EXPECT_EQ(field("\t=1"), "'\t=1");
  EXPECT_EQ(field("\r=1"), "'\\x0d=1");
  EXPECT_EQ(field("=HYPERLINK(\"a\",\"b\")"), "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"");
  EXPECT_EQ(field("-0.5"), "-0.5");  // numbers stay numbers
  EXPECT_EQ(field("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(field("a\xc2\x9b"
                  "31m"),
            "a\\xc2\\x9b31m");  // C1 as UTF-8
  EXPECT_EQ(field("a\x9b"
                  "31m"),
            "a\\x9b31m");                                             // C1 as a byte
  EXPECT_EQ(field("gpj\xe2\x80\xae.exe"), "gpj\\xe2\\x80\\xae.exe");  // right to left from here on
  EXPECT_EQ(field("\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80"), "\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80");
}

TEST(ExportTest, TextForATerminalIsOneLineThatShowsWhatItHolds) {
  EXPECT_EQ(VisibleText("a\x1b]0;t\x07\nb\xc2\x85"
                        "c\xff"),
            "a\\x1b]0;t\\x07\\x0ab\\xc2\\x85"
            "c\\xff");
  EXPECT_EQ(VisibleText("/data/\xc3\xa4 b.jpg"), "/data/\xc3\xa4 b.jpg");
}

TEST(ExportTest, AWrongArgumentIsShownInOneLine) {
  CommandLine line("A program.", "program");
  std::string name = "program";
  std::string wrong = "a\nb\x1b[2J";
  std::array<char*, 2> argv = {name.data(), wrong.data()};
  int status = 0;
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(ParseCommandLine(line, 2, argv.data(), &status));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("a\\x0ab\\x1b[2J"));
  EXPECT_EQ(status, 2);
}

TEST(ExportTest, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  std::string out;
  AppendJson(out, "a\xff\xc3\xa4\xc3\x01");
  EXPECT_EQ(out, "\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\\u0001\"");
}

TEST(ExportTest, ASinkThatFailsStopsTheExport) {
  int calls = 0;
  EXPECT_FALSE(ExportJsonLines(*OneSpan(), [&calls](std::string_view) {
    ++calls;
    return false;
  }));
  EXPECT_EQ(calls, 1);
}

TEST(ValidateTest, SpansWithoutTheirNameAreCountedAndNotSound) {
  const testing::TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  const ThreadId thread = (*packer)->AddThread({.process = (*packer)->AddProcess({}), .tid = 1});
  const StringId whole = (*packer)->Intern("/data/whole.jpg");
  const StringId lost = (*packer)->Intern("#0123456789abcdef");  // stands for a missing text
  for (int i = 0; i < 10; ++i) {
    Span span;
    span.start.value = 10 * i;
    span.object = i < 3 ? lost : i < 8 ? whole : StringId{};
    (*packer)->AddSpan(thread, span);
  }
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto report = ValidateTrace(folder / "t");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->named, 8u);
  EXPECT_EQ(report->nameless, 3u);
  EXPECT_FALSE(report->sound());
  EXPECT_THAT(report->problems, ::testing::ElementsAre(::testing::HasSubstr("for 3 of 8 spans")));
}

TEST(ValidateTest, ASoundRecordingHasNoProblems) {
  const testing::TempFolder folder;
  RecordingWriter recording = testing::SmallRecording();
  testing::WriteFile(folder / "r", testing::Bytes(recording));
  const auto report = ValidateTrace(folder / "r");
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->sound());
  EXPECT_EQ(report->kind, ValidationReport::Kind::kRecording);
  EXPECT_EQ(report->spans, 19u);
  EXPECT_EQ(report->unfinished, 1u);
  EXPECT_EQ(report->major, 1u);
}

TEST(ValidateTest, DamageIsReported) {
  const testing::TempFolder folder;
  RecordingWriter recording = testing::SmallRecording();
  std::vector<std::byte> bytes = testing::Bytes(recording);
  bytes[wire::kHeaderSize + wire::kChunkHeaderSize + 30] ^= std::byte{1};
  testing::WriteFile(folder / "r", bytes);
  const auto report = ValidateTrace(folder / "r");
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->sound());
  EXPECT_THAT(ToJson(*report), HasSubstr("\"sound\":false"));
}

}  // namespace
}  // namespace penstock::traces
