// SPDX-License-Identifier: Apache-2.0
//
// Several threads read, each read with the calls that the hook of read() makes. All bytes must be
// in spans.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/core/fd_table.h"
#include "agent/core/pending_reads.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "tests/agent/core_driver/ring.h"

namespace penstock::agent::driver {
namespace {

class CoreReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("penstock-driver-{}", getpid());
    std::filesystem::create_directories(folder_);
    const std::string text = folder_.string();
    text.copy(g_config.data, sizeof g_config.data - 1);
    g_config.data[text.size()] = 0;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Make(int i, std::size_t size) {
    const std::string path = (folder_ / fmt::format("{}.bin", i)).string();
    std::ofstream(path) << std::string(size, 'd');
    return path;
  }

  std::filesystem::path folder_;
};

// Does what the hook of read() does before and after the real call.
std::int64_t HookedRead(int fd, void* to, std::size_t size) {
  ReadCall call(fd);
  const ssize_t n = read(fd, to, size);
  call.Done(n);
  return n;
}

// The kernel orders the close() of a number before the open() that gets this number.
// ThreadSanitizer does not know that, so these atomics order them too.
std::atomic<int> g_closed[1024];

TEST_F(CoreReadsTest, EveryByteOfFilesOfOneThreadEachIsInASpan) {
  constexpr int kThreads = 6;
  constexpr int kFiles = 40;
  Ring ring(64);
  ring.StartDraining(200);
  std::vector<std::string> paths;
  for (int i = 0; i < kThreads * kFiles; ++i) {
    paths.push_back(Make(i, 1000 + static_cast<std::size_t>(i)));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      char buffer[256];
      for (int f = 0; f < kFiles; ++f) {
        const std::string& path = paths[static_cast<std::size_t>(t * kFiles + f)];
        const std::uint64_t start = Now();
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        ASSERT_LT(fd, 1024);
        g_closed[fd].load(std::memory_order_acquire);
        OnOpen(fd, start, path.c_str());
        while (HookedRead(fd, buffer, sizeof buffer) > 0) {
        }
        OnClose(fd);
        g_closed[fd].fetch_add(1, std::memory_order_release);
        close(fd);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ring.Dropped(), 0u);
  const Taken& taken = ring.StopDraining();
  EXPECT_EQ(taken.bytes.size(), paths.size());
  for (int i = 0; i < kThreads * kFiles; ++i) {
    const auto found = taken.bytes.find(paths[static_cast<std::size_t>(i)]);
    ASSERT_NE(found, taken.bytes.end()) << i;
    EXPECT_EQ(found->second, 1000u + static_cast<std::uint64_t>(i));
  }
}

// All threads read one descriptor at once. It is never closed.
TEST_F(CoreReadsTest, EveryByteOfADescriptorThatThreadsShareIsInASpan) {
  constexpr int kThreads = 6;
  constexpr int kReads = 500;
  // A process writes a name only once, and the first test's ring has the names up to 239. So this
  // file has a name of its own.
  constexpr int kOwnNames = 1000;
  Ring ring(64);
  ring.StartDraining(200);
  const std::string path = Make(kOwnNames, 100);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  OnOpen(fd, Now(), path.c_str());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      char buffer[100];
      for (int i = 0; i < kReads; ++i) {
        ReadCall call(fd);
        call.Done(pread(fd, buffer, sizeof buffer, 0));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  OnClose(fd);
  close(fd);
  EXPECT_EQ(ring.Dropped(), 0u);
  const Taken& taken = ring.StopDraining();
  const auto found = taken.bytes.find(path);
  ASSERT_NE(found, taken.bytes.end());
  EXPECT_EQ(found->second, std::uint64_t{kThreads} * kReads * 100);
}

}  // namespace
}  // namespace penstock::agent::driver
