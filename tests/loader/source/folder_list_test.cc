// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "loader/source/source.h"
#include "tests/loader/source/temp_set.h"

namespace penstock::loader {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempSet;

struct Sample {
  std::string name;
  std::int64_t label;
  bool operator==(const Sample&) const = default;
};
void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name << ' ' << sample.label;
}

Sample SampleAt(const Source& source, std::uint64_t index) {
  SampleScratch scratch;
  const Result<SampleRef> ref = source.At(index, scratch);
  return ref ? Sample{std::string(ref->name), ref->label} : Sample{ref.error().message, -99};
}

Sample Last(const Source& source) {
  return SampleAt(source, source.size() - 1);
}

std::vector<Sample> All(const Source& source) {
  std::vector<Sample> out;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    out.push_back(SampleAt(source, i));
  }
  return out;
}

std::unique_ptr<Source> MustOpen(const std::filesystem::path& path) {
  Result<std::unique_ptr<Source>> source = OpenSource(path, {});
  EXPECT_TRUE(source) << source.error().message;
  return source ? std::move(*source) : nullptr;
}

// The one line of the error that opening `path` gives.
std::string Refusal(const std::filesystem::path& path) {
  const Result<std::unique_ptr<Source>> source = OpenSource(path, {});
  if (source) {
    return "was opened";
  }
  EXPECT_EQ(source.error().kind, ErrorKind::kInput);
  EXPECT_THAT(source.error().message, Not(HasSubstr("\n")));
  EXPECT_THAT(source.error().message, HasSubstr(path.filename().string()));
  return source.error().message;
}

TEST(FolderSourceTest, ClassesAndFilesComeInTorchvisionsOrder) {
  const TempSet set;
  // sorted(os.walk()) compares whole paths: "x-1" comes before "x/y", files of "x" before both.
  for (const char* name : {"dog/2.JPG", "dog/10.png", "Zebra/z.webp", "cat/x/y.tiff",
                           "cat/x-1/y.jpeg", "cat/b.jpg", "cat/notes.txt", "cat/x/a.bmp",
                           "cat/x/y/0.jpg", "\xc3\xa9t\xc3\xa9/1.jpg", ".hidden/1.ppm"}) {
    set.Write(name, "x");
  }
  const auto source = MustOpen(set.root());
  EXPECT_EQ(source->kind(), "folder");
  EXPECT_EQ(source->classes(), 5U);
  EXPECT_THAT(
      All(*source),
      ElementsAre(Sample{".hidden/1.ppm", 0}, Sample{"Zebra/z.webp", 1}, Sample{"cat/b.jpg", 2},
                  Sample{"cat/x/a.bmp", 2}, Sample{"cat/x/y.tiff", 2}, Sample{"cat/x-1/y.jpeg", 2},
                  Sample{"cat/x/y/0.jpg", 2}, Sample{"dog/10.png", 3}, Sample{"dog/2.JPG", 3},
                  Sample{"\xc3\xa9t\xc3\xa9/1.jpg", 4}));
}

TEST(FolderSourceTest, PathIsWhatOpenTakes) {
  const TempSet set;
  set.Write("a/1.jpg", "first");
  set.Write("b/c/2.jpg", "second");
  const auto source = MustOpen(set.root());
  SampleScratch scratch;
  const Result<SampleRef> ref = source->At(1, scratch);
  ASSERT_TRUE(ref);
  EXPECT_TRUE(ref->whole_file);
  EXPECT_EQ(testing::ReadFile(std::string(ref->path)), "second");
}

TEST(FolderSourceTest, ImagesWithoutClassFoldersHaveNoLabel) {
  const TempSet set;
  set.Write("b.jpg", "x");
  set.Write("a.jpg", "x");
  set.Write("README", "x");
  const auto source = MustOpen(set.root());
  EXPECT_EQ(source->classes(), 0U);
  EXPECT_THAT(All(*source), ElementsAre(Sample{"a.jpg", -1}, Sample{"b.jpg", -1}));
}

