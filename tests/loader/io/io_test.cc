// SPDX-License-Identifier: Apache-2.0
//
// All methods of reading give the same bytes; an error is one line; a reader in steady state does
// not allocate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "loader/io/io_file.h"
#include "loader/io/object_reader.h"
#include "loader/io/ram_cache.h"
#include "loader/source/packed_writer.h"
#include "loader/source/source.h"
#include "tests/loader/io/references.h"
#include "tests/loader/source/temp_set.h"

namespace {
std::atomic<std::uint64_t> g_allocations{0};  // relaxed: read by the thread that allocates

void* Counted(std::size_t size, std::size_t align) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  if (::posix_memalign(&memory, align < sizeof(void*) ? sizeof(void*) : align, size) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}
}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): the array forms call these
void* operator new(std::size_t size) {
  return Counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t align) {
  return Counted(size, static_cast<std::size_t>(align));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return Counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t align,
                   const std::nothrow_t& /*tag*/) noexcept {
  return Counted(size, static_cast<std::size_t>(align));
}
// Not inline: else gcc sees free() called on memory of `new`, and warns.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*align*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/,
                                       std::align_val_t /*align*/) noexcept {
  std::free(memory);
}
// NOLINTEND(misc-new-delete-overloads)

namespace penstock::loader {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Part;
using testing::Pattern;
using testing::TempSet;
using testing::Text;
using testing::WholeFile;

class ReaderTest : public ::testing::TestWithParam<IoMethod> {
 protected:
  // nullptr if this machine forbids io_uring; the test is skipped then.
  std::unique_ptr<ObjectReader> Make(std::size_t depth = 1, RamCache* cache = nullptr) {
    IoOptions options;
    options.method = GetParam();
    options.depth = depth;
    options.cache = cache;
    options.max_object = 8 << 20;
    Result<std::unique_ptr<ObjectReader>> reader = MakeObjectReader(options);
    if (!reader) {
      EXPECT_EQ(GetParam(), IoMethod::kUring);
      EXPECT_EQ(reader.error().kind, ErrorKind::kEnvironment);
      EXPECT_THAT(reader.error().message, HasSubstr("--io buffered"));
      return nullptr;
    }
    return std::move(*reader);
  }

  static Result<std::span<const std::byte>> Read(ObjectReader& reader, const SampleRef& ref) {
    reader.Start(0, ref);
    return reader.Finish(0);
  }

