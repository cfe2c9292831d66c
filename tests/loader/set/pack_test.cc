// SPDX-License-Identifier: Apache-2.0
#include "loader/set/pack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loader/decode/jpeg_decoder.h"
#include "loader/io/object_reader.h"
#include "loader/set/commands.h"
#include "loader/set/make_set.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;

const std::function<void(std::uint64_t)> kNoProgress = [](std::uint64_t) {};

struct Sample {
  std::string name;
  std::int64_t label = -1;
  std::vector<std::byte> bytes;
  bool operator==(const Sample&) const = default;
};

class PackTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() /
            (std::string("penstock_pack_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(root_ / "set" / "cat");
    fs::create_directories(root_ / "set" / "dog");
    for (int i = 0; i < 6; ++i) {
      test::JpegSpec spec;
      spec.width = 90 + 10 * i;
      spec.height = 60;
      spec.sampling_x = spec.sampling_y = i % 2 == 0 ? 2 : 1;
      Write(Path(i), test::MakeJpeg(spec, static_cast<std::uint32_t>(i)));
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path Path(int i) const {
    return root_ / "set" / (i % 2 == 0 ? "cat" : "dog") / (std::to_string(i) + ".jpg");
  }

  static void Write(const fs::path& path, std::span<const std::byte> bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }

  static std::string Contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  std::unique_ptr<Source> Open(const fs::path& path) const {
    auto source = OpenSource(path, {});
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? std::move(*source) : nullptr;
  }

  // Everything in a source, through the reader that training uses.
  std::vector<Sample> ReadAll(const fs::path& path) const {
    const auto source = Open(path);
    const auto reader = MakeObjectReader({});
    std::vector<Sample> samples;
    SampleScratch scratch;
    for (std::uint64_t i = 0; source && reader && i < source->size(); ++i) {
      const auto ref = source->At(i, scratch);
      if (!ref) break;
      (*reader)->Start(0, *ref);
      const auto bytes = (*reader)->Finish(0);
      if (!bytes) break;
      samples.push_back(
          {std::string(ref->name), ref->label, std::vector(bytes->begin(), bytes->end())});
    }
    return samples;
  }

  Result<PackSummary> PackTo(const std::string& name, PackOptions options) {
    options.output = root_ / name;
    const auto source = Open(root_ / "set");
    return Pack(*source, options, {}, kNoProgress,
                [&](const std::string& why) { left_out_.push_back(why); });
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  fs::path root_;
  std::vector<std::string> left_out_;
};

TEST_F(PackTest, RoundTripIsByteIdenticalWithNamesAndLabels) {
  const auto packed = PackTo("set.pspk", {});
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->packed, 6u);
  EXPECT_EQ(packed->encoded, 0u);
  EXPECT_EQ(packed->bytes_read, packed->bytes_written);
  const std::vector<Sample> before = ReadAll(root_ / "set");
  ASSERT_EQ(before.size(), 6u);
  EXPECT_EQ(ReadAll(root_ / "set.pspk"), before);
}

TEST_F(PackTest, TarKeepsBytesLabelsAndOrder) {
  PackOptions options;
  options.format = PackFormat::kTar;
  ASSERT_TRUE(PackTo("set.tar", options));
  const std::vector<Sample> before = ReadAll(root_ / "set");
  const std::vector<Sample> after = ReadAll(root_ / "set.tar");
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].bytes, before[i].bytes);
    EXPECT_EQ(after[i].label, before[i].label);
  }
  EXPECT_NE(after[0].name.find("cat/0-0.jpg"), std::string::npos) << after[0].name;
}