TEST(FolderSourceTest, LinksAreFollowed) {
  const TempSet set;
  const TempSet elsewhere;
  elsewhere.Write("1.jpg", "x");
  std::filesystem::create_directory_symlink(elsewhere.root(), set / "cat");
  set.Write("dog/1.jpg", "x");
  std::filesystem::create_symlink("/nonexistent/2.jpg", set / "dog" / "2.jpg");
  EXPECT_THAT(All(*MustOpen(set.root())),
              ElementsAre(Sample{"cat/1.jpg", 0}, Sample{"dog/1.jpg", 1}, Sample{"dog/2.jpg", 1}));
}

TEST(FolderSourceTest, LinkToAFolderAboveItselfIsRefused) {
  const TempSet set;
  set.Write("cat/1.jpg", "x");
  std::filesystem::create_directory_symlink(set / "cat", set / "cat" / "again");
  const Result<std::unique_ptr<Source>> source = OpenSource(set.root(), {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, AllOf(HasSubstr("cat/again"), HasSubstr("above itself")));
}

TEST(FolderSourceTest, EmptyFolderIsRefused) {
  const TempSet set;
  EXPECT_THAT(Refusal(set.root()), HasSubstr("is empty"));
}

TEST(FolderSourceTest, FolderWithoutImagesIsRefused) {
  const TempSet set;
  set.Write("a.txt", "x");
  EXPECT_THAT(Refusal(set.root()), AllOf(HasSubstr("holds no image"), HasSubstr(".jpg")));
}

TEST(FolderSourceTest, ClassWithoutImagesIsRefusedSinceItWouldShiftLabels) {
  const TempSet set;
  set.Write("cat/1.jpg", "x");
  set.Write(".ipynb_checkpoints/a.txt", "x");
  EXPECT_THAT(Refusal(set.root()),
              AllOf(HasSubstr(".ipynb_checkpoints"), HasSubstr("without an image")));
}

TEST(OpenSourceTest, WhatIsNoSourceIsNamed) {
  const TempSet set;
  EXPECT_THAT(Refusal(set / "missing"), HasSubstr("No such file"));
  EXPECT_THAT(Refusal(set.Write("empty.txt", "")), HasSubstr("is empty"));
  EXPECT_THAT(Refusal(set.Write("a.tar.gz", "\x1f\x8b\x08rest")), HasSubstr("gunzip"));
  EXPECT_THAT(Refusal(set.Write("a.bin", "\xff\xd8\xff\xe0 JFIF")), HasSubstr("is one image"));
  ASSERT_EQ(::mkfifo((set / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(Refusal(set / "fifo"), HasSubstr("neither file nor folder"));
}

TEST(OpenSourceTest, ListMayBeginWithTheLettersOfAnotherFormat) {
  const TempSet set;
  EXPECT_THAT(All(*MustOpen(set.Write("l1", "BZhang/1.jpg 3\n"))),
              ElementsAre(Sample{"BZhang/1.jpg", 3}));
  EXPECT_THAT(All(*MustOpen(set.Write("l2", "RIFF/1.jpg 4\n"))),
              ElementsAre(Sample{"RIFF/1.jpg", 4}));
  EXPECT_EQ(MustOpen(set.Write("l3", "BZh 0"))->size(), 1U);
  EXPECT_THAT(Refusal(set.Write("a.bz2", "BZh91AY&SY\x01")), HasSubstr("bunzip2"));
  EXPECT_THAT(Refusal(set.Write("a.webp", std::string("RIFF\x10\0\0\0WEBPVP8 ", 16))),
              HasSubstr("is one image"));
}

TEST(ListSourceTest, PathsAreRelativeToTheListAndMayHoldBlanks) {
  const TempSet set;
  set.Write("images/two words.jpg", "found");
  const auto list = set.Write("train.txt",
                              "\xef\xbb\xbfimages/two words.jpg 7\r\n\n  a\tb.jpg\t  -1  \n"
                              "/somewhere/c.jpg 12");
  const auto source = MustOpen(list);
  EXPECT_EQ(source->kind(), "list");
  EXPECT_EQ(source->classes(), 0U);  // a label is negative
  EXPECT_THAT(All(*source), ElementsAre(Sample{"images/two words.jpg", 7}, Sample{"a\tb.jpg", -1},
                                        Sample{"/somewhere/c.jpg", 12}));
  SampleScratch scratch;
  EXPECT_EQ(testing::ReadFile(std::string(source->At(0, scratch)->path)), "found");
  EXPECT_EQ(source->At(2, scratch)->path, "/somewhere/c.jpg");
}

TEST(ListSourceTest, ClassesAreOneMoreThanTheLargestLabel) {
  const TempSet set;
  EXPECT_EQ(MustOpen(set.Write("l", "a 0\nb 41\n"))->classes(), 42U);
}

TEST(ListSourceTest, BrokenLineIsNamedByItsNumber) {
  const TempSet set;
  EXPECT_THAT(Refusal(set.Write("l1", "a.jpg 1\n\nb.jpg\n")),
              AllOf(HasSubstr("line 3"), HasSubstr("no label")));
  EXPECT_THAT(Refusal(set.Write("l2", "a.jpg 1\nb.jpg cat\n")),
              AllOf(HasSubstr("line 2"), HasSubstr("\"cat\" is not an integer")));
  EXPECT_THAT(Refusal(set.Write("l3", "a.jpg 99999999999999999999\n")), HasSubstr("line 1"));
  EXPECT_THAT(Refusal(set.Write("l4", std::string("a\0b 1\n", 6))), HasSubstr("byte 0"));
  EXPECT_THAT(Refusal(set.Write("l5", "a 1\n" + std::string(9000, 'x') + " 1\n")),
              AllOf(HasSubstr("line 2"), HasSubstr("longer than")));
  EXPECT_THAT(Refusal(set.Write("l6", "\n \n\t\n")), HasSubstr("no sample"));
}

TEST(ListSourceTest, LinesOnTheEdgesOfReadsAreWhole) {
  const TempSet set;
  std::string text;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; text.size() < (5U << 19); ++i) {  // two and a half reads
    text += std::string(1 + i * 37 % 4000, static_cast<char>('a' + i % 26)) + " " +
            std::to_string(i) + "\n";
    lengths.push_back(1 + i * 37 % 4000);
  }
  const auto source = MustOpen(set.Write("l", text));
  ASSERT_EQ(source->size(), lengths.size());
  SampleScratch scratch;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Result<SampleRef> ref = source->At(i, scratch);
    ASSERT_TRUE(ref) << ref.error().message;
    ASSERT_EQ(ref->label, static_cast<std::int64_t>(i));
    ASSERT_EQ(ref->name, std::string(lengths[i], static_cast<char>('a' + i % 26)));
  }
}

TEST(ListSourceTest, ListChangedWhileInUseIsAnErrorNotAnotherSample) {
  const TempSet set;
  const auto list = set.Write("l", "a 1\nb 2\n");
  const auto source = MustOpen(list);
  std::ofstream(list, std::ios::trunc) << "x";
  SampleScratch scratch;
  const Result<SampleRef> ref = source->At(1, scratch);
  ASSERT_FALSE(ref);
  EXPECT_THAT(ref.error().message, HasSubstr("changed while in use"));
}

TEST(ListSourceTest, LargeListKeepsAnIndexThatIsRemadeWhenTheListChanges) {
  const TempSet set;
  std::string text;
  while (text.size() < (4U << 20)) {
    text += "a/rather/long/path/of/an/image/so/that/the/list/is/large.jpg 3\n";
  }
  const auto list = set.Write("l", text);
  const auto sidecar = set / "l.idx";
  const std::uint64_t size = MustOpen(list)->size();
  ASSERT_TRUE(std::filesystem::exists(sidecar));
  EXPECT_EQ(std::filesystem::file_size(sidecar), 80 + 8 * size);
  const auto made = std::filesystem::last_write_time(sidecar);
  EXPECT_EQ(Last(*MustOpen(list)).label, 3);
  EXPECT_EQ(std::filesystem::last_write_time(sidecar), made);  // used as it is

  std::ofstream(list, std::ios::app) << "last.jpg 9\n";
  const auto source = MustOpen(list);
  EXPECT_EQ(source->size(), size + 1);
  EXPECT_EQ(Last(*source), (Sample{"last.jpg", 9}));

  std::string bytes = testing::ReadFile(sidecar);  // damage is found by its checksum
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  set.Write("l.idx", bytes);
  EXPECT_EQ(Last(*MustOpen(list)), (Sample{"last.jpg", 9}));
}

#if defined(__has_feature)  // how clang tells that a sanitizer is on
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PENSTOCK_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(PENSTOCK_SANITIZED)
constexpr bool kOwnMemoryOnly = false;  // shadow memory is resident too
constexpr std::uint64_t kManyLines = 300'000;
#else
constexpr bool kOwnMemoryOnly = true;
constexpr std::uint64_t kManyLines = 10'000'000;
#endif

std::uint64_t ResidentKiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) {
      return std::stoull(line.substr(6));
    }
  }
  return 0;
}

