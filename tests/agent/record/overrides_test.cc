// SPDX-License-Identifier: Apache-2.0
#include "agent/record/overrides.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

std::vector<Override> Parsed(const char* text) {
  auto parsed = ParseOverrides(text, {});
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(std::vector<Override>{});
}

std::string ComplaintOf(const char* text, const std::vector<int>& cores = {}) {
  const auto parsed = ParseOverrides(text, cores);
  return parsed ? "" : parsed.error().message;
}

TEST(OverridesTest, EveryKeyIsTakenAndWrittenAsItCame) {
  for (const char* text :
       {"workers=0,prefetch=4,batch=1,pin=0,persistent=1,in_order=0,start_method=forkserver",
        "threads=1,omp=2,mkl=3,openblas=4,numexpr=5,cv2_threads=0",
        "malloc=keep,mmap_threshold=32M,trim_threshold=0,pillow_blocks=16",
        "affinity=0-3+8,nice=19,warm=1"}) {
    EXPECT_EQ(OverridesText(Parsed(text)), text);
  }
}

TEST(OverridesTest, AnErrorSaysWhatWouldBeRight) {
  EXPECT_EQ(ComplaintOf("nice=20"), "--override: nice=20: give a number from 0 to 19");
  EXPECT_EQ(ComplaintOf("warm=yes"), "--override: warm=yes: give 0 or 1");
  EXPECT_EQ(ComplaintOf("malloc=best"),
            "--override: malloc=best: give one of keep|jemalloc|tcmalloc");
  EXPECT_EQ(ComplaintOf("affinity=0-2+5", {0, 1, 2}),
            "--override: affinity=0-2+5: this run may not use core 5");
  EXPECT_NE(ComplaintOf("wrkers=2").find("'wrkers=2'"), std::string::npos);
  EXPECT_EQ(ComplaintOf("affinity=0+2", {0, 2}), "");
}

TEST(OverridesTest, ALibrarysOwnThreadsStandAboveThoseOfAll) {
  for (const char* text : {"threads=2,mkl=1", "mkl=1,threads=2"}) {
    const Variables expected = {{"OMP_NUM_THREADS", "2"},
                                {"MKL_NUM_THREADS", "1"},
                                {"OPENBLAS_NUM_THREADS", "2"},
                                {"NUMEXPR_NUM_THREADS", "2"}};
    EXPECT_EQ(OverriddenVariables(Parsed(text)), expected);
  }
}

TEST(OverridesTest, WhatTheHooksApplyIsNoVariable) {
  EXPECT_TRUE(
      OverriddenVariables(Parsed("workers=2,cv2_threads=0,nice=3,warm=1,malloc=jemalloc")).empty());
}

TEST(OverridesTest, AnAllocatorIsFoundInTheFirstFolderThatHasIt) {
  const std::string root = ::testing::TempDir() + "overrides_allocator";
  std::filesystem::create_directories(root + "/a");
  std::filesystem::create_directories(root + "/b");
  std::ofstream(root + "/b/libjemalloc.so.2") << "";
  std::ofstream(root + "/b/libtcmalloc.so.4") << "";
  const std::vector<std::string> folders = {root + "/none", root + "/a", root + "/b"};
  EXPECT_EQ(FindAllocator("jemalloc", folders).value(), root + "/b/libjemalloc.so.2");
  EXPECT_EQ(FindAllocator("tcmalloc", folders).value(), root + "/b/libtcmalloc.so.4");
  // LD_PRELOAD cannot name a path with a blank, so this folder is skipped.
  std::filesystem::create_directories(root + "/a blank");
  std::ofstream(root + "/a blank/libjemalloc.so.2") << "";
  EXPECT_EQ(FindAllocator("jemalloc", {root + "/a blank", root + "/b"}).value(),
            root + "/b/libjemalloc.so.2");
  EXPECT_FALSE(FindAllocator("jemalloc", {root + "/a blank"}));
  const auto missing = FindAllocator("jemalloc", {root + "/a"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(missing.error().message,
            "--override: malloc=jemalloc: jemalloc is not installed (Debian: libjemalloc2)");
  std::filesystem::remove_all(root);
}

TEST(OverridesTest, AnAllocatorStandsBehindWhatIsPreloadedAndNeverBesideAnother) {
  EXPECT_EQ(PreloadAllocator("", "/x/libjemalloc.so.2").value(), "/x/libjemalloc.so.2");
  EXPECT_EQ(PreloadAllocator("a.so", "/x/libjemalloc.so.2").value(), "a.so:/x/libjemalloc.so.2");
  for (const char* other : {"libasan.so.8", "a.so:/lib/libtcmalloc.so.4", "a.so libjemalloc.so"}) {
    EXPECT_FALSE(PreloadAllocator(other, "/x/libjemalloc.so.2")) << other;
  }
}

}  // namespace
}  // namespace penstock::record
