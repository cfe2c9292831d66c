// SPDX-License-Identifier: Apache-2.0
//
// libpenstock_loader.so through its C interface, as a program in another language uses it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "loader/capi/batch_pool.h"
#include "loader/capi/penstock_loader.h"
#include "tests/loader/source/temp_set.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kFiles = 23;
constexpr std::uint32_t kBatch = 4;

class CapiTest : public ::testing::Test {
 protected:
  CapiTest() {
    for (std::uint64_t i = 0; i < kFiles; ++i) {
      test::JpegSpec spec;
      spec.width = 40 + static_cast<int>(i);
      const std::vector<std::byte> file = test::MakeJpeg(spec, static_cast<std::uint32_t>(i));
      std::string bytes(file.size(), '\0');
      std::memcpy(bytes.data(), file.data(), file.size());
      set_.Write("class" + std::to_string(i % 3) + "/" + std::to_string(100 + i) + ".jpg", bytes);
    }
    options_.size = sizeof options_;
    options_.ops = "random_resized_crop=16,flip";
    options_.output = "u8";
    options_.world = 1;
    options_.batch = kBatch;
    options_.workers = 2;
    options_.prefetch = 2;
    options_.read_ahead = 1;
    options_.shuffle = 1;
    options_.persistent = 1;
  }
  ~CapiTest() override { penstock_loader_close(loader_); }

  int Open() {
    const std::string path = set_.root().string();
    const char* const source = path.c_str();
    return penstock_loader_open(&source, 1, &options_, &loader_);
  }
  // The next batch, however long it takes.
  int Next(PenstockBatch* batch) {
    int status = PENSTOCK_WAITING;
    while (status == PENSTOCK_WAITING) status = penstock_loader_next(loader_, 50, batch);
    return status;
  }
  // Pixels and labels of one epoch from `position` on.
  std::string Epoch(std::uint64_t epoch, std::uint64_t position = 0) {
    EXPECT_EQ(penstock_loader_start(loader_, epoch, position), PENSTOCK_OK);
    PenstockLoaderFacts facts{};
    facts.size = sizeof facts;
    EXPECT_EQ(penstock_loader_facts(loader_, &facts), PENSTOCK_OK);
    std::string all;
    PenstockBatch batch{};
    while (Next(&batch) == PENSTOCK_OK) {
      const auto* memory = static_cast<const char*>(batch.memory);
      for (std::uint64_t i = 0; i < batch.samples; ++i) {
        all.append(memory + i * 16 * 16 * 3, 16 * 16 * 3);
        all.append(memory + facts.labels_offset + i * 8, 8);
      }
      penstock_batch_release(batch.memory);
    }
    return all;
  }

  testing::TempSet set_;
  PenstockLoaderOptions options_{};
  PenstockLoader* loader_ = nullptr;
};

TEST_F(CapiTest, TellsWhatItLoads) {
  ASSERT_EQ(Open(), PENSTOCK_OK) << penstock_loader_message();
  PenstockLoaderFacts facts{};
  facts.size = sizeof facts;
  ASSERT_EQ(penstock_loader_facts(loader_, &facts), PENSTOCK_OK);
  EXPECT_EQ(facts.samples, kFiles);
  EXPECT_EQ(facts.classes, 3u);
  EXPECT_EQ(facts.epoch_batches, 6u);
  EXPECT_EQ(facts.batch_bytes, std::uint64_t{kBatch} * 16 * 16 * 3 + kBatch * 16);
  EXPECT_STREQ(facts.kind, "folder");
  std::string name(16, 'x');
  EXPECT_EQ(penstock_loader_class(loader_, 2, name.data(), name.size()), PENSTOCK_OK);
  EXPECT_STREQ(name.c_str(), "class2");
  EXPECT_EQ(penstock_loader_class(loader_, 2, name.data(), 4), PENSTOCK_OK);
  EXPECT_STREQ(name.c_str(), "cla");
  EXPECT_EQ(penstock_loader_class(loader_, 3, name.data(), name.size()), PENSTOCK_USAGE);
}