TEST(ListSourceTest, TenMillionLinesTakeNoMoreMemoryThanTen) {
  const TempSet set("/var/tmp");
  const auto list = set / "many.txt";
  {
    std::FILE* file = std::fopen(list.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::string block;
    for (std::uint64_t i = 0; i < kManyLines; ++i) {
      block.append(std::to_string(i)).append(i % 2 == 0 ? " 0\n" : " 1\n");
      if (block.size() > (1 << 18) || i + 1 == kManyLines) {
        std::fwrite(block.data(), 1, block.size(), file);
        block.clear();
      }
    }
    std::fclose(file);
  }
  const std::uint64_t before = ResidentKiB();
  for (int opening = 0; opening < 2; ++opening) {  // the first makes the index, the second finds it
    const auto source = MustOpen(list);
    ASSERT_EQ(source->size(), kManyLines);
    SampleScratch scratch;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
      const std::uint64_t at = i * 2654435761U % kManyLines;
      const Result<SampleRef> ref = source->At(at, scratch);
      ASSERT_TRUE(ref) << ref.error().message;
      ASSERT_EQ(ref->name, std::to_string(at));
      ASSERT_EQ(ref->label, static_cast<std::int64_t>(at % 2));
    }
    if (kOwnMemoryOnly) {
      EXPECT_LT(ResidentKiB(), before + 8192);  // all resident memory, pages of files too
    }
  }
  EXPECT_GT(before, 0U);
}

TEST(ListSourceTest, ProgressEndsWithTheWholeList) {
  const TempSet set;
  const std::string text(3U << 20, '\n');
  const auto list = set.Write("l", text + "a.jpg 1\n");
  std::vector<std::uint64_t> done;
  SourceOptions options;
  options.progress = [&](std::uint64_t at, std::uint64_t total) {
    EXPECT_EQ(total, text.size() + 8);
    done.push_back(at);
  };
  ASSERT_TRUE(OpenSource(list, options));
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.size(), 4U);
  EXPECT_EQ(done.back(), text.size() + 8);
}

TEST(ListSourceTest, ThreadsReadWithScratchesOfTheirOwn) {
  const TempSet set;
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "img" + std::to_string(i) + ".jpg " + std::to_string(i) + "\n";
  }
  const auto source = MustOpen(set.Write("l", text));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      SampleScratch scratch;
      for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::uint64_t at = (i * 7 + t * 250) % 1000;
        const Result<SampleRef> ref = source->At(at, scratch);
        wrong[t] += ref && ref->name == "img" + std::to_string(at) + ".jpg" ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace penstock::loader
