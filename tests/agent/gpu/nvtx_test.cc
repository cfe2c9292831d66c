// SPDX-License-Identifier: Apache-2.0
//
// A program's NVTX ranges are in its trace. The program is built twice: with NVTX's own headers, if
// they are installed, and with the double of NVTX 2's library.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/agent/gpu/run.h"
#include "tests/paths.h"

namespace penstock::traces {
namespace {

std::vector<std::string> Victims() {
  std::vector<std::string> paths;
  std::stringstream all(paths::kNvtxVictims);
  for (std::string path; std::getline(all, path, ':');) paths.push_back(path);
  return paths;
}

class NvtxTest : public GpuRun, public testing::WithParamInterface<std::string> {
 protected:
  static const Found* Named(const std::vector<Found>& marks, const std::string& name) {
    const auto at = std::find_if(marks.begin(), marks.end(),
                                 [&](const Found& mark) { return mark.name == name; });
    return at != marks.end() ? &*at : nullptr;
  }
};

TEST_P(NvtxTest, RangesBecomeMarksWithNamesAndDomains) {
  ASSERT_EQ(Run({GetParam(), "all"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  struct Expected {
    const char* name;
    const char* domain;
  };
  const Expected expected[] = {{"outer", ""},
                               {"wïde 日本 😀", ""},
                               {"a mark", ""},
                               {"registered", "library"},
                               {"in the wide one", "wïde domain"},
                               {"wide message", ""},
                               {"started first", ""},
                               {"started second", ""},
                               {"aten::item", ""},
                               {"on a thread", ""}};
  for (const Expected& e : expected) {
    const Found* mark = Named(marks, e.name);
    ASSERT_NE(mark, nullptr) << e.name;
    EXPECT_EQ(mark->object, e.domain) << e.name;
  }
  EXPECT_EQ(marks.size(), std::size(expected) + 3) << "and three without a text";
}

TEST_P(NvtxTest, NestingIsKept) {
  ASSERT_EQ(Run({GetParam(), "all"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  const Found* outer = Named(marks, "outer");
  const Found* inner = Named(marks, "wïde 日本 😀");
  const Found* mark = Named(marks, "a mark");
  ASSERT_TRUE(outer != nullptr && inner != nullptr && mark != nullptr);
  EXPECT_EQ(outer->span.depth, 0);
  EXPECT_EQ(inner->span.depth, 1);
  EXPECT_EQ(mark->span.depth, 2);
  EXPECT_LE(outer->span.start, inner->span.start);
  EXPECT_GE(outer->span.end(), inner->span.end());
  const Found* in_domain = Named(marks, "registered");
  const Found* across = Named(marks, "in the wide one");
  ASSERT_TRUE(in_domain != nullptr && across != nullptr);
  EXPECT_LT(in_domain->span.end(), across->span.end()) << "popped by domain, not by order";
}

TEST_P(NvtxTest, AThreadTellsItsName) {
  ASSERT_EQ(Run({GetParam(), "all"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  const Found* mark = Named(marks, "on a thread");
  ASSERT_NE(mark, nullptr);
  EXPECT_EQ(mark->thread.name, "nvtx-worker");
}

TEST_P(NvtxTest, DeeperThanTheStackStillMatches) {
  ASSERT_EQ(Run({GetParam(), "deep"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  const Found* after = Named(marks, "after");
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->span.depth, 0);
}

TEST_P(NvtxTest, APopEndsARangeOfItsDomainBelowMoreRangesThanAreKept) {
  ASSERT_EQ(Run({GetParam(), "domains"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  EXPECT_EQ(marks.size(), 65u) << "63 of the 100 ranges above it, and the one after them";
  const Found* early = Named(marks, "early");
  ASSERT_NE(early, nullptr);
  EXPECT_EQ(early->object, "library");
  EXPECT_EQ(Named(marks, "not kept"), nullptr);
  const Found* after = Named(marks, "after");
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->span.depth, 0);
}

TEST_P(NvtxTest, AForkedChildEndsOnlyItsOwnRanges) {
  ASSERT_EQ(Run({GetParam(), "fork"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  ASSERT_EQ(marks.size(), 2u);
  const Found* parent = Named(marks, "parent");
  const Found* child = Named(marks, "child");
  ASSERT_TRUE(parent != nullptr && child != nullptr);
  EXPECT_NE(parent->pid, child->pid);
}

TEST_P(NvtxTest, AThreadThatEndsLeavesNoRangeToTheNext) {
  ASSERT_EQ(Run({GetParam(), "threads"}), 0);
  const auto trace = Open();
  ASSERT_NE(trace, nullptr);
  const auto marks = SpansOf(*trace, StageId::kMark);
  ASSERT_EQ(marks.size(), 5u);
  for (const Found& mark : marks) {
    EXPECT_EQ(mark.name, "later");
    EXPECT_EQ(mark.span.depth, 0);
  }
}

TEST_P(NvtxTest, TheProgramPrintsTheSameWithoutTheAgent) {
  ASSERT_EQ(Run({GetParam(), "all"}, {}, false), 0);
  const std::string without = Printed();
  ASSERT_EQ(Run({GetParam(), "all"}), 0);
  EXPECT_EQ(Printed(), without);
}

TEST_P(NvtxTest, LevelOffLeavesNvtxAlone) {
  ASSERT_EQ(Run({GetParam(), "all"}, {{"PENSTOCK_GPU", "off"}}), 0);
  EXPECT_FALSE(std::filesystem::exists(trace_)) << "nothing of this program is a dataset";
}

TEST_P(NvtxTest, AnotherToolKeepsItsPlace) {
  ASSERT_EQ(Run({GetParam(), "all"}, {{"NVTX_INJECTION64_PATH", "/no/such/tool.so"}}), 0);
  EXPECT_FALSE(std::filesystem::exists(trace_));
}

INSTANTIATE_TEST_SUITE_P(Victims, NvtxTest, testing::ValuesIn(Victims()), [](const auto& param) {
  std::string name = std::filesystem::path(param.param).filename().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace penstock::traces
