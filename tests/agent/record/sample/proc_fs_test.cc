// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/proc_fs.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

TEST(ProcFsTest, StatSurvivesAnyProcessName) {
  const auto stat = ParseStat(
      "4242 (a) S 1 (b\n) R 77 4242 4242 0 -1 4194304 1001 5 22 6 310 47 1 2 20 0 9 0 123456 "
      "987654321 2048 18446744073709551615 1 1 0 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, 77u);
  EXPECT_EQ(stat->minor_faults, 1001u);
  EXPECT_EQ(stat->major_faults, 22u);
  EXPECT_EQ(stat->cpu_clock_ticks, 357u);
  EXPECT_EQ(stat->children_clock_ticks, 3u);
  EXPECT_EQ(stat->threads, 9u);
  EXPECT_EQ(stat->start, 123456u);
  EXPECT_EQ(stat->rss_pages, 2048u);
}

TEST(ProcFsTest, CutStatGivesNothing) {
  const std::string whole = "1 (x) S 1 1 1 0 -1 4 1 0 2 0 3 4 0 0 20 0 1 0 99 5 6 7 8 9";
  EXPECT_TRUE(ParseStat(whole));
  for (std::size_t size = 0; size < whole.find(" 6 7"); ++size) {
    EXPECT_FALSE(ParseStat(whole.substr(0, size))) << size;
  }
}

TEST(ProcFsTest, OwnStatIsRead) {
  const auto text = ReadFile("/proc/self/stat");
  ASSERT_TRUE(text);
  const auto stat = ParseStat(*text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, static_cast<std::uint32_t>(getppid()));
  EXPECT_FALSE(stat->gone());
}

TEST(ProcFsTest, Io) {
  const auto io = ParseIo(
      "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\nread_bytes: 4096\n"
      "write_bytes: 323932160\ncancelled_write_bytes: 0\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(io->rchar, Bytes{323934931});
  EXPECT_EQ(io->read_bytes, Bytes{4096});
  EXPECT_FALSE(ParseIo("wchar: 1\nread_bytes: 2\n"));
  EXPECT_FALSE(ParseIo(""));
}

TEST(ProcFsTest, Rollup) {
  const auto memory = ParseRollup(
      "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss:     884 kB\nPss:     385 kB\n"
      "Pss_Dirty:   100 kB\nShared_Clean: 696 kB\nPrivate_Clean:  12 kB\nPrivate_Dirty: 88 kB\n"
      "Pss_Anon: 90 kB\nAnonymous: 420 kB\nPrivate_Hugetlb: 4 kB\nSwap: 7 kB\nSwapPss: 3 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->private_dirty, Bytes{88 * 1024});
  EXPECT_EQ(memory->anonymous, Bytes{420 * 1024});
  EXPECT_EQ(memory->swap, Bytes{7 * 1024});
  EXPECT_EQ(memory->pss_anonymous, Bytes{90 * 1024});
  EXPECT_FALSE(ParseRollup("Pss: 385 kB\n")->pss_anonymous);  // as an old kernel writes it
  EXPECT_EQ(memory->pss, Bytes{385 * 1024});
  EXPECT_EQ(memory->uss, Bytes{104 * 1024});
}

TEST(ProcFsTest, RunDelayIsTheSecondNumber) {
  EXPECT_EQ(ParseRunDelay("1038471 3288459 17\n"), 3288459u);
  EXPECT_FALSE(ParseRunDelay("1038471 32"));
  EXPECT_FALSE(ParseRunDelay("1038471"));
  EXPECT_FALSE(ParseRunDelay("1 x 2"));
  EXPECT_FALSE(ParseRunDelay(""));
}

TEST(ProcFsTest, AnonymousPagesAreWhatNoFileIsBehind) {
  EXPECT_EQ(AnonymousPages("5000 1200 300 10 0 900 0\n"), 900u);
  EXPECT_EQ(AnonymousPages("5000 100 300 10 0 900 0\n"), 0u);  // less resident than shared
  EXPECT_FALSE(AnonymousPages("0 0 0 0 0 0 0\n"));             // the first thread has ended
  EXPECT_FALSE(AnonymousPages("5000 1200"));
  EXPECT_FALSE(AnonymousPages("a b c d"));
}

TEST(ProcFsTest, MeminfoIsInKilobytes) {
  const char* text = "MemTotal: 100 kB\nMemAvailable:   24 kB\nSwapFree: 0 kB\n";
  EXPECT_EQ(MeminfoField(text, "MemAvailable"), Bytes{24 * 1024});
  EXPECT_FALSE(MeminfoField(text, "Available"));
}

TEST(ProcFsTest, AnAllocatorIsToldByItsLibrary) {
  EXPECT_EQ(AllocatorLibrary("7f00-7f01 r--p 0 08:01 1 /usr/lib/libc.so.6\n"
                             "7f01-7f02 r--p 0 08:01 2 /usr/lib/libjemalloc.so.2\n"),
            "jemalloc");
  EXPECT_EQ(AllocatorLibrary("7f01-7f02 r--p 0 08:01 2 /opt/libtcmalloc_minimal.so.4"), "tcmalloc");
  EXPECT_EQ(AllocatorLibrary("7f00-7f01 r--p 0 08:01 1 /usr/lib/libc.so.6\n"
                             "7f01-7f02 r--p 0 08:01 2 /data/jemalloc/photo.jpg\n"),
            "");
}

TEST(ProcFsTest, CodecLibrariesAreFoundOnce) {
  const auto found = CodecLibraries(
      "7f00-7f01 r--p 0 08:01 1 /usr/lib/x86_64-linux-gnu/libc.so.6\n"
      "7f01-7f02 r--p 0 08:01 2 /v/site-packages/pillow.libs/libjpeg-6a2b.so.62.4.0\n"
      "7f02-7f03 r-xp 0 08:01 2 /v/site-packages/pillow.libs/libjpeg-6a2b.so.62.4.0\n"
      "7f03-7f04 r-xp 0 08:01 3 /v/site-packages/PIL/_imaging.cpython-311-x86_64-linux-gnu.so\n"
      "7f04-7f05 r-xp 0 08:01 4 /v/site-packages/cv2/cv2.abi3.so\n"
      "7f05-7f06 r-xp 0 08:01 2 /v/site-packages/pillow.libs/libjpeg-6a2b.so.62.4.0\n"
      "7f06-7f07 rw-p 0 00:00 0 [heap]\n"
      "7f07-7f08 r--s 0 08:01 5 /data/libjpeg photos/a b.jpg\n"
      "7f08-7f09 r-xp 0 08:01 6 /v/simplejpeg/_jpeg.cpython-311.so\n"
      "7f09-7f0a r-xp 0 08:01 7 /usr/lib/x86_64-linux-gnu/libnvcuvid.so.1");
  EXPECT_EQ(found, (std::vector<std::string>{
                       "/v/site-packages/pillow.libs/libjpeg-6a2b.so.62.4.0",
                       "/v/site-packages/PIL/_imaging.cpython-311-x86_64-linux-gnu.so",
                       "/v/site-packages/cv2/cv2.abi3.so", "/v/simplejpeg/_jpeg.cpython-311.so",
                       "/usr/lib/x86_64-linux-gnu/libnvcuvid.so.1"}));
}

TEST(ProcFsTest, InnermostPid) {
  EXPECT_EQ(InnerPid("Name:\tx\nNSpid:\t4711\t12\t3\nNSpgid:\t1\n"), 3u);
  EXPECT_EQ(InnerPid("Name:\tx\nNSpid:\t4711\n"), 4711u);
  EXPECT_FALSE(InnerPid("Name:\tx\n"));
}

}  // namespace
}  // namespace penstock::record
