// SPDX-License-Identifier: Apache-2.0
//
// The table that a search asks for: "stage:decode group:file top 20". Its times are those of the
// report: nested calls are counted apart, each with its own time, so that no time counts twice.
// Values; pure.
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
  // What the group has in common, by GroupTable::by: index into Trace::processes(), a StageId, a
  // generation; for the others an index of no meaning.
  std::uint64_t key = 0;
  std::string text;  // the path or name; "": none was recorded
  std::uint64_t count = 0;
  std::int64_t sum = 0;  // ns
  Call largest;          // the call with most own time

  [[nodiscard]] double mean() const {
    return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0;
  }
};

struct GroupTable {
  TableWish wish;
  std::vector<GroupRow> rows;  // largest sum first, at most wish.top
  std::uint64_t groups = 0;    // also those that `rows` leaves out
  std::uint64_t count = 0;     // of all calls
  // ns, of all calls. Fetches and samples, which only contain other stages, are left out unless the
  // search names them; so no time counts twice.
  std::int64_t sum = 0;
};

// Without a stage in `search`, fetches and samples have rows only by stage.
// nullopt: `search` asks for no table. Without terms all calls are grouped. With a range, those
// that begin in it.
// Cost: that of ForEachCall; by file or shard one more pass over the reads.
[[nodiscard]] std::optional<GroupTable> BuildGroups(const Extent& extent, const Timeline& timeline,
                                                    std::string_view search,
                                                    const std::stop_token& stop = {});

// Each file of an archive belongs to the archive ("train-0001.tar"), any other to its folder.
[[nodiscard]] std::string_view ShardOf(std::string_view path);

enum class GroupColumn : std::int8_t { kName, kCount, kSum, kMean, kLargest };
// The order of the rows by a column; equal ones keep their order.
[[nodiscard]] std::vector<std::uint32_t> SortGroups(const std::vector<GroupRow>& rows,
                                                    GroupColumn column, bool descending);

// What a row is called: "worker 3", "decode", "epoch 2", a path. `several`: names of loaders, as in
// BatchName().
[[nodiscard]] std::string NameOfGroup(const GroupTable& table, const GroupRow& row,
                                      const Timeline& timeline,
                                      const std::vector<std::string>& loaders, Language language);
// The words that, added to the search, find the calls of this row alone; "": there are none.
[[nodiscard]] std::string WordsOfGroup(const GroupTable& table, const GroupRow& row,
                                       const Timeline& timeline);
[[nodiscard]] Text HeadOfGroups(GroupBy by);

// The table as CSV (RFC 4180), in seconds, with English heads.
[[nodiscard]] std::string GroupsCsv(const GroupTable& table,
                                    const std::vector<std::uint32_t>& order,
                                    const Timeline& timeline,
                                    const std::vector<std::string>& loaders);

}  // namespace penstock::gui
