// SPDX-License-Identifier: Apache-2.0
#include "loader/set/make_set.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <jpeglib.h>

#include "loader/set/commands.h"
#include "loader/set/jpeg_encoder.h"
#include "loader/set/picture.h"

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;

// Small pictures and few scenes: the same code, in milliseconds.
constexpr std::array<PictureSize, 2> kSmallSizes = {{{80, 60, 12}, {60, 80, 8}}};
constexpr std::array<SubsamplingShare, 3> kSmallMixture = {
    {{Subsampling::k420, 10}, {Subsampling::k444, 6}, {Subsampling::k422, 4}}};
constexpr SetRecipe kSmall = {"imagenet", "", kSmallSizes, kSmallMixture, 93, 3, 10};

const std::function<void(std::uint64_t)> kQuiet = [](std::uint64_t) {};

class MakeSetTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() /
            (std::string("penstock_set_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  SetOptions Options(const std::string& name) const {
    SetOptions options;
    options.folder = root_ / name;
    options.recipe = &kSmall;
    options.count = 23;
    options.classes = 4;
    options.seed = 5;
    return options;
  }

  // Every file below a folder, by its path from that folder.
  static std::map<std::string, std::string> Contents(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files[fs::relative(entry.path(), folder).string()] =
          std::string(std::istreambuf_iterator<char>(in), {});
    }
    return files;
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  fs::path root_;
};

struct Header {
  int width = 0;
  int height = 0;
  int samples_x = 0;
  int samples_y = 0;
  int first_quantum = 0;  // of the luminance table, which tells the quality
  bool progressive = false;
};

Header ReadHeader(const std::string& file) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  Header header{static_cast<int>(info.image_width),  static_cast<int>(info.image_height),
                info.comp_info[0].h_samp_factor,     info.comp_info[0].v_samp_factor,
                info.quant_tbl_ptrs[0]->quantval[0], info.progressive_mode != 0};
  jpeg_destroy_decompress(&info);
  return header;
}

TEST_F(MakeSetTest, BytesDoNotDependOnTheNumberOfWorkers) {
  std::vector<std::map<std::string, std::string>> made;
  for (const unsigned workers : {1u, 2u, 5u}) {
    SetOptions options = Options("w" + std::to_string(workers));
    options.workers = workers;
    ASSERT_TRUE(MakeSet(options, {}, kQuiet));
    made.push_back(Contents(options.folder));
  }
  EXPECT_EQ(made[0].size(), 24u);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(made[0], made[2]);
}

TEST_F(MakeSetTest, AnotherSeedGivesOtherPictures) {
  SetOptions options = Options("a");
  SetOptions other = Options("b");
  other.seed = 6;
  ASSERT_TRUE(MakeSet(options, {}, kQuiet));
  ASSERT_TRUE(MakeSet(other, {}, kQuiet));
  EXPECT_NE(Contents(options.folder)["class00/00000.jpg"],
            Contents(other.folder)["class00/00000.jpg"]);
}

TEST_F(MakeSetTest, PictureDoesNotDependOnTheCount) {
  SetOptions options = Options("a");
  SetOptions longer = Options("b");
  longer.count = 31;
  ASSERT_TRUE(MakeSet(options, {}, kQuiet));
  ASSERT_TRUE(MakeSet(longer, {}, kQuiet));
  auto few = Contents(options.folder);
  auto many = Contents(longer.folder);
  EXPECT_EQ(few["class02/00022.jpg"], many["class02/00022.jpg"]);
  EXPECT_FALSE(few["class02/00022.jpg"].empty());
}

TEST_F(MakeSetTest, FilesHaveThePromisedSizeQualityAndSubsampling) {
  SetOptions options = Options("set");
  options.count = 20;
  ASSERT_TRUE(MakeSet(options, {}, kQuiet));
  std::map<std::pair<int, int>, int> sizes;
  std::map<std::pair<int, int>, int> samplings;
  for (const auto& [name, bytes] : Contents(options.folder)) {
    if (name == "set.json") continue;
    const Header header = ReadHeader(bytes);
    ++sizes[{header.width, header.height}];
    ++samplings[{header.samples_x, header.samples_y}];
    EXPECT_EQ(header.first_quantum, 2) << name;  // 16 at quality 50, times 0.14 at 93
    EXPECT_FALSE(header.progressive);
  }
  EXPECT_EQ(sizes, (std::map<std::pair<int, int>, int>{{{80, 60}, 12}, {{60, 80}, 8}}));
  EXPECT_EQ(samplings,
            (std::map<std::pair<int, int>, int>{{{2, 2}, 10}, {{1, 1}, 6}, {{2, 1}, 4}}));
}

