// SPDX-License-Identifier: Apache-2.0
//
// Where a person is in the views of data, and what was made for them. Everything that takes a pass
// over the spans is made once for a document and a selection (gui/model/derived.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gui/model/derived.h"
#include "gui/model/document.h"
#include "gui/model/panels/gpu.h"
#include "gui/model/panels/io.h"
#include "gui/model/panels/selection.h"
#include "gui/model/panels/stages.h"
#include "gui/model/panels/workers.h"

namespace penstock::gui {

// What a view asks: about which state of a trace, and which stretch of it.
struct Question {
  std::shared_ptr<const traces::Trace> trace;
  std::shared_ptr<const Analysis> analysis;
  std::uint64_t serial = 0;  // as of Document
  std::optional<TimeRange> range;

  bool operator==(const Question&) const = default;
  // The same of a trace that has grown since.
  [[nodiscard]] bool Follows(const Question& before) const {
    return serial != 0 && serial == before.serial && range == before.range;
  }
  [[nodiscard]] Extent extent() const { return {trace.get(), range}; }
};

// What the table below the timeline was made for.
struct SumsKey {
  std::shared_ptr<const traces::Trace> trace;
  TimeRange range;
  bool operator==(const SumsKey&) const = default;
  // While the selection is being drawn, the table of a moment ago is shown, as one that is old.
  [[nodiscard]] bool Follows(const SumsKey& before) const { return trace == before.trace; }
};

struct TailKey {
  Question of;
  TailQuestion calls;
  bool operator==(const TailKey&) const = default;
  [[nodiscard]] bool Follows(const TailKey& before) const {
    return of.Follows(before.of) && calls == before.calls;
  }
};

struct StagesState {
  Derived<Question, std::vector<StageLine>> lines;
  std::optional<RowId> chosen;
  int sort_column = -1;  // -1: the order of the data's way
  bool descending = true;
  std::optional<std::size_t> bin;  // of the histogram: only its calls are listed
  Derived<TailKey, Tail> tail;
};

struct IoState {
  Derived<Question, IoModel> model;
  FileColumn column = FileColumn::kWall;
  bool descending = true;
  // The table's order, and what it is the order of.
  std::vector<std::uint32_t> order;
  struct OrderKey {
    Question question;
    FileColumn column = FileColumn::kWall;
    bool descending = true;
    bool operator==(const OrderKey&) const = default;
  };
  std::optional<OrderKey> ordered;
};

struct GpuState {
  Derived<Question, GpuModel> model;
  std::size_t counter = 0;
  bool calls = false;  // calls are listed, not kernels
};

struct WorkersState {
  Derived<Question, WorkersModel> model;
  std::optional<MemoryKind> memory;  // chosen by hand
};

}  // namespace penstock::gui
