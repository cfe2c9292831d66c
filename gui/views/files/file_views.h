// SPDX-License-Identifier: Apache-2.0
//
// State of the views that show a second file beside the trace: a sweep, a trace to compare with.
// Part of the Workspace, kept when another trace is opened.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/files/compare.h"
#include "gui/model/files/sweep.h"
#include "gui/model/files/sweep_grid.h"

namespace penstock::gui {

struct SweepViewState {
  std::shared_ptr<const Sweep> file;  // nullptr: none is open
  std::unique_ptr<SweepGrid> grid;    // of it
  SweepLook look;
  std::optional<std::size_t> chosen;  // cell that was clicked
  std::vector<std::size_t> order;     // rows of the table
  int sort_column = -1;
  bool descending = true;
  bool sorted = false;  // `order` is what the two above ask for

  void Show(Sweep sweep);
};

struct CompareViewState {
  Document other;                   // B; A is the workspace's document
  std::unique_ptr<CompareJob> job;  // of the two traces below
  std::shared_ptr<const traces::Trace> job_a;
  std::shared_ptr<const traces::Trace> job_b;
  std::uint64_t serial = 0;          // of A, as of Document
  std::unique_ptr<CompareJob> next;  // of A as it has grown since
  std::shared_ptr<const traces::Trace> next_a;

  // The answer for A and B, or nullptr while it is being made. `wake` as of CompareJob.
  // Requires: both are complete.
  const analyzer::Predicted<CompareAnswer>* Answer(const Document& a,
                                                   const std::function<void()>& wake);
};

// What a view asks the window to open.
enum class WishKind : std::uint8_t { kNone, kChoose, kChooseOther, kOpen, kCompare, kSwap };
struct FileWish {
  WishKind kind = WishKind::kNone;
  std::filesystem::path path;   // kOpen, and A of kCompare
  std::filesystem::path other;  // B of kCompare
};

}  // namespace penstock::gui
