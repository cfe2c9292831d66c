// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/call_codec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "traces/packed/packed_layout.h"

namespace penstock::traces::packed {
namespace {

// A column: `get` reads its value from a row, and `set` writes it to a row. `most`: the largest
// valid value.
template <class Row>
struct RowColumn {
  std::uint8_t id;  // part of the format: append only
  bool has_sign;
  bool is_difference;  // stored as the difference to the row before
  std::int64_t most;
  std::int64_t (*get)(const Row&);
  void (*set)(Row&, std::int64_t);
};

constexpr std::int64_t kAny8 = 0xff;
constexpr std::int64_t kAny16 = 0xffff;
constexpr std::int64_t kAny32 = 0xffffffff;
constexpr std::int64_t kAny64 = std::numeric_limits<std::int64_t>::max();

#define PENSTOCK_COLUMN(row, id, sign, difference, most, field)                                  \
  RowColumn<row> {                                                                               \
    id, sign, difference, most, [](const row& r) { return static_cast<std::int64_t>(r.field); }, \
        [](row& r, std::int64_t v) {                                                             \
          r.field = static_cast<std::remove_reference_t<decltype(r.field)>>(v);                  \
        }                                                                                        \
  }

constexpr std::array kUnitColumns = {
    PENSTOCK_COLUMN(UnitRow, 1, true, true, kMaxTime, at.value),
    PENSTOCK_COLUMN(UnitRow, 2, false, false, kAny32, thread.value),
    PENSTOCK_COLUMN(UnitRow, 3, false, false, kLongestUnit.value, duration.value),
    PENSTOCK_COLUMN(UnitRow, 4, false, false, kLongestUnit.value, cost.value),
    PENSTOCK_COLUMN(UnitRow, 5, false, false, kLongestUnit.value, ordinary.value),
    PENSTOCK_COLUMN(UnitRow, 6, true, false, kAny64, sample),
    PENSTOCK_COLUMN(UnitRow, 7, false, false, kAny32, name.value),
    PENSTOCK_COLUMN(UnitRow, 8, false, false, kAny32, batch.index),
    PENSTOCK_COLUMN(UnitRow, 9, false, false, kAny16, batch.generation),
    PENSTOCK_COLUMN(UnitRow, 10, false, false, kAny32, events),
    PENSTOCK_COLUMN(UnitRow, 11, false, false, kAny16, nodes),
    PENSTOCK_COLUMN(UnitRow, 12, false, false, kAny16, neighbours),
    PENSTOCK_COLUMN(UnitRow, 13, false, false, kAny8, stage),
    PENSTOCK_COLUMN(UnitRow, 14, false, false, kAny8, flags),
    PENSTOCK_COLUMN(UnitRow, 15, false, false, kAny8, spread),
};

constexpr std::array kCallColumns = {
    PENSTOCK_COLUMN(CallRow, 1, true, true, kMaxTime, at.value),
    PENSTOCK_COLUMN(CallRow, 2, false, false, kAny32, thread.value),
    PENSTOCK_COLUMN(CallRow, 3, false, false, kLongestUnit.value, total.value),
    PENSTOCK_COLUMN(CallRow, 4, false, false, kLongestUnit.value, own.value),
    PENSTOCK_COLUMN(CallRow, 5, false, false, kLongestUnit.value, cost.value),
    PENSTOCK_COLUMN(CallRow, 6, false, false, kAny64, count),
    PENSTOCK_COLUMN(CallRow, 7, false, false, kAny32, name.value),
    PENSTOCK_COLUMN(CallRow, 8, false, false, kAny32, file.value),
    PENSTOCK_COLUMN(CallRow, 9, false, false, kAny32, line),
    PENSTOCK_COLUMN(CallRow, 10, false, false, kAny16, node),
    PENSTOCK_COLUMN(CallRow, 11, false, false, kAny16, parent),
    PENSTOCK_COLUMN(CallRow, 12, false, false, kAny8, kind),
};

#undef PENSTOCK_COLUMN

template <class Row, std::size_t kCount>
void WriteRowColumns(std::span<const Row> rows, const std::array<RowColumn<Row>, kCount>& columns,
                     ByteWriter& out) {
  for (const RowColumn<Row>& column : columns) {
    ByteWriter part;
    std::int64_t before = 0;
    for (const Row& row : rows) {
      const std::int64_t value = column.get(row);
      const std::int64_t written = column.is_difference ? WrapSub(value, before) : value;
      if (column.has_sign) {
        part.Signed(written);
      } else {
        part.Varint(static_cast<std::uint64_t>(written));
      }
      before = value;
    }
    out.U8(column.id);
    out.Part(part);
  }
}

template <class Row>
bool ReadRowColumn(ByteReader part, const RowColumn<Row>& column, std::vector<Row>& rows) {
  std::int64_t before = 0;
  for (Row& row : rows) {
    std::int64_t value = column.has_sign ? part.Signed() : static_cast<std::int64_t>(part.Varint());
    if (column.is_difference) value = WrapAdd(before, value);
    if (value > column.most || (!column.has_sign && value < 0) ||
        (column.is_difference && value < -column.most)) {
      return false;
    }
    column.set(row, value);
    before = value;
  }
  return part.ok() && part.left() == 0;
}

template <class Row, std::size_t kCount>
bool ReadRowColumns(std::span<const std::byte> payload, std::uint32_t count,
                    const std::array<RowColumn<Row>, kCount>& columns, std::vector<Row>& rows) {
  if (count > payload.size() / kCount) {  // each row takes at least a byte in each column
    return false;
  }
  ByteReader reader(payload);
  std::vector<Row> read(count);
  std::uint32_t seen = 0;
  while (reader.left() > 0) {
    const std::uint8_t id = reader.U8();
    const ByteReader part = reader.Part();
    if (!reader.ok()) return false;
    const auto column = std::find_if(columns.begin(), columns.end(),
                                     [&](const RowColumn<Row>& c) { return c.id == id; });
    if (column == columns.end()) continue;  // a column of a later version
    if (!ReadRowColumn(part, *column, read)) return false;
    seen |= 1u << id;
  }
  for (const RowColumn<Row>& column : columns) {
    if ((seen & 1u << column.id) == 0) return false;
  }
  rows.insert(rows.end(), read.begin(), read.end());
  return true;
}

}  // namespace

void WriteUnits(std::span<const UnitRow> units, ByteWriter& out) {
  WriteRowColumns(units, kUnitColumns, out);
}

void WriteCalls(std::span<const CallRow> calls, ByteWriter& out) {
  WriteRowColumns(calls, kCallColumns, out);
}

bool ReadUnits(std::span<const std::byte> payload, std::uint32_t count,
               std::vector<UnitRow>& units) {
  return ReadRowColumns(payload, count, kUnitColumns, units);
}

bool ReadCalls(std::span<const std::byte> payload, std::uint32_t count,
               std::vector<CallRow>& calls) {
  return ReadRowColumns(payload, count, kCallColumns, calls);
}

}  // namespace penstock::traces::packed
