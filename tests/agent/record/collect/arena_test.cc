// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/arena.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

// Asks for a ring in a file, as the recorder makes it where there is no System V shared memory.
ArenaRequest Small() {
  ArenaRequest request;
  request.use_segment = false;
  request.buffer = Bytes{4u << 20};
  return request;
}

void ExpectWellFormed(const Arena& arena) {
  const wire::FileHeader& h = arena.header();
  EXPECT_EQ(std::memcmp(h.magic, wire::kMagic, sizeof wire::kMagic), 0);
  EXPECT_EQ(h.major, wire::kMajor);
  EXPECT_EQ(h.header_size, wire::kHeaderSize);
  EXPECT_EQ(h.chunk_size, wire::kChunkSize);
  EXPECT_EQ(h.record_size, wire::kRecordSize);
  EXPECT_EQ(h.mode, wire::kRing);
  EXPECT_EQ(h.recording, 1u);
  EXPECT_EQ(h.anchor_count, 1u);
  EXPECT_GE(h.chunk_count, 8u);
  EXPECT_EQ(arena.memory().size(),
            wire::kHeaderSize + std::size_t{h.chunk_count} * wire::kChunkSize);
  EXPECT_STRNE(h.boot_id, "");
  for (std::uint32_t i = 0; i < h.chunk_count; ++i) {
    EXPECT_EQ(arena.chunk(i).state, wire::kChunkFree);
    EXPECT_EQ(arena.chunk(i).magic, wire::kChunkMagic);
    EXPECT_EQ(arena.chunk(i).index, i);
  }
}

TEST(ArenaTest, LiesInASegmentThatOnlyItsNameOpens) {
  ArenaRequest request;
  request.buffer = Bytes{4u << 20};
  auto arena = Arena::Create(request, Clock::Choose(true));
  ASSERT_TRUE(arena) << arena.error().message;
  ExpectWellFormed(*arena);
  const std::string path = arena->path();
  ASSERT_EQ(path.rfind("sysv:", 0), 0u) << path;
  EXPECT_TRUE(arena->HasName());
  {
    auto again = Arena::Open(path);
    ASSERT_TRUE(again) << again.error().message;
    arena->chunk(3).sequence = 77;
    EXPECT_EQ(again->chunk(3).sequence, 77u);
  }
  EXPECT_FALSE(Arena::Open(path.substr(0, path.size() - 1) + (path.back() == '0' ? "1" : "0")));
  EXPECT_FALSE(Arena::Open("sysv:"));
  EXPECT_FALSE(Arena::Open("sysv:2147483648:0"));
  arena->Unlink();
  arena = Fail(ErrorKind::kInput, "gone");
  EXPECT_FALSE(Arena::Open(path));
}

TEST(ArenaTest, LiesInSharedMemoryUnderAPrivateName) {
  auto arena = Arena::Create(Small(), Clock::Choose(true));
  ASSERT_TRUE(arena) << arena.error().message;
  ExpectWellFormed(*arena);
  if (arena->path().rfind("/dev/shm/penstock-", 0) == 0) {
    const auto mode = std::filesystem::status(arena->path()).permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    arena->Unlink();
    EXPECT_FALSE(std::filesystem::exists(arena->path()));
  }
}

TEST(ArenaTest, FallsBackToMemfdWhichOthersCanOpen) {
  ArenaRequest request = Small();
  request.shm_folder = "/no/such/folder";
  auto arena = Arena::Create(request, Clock::Choose(true));
  ASSERT_TRUE(arena) << arena.error().message;
  ExpectWellFormed(*arena);
  EXPECT_EQ(arena->path().rfind("/proc/" + std::to_string(getpid()) + "/fd/", 0), 0u);
  auto again = Arena::Open(arena->path());
  ASSERT_TRUE(again) << again.error().message;
  arena->chunk(3).sequence = 77;
  EXPECT_EQ(again->chunk(3).sequence, 77u);
}

