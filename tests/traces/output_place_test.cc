// SPDX-License-Identifier: Apache-2.0
#include "traces/output_place.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "tests/traces/support.h"
#include "traces/base/file.h"
#include "traces/base/say.h"

namespace penstock::traces {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

// While an object lives, this process cannot open any file.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(OutputPlaceTest, WhatCannotBeReadIsKept) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "run.penstock";
  auto recording = testing::SmallRecording();
  testing::WriteFile(path, testing::Bytes(recording));
  NameInUse there;
  bool replaced = true;
  Result<OutputPlace> place = Fail(ErrorKind::kOutput, "");
  {
    const NoDescriptors none;  // no EXPECT here: under a sanitizer it needs a descriptor
    there = LookAtName(path);
    replaced = MayBeReplaced(path, true);
    place = PlaceFor(path, true, true);
  }
  EXPECT_TRUE(there.is_hidden);
  EXPECT_EQ(there.WhyNot(), "cannot be read");
  EXPECT_FALSE(replaced);
  ASSERT_TRUE(place.has_value()) << place.error().message;
  EXPECT_NE(place->path, path);
  ASSERT_EQ(place->notes.size(), 1U);
  EXPECT_THAT(place->notes[0], HasSubstr("run.penstock cannot be read; recording to "));
  EXPECT_FALSE(LookAtName(path).is_hidden);
}

TEST(OutputPlaceTest, AnUnfinishedTraceThatCannotBeReadIsKept) {
  const TempFolder folder;
  auto recording = testing::SmallRecording();
  const std::vector<std::byte> bytes = testing::Bytes(recording);
  testing::WriteFile(folder / "run.penstock.part", bytes);
  Result<OutputPlace> place = Fail(ErrorKind::kOutput, "");
  bool created = true;
  {
    const NoDescriptors none;
    place = PlaceFor(folder / "run.penstock", true, true);
    created = CreatePacked(folder / "run.penstock", {}).has_value();
  }
  ASSERT_TRUE(place.has_value()) << place.error().message;
  EXPECT_NE(place->path, folder / "run.penstock");
  EXPECT_FALSE(created);
  EXPECT_EQ(testing::ReadFile(folder / "run.penstock.part"), bytes);
}

TEST(SayWhenMemoryEndsDeathTest, IsOneLineAndStatusThree) {
  EXPECT_EXIT(
      {
        SayWhenMemoryEnds("penstock-test");
        std::thread([] { throw std::bad_alloc(); }).join();
      },
      ::testing::ExitedWithCode(3), "penstock-test: not enough memory\n");
}

TEST(SayWhenMemoryEndsDeathTest, LeavesOtherExceptionsAlone) {
  EXPECT_DEATH(
      {
        SayWhenMemoryEnds("penstock-test");
        std::thread([] { throw 7; }).join();
      },
      "terminate called");
}

}  // namespace
}  // namespace penstock::traces
