// SPDX-License-Identifier: Apache-2.0
//
// Commands of penstock with traces and other files on disk.
#include "analyzer/main/commands.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/analyzer/synthetic.h"
#include "tests/traces/support.h"
#include "traces/pack.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;
using traces::testing::TempFolder;

// Writes a packed trace into `folder`. Returns its path.
std::string Write(const TempFolder& folder, const std::string& name,
                  const traces::TraceData& data) {
  const std::filesystem::path path = folder / name;
  auto packer = traces::CreatePacked(path);
  for (const auto& [key, value] : data.facts) (*packer)->SetFact(key, value);
  for (const auto& process : data.processes) (void)(*packer)->AddProcess(process);
  for (const std::string& text : data.strings) (void)(*packer)->Intern(text);
  for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
    (void)(*packer)->AddThread(data.threads[i]);
    for (const traces::Span& span : data.spans[i]) (*packer)->AddSpan(ThreadId{i}, span);
  }
  for (const traces::Event& event : data.events) (*packer)->AddEvent(event);
  EXPECT_TRUE((*packer)->Finish());
  return path.string();
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

}  // namespace
}  // namespace penstock::analyzer
