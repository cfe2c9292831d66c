// SPDX-License-Identifier: Apache-2.0
//
// State of the views that use a second file beside the trace: a sweep, a trace to compare with, the
// database of the SQL view. Part of the Workspace. When another trace is opened, this state stays,
// except for results that were made from the closed trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/derived.h"
#include "gui/model/document.h"
#include "gui/model/files/compare.h"
#include "gui/model/files/sql_chart.h"
#include "gui/model/files/sql_desk.h"
#include "gui/model/files/sweep.h"
#include "gui/model/files/sweep_grid.h"

namespace penstock::gui {

struct SweepViewState {
  std::shared_ptr<const Sweep> file;  // nullptr: none is open
  std::unique_ptr<SweepGrid> grid;    // of `file`
  SweepLook look;
  std::optional<std::size_t> chosen;  // cell that was clicked
  std::vector<std::size_t> order;     // rows of the table
  int sort_column = -1;
  bool descending = true;
  bool sorted = false;  // `order` obeys `sort_column` and `descending`

  void Show(Sweep sweep);
};

struct CompareViewState {
  Document other;                   // B; A is the workspace's document
  std::unique_ptr<CompareJob> job;  // compares job_a and job_b
  // A job uses only the analyses of A and B. An analysis becomes ready after its trace.
  std::shared_ptr<const Analysis> job_a;
  std::shared_ptr<const Analysis> job_b;
  std::uint64_t serial = 0;          // Document::serial of A
  std::unique_ptr<CompareJob> next;  // compares a newer state of A, which has grown, with B
  std::shared_ptr<const Analysis> next_a;

  // The comparison of A and B, or nullptr while it is being made. `wake`: as in CompareJob.
  // Requires: both have an analysis.
  const analyzer::Predicted<CompareAnswer>* Answer(const Document& a,
                                                   const std::function<void()>& wake);
};

// A question in SQL and its answer.
struct SqlViewState {
  std::string text = "SELECT * FROM stage_summary";
  std::string asked;    // "": nothing was asked yet
  unsigned number = 0;  // counts questions: the same text may be asked again
  // The key has no state of a growing trace: each state would need its own database. A trace that
  // has grown is queried again when the person asks again.
  struct Asked {
    std::uint64_t serial = 0;  // of the document
    std::string question;
    unsigned number = 0;
    bool operator==(const Asked&) const = default;
    // The answer stays on the screen while the same question is asked again.
    [[nodiscard]] bool Follows(const Asked& before) const {
      return serial == before.serial && question == before.question;
    }
  };
  Derived<Asked, SqlReply> reply;
  std::shared_ptr<SqlDesk> desk = std::make_shared<SqlDesk>();
  int column = -1;  // sorted by; -1: as answered
  bool descending = false;
  bool unsorted = false;             // `order` must be made anew
  std::vector<std::uint32_t> order;  // of the answer to `ordered`
  std::optional<Asked> ordered;
  std::vector<SqlColumnFit> fits;  // of the answer to `fitted`, as the chart
  std::optional<SqlChart> chart;
  std::optional<Asked> fitted;

  // Forgets all results that were made from the trace, because the trace is closed. The question
  // stays.
  void ForgetTrace();
};

// A request of a view to open a file.
enum class WishKind : std::uint8_t { kNone, kChoose, kChooseOther, kOpen, kCompare, kSwap };
struct FileWish {
  WishKind kind = WishKind::kNone;
  std::filesystem::path path;   // kOpen, and A of kCompare
  std::filesystem::path other;  // B of kCompare
};

}  // namespace penstock::gui
