// SPDX-License-Identifier: Apache-2.0
//
// Tars and packed files: their contents, and the errors of cut or damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "loader/source/packed_writer.h"
#include "loader/source/sidecar.h"
#include "loader/source/source.h"
#include "tests/loader/source/temp_set.h"

namespace penstock::loader {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Pattern;
using testing::ReadFile;
using testing::TarBytes;
using testing::TempSet;

struct Member {
  std::string name;
  std::int64_t label;
  std::string bytes;
  bool operator==(const Member&) const = default;
};
void PrintTo(const Member& sample, std::ostream* out) {
  *out << sample.name << ' ' << sample.label << ' ' << sample.bytes.size();
}

std::vector<Member> AllMembers(const Source& source) {
  std::vector<Member> out;
  SampleScratch scratch;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const Result<SampleRef> ref = source.At(i, scratch);
    if (!ref) {
      ADD_FAILURE() << ref.error().message;
      break;
    }
    EXPECT_FALSE(ref->whole_file);
    out.push_back({std::string(ref->name), ref->label,
                   ReadFile(std::string(ref->path)).substr(ref->offset, ref->size)});
  }
  return out;
}

std::vector<Member> Contents(const std::filesystem::path& path, const SourceOptions& options = {}) {
  const Result<std::unique_ptr<Source>> source = OpenSource(path, options);
  if (!source) {
    ADD_FAILURE() << source.error().message;
    return {};
  }
  return AllMembers(**source);
}

std::string RefusalOfArchive(const std::filesystem::path& path) {
  const Result<std::unique_ptr<Source>> source = OpenSource(path, {});
  if (source) {
    return "was opened";
  }
  EXPECT_EQ(source.error().kind, ErrorKind::kInput);
  EXPECT_THAT(source.error().message, Not(HasSubstr("\n")));
  EXPECT_THAT(source.error().message, HasSubstr(path.filename().string()));
  return source.error().message;
}

TEST(TarSourceTest, MembersThatShareTheirNameUpToTheFirstDotAreOneSample) {
  const TempSet set;
  TarBytes tar;
  tar.Add("dir.x/", "", '5')
      .Add("dir.x/001.cls", "3\n")
      .Add("dir.x/001.jpg", "first")
      .Add("dir.x/001.seg.png", "mask")
      .Add("002.JPEG", "second")
      .Add("002.json", "{}")
      .Add("003.txt", "no image here")
      .Add("004.png", "mask first")
      .Add("004.jpg", "image")
      .Add("004.cls", " 12 ")
      .Add("._004.jpg", "a resource fork");
  const auto path = set.Write("a.tar", tar.Finish());
  EXPECT_THAT(Contents(path), ElementsAre(Member{"a.tar:dir.x/001.jpg", 3, "first"},
                                          Member{"a.tar:002.JPEG", -1, "second"},
                                          Member{"a.tar:004.jpg", 12, "image"}));
}

TEST(TarSourceTest, FolderOfTarsIsOneSourceInTheOrderOfTheirNames) {
  const TempSet set;
  set.Write("b.tar", TarBytes().Add("1.jpg", "b1").Add("1.cls", "4").Finish());
  set.Write("a.tar", TarBytes()
                         .Add("1.jpg", "a1")
                         .Add("1.cls", "1")
                         .Add("2.jpg", "a2")
                         .Add("2.cls", "0")
                         .Finish());
  set.Write("notes.txt", "x");
  for (int opening = 0; opening < 2; ++opening) {
    const Result<std::unique_ptr<Source>> source = OpenSource(set.root(), {});
    ASSERT_TRUE(source);
    EXPECT_EQ((*source)->kind(), "tar");
    EXPECT_EQ((*source)->classes(), 5U);
    EXPECT_THAT(AllMembers(**source),
                ElementsAre(Member{"a.tar:1.jpg", 1, "a1"}, Member{"a.tar:2.jpg", 0, "a2"},
                            Member{"b.tar:1.jpg", 4, "b1"}));
  }
  EXPECT_TRUE(std::filesystem::exists(set / "a.tar.idx"));
  EXPECT_TRUE(std::filesystem::exists(set / "b.tar.idx"));
}

TEST(TarSourceTest, TarsBesideFoldersOfImagesAreRefused) {
  const TempSet set;
  set.Write("b.tar", TarBytes().Add("1.jpg", "b1").Finish());
  set.Write("cat/1.jpg", "x");
  EXPECT_THAT(RefusalOfArchive(set.root()), HasSubstr("tars and folders"));
}

