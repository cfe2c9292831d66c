// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/block_codec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "traces/order.h"
#include "traces/packed/packed_layout.h"

namespace penstock::traces::packed {
namespace {

constexpr std::uint8_t kHasCpu = 1;
constexpr std::uint8_t kHasBusy = 2;

// Guesses the start of a span: a child starts with its parent, a sibling where the last one ended.
// The error is a few hundred nanoseconds; the difference of starts would be milliseconds.
class StartGuess {
 public:
  [[nodiscard]] std::int64_t Next(std::uint8_t depth) const {
    return depth > depth_ ? start_ : end_[depth];
  }
  void Take(std::int64_t start, std::int64_t duration, std::uint8_t depth) {
    start_ = start;
    depth_ = depth;
    end_[depth] = WrapAdd(start, duration);
  }

 private:
  std::array<std::int64_t, 256> end_{};
  std::int64_t start_ = 0;
  std::uint8_t depth_ = 0;
};

std::int32_t Difference32(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b);
}

class ColumnWriter {
 public:
  explicit ColumnWriter(std::vector<ByteWriter>& columns) : columns_(columns) {}

  void Write(std::span<const Span> spans) {
    StartGuess guess;
    for (const Span& span : spans) {
      const std::int64_t start = span.start.value;
      const std::int64_t duration = span.duration.value;
      columns_[kColumnStart].Signed(WrapSub(start, guess.Next(span.depth)));
      columns_[kColumnDuration].Varint(static_cast<std::uint64_t>(duration));
      guess.Take(start, duration, span.depth);
      std::uint8_t clocks = 0;
      if (span.cpu.value >= 0) {
        clocks |= kHasCpu;
        columns_[kColumnCpu].Signed(WrapSub(duration, span.cpu.value));
      }
      if (span.busy.value >= 0) {
        clocks |= kHasBusy;
        columns_[kColumnBusy].Signed(WrapSub(duration, span.busy.value));
      }
      columns_[kColumnClocks].U8(clocks);
    }
    All(spans, kColumnBytes, [](const Span& s) { return s.bytes.value; });
    All(spans, kColumnName, [](const Span& s) { return std::uint64_t{s.name.value}; });
    std::int64_t sample = wire::kNoSample;
    All(spans, kColumnSample, [&sample](const Span& s) {
      return ZigZag(WrapSub(s.sample, std::exchange(sample, s.sample)));
    });
    std::uint32_t object = 0;
    All(spans, kColumnObject, [&object](const Span& s) {
      return ZigZag(Difference32(s.object.value, std::exchange(object, s.object.value)));
    });
    std::uint32_t batch = wire::kNoBatch;
    All(spans, kColumnBatch, [&batch](const Span& s) {
      return ZigZag(Difference32(s.batch.index, std::exchange(batch, s.batch.index)));
    });
    std::int64_t generation = 0;
    All(spans, kColumnGeneration, [&generation](const Span& s) {
      const std::int64_t now = s.batch.generation;
      return ZigZag(now - std::exchange(generation, now));
    });
    for (const Span& span : spans) {
      columns_[kColumnStage].U8(static_cast<std::uint8_t>(span.stage));
      columns_[kColumnFlags].U8(span.flags);
      columns_[kColumnDepth].U8(span.depth);
    }
  }

 private:
  // Writes a column unless all of it is zero.
  template <class Value>
  void All(std::span<const Span> spans, ColumnId id, Value value) {
    bool any = false;
    for (const Span& span : spans) {
      const std::uint64_t v = value(span);
      any = any || v != 0;
      columns_[id].Varint(v);
    }
    if (!any) {
      columns_[id].Clear();
    }
  }

  std::vector<ByteWriter>& columns_;
};

using Columns = std::array<ByteReader, kColumnCount>;

// Returns false if a required column is missing or the list of columns is broken.
bool FindColumns(std::span<const std::byte> payload, Columns& columns,
                 std::array<bool, kColumnCount>& present) {
  ByteReader reader(payload);
  const std::uint64_t count = reader.Bounded(255);
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::uint8_t id = reader.U8();
    const ByteReader column = reader.Part();
    if (id < kColumnCount && reader.ok()) {
      columns[id] = column;
      present[id] = true;
    }
  }
  return reader.ok() && present[kColumnStart] && present[kColumnDuration] &&
         present[kColumnClocks] && present[kColumnStage] && present[kColumnDepth];
}

