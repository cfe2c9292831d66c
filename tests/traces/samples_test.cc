// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/paths.h"
#include "tests/traces/support.h"
#include "traces/export.h"

namespace penstock::traces {
namespace {

class SamplesTest : public ::testing::TestWithParam<const char*> {};

// Reads traces/samples/PARAM and compares it with the .jsonl file of the contents that were
// written.
TEST_P(SamplesTest, EveryVersionIsReadAsItWasWritten) {
  const std::filesystem::path folder = paths::kSamples;
  const auto trace = OpenTrace(folder / GetParam());
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  std::string text;
  ASSERT_TRUE(ExportJsonLines(**trace, [&text](std::string_view part) {
    text += part;
    return true;
  }));
  const std::string name(GetParam());
  const std::vector<std::byte> golden =
      testing::ReadFile(folder / (name.substr(0, name.find('.')) + ".jsonl"));
  EXPECT_EQ(text, std::string(reinterpret_cast<const char*>(golden.data()), golden.size()));
}

INSTANTIATE_TEST_SUITE_P(Version1, SamplesTest, ::testing::Values("v1.recording", "v1.penstock"));

}  // namespace
}  // namespace penstock::traces