TEST(TarSourceTest, LongNamesAndSizesOfAllDialectsAreRead) {
  const std::string deep = std::string(70, 'd') + "/" + std::string(80, 'e');
  const std::string longer = deep + "/" + std::string(200, 'f');
  TarBytes tar;
  tar.Add("1.jpg", "ustar prefix", '0', deep)
      .Add("././@LongLink", longer + "/2.jpg" + std::string(1, '\0'), 'L')
      .Add("cut", "gnu")
      .Pax("path", longer + "/3.jpg")
      .Add("cut", "pax")
      .Pax("size", "9")
      .Add("4.jpg", "pax sized", 0, '0');
  std::string base256 = TarBytes().Add("5.jpg", "base 256").Open();
  base256.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x08", 12));
  base256.replace(0, 512, TarBytes::Sealed(base256.substr(0, 512)));
  const TempSet set;
  const auto path = set.Write("a.tar", tar.Open() + base256 + std::string(1024, '\0'));
  EXPECT_THAT(Contents(path), ElementsAre(Member{"a.tar:" + deep + "/1.jpg", -1, "ustar prefix"},
                                          Member{"a.tar:" + longer + "/2.jpg", -1, "gnu"},
                                          Member{"a.tar:" + longer + "/3.jpg", -1, "pax"},
                                          Member{"a.tar:4.jpg", -1, "pax sized"},
                                          Member{"a.tar:5.jpg", -1, "base 256"}));
}

TEST(TarSourceTest, TarsOfTheTarProgramAreRead) {
  if (std::system("tar --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no tar here";
  }
  const TempSet set;
  const std::string longest = "in/" + std::string(90, 'n') + "/" + std::string(85, 'm');
  set.Write("in/a/1.jpg", Pattern(5000));
  set.Write("in/a/1.cls", "7");
  set.Write(longest + "/2.jpg", Pattern(512));
  const std::string root = set.root().string();
  for (const std::string format : {"gnu", "pax", "ustar", "oldgnu"}) {
    const auto path = set / (format + ".tar");
    const std::string command =
        "cd " + root + " && tar --sort=name --format=" + format + " -cf " + path.string() + " in";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_THAT(Contents(path),
                ElementsAre(Member{format + ".tar:in/a/1.jpg", 7, Pattern(5000)},
                            Member{format + ".tar:" + longest + "/2.jpg", -1, Pattern(512)}));
  }
}

TEST(TarSourceTest, IndexIsUsedWhileFreshAndRemadeWhenTheTarChanges) {
  const TempSet set;
  const auto path = set.Write("a.tar", TarBytes().Add("1.jpg", "one").Finish());
  EXPECT_EQ(Contents(path).size(), 1U);
  const auto sidecar = set / "a.tar.idx";
  const auto made = std::filesystem::last_write_time(sidecar);
  EXPECT_EQ(Contents(path).size(), 1U);
  EXPECT_EQ(std::filesystem::last_write_time(sidecar), made);

  const auto mtime = std::filesystem::last_write_time(path);
  set.Write("a.tar", TarBytes().Add("2.jpg", "two").Finish());  // of the same size
  std::filesystem::last_write_time(path, mtime + std::chrono::seconds(1));
  EXPECT_THAT(Contents(path), ElementsAre(Member{"a.tar:2.jpg", -1, "two"}));
}

// If the sum overflows, the sanitizer for undefined behaviour reports it.
TEST(TarSourceTest, TimesFarFromNowAreToldApart) {
  struct stat info {};
  for (const std::int64_t seconds : {std::int64_t{20'000'000'000}, std::int64_t{-20'000'000'000}}) {
    info.st_mtim.tv_sec = seconds;
    const Described before = Described::Of(SidecarKind::kTar, info);
    info.st_mtim.tv_sec = seconds + 1;
    EXPECT_FALSE(before == Described::Of(SidecarKind::kTar, info));
  }
}

TEST(TarSourceTest, EveryDamageToTheIndexIsFoundAndMended) {
  const TempSet set;
  const auto path = set.Write("a.tar", TarBytes().Add("1.jpg", "one").Add("1.cls", "5").Finish());
  const std::vector<Member> whole = Contents(path);
  const std::string sidecar = ReadFile(set / "a.tar.idx");
  ASSERT_EQ(sidecar.size(), 80U + 32 + 5);
  for (std::size_t i = 0; i < sidecar.size(); ++i) {
    std::string damaged = sidecar;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    set.Write("a.tar.idx", damaged);
    ASSERT_EQ(Contents(path), whole) << "byte " << i;
    ASSERT_EQ(ReadFile(set / "a.tar.idx"), sidecar) << "byte " << i;
    set.Write("a.tar.idx", sidecar.substr(0, i));
    ASSERT_EQ(Contents(path), whole) << "cut at " << i;
  }
}

TEST(TarSourceTest, WhereTheIndexCannotBeWrittenItLivesInATemporaryFile) {
  const TempSet set;
  const auto path = set.Write("a.tar", TarBytes().Add("1.jpg", "one").Finish());
  std::filesystem::create_directory(set / "a.tar.idx");  // a place that even root cannot write
  EXPECT_THAT(Contents(path), ElementsAre(Member{"a.tar:1.jpg", -1, "one"}));
  SourceOptions nowhere;
  nowhere.index_folder = "/nonexistent/folder";
  EXPECT_THAT(Contents(path, nowhere), ElementsAre(Member{"a.tar:1.jpg", -1, "one"}));
  for (const auto& entry : std::filesystem::directory_iterator(set.root())) {
    EXPECT_THAT(entry.path().filename().string(),
                AnyOf("a.tar", "a.tar.idx"));  // nothing half-written
  }
}

TEST(TarSourceTest, IndexesOfEqualNamesDoNotCollideInOneFolder) {
  const TempSet set;
  const TempSet indexes;
  SourceOptions options;
  options.index_folder = indexes.root();
  const auto first = set.Write("x/a.tar", TarBytes().Add("1.jpg", "one").Finish());
  const auto second = set.Write("y/a.tar", TarBytes().Add("2.jpg", "two").Finish());
  for (int opening = 0; opening < 2; ++opening) {
    EXPECT_THAT(Contents(first, options), ElementsAre(Member{"a.tar:1.jpg", -1, "one"}));
    EXPECT_THAT(Contents(second, options), ElementsAre(Member{"a.tar:2.jpg", -1, "two"}));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(indexes.root()), {}), 2);
  EXPECT_FALSE(std::filesystem::exists(set / "x/a.tar.idx"));
}