// Reads the times of one span. Returns false if its start or duration is beyond kMaxTime, or its
// CPU or busy time is below -1.
bool DecodeTimes(Columns& columns, StartGuess& guess, Span& span) {
  const std::int64_t start = WrapAdd(guess.Next(span.depth), columns[kColumnStart].Signed());
  const std::uint64_t duration = columns[kColumnDuration].Varint();
  if (start < -kMaxTime || start > kMaxTime || duration > static_cast<std::uint64_t>(kMaxTime)) {
    return false;
  }
  span.start.value = start;
  span.duration.value = static_cast<std::int64_t>(duration);
  guess.Take(span.start.value, span.duration.value, span.depth);
  const std::uint8_t clocks = columns[kColumnClocks].U8();
  if ((clocks & kHasCpu) != 0) {
    span.cpu.value = WrapSub(span.duration.value, columns[kColumnCpu].Signed());
  }
  if ((clocks & kHasBusy) != 0) {
    span.busy.value = WrapSub(span.duration.value, columns[kColumnBusy].Signed());
  }
  return span.cpu.value >= -1 && span.busy.value >= -1;
}

template <class Set>
void ReadColumn(Columns& columns, const std::array<bool, kColumnCount>& present, ColumnId id,
                std::vector<Span>& spans, Set set) {
  if (present[id]) {
    ByteReader reader = columns[id];  // a local copy stays in registers
    for (Span& span : spans) {
      set(span, reader);
    }
    columns[id] = reader;
  }
}

}  // namespace

void BlockEncoder::Encode(std::vector<Span>& spans, ByteWriter& out) {
  keys_.resize(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].duration.value = std::max<std::int64_t>(spans[i].duration.value, 0);
    keys_[i] = {spans[i].start.value, -spans[i].duration.value, spans[i].depth,
                static_cast<std::uint32_t>(i)};
  }
  std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
    return a.start != b.start                         ? a.start < b.start
           : a.inverse_duration != b.inverse_duration ? a.inverse_duration < b.inverse_duration
           : a.depth != b.depth                       ? a.depth < b.depth
                                                      : a.index < b.index;
  });
  sorted_.resize(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    sorted_[i] = spans[keys_[i].index];
  }
  spans.swap(sorted_);
  columns_.resize(kColumnCount);
  for (ByteWriter& column : columns_) {
    column.Clear();
  }
  ColumnWriter(columns_).Write(spans);
  std::uint8_t count = 0;
  for (const ByteWriter& column : columns_) {
    count = static_cast<std::uint8_t>(count + (column.empty() ? 0 : 1));
  }
  out.Varint(count);
  for (std::uint8_t id = 0; id < kColumnCount; ++id) {
    if (!columns_[id].empty()) {
      out.U8(id);
      out.Part(columns_[id]);
    }
  }
}

bool DecodeBlock(std::span<const std::byte> payload, std::uint32_t count, std::vector<Span>& out) {
  out.clear();
  Columns columns;
  std::array<bool, kColumnCount> present{};
  // Every span takes a byte in several columns, so a forged count cannot ask for much memory.
  if (count > kSpansPerBlock || !FindColumns(payload, columns, present) ||
      columns[kColumnStart].left() < count) {
    return false;
  }
  out.resize(count);
  ReadColumn(columns, present, kColumnDepth, out, [](Span& s, ByteReader& r) { s.depth = r.U8(); });
  StartGuess guess;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!DecodeTimes(columns, guess, out[i]) || (i > 0 && out[i].start < out[i - 1].start)) {
      out.clear();
      return false;
    }
  }
  ReadColumn(columns, present, kColumnStage, out,
             [](Span& s, ByteReader& r) { s.stage = static_cast<StageId>(r.U8()); });
  ReadColumn(columns, present, kColumnFlags, out, [](Span& s, ByteReader& r) { s.flags = r.U8(); });
  ReadColumn(columns, present, kColumnBytes, out,
             [](Span& s, ByteReader& r) { s.bytes.value = r.Varint(); });
  ReadColumn(columns, present, kColumnName, out, [](Span& s, ByteReader& r) {
    s.name.value = static_cast<std::uint32_t>(r.Bounded(0xffffffffu));
  });
  std::int64_t sample = wire::kNoSample;
  ReadColumn(columns, present, kColumnSample, out, [&sample](Span& s, ByteReader& r) {
    s.sample = sample = WrapAdd(sample, r.Signed());
  });
  std::uint32_t object = 0;
  ReadColumn(columns, present, kColumnObject, out, [&object](Span& s, ByteReader& r) {
    s.object.value = object += static_cast<std::uint32_t>(r.Signed());
  });
  std::uint32_t batch = wire::kNoBatch;
  ReadColumn(columns, present, kColumnBatch, out, [&batch](Span& s, ByteReader& r) {
    s.batch.index = batch += static_cast<std::uint32_t>(r.Signed());
  });
  std::uint16_t generation = 0;
  ReadColumn(columns, present, kColumnGeneration, out, [&generation](Span& s, ByteReader& r) {
    generation = static_cast<std::uint16_t>(WrapAdd(generation, r.Signed()));
    s.batch.generation = generation;
  });
  for (const ByteReader& column : columns) {
    if (!column.ok() || column.left() != 0) {
      out.clear();
      return false;
    }
  }
  return true;
}

}  // namespace penstock::traces::packed