  static std::string Trouble(ObjectReader& reader, const SampleRef& ref) {
    const Result<std::span<const std::byte>> bytes = Read(reader, ref);
    if (bytes) {
      return "was read";
    }
    EXPECT_THAT(bytes.error().message, Not(HasSubstr("\n")));
    EXPECT_THAT(bytes.error().message, HasSubstr(std::string(ref.path)));
    return bytes.error().message;
  }
};

#define PENSTOCK_READER_OR_SKIP(reader, ...)     \
  const auto reader = Make(__VA_ARGS__);         \
  if (reader == nullptr) {                       \
    GTEST_SKIP() << "io_uring is not available"; \
  }

INSTANTIATE_TEST_SUITE_P(Methods, ReaderTest,
                         ::testing::Values(IoMethod::kBuffered, IoMethod::kDirect, IoMethod::kUring,
                                           IoMethod::kMmap),
                         [](const auto& method) {
                           return std::string(IoMethodName(method.param));
                         });

TEST_P(ReaderTest, FilesOfAllSizesOnDiskAndInMemoryAreReadWhole) {
  PENSTOCK_READER_OR_SKIP(reader, 3)
  const TempSet disk("/var/tmp");
  const TempSet memory;
  std::uint64_t total = 0;
  std::uint64_t files = 0;
  for (const TempSet* set : {&disk, &memory}) {
    for (const std::size_t size : {0U, 1U, 511U, 4095U, 4096U, 4097U, 65536U, 1U << 20, 3000000U}) {
      const std::string bytes = Pattern(size, static_cast<unsigned>(size));
      const auto path = set->Write(std::to_string(size), bytes);
      const auto got = Read(*reader, WholeFile(path));
      ASSERT_TRUE(got) << got.error().message;
      ASSERT_EQ(Text(*got), bytes) << size;
      total += size;
      ++files;
    }
  }
  EXPECT_EQ(reader->stats().bytes, total);
  EXPECT_EQ(reader->stats().reads, files);
}

TEST_P(ReaderTest, MembersAtOddOffsetsAreReadExactly) {
  PENSTOCK_READER_OR_SKIP(reader, 2)
  const TempSet disk("/var/tmp");
  const std::string all = Pattern(3 << 20);
  const auto path = disk.Write("shard", all);
  for (const std::uint64_t offset : {0ULL, 1ULL, 511ULL, 4095ULL, 4096ULL, 4097ULL, 1000003ULL}) {
    for (const std::uint64_t size : {0ULL, 1ULL, 4095ULL, 4096ULL, 4097ULL, 1048576ULL}) {
      const auto got = Read(*reader, Part(path, offset, size));
      ASSERT_TRUE(got) << got.error().message;
      ASSERT_EQ(Text(*got), all.substr(offset, size)) << offset << ' ' << size;
    }
  }
  const auto last = Read(*reader, Part(path, all.size() - 5, 5));  // the end is inside a block
  ASSERT_TRUE(last);
  EXPECT_EQ(Text(*last), all.substr(all.size() - 5));
}

TEST_P(ReaderTest, SlotsAreReadInAnyOrderAndKeepTheirBytes) {
  PENSTOCK_READER_OR_SKIP(reader, 8)
  const TempSet set("/var/tmp");
  std::vector<std::string> bytes;
  std::vector<std::filesystem::path> paths;
  for (unsigned i = 0; i < 24; ++i) {
    bytes.push_back(Pattern(1000 * i + 17, i));
    paths.push_back(set.Write(std::to_string(i), bytes.back()));
  }
  for (std::size_t round = 0; round < 3; ++round) {
    std::vector<std::span<const std::byte>> got(8);
    for (std::size_t slot = 0; slot < 8; ++slot) {
      const std::size_t file = round * 8 + slot;
      // Parts and whole files by turns.
      reader->Start(slot, slot % 2 == 0 ? WholeFile(paths[file])
                                        : Part(paths[file], 7, bytes[file].size() - 7));
    }
    for (const std::size_t slot : {5U, 0U, 7U, 1U, 6U, 2U, 4U, 3U}) {
      const auto result = reader->Finish(slot);
      ASSERT_TRUE(result) << result.error().message;
      got[slot] = *result;
    }
    for (std::size_t slot = 0; slot < 8; ++slot) {
      ASSERT_EQ(Text(got[slot]), bytes[round * 8 + slot].substr(slot % 2 == 0 ? 0 : 7));
    }
  }
}

TEST_P(ReaderTest, MoreShardsThanStayOpenAreAllRead) {
  PENSTOCK_READER_OR_SKIP(reader, 4)
  const TempSet set;
  std::vector<std::filesystem::path> paths;
  for (unsigned i = 0; i < 40; ++i) {
    paths.push_back(set.Write("shard" + std::to_string(i), Pattern(5000, i)));
  }
  for (std::size_t at = 0; at < 400; at += 4) {
    for (std::size_t slot = 0; slot < 4; ++slot) {
      reader->Start(slot, Part(paths[(at + slot) * 7 % 40], 100, 4000));
    }
    for (std::size_t slot = 0; slot < 4; ++slot) {
      const auto got = reader->Finish(slot);
      ASSERT_TRUE(got) << got.error().message;
      ASSERT_EQ(Text(*got),
                Pattern(5000, static_cast<unsigned>((at + slot) * 7 % 40)).substr(100, 4000));
    }
  }
}

TEST_P(ReaderTest, TroubleIsOneLineWithTheFileAndTheReaderGoesOn) {
  PENSTOCK_READER_OR_SKIP(reader, 2)
  const TempSet set("/var/tmp");
  const auto good = set.Write("good", "bytes");
  EXPECT_THAT(Trouble(*reader, WholeFile(set / "missing")), HasSubstr("No such file"));
  EXPECT_THAT(Trouble(*reader, Part(set / "missing", 0, 5)),
              AllOf(HasSubstr("member at byte 0"), HasSubstr("No such file")));
  EXPECT_NE(Trouble(*reader, WholeFile(set.root())), "was read");
  ASSERT_EQ(::mkfifo((set / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(Trouble(*reader, WholeFile(set / "fifo")), HasSubstr("is not a regular file"));
  EXPECT_THAT(Trouble(*reader, Part(good, 2, 10)), HasSubstr("has 3 bytes where 10 must be"));
  EXPECT_THAT(Trouble(*reader, Part(good, 20, 10)), HasSubstr("has 0 bytes where 10 must be"));
  SampleRef shrunk = WholeFile(good);
  shrunk.size = 9;
  EXPECT_THAT(Trouble(*reader, shrunk), HasSubstr("has 5 bytes where 9 must be"));
  std::filesystem::resize_file(set.Write("large", ""), 9 << 20);
  EXPECT_THAT(Trouble(*reader, WholeFile(set / "large")), HasSubstr("more than the 8388608"));
  EXPECT_THAT(Trouble(*reader, Part(set / "large", 1, 8388609)),
              AllOf(HasSubstr("member at byte 1"), HasSubstr("more than the 8388608")));
  if (::geteuid() != 0) {
    std::filesystem::permissions(set.Write("closed", "x"), std::filesystem::perms::none);
    EXPECT_THAT(Trouble(*reader, WholeFile(set / "closed")), HasSubstr("Permission denied"));
  }
  EXPECT_GE(reader->stats().failed, 8U);
  const auto after = Read(*reader, WholeFile(good));
  ASSERT_TRUE(after);
  EXPECT_EQ(Text(*after), "bytes");
}

TEST_P(ReaderTest, FileThatShrinksAfterStartIsAnErrorAndNoSignal) {
  PENSTOCK_READER_OR_SKIP(reader, 2)
  if (GetParam() == IoMethod::kMmap) {
    const long page = ::sysconf(_SC_PAGESIZE);
    void* own = ::mmap(nullptr, static_cast<std::size_t>(page), PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool populates = ::madvise(own, static_cast<std::size_t>(page), 22) == 0;
    ::munmap(own, static_cast<std::size_t>(page));
    if (!populates) {
      GTEST_SKIP() << "no MADV_POPULATE_READ before Linux 5.14";
    }
  }
  const TempSet set("/var/tmp");
  const auto shard = set.Write("shard", Pattern(100000));
  ASSERT_TRUE(Read(*reader, Part(shard, 50000, 50000)));  // now the shard is open, or mapped
  std::filesystem::resize_file(shard, 60000);
  EXPECT_THAT(Trouble(*reader, Part(shard, 50000, 50000)),
              HasSubstr("has 10000 bytes where 50000 must be"));
}

TEST_P(ReaderTest, SlotGivenUpBeforeFinishIsUsedAgain) {
  PENSTOCK_READER_OR_SKIP(reader, 2)
  const TempSet set("/var/tmp");
  const auto first = set.Write("first", Pattern(200000, 1));
  const auto second = set.Write("second", Pattern(100, 2));
  for (int i = 0; i < 20; ++i) {
    reader->Start(0, WholeFile(first));
    reader->Start(1, WholeFile(first));
    reader->Start(0, WholeFile(second));
    const auto got = reader->Finish(0);
    ASSERT_TRUE(got);
    ASSERT_EQ(Text(*got), Pattern(100, 2));
  }  // slot 1 is still in flight when the reader ends
}

TEST_P(ReaderTest, SteadyStateDoesNotAllocate) {
  PENSTOCK_READER_OR_SKIP(reader, 2)
  const TempSet set("/var/tmp");
  std::vector<std::string> files;
  for (unsigned i = 0; i < 10; ++i) {
    files.push_back(set.Write("class/image-with-a-name-that-no-small-string-holds-" +
                                  std::to_string(i) + ".jpg",
                              Pattern(20000 + 10 * i, i))
                        .string());
  }
  const std::string shard = set.Write("shard", Pattern(200000)).string();
  Result<PackedWriter> writer = PackedWriter::Create(set / "set.pack");
  ASSERT_TRUE(writer);
  for (unsigned i = 0; i < 10; ++i) {
    const std::string name = "a-name-that-is-longer-than-small-strings-are-" + std::to_string(i);
    ASSERT_TRUE(writer->Add(name, i, std::as_bytes(std::span(name))));
  }
  ASSERT_TRUE(writer->Finish());
  const Result<std::unique_ptr<Source>> packed = OpenSource(set / "set.pack", {});
  ASSERT_TRUE(packed);
  SampleScratch scratch;
  const auto epoch = [&] {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      reader->Start(0, SampleRef{files[i], 0, 0, true, 0, files[i]});
      reader->Start(1, SampleRef{shard, 1000 * i + 3, 5000, false, 0,
                                 "a-member-with-a-name-that-is-rather-long"});
      for (const std::size_t slot : {0U, 1U}) {
        const auto got = reader->Finish(slot);
        bytes += got ? got->size() : 0;
      }
      const Result<SampleRef> ref = (*packed)->At(i, scratch);
      bytes += ref ? ref->size : 0;
    }
    return bytes;
  };
  const std::uint64_t first = epoch();
  EXPECT_GT(first, 250000U);
  const std::uint64_t before = g_allocations.load(std::memory_order_relaxed);
  const std::uint64_t second = epoch();
  EXPECT_EQ(g_allocations.load(std::memory_order_relaxed), before);
  EXPECT_EQ(second, first);
}

TEST_P(ReaderTest, SecondReadComesFromTheRamCacheEvenIfTheFileIsGone) {
  RamCache cache(Bytes{1 << 20});
  PENSTOCK_READER_OR_SKIP(reader, 1, &cache)
  const TempSet set;
  const auto path = set.Write("a", Pattern(5000));
  ASSERT_TRUE(Read(*reader, WholeFile(path)));
  std::filesystem::remove(path);
  const auto again = Read(*reader, WholeFile(path));
  ASSERT_TRUE(again);
  EXPECT_EQ(Text(*again), Pattern(5000));
  EXPECT_EQ(reader->stats().cache_hits, 1U);
  EXPECT_EQ(reader->stats().reads, 2U);
  EXPECT_EQ(reader->stats().bytes, 10000U);
  EXPECT_EQ(cache.stats().hits, 1U);
  EXPECT_EQ(cache.stats().misses, 1U);
}

TEST(DirectReaderTest, FileSystemThatRefusesIsReadThroughTheCacheAndCounted) {
  IoOptions options;
  options.method = IoMethod::kDirect;
  const auto reader = MakeObjectReader(options);
  ASSERT_TRUE(reader);
  (*reader)->Start(0, Part("/proc/version", 0, 5));  // procfs knows no O_DIRECT
  const auto got = (*reader)->Finish(0);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(Text(*got), "Linux");
  EXPECT_EQ((*reader)->stats().direct_refused, 1U);
}

TEST(ObjectReaderTest, LackOfMemoryIsNoFaultOfTheFile) {
  const std::filesystem::path path("a");
  EXPECT_EQ(OpenFailed(WholeFile(path), ENOMEM).value().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(ReadFailed(WholeFile(path), ENOMEM).value().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(OpenFailed(WholeFile(path), ENOENT).value().kind, ErrorKind::kInput);
  EXPECT_EQ(ReadFailed(WholeFile(path), EIO).value().kind, ErrorKind::kInput);
}

TEST(ObjectReaderTest, NamesOfMethodsAndDepthAreChecked) {
  for (const IoMethod method :
       {IoMethod::kBuffered, IoMethod::kDirect, IoMethod::kUring, IoMethod::kMmap}) {
    const Result<IoMethod> parsed = ParseIoMethod(IoMethodName(method));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, method);
  }
  const Result<IoMethod> unknown = ParseIoMethod("aio");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(unknown.error().message, HasSubstr("buffered, direct, uring or mmap"));
  IoOptions options;
  options.depth = 0;
  const auto none = MakeObjectReader(options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace penstock::loader