TEST(TarSourceTest, TarCutAnywhereSaysWhatIsMissing) {
  const TempSet set;
  const std::string whole =
      TarBytes().Add("1.jpg", Pattern(700)).Pax("path", "22.cls").Add("2", "1").Finish();
  for (std::size_t size = 0; size < whole.size() - 1024 + 512; ++size) {
    const std::string line = RefusalOfArchive(set.Write("a.tar", whole.substr(0, size)));
    ASSERT_THAT(line, AllOf(HasSubstr("is cut at byte " + std::to_string(size)),
                            AnyOf(HasSubstr("missing"), HasSubstr("incomplete"))))
        << line;
  }
  EXPECT_THAT(RefusalOfArchive(set.Write("a.tar", whole.substr(0, 512 + 300))),
              HasSubstr("member 1.jpg at byte 0 has 700 bytes, 400 of them are missing"));
  // One block of zeros is enough, as for other tars.
  EXPECT_EQ(Contents(set.Write("a.tar", whole.substr(0, whole.size() - 512))).size(), 1U);
}

TEST(TarSourceTest, DamagedHeadersAreNamedByTheirPlace) {
  const TempSet set;
  std::string tar = TarBytes().Add("1.jpg", "one").Add("2.jpg", "two").Finish();
  tar[1024 + 3] = 'x';
  EXPECT_THAT(RefusalOfArchive(set.Write("a.tar", tar)),
              AllOf(HasSubstr("byte 1024, after member 1.jpg"), HasSubstr("no tar header")));
  EXPECT_THAT(RefusalOfArchive(set.Write("b.tar", std::string(2048, 'x'))),
              HasSubstr("is not a tar"));
  EXPECT_THAT(RefusalOfArchive(set.Write("c.tar", TarBytes().Add("1.jpg", "1").Finish() +
                                                      TarBytes().Add("2.jpg", "2").Finish())),
              HasSubstr("bytes follow the end marker"));
  EXPECT_THAT(RefusalOfArchive(set.Write(
                  "d.tar", TarBytes().Add("x", "99 path=short\n", 'x').Add("1.jpg", "1").Finish())),
              HasSubstr("pax header that cannot be read"));
  EXPECT_THAT(RefusalOfArchive(
                  set.Write("e.tar", TarBytes().Add("1.jpg", "", 07777777777ULL, '0').Finish())),
              HasSubstr("of them are missing"));
  EXPECT_THAT(
      RefusalOfArchive(set.Write(
          "f.tar", TarBytes().Pax("size", "18446744073709551615").Add("1.jpg", "").Finish())),
      HasSubstr("of them are missing"));
}

TEST(TarSourceTest, MembersThatCannotBeSamplesAreNamed) {
  const TempSet set;
  const auto refusal = [&](const TarBytes& tar) {
    return RefusalOfArchive(set.Write("a.tar", tar.Finish()));
  };
  EXPECT_THAT(
      refusal(TarBytes().Add("1.jpg", "x").Add("1.cls", "cat")),
      AllOf(HasSubstr("member 1.cls at byte 1024"), HasSubstr("\"cat\" is not an integer")));
  EXPECT_THAT(refusal(TarBytes().Add("1.cls", std::string(100, '1'))), HasSubstr("holds no label"));
  EXPECT_THAT(refusal(TarBytes().Add("1.jpg", "x").Add("1.jpg", "y")), HasSubstr("comes twice"));
  EXPECT_THAT(refusal(TarBytes().Add("1.jpg", "", '1')), HasSubstr("--hard-dereference"));
  EXPECT_THAT(refusal(TarBytes().Pax("GNU.sparse.major", "1").Add("1.jpg", "x")),
              HasSubstr("--sparse"));
  EXPECT_THAT(refusal(TarBytes().Add("1.txt", "x")), HasSubstr("holds 1 members and no image"));
  EXPECT_THAT(refusal(TarBytes()), HasSubstr("holds 0 members"));
}