TEST_F(PackTest, TarKeysAreUniqueAndHaveNoDots) {
  for (const auto& entry : fs::directory_iterator(root_ / "set" / "dog")) fs::remove(entry.path());
  test::JpegSpec spec;
  Write(root_ / "set" / "dog" / "a.v1.jpg", test::MakeJpeg(spec, 1));
  Write(root_ / "set" / "dog" / "a.v2.jpg", test::MakeJpeg(spec, 2));
  const std::string deep(120, 'd');
  fs::create_directories(root_ / "set" / "dog" / deep);
  Write(root_ / "set" / "dog" / deep / "b.jpeg", test::MakeJpeg(spec, 3));
  PackOptions options;
  options.format = PackFormat::kTar;
  ASSERT_TRUE(PackTo("set.tar", options));
  EXPECT_EQ(ReadAll(root_ / "set.tar").size(), 6u);  // three cats are left
}

TEST_F(PackTest, TarNamesStayInsideTheArchive) {
  std::ofstream(root_ / "list.txt") << Path(0).string() << " 3\n"
                                    << "../" << root_.filename().string() << "/set/dog/1.jpg 4\n";
  PackOptions options;
  options.format = PackFormat::kTar;
  options.output = root_ / "set.tar";
  const auto source = Open(root_ / "list.txt");
  ASSERT_TRUE(Pack(*source, options, {}, kNoProgress, [](const std::string&) {}));
  const std::string tar = Contents(options.output);
  EXPECT_NE(tar.front(), '/');
  EXPECT_EQ(tar.find(".."), std::string::npos);
  const std::vector<Sample> after = ReadAll(options.output);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after[0].label, 3);
  EXPECT_EQ(after[1].label, 4);
}

TEST_F(PackTest, BytesDoNotDependOnTheNumberOfWorkers) {
  std::vector<std::string> made;
  for (const unsigned workers : {1u, 2u, 5u}) {
    PackOptions options;
    options.resize = 40;
    options.workers = workers;
    ASSERT_TRUE(PackTo("set.pspk", options));
    made.push_back(Contents(root_ / "set.pspk"));
  }
  EXPECT_GT(made[0].size(), 1000u);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(made[0], made[2]);
}

TEST_F(PackTest, ResizeBringsTheShortSideToWhatWasAskedFor) {
  PackOptions options;
  options.resize = 30;
  const auto packed = PackTo("set.pspk", options);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->encoded, 6u);
  const std::vector<Sample> before = ReadAll(root_ / "set");
  const std::vector<Sample> after = ReadAll(root_ / "set.pspk");
  ASSERT_EQ(after.size(), 6u);
  JpegDecoder decoder{DecodeOptions{}};
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto old_info = decoder.ReadHeader(before[i].bytes);
    ASSERT_TRUE(old_info);
    const auto info = decoder.ReadHeader(after[i].bytes);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->height, 30);
    EXPECT_EQ(info->width, old_info->width / 2);
    EXPECT_EQ(info->subsampling_x, old_info->subsampling_x);
    EXPECT_EQ(info->subsampling_y, old_info->subsampling_y);
  }
}

// Halving uses an antialiased triangle filter whose support is one pixel of the output. Its weights
// are 1/8, 3/8, 3/8 and 1/8 in each direction.
TEST_F(PackTest, ResizedPixelsAreTheAveragesOfWhatTheyCover) {
  fs::remove_all(root_ / "set" / "dog");
  fs::remove(Path(2));
  fs::remove(Path(4));
  test::JpegSpec spec;
  spec.width = 80;
  spec.height = 64;
  spec.quality = 100;
  Write(Path(0), test::MakeJpeg(spec, 3));
  PackOptions options;
  options.resize = 32;
  options.quality = 100;
  ASSERT_TRUE(PackTo("set.pspk", options));
  const auto large = test::DecodePlain(ReadAll(root_ / "set")[0].bytes);
  const auto small = test::DecodePlain(ReadAll(root_ / "set.pspk")[0].bytes);
  ASSERT_EQ(small.width, 40);
  ASSERT_EQ(small.height, 32);
  const auto at = [](const test::PlainImage& image, int x, int y, int c) {
    return static_cast<double>(
        image.pixels[static_cast<std::size_t>((y * image.width + x) * 3 + c)]);
  };
  constexpr double kTaps[4] = {1 / 8.0, 3 / 8.0, 3 / 8.0, 1 / 8.0};
  double error = 0;
  double count = 0;
  for (int y = 1; y + 1 < small.height; ++y) {
    for (int x = 1; x + 1 < small.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        double expected = 0;
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 4; ++j) {
            expected += kTaps[i] * kTaps[j] * at(large, 2 * x - 1 + j, 2 * y - 1 + i, c);
          }
        }
        error += std::abs(expected - at(small, x, y, c));
        ++count;
      }
    }
  }
  EXPECT_LT(error / count, 1.0);  // the error of JPEG at quality 100
}

