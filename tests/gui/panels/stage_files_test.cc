// SPDX-License-Identifier: Apache-2.0
//
// The files of the slowest calls of a stage.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gui/model/panels/stage_cells.h"
#include "gui/model/panels/stages.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

TEST(StageFilesTest, TheFileOfACallWasReadInItsOwnProcess) {
  traces::TraceData data;
  for (std::uint32_t p = 0; p < 2; ++p) {  // two ranks whose batches have the same keys
    traces::ProcessInfo process;
    process.pid = 100 + p;
    process.role = wire::kRoleConsumer;
    data.processes.push_back(process);
    traces::ThreadInfo thread;
    thread.process = ProcessId{p};
    thread.tid = 100 + p;
    data.threads.push_back(thread);
    traces::Span read;
    read.start = TimeNs{1'000'000};
    read.duration = TimeNs{100};
    read.stage = StageId::kRead;
    read.batch = {3, 1};
    read.sample = 7;
    traces::Span decode = read;
    decode.start = TimeNs{1'000'200};
    decode.stage = StageId::kDecode;
    read.object = data.Intern("/data/" + std::to_string(p) + ".jpg");
    data.spans.push_back({read, decode});
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const Tail tail = FindTail({document.trace.get(), std::nullopt}, *document.analysis,
                             {.id = {StageId::kDecode, {}}});
  ASSERT_EQ(tail.calls.size(), 2U);
  for (const Call& call : tail.calls) {
    EXPECT_EQ(document.trace->String(call.file),
              "/data/" + std::to_string(call.thread.value) + ".jpg");
  }
}

struct FileStep {
  StageId stage;
  const char* file = nullptr;
  std::int64_t sample = wire::kNoSample;
};

// The files of the decodes among `steps` of one thread, in the order of the steps.
std::vector<std::string> FilesOfDecodes(const std::vector<FileStep>& steps) {
  traces::TraceData data;
  data.processes.emplace_back().pid = 100;
  data.threads.emplace_back().tid = 100;
  auto& spans = data.spans.emplace_back();
  for (const FileStep& step : steps) {
    traces::Span span;
    span.start = TimeNs{1'000'000 + 1'000 * static_cast<std::int64_t>(spans.size())};
    span.duration = TimeNs{900 - static_cast<std::int64_t>(spans.size())};
    span.stage = step.stage;
    span.sample = step.sample;
    if (step.sample != wire::kNoSample) span.batch = {3, 1};
    if (step.file != nullptr) span.object = data.Intern(step.file);
    spans.push_back(span);
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const Tail tail = FindTail({document.trace.get(), std::nullopt}, *document.analysis,
                             {.id = {StageId::kDecode, {}}});
  std::vector<std::string> files;
  for (const Call& call : tail.calls) {
    files.emplace_back(call.file.value == 0 ? "" : document.trace->String(call.file));
  }
  return files;
}

// A loop without a loader has no samples: it reads two files, an image and its label, then decodes.
TEST(StageFilesTest, ADecodeWithoutASampleIsOfTheOneFileThatItsThreadReadBefore) {
  const auto files = FilesOfDecodes({{StageId::kRead, "/data/a.jpg"},
                                     {StageId::kDecode},
                                     {StageId::kRead, "/data/b.jpg"},
                                     {StageId::kDecode},
                                     {StageId::kRead, "/data/c.jpg"},
                                     {StageId::kRead, "/data/c.txt"},
                                     {StageId::kDecode}});
  EXPECT_EQ(files, (std::vector<std::string>{"/data/a.jpg", "/data/b.jpg", ""}));
}

// The row had the time of both calls under the name of the second: "27.0 ms PIL.convert".
TEST(StageFilesTest, ADecodeWithAnOpeningNamesBothCallsWithTheirTimes) {
  traces::TraceData data;
  data.processes.emplace_back().pid = 100;
  data.threads.emplace_back().tid = 100;
  traces::Span open;
  open.start = TimeNs{1'000'000};
  open.duration = TimeNs{21'500'000};
  open.stage = StageId::kDecode;
  open.name = data.Intern("PIL.open");
  traces::Span convert = open;
  convert.start = TimeNs{30'000'000};
  convert.duration = TimeNs{5'570'000};
  convert.name = data.Intern("PIL.convert");
  data.spans.push_back({open, convert});
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const auto tail = [&](RowId id) {
    return FindTail({document.trace.get(), std::nullopt}, *document.analysis, {.id = id});
  };
  const Tail whole = tail({StageId::kDecode, {}});
  ASSERT_EQ(whole.calls.size(), 1U);
  EXPECT_EQ(whole.calls[0].wall, 27'070'000);
  EXPECT_EQ(CallParts(*document.trace, {}, whole.calls[0], "", false, Language::kEnglish),
            std::vector<std::string>{"PIL.open 21.5 ms + PIL.convert 5.57 ms"});
  // A row of one name has the time of that call alone.
  const Tail part = tail({StageId::kDecode, convert.name});
  ASSERT_EQ(part.calls.size(), 1U);
  EXPECT_EQ(part.calls[0].wall, 5'570'000);
  EXPECT_EQ(part.calls[0].opened, 0);
}

// The decode of a.jpg was shown with a.json, which its sample read later.
TEST(StageFilesTest, AFileReadAfterADecodeIsNotItsFile) {
  const auto files = FilesOfDecodes({{StageId::kRead, "/data/a.jpg", 7},
                                     {StageId::kDecode, nullptr, 7},
                                     {StageId::kRead, "/data/a.json", 7}});
  EXPECT_EQ(files, std::vector<std::string>{"/data/a.jpg"});
}

}  // namespace
}  // namespace penstock::gui
