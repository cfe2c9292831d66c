// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/formats.h"

#include <zlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "tests/traces/support.h"
#include "traces/exchange/gzip.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Trace> Small(const testing::TempFolder& folder) {
  RecordingWriter recording = testing::SmallRecording();
  testing::WriteFile(folder / "r", testing::Bytes(recording));
  auto trace = OpenTrace(folder / "r");
  EXPECT_TRUE(trace.has_value());
  return std::move(*trace);
}

// A trace with followed calls.
std::unique_ptr<Trace> Followed(const testing::TempFolder& folder) {
  RecordingWriter recording = testing::FollowedRecording();
  testing::WriteFile(folder / "r", testing::Bytes(recording));
  auto trace = OpenTrace(folder / "r");
  EXPECT_TRUE(trace.has_value());
  return std::move(*trace);
}

std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Unpacked(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text(1 << 20, 0);
  const int size = gzread(file, text.data(), static_cast<unsigned>(text.size()));
  EXPECT_GE(size, 0);
  EXPECT_EQ(gzclose(file), Z_OK);
  text.resize(static_cast<std::size_t>(std::max(0, size)));
  return text;
}

TEST(FormatsTest, AreFoundByName) {
  EXPECT_EQ(FindExportFormat("xml"), nullptr);
  for (const ExportFormat& format : ExportFormats()) {
    EXPECT_EQ(FindExportFormat(format.name), &format);
    EXPECT_NE(format.stream == nullptr, format.file == nullptr) << format.name;
  }
}

TEST(FormatsTest, ATraceWithoutFollowedCallsLacksFunctions) {
  const testing::TempFolder folder;
  const auto small = Small(folder);
  for (const ExportFormat& format : ExportFormats()) {
    const bool functions = format.name == "speedscope" || format.name == "collapsed";
    EXPECT_EQ(LackFor(format, *small).empty(), !functions) << format.name;
  }
  const testing::TempFolder other;
  const auto followed = Followed(other);
  for (const ExportFormat& format : ExportFormats()) {
    EXPECT_EQ(LackFor(format, *followed), "") << format.name;
  }
}

TEST(FormatsTest, EveryFormatWritesAFileThatAppearsWhole) {
  const testing::TempFolder folder;
  const auto trace = Followed(folder);
  for (const ExportFormat& format : ExportFormats()) {
    const std::filesystem::path path = folder / std::string(format.name);
    ASSERT_TRUE(ExportToFile(*trace, format, path)) << format.name;
    EXPECT_GT(std::filesystem::file_size(path), 50u) << format.name;
    ASSERT_TRUE(ExportToFile(*trace, format, path)) << format.name;  // replaces the first file
  }
  const auto files = std::filesystem::directory_iterator(folder / "");
  EXPECT_EQ(std::distance(begin(files), end(files)),
            static_cast<std::ptrdiff_t>(ExportFormats().size() + 1));
}

TEST(FormatsTest, ANameThatEndsInGzIsCompressed) {
  const testing::TempFolder folder;
  const auto trace = Small(folder);
  const ExportFormat& pfw = *FindExportFormat("pfw");
  ASSERT_TRUE(ExportToFile(*trace, pfw, folder / "plain.pfw"));
  ASSERT_TRUE(ExportToFile(*trace, pfw, folder / "packed.pfw.gz"));
  EXPECT_EQ(Unpacked(folder / "packed.pfw.gz"), Contents(folder / "plain.pfw"));
  EXPECT_LT(std::filesystem::file_size(folder / "packed.pfw.gz"),
            std::filesystem::file_size(folder / "plain.pfw"));
  const auto refused = ExportToFile(*trace, *FindExportFormat("sqlite"), folder / "d.sqlite.gz");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
}

TEST(FormatsTest, WhatCannotBeWrittenIsAnError) {
  const testing::TempFolder folder;
  const auto trace = Small(folder);
  for (const ExportFormat& format : ExportFormats()) {
    const auto written = ExportToFile(*trace, format, folder / "missing" / "file");
    ASSERT_FALSE(written) << format.name;
    EXPECT_EQ(written.error().kind, ErrorKind::kOutput);
    EXPECT_THAT(written.error().message, HasSubstr("missing"));
    ASSERT_FALSE(ExportToFile(*trace, format, "/dev/full")) << format.name;
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(FormatsTest, ACollapsedStackIsALineThatEndsWithItsTime) {
  const testing::TempFolder folder;
  const auto trace = Followed(folder);
  std::string text;
  ASSERT_TRUE(ExportCollapsed(*trace, [&](std::string_view part) {
    text += part;
    return true;
  }));
  EXPECT_THAT(text, ::testing::MatchesRegex("((sample|collate|step)(;[^;\n]+)* [0-9]+\n)+"));
}

std::string Exported(const Trace& trace, std::string_view format) {
  std::string text;
  EXPECT_TRUE(FindExportFormat(format)->stream(trace, [&](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

TEST(FormatsTest, AWorkerOfAnyNumberComesAfterTheTrainingProcess) {
  TraceBuilder builder;
  ProcessInfo process;
  process.role = wire::kRoleWorker;
  process.worker_id = std::numeric_limits<std::int32_t>::max();
  static_cast<void>(builder.AddProcess(process));
  EXPECT_THAT(Exported(*builder.Build(), "chrome"), HasSubstr("\"sort_index\":2147483648}"));
}

TEST(FormatsTest, PfwLeavesOutTheDomainOfARange) {
  TraceBuilder builder;
  const ThreadId thread = builder.AddThread({.process = builder.AddProcess({}), .tid = 1});
  Span span;
  span.stage = StageId::kMark;
  span.name = builder.Intern("forward");
  span.object = builder.Intern("an NVTX domain");
  builder.AddSpan(thread, span);
  span.stage = StageId::kRead;
  span.object = builder.Intern("/data/a.jpg");
  builder.AddSpan(thread, span);
  const std::string text = Exported(*builder.Build(), "pfw");
  EXPECT_THAT(text, HasSubstr("forward"));
  EXPECT_THAT(text, HasSubstr("/data/a.jpg"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("domain")));
}

TEST(FormatsTest, ASinkThatFailsStopsEveryExport) {
  const testing::TempFolder folder;
  const auto trace = Followed(folder);
  for (const ExportFormat& format : ExportFormats()) {
    if (format.stream == nullptr) continue;
    int calls = 0;
    EXPECT_FALSE(format.stream(*trace, [&](std::string_view) {
      ++calls;
      return false;
    })) << format.name;
    EXPECT_EQ(calls, 1) << format.name;
  }
}

TEST(GzipTest, LargeTextComesBackWhole) {
  const testing::TempFolder folder;
  std::string text, packed;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 100'003);
  const TextSink sink = [&](std::string_view part) {
    packed += part;
    return true;
  };
  Gzip gzip(sink);
  for (std::size_t at = 0; at < text.size(); at += 1000) {
    ASSERT_TRUE(gzip.Write(std::string_view(text).substr(at, 1000)));
  }
  ASSERT_TRUE(gzip.Finish());
  std::ofstream(folder / "t.gz", std::ios::binary) << packed;
  EXPECT_EQ(Unpacked(folder / "t.gz"), text);
}

}  // namespace
}  // namespace penstock::traces
