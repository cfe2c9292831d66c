// SPDX-License-Identifier: Apache-2.0
//
// Where a person is in the views of data, and what was made for them. Everything that takes a pass
// over the spans is made once for a document and a selection (gui/model/derived.h).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "gui/model/derived.h"
#include "gui/model/gpu.h"
#include "gui/model/io.h"
#include "gui/model/stages.h"
#include "gui/model/workers.h"

namespace penstock::gui {

struct StagesState {
  Derived<Extent, std::vector<StageLine>> lines;
  std::optional<RowId> chosen;
  int sort_column = -1;  // -1: the order of the data's way
  bool descending = true;
  std::optional<std::size_t> bin;  // of the histogram: only its calls are listed
  Derived<std::pair<Extent, TailQuestion>, Tail> tail;
};

struct IoState {
  Derived<Extent, IoModel> model;
  FileColumn column = FileColumn::kWall;
  bool descending = true;
  // The table's order, and what it is the order of.
  std::vector<std::uint32_t> order;
  struct OrderKey {
    Extent extent;
    FileColumn column = FileColumn::kWall;
    bool descending = true;
    bool operator==(const OrderKey&) const = default;
  };
  std::optional<OrderKey> ordered;
};

struct GpuState {
  Derived<Extent, GpuModel> model;
  std::size_t counter = 0;
};

struct WorkersState {
  Derived<Extent, WorkersModel> model;
  std::optional<MemoryKind> memory;  // chosen by hand
};

}  // namespace penstock::gui