TEST_F(CapiTest, GivesTheSameBytesWithAndWithoutThreadsAndAfterAResume) {
  ASSERT_EQ(Open(), PENSTOCK_OK) << penstock_loader_message();
  const std::string first = Epoch(0);
  const std::string second = Epoch(1);
  EXPECT_EQ(first.size(), kFiles * (16 * 16 * 3 + 8));
  EXPECT_NE(first, second);
  EXPECT_EQ(Epoch(0), first);
  EXPECT_EQ(Epoch(1, 8), second.substr(8 * (16 * 16 * 3 + 8)));
  penstock_loader_close(loader_);
  options_.workers = 0;
  options_.batch = 7;
  ASSERT_EQ(Open(), PENSTOCK_OK);
  EXPECT_EQ(Epoch(0), first);
  EXPECT_EQ(Epoch(1), second);
}

TEST_F(CapiTest, GivesTheSameEpochsIfThreadsEndWithEachEpoch) {
  ASSERT_EQ(Open(), PENSTOCK_OK) << penstock_loader_message();
  const std::string first = Epoch(0);
  const std::string second = Epoch(1);
  penstock_loader_close(loader_);
  options_.persistent = 0;
  ASSERT_EQ(Open(), PENSTOCK_OK);
  EXPECT_EQ(Epoch(0), first);
  EXPECT_EQ(Epoch(1), second);
}

TEST_F(CapiTest, TheNextEpochIsCompleteIfTheEndOfTheLastWasNotAskedFor) {
  for (const std::uint8_t persistent : {std::uint8_t{1}, std::uint8_t{0}}) {
    options_.persistent = persistent;
    ASSERT_EQ(Open(), PENSTOCK_OK) << penstock_loader_message();
    const std::string second = Epoch(1);
    EXPECT_FALSE(second.empty());
    ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
    PenstockBatch batch{};
    for (int i = 0; i < 6; ++i) {  // all batches, without the call that returns PENSTOCK_END
      ASSERT_EQ(Next(&batch), PENSTOCK_OK);
      penstock_batch_release(batch.memory);
    }
    EXPECT_EQ(Epoch(1), second);
    penstock_loader_close(loader_);
    loader_ = nullptr;
  }
}

TEST_F(CapiTest, ResumedEpochWithoutAWholeBatchEndsAtOnceAndTheNextIsComplete) {
  options_.drop_last = 1;
  options_.batch = 8;
  for (const std::uint8_t persistent : {std::uint8_t{1}, std::uint8_t{0}}) {
    options_.persistent = persistent;
    ASSERT_EQ(Open(), PENSTOCK_OK) << penstock_loader_message();
    const std::string second = Epoch(1);
    EXPECT_FALSE(second.empty());
    EXPECT_EQ(Epoch(0, 20), "") << "3 of 23 samples are left";
    EXPECT_EQ(Epoch(1), second);
    penstock_loader_close(loader_);
    loader_ = nullptr;
  }
}

TEST_F(CapiTest, BatchesThatAreKeptStayAsTheyWereAlsoAfterTheLoader) {
  ASSERT_EQ(Open(), PENSTOCK_OK);
  const std::string expected = Epoch(0);
  ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
  std::vector<PenstockBatch> kept;
  PenstockBatch batch{};
  while (Next(&batch) == PENSTOCK_OK) kept.push_back(batch);
  ASSERT_EQ(kept.size(), 6u);
  static_cast<void>(Epoch(1));
  penstock_loader_close(loader_);
  loader_ = nullptr;
  std::string pixels;
  std::string wanted;
  for (const PenstockBatch& one : kept) {
    pixels.append(static_cast<const char*>(one.memory), one.samples * 16 * 16 * 3);
    std::thread([&] { penstock_batch_release(one.memory); }).join();
  }
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    wanted += expected.substr(i * (16 * 16 * 3 + 8), 16 * 16 * 3);
  }
  EXPECT_EQ(pixels, wanted);
}

