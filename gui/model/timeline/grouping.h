// SPDX-License-Identifier: Apache-2.0
//
// The table that a search asks for: "stage:decode group:file top 20". Times are counted as in the
// report: nested calls separately, each with its own time, so that no time counts twice. Values;
// pure.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/timeline/calls.h"
#include "gui/model/timeline/search_terms.h"
#include "gui/model/timeline/timeline.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

struct GroupRow {
  // What the calls of the group have in common, by TableWish::by. kWorker: an index into
  // Trace::processes(); kStage: a StageId; kEpoch: a generation. Otherwise it has no meaning.
  std::uint64_t key = 0;
  std::string text;  // the path or name; "": none was recorded
  std::uint64_t count = 0;
  std::int64_t sum = 0;  // ns
  Call largest;          // the call with most own time; a decode includes opening its image

  [[nodiscard]] double mean() const {
    return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0;
  }
};

struct GroupTable {
  TableWish wish;
  std::vector<GroupRow> rows;  // largest sum first, at most wish.top
  std::uint64_t groups = 0;    // including the groups that `rows` leaves out
  std::uint64_t count = 0;     // of all calls
  // ns, of all calls. Fetches and samples only contain other stages. They are left out, so that no
  // time counts twice, unless the search names a stage.
  std::int64_t sum = 0;
};

// Groups the calls of `extent` for which the terms of `search` hold; without terms, all its calls.
// If `search` names no stage, fetches and samples have rows only in a table by stage. Returns
// nullopt if `search` asks for no table.
// Cost: that of ForEachCall; for a table by file or shard, one more pass over all spans.
[[nodiscard]] std::optional<GroupTable> BuildGroups(const Extent& extent, const Timeline& timeline,
                                                    std::string_view search,
                                                    const std::stop_token& stop = {});

// The shard of a file: its archive ("train-0001.tar") if it lies in one, else its folder.
[[nodiscard]] std::string_view ShardOf(std::string_view path);

enum class GroupColumn : std::int8_t { kName, kCount, kSum, kMean, kLargest };
// The order of the rows by a column; equal rows keep their order.
[[nodiscard]] std::vector<std::uint32_t> SortGroups(const std::vector<GroupRow>& rows,
                                                    GroupColumn column, bool descending);

// What a row is called: "worker 3", "decode", "epoch 2", a path. `several`: names of loaders, as in
// BatchName().
[[nodiscard]] std::string NameOfGroup(const GroupTable& table, const GroupRow& row,
                                      const Timeline& timeline,
                                      const std::vector<std::string>& loaders, Language language);
// The words to add to the search so that it finds only the calls of this row; "" if no words do.
[[nodiscard]] std::string WordsOfGroup(const GroupTable& table, const GroupRow& row,
                                       const Timeline& timeline);
[[nodiscard]] Text HeadOfGroups(GroupBy by);

// The table as CSV (RFC 4180), in seconds, with English heads.
[[nodiscard]] std::string GroupsCsv(const GroupTable& table,
                                    const std::vector<std::uint32_t>& order,
                                    const Timeline& timeline,
                                    const std::vector<std::string>& loaders);

}  // namespace penstock::gui
