// SPDX-License-Identifier: Apache-2.0
//
// Bundles: which files stay if the process is killed, the name of the folder in a bundle, and facts
// of merged traces.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/share/bundle.h"
#include "analyzer/share/environment.h"
#include "tests/traces/support.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using traces::testing::TempFolder;

std::unique_ptr<traces::Trace> SmallTrace() {
  traces::TraceBuilder out;
  out.SetFact("kernel", "6.1.0");
  out.SetFact("host", "annbox");
  out.SetFact("part.1.kernel", "6.2.0");
  out.SetFact("part.1.version.torch", "2.5");
  out.SetFact("version.annlib", "1.0");
  out.SetFact("annlib.version", "1.0");
  out.SetFact("part.1.gpu.0.model", "H200");
  out.SetFact("part.1.host", "annbox2");
  out.SetFact("part.1.file", "/home/ann/1.penstock");
  traces::ProcessInfo process;
  process.pid = 7;
  traces::ThreadInfo thread;
  thread.process = out.AddProcess(process);
  const ThreadId at = out.AddThread(thread);
  traces::Span span;
  span.start = TimeNs{1'000};
  span.duration = TimeNs{500};
  span.stage = traces::StageId::kRead;
  out.AddSpan(at, span);
  return out.Build();
}

// A trace that sends a signal to this process while its spans are read.
class Deadly final : public traces::Trace {
 public:
  explicit Deadly(int signal) : signal_(signal) {}
  const std::map<std::string, std::string>& facts() const override { return whole_->facts(); }
  std::span<const traces::ProcessInfo> processes() const override { return whole_->processes(); }
  std::span<const traces::ThreadInfo> threads() const override { return whole_->threads(); }
  std::span<const traces::Event> events() const override { return whole_->events(); }
  std::span<const traces::CounterSample> counters() const override { return whole_->counters(); }
  const traces::Losses& losses() const override { return whole_->losses(); }
  std::string_view String(StringId id) const override { return whole_->String(id); }
  std::uint64_t span_count() const override { return whole_->span_count(); }
  TimeNs begin() const override { return whole_->begin(); }
  TimeNs end() const override { return whole_->end(); }
  TimeNs realtime_offset() const override { return whole_->realtime_offset(); }
  void ForEachBlock(
      ThreadId thread,
      const std::function<void(std::span<const traces::Span>)>& visit) const override {
    ::kill(::getpid(), signal_);
    whole_->ForEachBlock(thread, visit);
  }

 private:
  std::unique_ptr<traces::Trace> whole_ = SmallTrace();
  int signal_;
};

// Writes a bundle in a process that receives `signal` meanwhile. Returns the signal that ended the
// process.
int DieWriting(const std::filesystem::path& output, int signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Deadly trace(signal);
    static_cast<void>(WriteBundle(trace, {.output = output, .version = "1"}));
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::vector<std::string> FilesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::string Text(const std::filesystem::path& path) {
  std::string text;
  for (const std::byte one : traces::testing::ReadFile(path)) text += static_cast<char>(one);
  return text;
}

TEST(ShareTest, AnInterruptedOneLeavesNothing) {
  const TempFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(DieWriting(folder / "b.zip", signal), signal);
    EXPECT_THAT(FilesIn(folder / ""), ElementsAre()) << signal;
  }
}

TEST(ShareTest, WhatAKilledOneLeavesIsRemovedByTheNextOne) {
  const TempFolder folder;
  EXPECT_EQ(DieWriting(folder / "b.zip", SIGKILL), SIGKILL);
  EXPECT_FALSE(FilesIn(folder / "").empty());
  // The files of another bundle, or of a process that is alive, are not removed.
  const std::string alive = "b.zip." + std::to_string(::getppid()) + ".trace";
  traces::testing::WriteFile(folder / alive, {});
  traces::testing::WriteFile(folder / "c.zip.1234567.trace", {});
  const auto bundle = WriteBundle(*SmallTrace(), {.output = folder / "b.zip", .version = "1"});
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_THAT(FilesIn(folder / ""),
              ::testing::UnorderedElementsAre("b.zip", alive, "c.zip.1234567.trace"));
}

TEST(ShareTest, TheFolderOfTheFilesHasAWholeName) {
  const TempFolder folder;
  std::string accents = "a";
  for (int i = 0; i < 40; ++i) accents += "\u00e9";
  for (const auto& [name, expected] : std::vector<std::pair<std::string, std::string>>{
           {"..zip", "penstock-share"},
           {".hidden.zip", "penstock-share"},
           {"run.7.zip", "run"},
           {accents + ".zip", accents.substr(0, 63)},
           {std::string(70, 'a') + ".zip", std::string(64, 'a')}}) {
    const auto bundle = WriteBundle(*SmallTrace(), {.output = folder / name, .version = "1"});
    ASSERT_TRUE(bundle) << bundle.error().message;
    EXPECT_EQ(bundle->files.size(), 5U);
    const std::string text = Text(folder / name);
    const std::size_t at = text.find("/report.txt");
    ASSERT_NE(at, std::string::npos);
    // In a .zip the name follows the fixed fields of 30 bytes; the size of the name is before it.
    const std::size_t entry = text.rfind("PK\x03\x04", at);
    EXPECT_EQ(text.substr(entry + 30, at - entry - 30), expected);
  }
}

TEST(ShareTest, TheEnvironmentOfAMergedTraceIsThatOfItsParts) {
  const auto facts = RecordedEnvironment(*SmallTrace());
  for (const char* key :
       {"kernel", "part.1.kernel", "part.1.version.torch", "part.1.gpu.0.model"}) {
    EXPECT_EQ(facts.count(key), 1U) << key;
  }
  for (const char* key : {"host", "part.1.host", "part.1.file"}) {
    EXPECT_EQ(facts.count(key), 0U) << key;
  }
  EXPECT_THAT(EnvironmentJson(*SmallTrace(), "1"), HasSubstr("6.2.0"));
}

TEST(ShareTest, TheEnvironmentNamesOnlyPublicLibraries) {
  const auto facts = RecordedEnvironment(*SmallTrace());
  EXPECT_EQ(facts.count("version.annlib"), 0U);
  EXPECT_EQ(facts.count("annlib.version"), 0U);
}

}  // namespace
}  // namespace penstock::analyzer