TEST_F(PackTest, SmallPicturesAreNotEnlargedButCopied) {
  PackOptions options;
  options.resize = 60;  // all pictures are 60 high already
  const auto packed = PackTo("set.pspk", options);
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->encoded, 0u);
  EXPECT_EQ(ReadAll(root_ / "set.pspk"), ReadAll(root_ / "set"));
}

TEST_F(PackTest, EncodedPicturesStandUpright) {
  fs::remove_all(root_ / "set" / "dog");
  test::JpegSpec spec;
  spec.width = 80;
  spec.height = 48;
  spec.orientation = 6;  // a quarter turn
  Write(Path(0), test::MakeJpeg(spec, 3));
  PackOptions options;
  options.quality = 90;
  ASSERT_TRUE(PackTo("set.pspk", options));
  const auto packed = test::DecodePlain(ReadAll(root_ / "set.pspk")[0].bytes);
  EXPECT_EQ(packed.width, 48);
  EXPECT_EQ(packed.height, 80);
}

TEST_F(PackTest, SkipBadLeavesOutWhatDoesNotDecode) {
  const std::vector<Sample> before = ReadAll(root_ / "set");
  Write(Path(1), {});                            // dog/1.jpg, index 3
  std::vector<std::byte> cut = before[1].bytes;  // cat/2.jpg
  cut.resize(cut.size() / 2);
  Write(Path(2), cut);
  PackOptions options;
  options.skip_bad = true;
  options.workers = 2;
  const auto packed = PackTo("set.pspk", options);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->packed, 4u);
  EXPECT_EQ(packed->left_out, 2u);
  ASSERT_EQ(left_out_.size(), 2u);
  EXPECT_NE(left_out_[0].find("2.jpg"), std::string::npos) << left_out_[0];
  EXPECT_NE(left_out_[1].find("1.jpg"), std::string::npos) << left_out_[1];
  const std::vector<Sample> after = ReadAll(root_ / "set.pspk");
  EXPECT_EQ(after, (std::vector<Sample>{before[0], before[2], before[4], before[5]}));
}

// After --resize 2 this strip would still be 16,400 pixels wide.
TEST_F(PackTest, PictureThatIsTooLongToBeResizedIsBad) {
  test::JpegSpec spec;
  spec.width = 24600;
  spec.height = 3;
  Write(Path(3), test::MakeJpeg(spec, 3));
  PackOptions options;
  options.resize = 2;
  const auto refused = PackTo("set.pspk", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
  EXPECT_NE(refused.error().message.find("dog/3.jpg"), std::string::npos)
      << refused.error().message;
  options.skip_bad = true;
  const auto packed = PackTo("set.pspk", options);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->packed, 5u);
  EXPECT_EQ(packed->left_out, 1u);
}

TEST_F(PackTest, BadFileIsAnErrorThatNamesItAndLeavesNoFile) {
  Write(Path(4), std::vector<std::byte>(500, std::byte{7}));
  PackOptions options;
  options.resize = 40;
  const auto packed = PackTo("set.pspk", options);
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().kind, ErrorKind::kInput);
  EXPECT_NE(packed.error().message.find("cat/4.jpg"), std::string::npos) << packed.error().message;
  EXPECT_EQ(Names(), std::set<std::string>{"set"});
}

