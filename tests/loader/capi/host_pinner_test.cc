// SPDX-License-Identifier: Apache-2.0
//
// The page-locked memory of batches, with a driver that only counts.
#include "loader/capi/host_pinner.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "loader/capi/batch_pool.h"
#include "tests/paths.h"

namespace penstock::loader {
namespace {

class HostPinnerTest : public ::testing::Test {
 protected:
  HostPinnerTest() { Limit(static_cast<std::size_t>(-1)); }
  ~HostPinnerTest() override { dlclose(library_); }

  static std::unique_ptr<HostPinner> Open(int device = 0) {
    return HostPinner::Open(device, paths::kFakeDriver);
  }
  template <class Function>
  Function* Find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  int Registered() { return Find<int()>("fake_registered")(); }
  int Retained() { return Find<int()>("fake_retained")(); }
  int Pushed() { return Find<int()>("fake_pushed")(); }
  void Limit(std::size_t bytes) { Find<void(std::size_t)>("fake_limit")(bytes); }

 private:
  void* const library_ = dlopen(paths::kFakeDriver, RTLD_NOW);
};

TEST_F(HostPinnerTest, LocksMemoryAndLeavesNoTrace) {
  auto pinner = Open();
  ASSERT_NE(pinner, nullptr);
  EXPECT_EQ(Retained(), 1);
  std::array<char, 4096> memory{};
  EXPECT_TRUE(pinner->Pin(memory.data(), memory.size()));
  EXPECT_EQ(Registered(), 1);
  EXPECT_FALSE(pinner->Pin(memory.data(), memory.size()));
  pinner->Unpin(memory.data());
  EXPECT_EQ(Registered(), 0);
  EXPECT_EQ(Pushed(), 0);
  pinner.reset();
  EXPECT_EQ(Retained(), 0);
}

TEST_F(HostPinnerTest, NeedsADriverADeviceAndMemoryThatCanBeLocked) {
  EXPECT_EQ(HostPinner::Open(0, "libno-such-driver.so.1"), nullptr);
  EXPECT_EQ(HostPinner::Open(0, "libc.so.6"), nullptr);
  EXPECT_EQ(Open(1), nullptr);
  Limit(0);
  EXPECT_EQ(Open(), nullptr);
  EXPECT_EQ(Retained(), 0);
  EXPECT_EQ(Pushed(), 0);
}

TEST_F(HostPinnerTest, BlocksOfAPoolAreLockedWhileTheyAreMapped) {
  std::vector<std::byte*> blocks;
  {
    const std::shared_ptr<BatchPool> pool = BatchPool::Make(64, 2, Open());
    EXPECT_TRUE(pool->pins());
    for (int i = 0; i < 5; ++i) {
      std::thread([&] { blocks.push_back(pool->Get(4096)); }).join();
      ASSERT_NE(blocks.back(), nullptr);
      std::memset(blocks.back(), 1, 4096 + 64);
      pool->HandOut(blocks.back());
    }
    EXPECT_EQ(Registered(), 5);
    for (std::size_t i = 1; i < 5; ++i) BatchPool::Release(blocks[i]);
    EXPECT_EQ(Registered(), 3);
    std::byte* const again = pool->Get(4096);
    EXPECT_EQ(Registered(), 3);
    pool->Put(again);
  }
  EXPECT_EQ(Registered(), 3);  // the caller's block keeps the pool
  BatchPool::Release(blocks[0]);
  EXPECT_EQ(Registered(), 0);
  EXPECT_EQ(Retained(), 0);
}

TEST_F(HostPinnerTest, ABlockThatCannotBeLockedIsABlockNevertheless) {
  const std::shared_ptr<BatchPool> pool = BatchPool::Make(64, 0, Open());
  Limit(4096);
  std::byte* const block = pool->Get(1 << 20);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(Registered(), 0);
  std::memset(block, 1, 1 << 20);
  pool->Put(block);
  EXPECT_EQ(pool->blocks(), 0u);
}

}  // namespace
}  // namespace penstock::loader