TEST(ArenaTest, FallsBackToAFileBesideTheOutput) {
  ArenaRequest request = Small();
  request.shm_folder = "/no/such/folder";
  request.use_memfd = false;
  EXPECT_FALSE(Arena::Create(request, Clock::Choose(true)));
  request.beside = "/tmp/penstock-arena-test-" + std::to_string(getpid());
  auto arena = Arena::Create(request, Clock::Choose(true));
  ASSERT_TRUE(arena) << arena.error().message;
  ExpectWellFormed(*arena);
  arena->Unlink();
  EXPECT_FALSE(std::filesystem::exists(request.beside));
}

TEST(ArenaTest, ShrinksUnderAFileSizeLimit) {
  EXPECT_EXIT(
      {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        limit.rlim_cur = limit.rlim_max = 2u << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        ArenaRequest request;
        request.buffer = Bytes{64u << 20};
        request.use_segment = false;
        auto arena = Arena::Create(request, Clock::Choose(true));
        const bool ok = arena && arena->memory().size() <= (2u << 20);
        if (arena) arena->Unlink();
        _exit(ok ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(ArenaTest, ARingInUseIsNotTakenForALeftover) {
  ArenaRequest request = Small();
  request.shm_folder = "/dev/shm";
  auto kept = Arena::Create(request, Clock::Choose(true));
  ASSERT_TRUE(kept);
  if (kept->path().rfind("/dev/shm/", 0) != 0) GTEST_SKIP() << "no room in /dev/shm";
  // The lock on the ring shows that somebody uses it. This test does not check that old rings
  // without a lock are removed.
  auto other = Arena::Create(request, Clock::Choose(true));
  ASSERT_TRUE(other);
  EXPECT_TRUE(std::filesystem::exists(kept->path()));
  kept->Unlink();
  other->Unlink();
}

TEST(ArenaTest, OpeningSomethingElseFails) {
  EXPECT_FALSE(Arena::Open("/no/such/file"));
  EXPECT_FALSE(Arena::Open("/proc/self/stat"));
}

TEST(ArenaTest, AFileThatIsNoRingIsCalledTooShort) {
  char name[] = "/tmp/penstock-arena-test-XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  close(fd);
  errno = 0;
  const auto arena = Arena::Open(name);
  unlink(name);
  ASSERT_FALSE(arena);
  EXPECT_EQ(arena.error().kind, ErrorKind::kInput);
  EXPECT_EQ(arena.error().message, std::string(name) + ": too short");
}

TEST(ClockTest, AnchorsOfTheTscAgreeWithMonotonicTime) {
  const Clock clock = Clock::Choose(false);
  const wire::ClockAnchor first = clock.Anchor();
  usleep(50'000);
  const wire::ClockAnchor second = clock.Anchor();
  const double by_ticks = static_cast<double>(second.ticks - first.ticks) /
                          static_cast<double>(clock.ticks_per_second());
  const double by_kernel = static_cast<double>(second.monotonic_ns - first.monotonic_ns) * 1e-9;
  EXPECT_NEAR(by_ticks, by_kernel, 1e-3 * by_kernel + 20e-6);
}

TEST(ClockTest, MonotonicTicksAreNanoseconds) {
  const Clock clock = Clock::Choose(true);
  EXPECT_EQ(clock.kind(), wire::kClockMonotonic);
  EXPECT_EQ(clock.ticks_per_second(), 1'000'000'000u);
  const wire::ClockAnchor anchor = clock.Anchor();
  EXPECT_EQ(anchor.ticks, anchor.monotonic_ns);
}

TEST(ClockTest, TheRingOfAnchorsKeepsTheLast) {
  auto header = std::make_unique<wire::FileHeader>();
  for (std::uint64_t i = 0; i < wire::kMaxAnchors + 5; ++i) AppendAnchor(*header, {i, i, i});
  EXPECT_EQ(header->anchor_count, wire::kMaxAnchors + 5);
  EXPECT_EQ(header->anchors[4].ticks, wire::kMaxAnchors + 4);
  EXPECT_EQ(header->anchors[5].ticks, 5u);
}

}  // namespace
}  // namespace penstock::record