TEST_F(MakeSetTest, ListNamesEveryPictureWithItsClass) {
  SetOptions options = Options("set");
  options.format = SetFormat::kList;
  options.workers = 3;
  ASSERT_TRUE(MakeSet(options, {}, kQuiet));
  std::ifstream list(options.folder / "list.txt");
  std::string path;
  std::uint64_t label = 0;
  std::uint64_t lines = 0;
  while (list >> path >> label) {
    EXPECT_TRUE(fs::exists(options.folder / path)) << path;
    EXPECT_EQ(label, lines % 4);
    ++lines;
  }
  EXPECT_EQ(lines, 23u);
}

TEST_F(MakeSetTest, TarHoldsTheSameBytesAsTheFolder) {
  SetOptions folder = Options("folder");
  SetOptions tar = Options("tar");
  tar.format = SetFormat::kTar;
  tar.shard = 10;
  tar.workers = 2;
  ASSERT_TRUE(MakeSet(folder, {}, kQuiet));
  ASSERT_TRUE(MakeSet(tar, {}, kQuiet));
  auto files = Contents(folder.folder);
  auto shards = Contents(tar.folder);
  ASSERT_EQ(shards.size(), 4u);  // 10, 10, 3 and the manifest
  const std::string& first = shards["imagenet-000000.tar"];
  ASSERT_GT(first.size(), 1024u);
  EXPECT_EQ(first.substr(0, 9), "00000.jpg");
  const std::uint64_t size = std::stoull(first.substr(124, 11), nullptr, 8);
  EXPECT_EQ(first.substr(512, size), files["class00/00000.jpg"]);
  const std::uint64_t next = 512 + (size + 511) / 512 * 512;
  EXPECT_EQ(first.substr(next, 9), "00000.cls");
  EXPECT_EQ(first.substr(next + 512, 1), "0");
  EXPECT_EQ(first.size() % 512, 0u);
}

TEST_F(MakeSetTest, SameSetIsLeftAsItIs) {
  const SetOptions options = Options("set");
  ASSERT_TRUE(MakeSet(options, {}, kQuiet));
  const auto again = MakeSet(options, {}, kQuiet);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->already_there);
}

TEST_F(MakeSetTest, RefusesAFolderThatHoldsSomethingElse) {
  const SetOptions options = Options("set");
  fs::create_directories(options.folder);
  std::ofstream(options.folder / "mine.txt") << "precious";
  const auto made = MakeSet(options, {}, kQuiet);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Contents(options.folder).at("mine.txt"), "precious");
  EXPECT_EQ(Names(), std::set<std::string>{"set"});
}

TEST_F(MakeSetTest, ReplacesAnEmptyFolder) {
  const SetOptions options = Options("set");
  fs::create_directories(options.folder);
  ASSERT_TRUE(MakeSet(options, {}, kQuiet));
  EXPECT_EQ(Contents(options.folder).size(), 24u);
}

TEST_F(MakeSetTest, ReplacesAnEmptyFolderBehindALink) {
  const SetOptions options = Options("link");
  fs::create_directories(root_ / "set");
  fs::create_directory_symlink(root_ / "set", options.folder);
  const auto made = MakeSet(options, {}, kQuiet);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(fs::is_symlink(options.folder));
  EXPECT_EQ(Contents(root_ / "set").size(), 24u);
  EXPECT_EQ(Names(), (std::set<std::string>{"link", "set"}));
}

TEST_F(MakeSetTest, InterruptedLeavesNothing) {
  std::stop_source stop;
  const auto made =
      MakeSet(Options("set"), stop.get_token(), [&](std::uint64_t) { stop.request_stop(); });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "interrupted");
  EXPECT_TRUE(Names().empty());
}

TEST_F(MakeSetTest, EmptyNameIsRefusedBeforeAnyPictureIsMade) {
  SetOptions options = Options("set");
  options.folder.clear();
  std::uint64_t done = 0;
  const auto made = MakeSet(options, {}, [&](std::uint64_t pictures) { done = pictures; });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(done, 0u);
}

