// SPDX-License-Identifier: Apache-2.0
//
// Sections whose checksums are right, but which hold numbers that no packer writes.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/event.h"
#include "traces/packed/block_codec.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/packed_strings.h"
#include "traces/packed/section.h"
#include "traces/packed/string_table.h"
#include "traces/wire.h"

namespace penstock::traces::packed {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// The text in place of a name of which only the hash is known.
std::string ShortHash(std::string_view name) {
  char text[10];
  std::snprintf(text, sizeof text, "#%08x",
                static_cast<unsigned>(wire::HashOf(name.data(), name.size()) & 0xffffffffu));
  return text;
}

// A section of texts in memory, and its reader.
class TextFile {
 public:
  explicit TextFile(StringRuns& runs) {
    const std::uint32_t count = runs.count();
    ByteWriter payload;
    runs.Write(payload);
    SectionEncoder encoder;
    const auto section = encoder.Encode({.kind = kStrings, .items = count}, payload.bytes());
    if (section) file_ = MappedFile::FromBytes({section->begin(), section->end()});
    EXPECT_TRUE(
        strings_.Add({encoder.header(), 0}, payload.bytes(), [](std::uint64_t) { return true; }));
  }
  [[nodiscard]] std::string_view Get(StringId id) const { return strings_.Get(id); }

 private:
  MappedFile file_;
  PackedStrings strings_{file_};
};

// If the reader's sum of ids overflowed, UBSan would report it.
TEST(ForgedTest, AnIdFarBeyondAllNumbersIsDamage) {
  ByteWriter payload;
  payload.Varint(2);
  payload.Signed(5);
  payload.Signed(kLargest);
  for (int i = 0; i < 2; ++i) {
    payload.Varint(0);  // bytes shared with the text before
    payload.Varint(0);  // bytes that follow
  }
  std::vector<std::uint32_t> ids;
  EXPECT_FALSE(ReadStrings(payload.bytes(), 0,
                           [&ids](std::uint32_t id, std::string_view) { ids.push_back(id); }));
  EXPECT_EQ(ids, std::vector<std::uint32_t>{5});
}

TEST(ForgedTest, IdsWithWideGapsNeedMemoryThatCanBeRefused) {
  ByteWriter payload;
  constexpr std::uint64_t kIds = 1000;
  payload.Varint(kIds);
  for (std::uint64_t i = 0; i < kIds; ++i) payload.Signed(kMaxStringGap);
  for (std::uint64_t i = 0; i < 2 * kIds; ++i) payload.Varint(0);
  const MappedFile none;
  PackedStrings strings(none);
  std::uint64_t asked = 0;
  EXPECT_FALSE(strings.Add({}, payload.bytes(), [&asked](std::uint64_t bytes) {
    asked = bytes;
    return false;
  }));
  EXPECT_GT(asked, kIds * kMaxStringGap * sizeof(std::uint32_t));
}

// 100,000 ids wait for a text that comes 100,000 times. If each of these pairs took 8 bytes, the
// reader would need 80 GB.
TEST(ForgedTest, ManyIdsWithTheHashOfATextThatIsRepeatedNeedLittleMemory) {
  constexpr std::uint32_t kEach = 100'000;
  const std::string text = "RandomCrop";
  const std::string missing = ShortHash(text);
  StringRuns runs;
  for (std::uint32_t i = 0; i < kEach; ++i) runs.Add(1 + i, missing);
  for (std::uint32_t i = 0; i < kEach; ++i) runs.Add(1 + kEach + i, text);
  const TextFile file(runs);
  EXPECT_EQ(file.Get(StringId{1}), text);
  EXPECT_EQ(file.Get(StringId{kEach}), text);
}

TEST(ForgedTest, ATextDoesNotStandForItself) {
  // Id 2 first has the text, and later only its hash.
  const std::string text = "RandomCrop";
  const std::string missing = ShortHash(text);
  StringRuns runs;
  runs.Add(2, text);
  runs.Add(1, missing);
  runs.Add(2, missing);
  runs.Add(3, text);
  const TextFile file(runs);
  EXPECT_EQ(file.Get(StringId{1}), text);
  EXPECT_EQ(file.Get(StringId{2}), text);
}

// If the reader's sum of generations overflowed, UBSan would report it.
TEST(ForgedTest, ADifferenceOfGenerationsMayBeAnyNumber) {
  std::vector<Span> spans(2);
  spans[0].batch = {1, 7};
  spans[1].batch = {1, 8};
  ByteWriter sound;
  BlockEncoder().Encode(spans, sound);
  // The generations are the last column: its id, its size, and a byte for each span.
  ByteWriter forged;
  forged.Raw(sound.bytes().first(sound.size() - 4));
  ByteWriter column;
  column.Signed(7);
  column.Signed(kLargest);
  forged.U8(kColumnGeneration);
  forged.Part(column);
  std::vector<Span> read;
  ASSERT_TRUE(DecodeBlock(forged.bytes(), 2, read));
  EXPECT_EQ(read[0].batch.generation, 7);
  EXPECT_EQ(read[1].batch.generation, 6);  // modulo 2^16
}

}  // namespace
}  // namespace penstock::traces::packed