TEST_F(CapiTest, EndsWaitsThatAreOver) {
  options_.ops = "resize=4000x4000";
  ASSERT_EQ(Open(), PENSTOCK_OK);
  ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
  PenstockBatch batch{};
  EXPECT_EQ(penstock_loader_next(loader_, 1, &batch), PENSTOCK_WAITING);
  penstock_loader_interrupt(loader_);
  EXPECT_EQ(penstock_loader_next(loader_, 1, &batch), PENSTOCK_STOPPED);
  ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
  EXPECT_EQ(Next(&batch), PENSTOCK_OK);
  penstock_batch_release(batch.memory);
}

TEST_F(CapiTest, SaysWhatBecameOfEachPictureAndWhereItIs) {
  options_.geometry = 1;
  options_.workers = 0;
  ASSERT_EQ(Open(), PENSTOCK_OK) << penstock_loader_message();
  PenstockLoaderFacts facts{};
  facts.size = sizeof facts;
  ASSERT_EQ(penstock_loader_facts(loader_, &facts), PENSTOCK_OK);
  EXPECT_EQ(facts.geometry_offset, facts.ids_offset + kBatch * 8);
  EXPECT_EQ(facts.batch_bytes, facts.geometry_offset + kBatch * sizeof(PenstockGeometry));
  const std::string pixels = Epoch(0);
  ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
  PenstockBatch batch{};
  std::uint64_t samples = 0;
  while (Next(&batch) == PENSTOCK_OK) {
    const auto* memory = static_cast<const char*>(batch.memory);
    for (std::uint64_t i = 0; i < batch.samples; ++i, ++samples) {
      std::uint64_t id = 0;
      PenstockGeometry one{};
      std::memcpy(&id, memory + facts.ids_offset + 8 * i, sizeof id);
      std::memcpy(&one, memory + facts.geometry_offset + sizeof one * i, sizeof one);
      std::string name(256, '\0');
      ASSERT_EQ(penstock_loader_name(loader_, id, name.data(), name.size()), PENSTOCK_OK);
      // The picture's number gives its name and its width.
      const int number = std::stoi(name.substr(name.rfind('/') + 1)) - 100;
      EXPECT_EQ(one.width, 40 + number);
      EXPECT_GE(one.crop_left, 0);
      EXPECT_LE(one.crop_left + one.crop_width, one.width);
      EXPECT_LE(one.crop_top + one.crop_height, one.height);
      EXPECT_EQ(one.scaled_height, 16);
      EXPECT_EQ(one.scaled_width, 16);
      EXPECT_EQ(one.window_top, 0);
    }
    penstock_batch_release(batch.memory);
  }
  EXPECT_EQ(samples, kFiles);
  EXPECT_EQ(penstock_loader_name(loader_, kFiles, nullptr, 0), PENSTOCK_USAGE);
  penstock_loader_close(loader_);
  loader_ = nullptr;
  options_.geometry = 0;
  ASSERT_EQ(Open(), PENSTOCK_OK);
  EXPECT_EQ(Epoch(0), pixels);
  penstock_loader_close(loader_);
  loader_ = nullptr;
  options_.geometry = 1;
  options_.ops = "resize=16x16,rotate";
  EXPECT_EQ(Open(), PENSTOCK_USAGE);
  EXPECT_NE(std::string(penstock_loader_message()).find("rotate"), std::string::npos);
}