TEST_F(MakeSetTest, FolderThatCannotBeMadeIsAnOutputError) {
  SetOptions options = Options("set");
  std::ofstream(root_ / "file") << "x";
  options.folder = root_ / "file" / "set";
  const auto made = MakeSet(options, {}, kQuiet);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kOutput);
}

TEST_F(MakeSetTest, CommandRefusesWhatIsNotThere) {
  EXPECT_EQ(MakeSetCommand({(root_ / "s").string(), "--kind", "cats"}), 2);
  EXPECT_EQ(MakeSetCommand({(root_ / "s").string(), "--format", "zip"}), 2);
  EXPECT_EQ(MakeSetCommand({(root_ / "s").string(), "--count", "0"}), 2);
  EXPECT_EQ(MakeSetCommand({}), 2);
  EXPECT_TRUE(Names().empty());
}

TEST(SetRecipeTest, SharesAreWholeAndIndependentOfTheClass) {
  for (const SetRecipe& recipe : SetRecipes()) {
    std::map<std::pair<int, int>, int> sizes;
    for (std::uint64_t index = 0; index < 400; index += 10) {  // the pictures of one class of ten
      const PictureSize& size = SizeOf(recipe, index);
      ++sizes[{size.width, size.height}];
    }
    for (const PictureSize& size : recipe.sizes) {
      EXPECT_EQ((sizes[{size.width, size.height}]), 2 * size.share) << recipe.name;
    }
  }
}

TEST(SetRecipeTest, NamesAreFound) {
  ASSERT_NE(FindSetRecipe("imagenet"), nullptr);
  EXPECT_EQ(FindSetRecipe("imagenet")->quality, 96);
  EXPECT_EQ(FindSetRecipe("cats"), nullptr);
}

// The full calibration against photographs is benchmarks/check_sets.py. This checks the recipe's
// bits per pixel, which change only if the painting changes.
TEST(PainterTest, PicturesCostAsManyBitsAsPhotographs) {
  constexpr std::array<PictureSize, 1> kQuarter = {{{250, 188, 20}}};  // takes less time
  SetRecipe recipe = *FindSetRecipe("imagenet");
  recipe.sizes = kQuarter;
  recipe.scenes = 3;
  const Painter painter(recipe, 1, 10, 2, {});
  JpegEncoder encoder;
  std::vector<std::uint8_t> pixels;
  double bits = 0;
  double count = 0;
  for (std::uint64_t index = 0; index < 9; ++index) {
    const ImageView picture = painter.Paint(index, pixels);
    const auto jpeg = encoder.Encode(picture, recipe.quality, Subsampling::k444);
    ASSERT_TRUE(jpeg);
    bits += 8 * static_cast<double>(jpeg->size());
    count += picture.width * picture.height;
  }
  EXPECT_GT(bits / count, 3.6);
  EXPECT_LT(bits / count, 6.2);
}

TEST(JpegEncoderTest, KeepsWorkingAfterAnImageThatLibjpegRefuses) {
  JpegEncoder encoder;
  const std::vector<std::uint8_t> pixels(3 * 8 * 8, 100);
  const ImageView good{pixels.data(), 8, 8, 24};
  ImageView bad = good;
  bad.width = 0;
  const auto refused = encoder.Encode(bad, 90, Subsampling::k444);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
  const auto made = encoder.Encode(good, 90, Subsampling::k444);
  ASSERT_TRUE(made);
  EXPECT_GT(made->size(), 100u);
}

TEST(NaturalFieldTest, HasTheSpectrumOfPhotographs) {
  Random random({1, 2, 3}, 4);
  const Plane field = NaturalField(random, 256, 256, 1.0);
  // 1/f: the mean square difference of neighbours grows slowly (as the logarithm) with distance.
  const auto difference = [&](int distance) {
    double sum = 0;
    for (int y = 0; y < 256; ++y) {
      for (int x = 0; x + distance < 256; ++x) {
        sum += std::pow(field.row(y)[x + distance] - field.row(y)[x], 2);
      }
    }
    return sum / (256.0 * (256 - distance));
  };
  EXPECT_GT(difference(4) / difference(1), 1.2);
  EXPECT_LT(difference(4) / difference(1), 3.0);
  EXPECT_GT(difference(32) / difference(4), 1.2);
  EXPECT_LT(difference(32) / difference(4), 3.0);
}

}  // namespace
}  // namespace penstock::loader