TEST_F(PackTest, NothingGoodIsAnError) {
  for (int i = 0; i < 6; ++i) Write(Path(i), std::vector<std::byte>(10, std::byte{1}));
  for (const PackFormat format : {PackFormat::kPacked, PackFormat::kTar}) {
    PackOptions options;
    options.skip_bad = true;
    options.format = format;
    const auto packed = PackTo("out.tar", options);
    ASSERT_FALSE(packed);
    EXPECT_EQ(packed.error().kind, ErrorKind::kInput);
  }
  EXPECT_EQ(Names(), std::set<std::string>{"set"});
}

TEST_F(PackTest, InterruptedLeavesNoFile) {
  for (const PackFormat format : {PackFormat::kPacked, PackFormat::kTar}) {
    PackOptions options;
    options.format = format;
    options.output = root_ / "out.tar";
    std::stop_source stop;
    const auto source = Open(root_ / "set");
    const auto packed = Pack(
        *source, options, stop.get_token(), [&](std::uint64_t) { stop.request_stop(); },
        [](const std::string&) {});
    EXPECT_FALSE(packed);
  }
  EXPECT_EQ(Names(), std::set<std::string>{"set"});
}

TEST_F(PackTest, CommandPacksAndSaysWhatIsWrong) {
  const std::string set = (root_ / "set").string();
  EXPECT_EQ(PackCommand({set, "-o", (root_ / "a.pspk").string()}), 0);
  EXPECT_EQ(PackCommand({set, "-o", (root_ / "a.tar").string(), "--resize", "30"}), 0);
  EXPECT_EQ(ReadAll(root_ / "a.pspk").size(), 6u);
  EXPECT_EQ(ReadAll(root_ / "a.tar").size(), 6u);
  EXPECT_EQ(PackCommand({set}), 2);
  EXPECT_EQ(PackCommand({set, "-o", (root_ / "b").string(), "--format", "zip"}), 2);
  EXPECT_EQ(PackCommand({set, "-o", (root_ / "b").string(), "--format", "tar"}), 2);
  EXPECT_EQ(PackCommand({set, "-o", (root_ / "b").string(), "--quality", "0"}), 2);
  EXPECT_EQ(PackCommand({(root_ / "none").string(), "-o", (root_ / "b").string()}), 4);
  EXPECT_EQ(PackCommand({set, "-o", (root_ / "no" / "b").string()}), 3);
  EXPECT_FALSE(fs::exists(root_ / "b"));
}

// A source must open the list that make-set writes.
TEST_F(PackTest, SetsOfEveryFormatOpenAsSources) {
  SetRecipe recipe = *FindSetRecipe("imagenet");
  const PictureSize small{48, 40, 20};
  recipe.sizes = std::span(&small, 1);
  recipe.scenes = 2;
  std::vector<std::vector<std::pair<std::int64_t, std::vector<std::byte>>>> all;
  for (const SetFormat format : {SetFormat::kFolder, SetFormat::kTar, SetFormat::kList}) {
    SetOptions options;
    options.folder = root_ / std::string(SetFormatName(format));
    options.recipe = &recipe;
    options.count = 12;
    options.classes = 3;
    options.shard = 5;
    options.format = format;
    ASSERT_TRUE(MakeSet(options, {}, kNoProgress));
    const fs::path path = format == SetFormat::kList ? options.folder / "list.txt" : options.folder;
    auto& samples = all.emplace_back();
    for (Sample& sample : ReadAll(path))
      samples.emplace_back(sample.label, std::move(sample.bytes));
  }
  EXPECT_EQ(all[0].size(), 12u);
  EXPECT_TRUE(std::is_permutation(all[0].begin(), all[0].end(), all[1].begin(), all[1].end()));
  EXPECT_TRUE(std::is_permutation(all[0].begin(), all[0].end(), all[2].begin(), all[2].end()));
}

}  // namespace
}  // namespace penstock::loader