TEST_F(CapiTest, SaysWhatIsWrong) {
  const char* const nowhere = "/nowhere/at/all";
  EXPECT_EQ(penstock_loader_open(&nowhere, 1, &options_, &loader_), PENSTOCK_INPUT);
  EXPECT_NE(std::string(penstock_loader_message()).find(nowhere), std::string::npos);
  const char* const one_of_two[] = {"a.tar", nullptr};
  EXPECT_EQ(penstock_loader_open(one_of_two, 2, &options_, &loader_), PENSTOCK_USAGE);
  EXPECT_EQ(penstock_loader_open(nullptr, 1, &options_, &loader_), PENSTOCK_USAGE);
  options_.ops = "turn_around";
  EXPECT_EQ(Open(), PENSTOCK_USAGE);
  EXPECT_NE(std::string(penstock_loader_message()).find("turn_around"), std::string::npos);
  options_.size = 8;
  EXPECT_EQ(Open(), PENSTOCK_USAGE);
  EXPECT_EQ(penstock_loader_start(nullptr, 0, 0), PENSTOCK_USAGE);
  penstock_batch_release(nullptr);
  EXPECT_EQ(loader_, nullptr);
}

TEST_F(CapiTest, RefusesMoreBatchesAheadThanCanBeCounted) {
  options_.prefetch = ~std::uint32_t{0};
  EXPECT_EQ(Open(), PENSTOCK_USAGE);
  EXPECT_NE(std::string(penstock_loader_message()).find("prefetch"), std::string::npos);
}

TEST_F(CapiTest, NamesAFileThatCannotBeDecoded) {
  set_.Write("class1/101.jpg", "no picture");
  ASSERT_EQ(Open(), PENSTOCK_OK);
  static_cast<void>(Epoch(0));
  std::uint64_t count = 0;
  std::string lines(1024, '\0');
  penstock_loader_stop(loader_);
  EXPECT_EQ(penstock_loader_errors(loader_, &count, lines.data(), lines.size()), PENSTOCK_OK);
  EXPECT_GE(count, 1u);
  EXPECT_NE(lines.find("class1/101.jpg"), std::string::npos);
  penstock_loader_close(loader_);
  options_.on_error = "fail";
  ASSERT_EQ(Open(), PENSTOCK_OK);
  ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
  PenstockBatch batch{};
  int status = PENSTOCK_OK;
  while ((status = Next(&batch)) == PENSTOCK_OK) penstock_batch_release(batch.memory);
  EXPECT_EQ(status, PENSTOCK_INPUT);
  EXPECT_NE(std::string(penstock_loader_message()).find("class1/101.jpg"), std::string::npos);
}

TEST_F(CapiTest, AForkedChildIsRefused) {
  ASSERT_EQ(Open(), PENSTOCK_OK);
  ASSERT_EQ(penstock_loader_start(loader_, 0, 0), PENSTOCK_OK);
  PenstockBatch batch{};
  ASSERT_EQ(Next(&batch), PENSTOCK_OK);
  const pid_t child = fork();
  if (child == 0) {
    PenstockBatch other{};
    const bool refused = penstock_loader_next(loader_, 50, &other) == PENSTOCK_FORKED &&
                         penstock_loader_start(loader_, 1, 0) == PENSTOCK_FORKED;
    penstock_batch_release(batch.memory);
    penstock_loader_stop(loader_);
    penstock_loader_close(loader_);
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  penstock_batch_release(batch.memory);
  EXPECT_EQ(Next(&batch), PENSTOCK_OK);
  penstock_batch_release(batch.memory);
}

TEST(BatchPoolTest, KeepsSomeBlocksAndUnmapsTheOthers) {
  const std::shared_ptr<BatchPool> pool = BatchPool::Make(64, 2);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 5; ++i) {
    blocks.push_back(pool->Get(4096));
    ASSERT_NE(blocks.back(), nullptr);
    std::memset(blocks.back(), 1, 4096 + 64);
    pool->HandOut(blocks.back());
  }
  EXPECT_EQ(pool->blocks(), 5u);
  for (std::byte* block : blocks) BatchPool::Release(block);
  EXPECT_EQ(pool->blocks(), 2u);
  EXPECT_EQ(pool->Get(4096), blocks[1]);  // the block that came back last
  pool->Put(blocks[1]);
}

}  // namespace
}  // namespace penstock::loader