Result<void> Pack(const std::filesystem::path& path, const std::vector<Member>& samples) {
  Result<PackedWriter> writer = PackedWriter::Create(path);
  PENSTOCK_TRY(writer);
  for (const Member& sample : samples) {
    if (Result<void> added =
            writer->Add(sample.name, sample.label, std::as_bytes(std::span(sample.bytes)));
        !added) {
      return added;
    }
  }
  return writer->Finish();
}

TEST(PackedTest, WhatIsPackedIsFound) {
  const TempSet set;
  std::vector<Member> samples;
  for (std::size_t i = 0; i < 3000; ++i) {  // more than one chunk of entries and of names
    samples.push_back({"class/" + std::string(i % 60, 'n') + std::to_string(i) + ".jpg",
                       static_cast<std::int64_t>(i % 10),
                       Pattern(i % 50, static_cast<unsigned>(i))});
  }
  const auto path = set / "set.pack";
  ASSERT_TRUE(Pack(path, samples));
  const Result<std::unique_ptr<Source>> source = OpenSource(path, {});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->kind(), "packed");
  EXPECT_EQ((*source)->classes(), 10U);
  ASSERT_EQ((*source)->size(), samples.size());
  const std::string file = ReadFile(path);
  SampleScratch scratch;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Result<SampleRef> ref = (*source)->At(i, scratch);
    ASSERT_TRUE(ref);
    ASSERT_EQ((Member{std::string(ref->name), ref->label, file.substr(ref->offset, ref->size)}),
              samples[i]);
  }
}

TEST(PackedTest, UnfinishedFileLeavesNothing) {
  const TempSet set;
  {
    Result<PackedWriter> writer = PackedWriter::Create(set / "set.pack");
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->Add("a", 0, {}));
    EXPECT_FALSE(std::filesystem::exists(set / "set.pack"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(set.root()));
  const Result<void> empty = Pack(set / "set.pack", {});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("no sample to pack"));
  EXPECT_TRUE(std::filesystem::is_empty(set.root()));
  EXPECT_FALSE(PackedWriter::Create(set / "missing" / "set.pack"));
}

TEST(PackedTest, FileCutAnywhereIsRefused) {
  const TempSet set;
  ASSERT_TRUE(Pack(set / "set.pack", {{"a.jpg", 1, Pattern(50)}, {"b.jpg", 2, Pattern(61)}}));
  const std::string whole = ReadFile(set / "set.pack");
  for (std::size_t size = 8; size < whole.size(); ++size) {
    ASSERT_THAT(RefusalOfArchive(set.Write("cut.pack", whole.substr(0, size))), HasSubstr("is cut"))
        << size;
  }
  EXPECT_THAT(RefusalOfArchive(set.Write("cut.pack", whole.substr(0, 5))), HasSubstr("no label"));
}

TEST(PackedTest, EveryFlippedBitOutsideOfTheDataIsFound) {
  const TempSet set;
  ASSERT_TRUE(Pack(set / "set.pack", {{"a.jpg", 1, Pattern(8)}, {"b.jpg", 2, ""}}));
  const std::string whole = ReadFile(set / "set.pack");
  for (std::size_t i = 8; i < whole.size(); ++i) {  // without its magic the file would be a list
    if (i >= 32 && i < 40) {
      continue;  // data
    }
    for (const int bit : {1, 128}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      ASSERT_THAT(RefusalOfArchive(set.Write("set.pack", damaged)),
                  AnyOf(HasSubstr("checksum"), HasSubstr("version"), HasSubstr("is cut")))
          << "byte " << i;
    }
  }
}

TEST(PackedTest, NamesAreChecked) {
  const TempSet set;
  Result<PackedWriter> writer = PackedWriter::Create(set / "set.pack");
  ASSERT_TRUE(writer);
  EXPECT_FALSE(writer->Add("", 0, {}));
  EXPECT_FALSE(writer->Add(std::string(4096, 'x'), 0, {}));
  EXPECT_TRUE(writer->Add(std::string(4095, 'x'), 0, {}));
  EXPECT_EQ(writer->count(), 1U);
  EXPECT_TRUE(writer->Finish());
  EXPECT_EQ(Contents(set / "set.pack").size(), 1U);
}

}  // namespace
}  // namespace penstock::loader
