// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/grouping.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "gui/model/timeline/group_name.h"
#include "gui/model/words/stage_words.h"
#include "traces/base/json_text.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// The first file that was read for each sample.
class FilesOfSamples {
 public:
  // If `stop` is requested, only a part of the files is known.
  FilesOfSamples(const Timeline& timeline, const std::stop_token& stop) {
    for (const Lane& lane : timeline.lanes) {
      for (const Level& level : lane.levels) {
        for (std::size_t i = 0; i < level.size(); ++i) {
          if (i % kSpansPerLook == 0 && stop.stop_requested()) return;
          const SpanDetail& detail = level.detail[i];
          const bool reads = level.stage(i) == StageId::kRead && detail.object.value != 0;
          if (!reads || detail.sample == SpanDetail::kNoSample) continue;
          files_.push_back({SampleKeyOf(detail), level.start[i], detail.object});
        }
      }
    }
    std::sort(files_.begin(), files_.end(), [](const Read& a, const Read& b) {
      return std::pair(a.sample, a.start) < std::pair(b.sample, b.start);
    });
  }

  [[nodiscard]] StringId Of(const SpanDetail& detail) const {
    if (detail.object.value != 0 || detail.sample == SpanDetail::kNoSample) return detail.object;
    const SampleKey key = SampleKeyOf(detail);
    const auto at = std::lower_bound(
        files_.begin(), files_.end(), key,
        [](const Read& read, const SampleKey& wanted) { return read.sample < wanted; });
    return at != files_.end() && at->sample == key ? at->file : StringId{};
  }

 private:
  struct Read {
    SampleKey sample{};
    std::int64_t start = 0;
    StringId file;
  };
  std::vector<Read> files_;
};

// Whether a stage only contains other stages, which take all of its time.
bool OnlyContains(StageId stage) {
  return stage == StageId::kFetch || stage == StageId::kSample;
}

class Grouper {
 public:
  static constexpr std::uint64_t kNoEpoch = 0x10000;  // for calls without a batch

  Grouper(const Extent& extent, const Timeline& timeline, TableWish wish, bool whole,
          const std::stop_token& stop)
      : trace_(*extent.trace), wish_(wish), whole_(whole) {
    if (wish.by == GroupBy::kFile || wish.by == GroupBy::kShard) files_.emplace(timeline, stop);
  }

  // Counts as the report does (analyzer/model/stage_totals.cc). A call inside another call of its
  // stage counts with the outer call, except in a table by name. A call that is derived from a
  // sample has no name, so a table by name leaves it out.
  void Add(Call call, const traces::Counted& counted) {
    const bool by_name = wish_.by == GroupBy::kFunction;
    if (by_name ? counted.synthetic : !counted.outermost) return;
    if (!whole_ && wish_.by != GroupBy::kStage && OnlyContains(call.stage)) return;
    const std::uint64_t key = KeyOf(call);
    const auto [place, fresh] = places_.try_emplace(key, rows_.size());
    if (fresh) rows_.push_back({key, TextOfKey(key), 0, 0, call});
    GroupRow& row = rows_[place->second];
    const bool queued = counted.synthetic && call.stage == StageId::kRead;
    row.count += counted.opening || queued ? 0U : 1U;
    row.sum += call.wall;
    if (whole_ || !OnlyContains(call.stage)) sum_ += call.wall;
    call.wall = counted.whole();
    if (call.wall > row.largest.wall) row.largest = call;
  }

  GroupTable Take() {
    GroupTable table;
    table.wish = wish_;
    table.groups = rows_.size();
    for (const GroupRow& row : rows_) table.count += row.count;
    table.sum = sum_;
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const GroupRow& a, const GroupRow& b) { return a.sum > b.sum; });
    if (wish_.top > 0 && rows_.size() > wish_.top) rows_.resize(wish_.top);
    table.rows = std::move(rows_);
    return table;
  }

 private:
  std::uint64_t KeyOf(const Call& call) {
    switch (wish_.by) {
      case GroupBy::kFile:
        return files_->Of(call.detail).value;
      case GroupBy::kShard:
        return ShardKey(files_->Of(call.detail));
      case GroupBy::kWorker:
        return trace_.threads()[call.thread.value].process.value;
      case GroupBy::kStage:
        return static_cast<std::uint64_t>(call.stage);
      case GroupBy::kFunction:
        return call.detail.name.value;
      case GroupBy::kEpoch:
        break;
    }
    return call.detail.key().valid() ? call.detail.generation : kNoEpoch;
  }

  std::uint64_t ShardKey(StringId file) {
    const auto [known, fresh] = shard_of_.try_emplace(file.value, 0);
    if (!fresh) return known->second;
    const auto [shard, first] =
        shards_.try_emplace(std::string(ShardOf(trace_.String(file))), shard_texts_.size());
    if (first) shard_texts_.push_back(shard->first);
    return known->second = shard->second;
  }

  std::string TextOfKey(std::uint64_t key) {
    if (wish_.by == GroupBy::kShard) return shard_texts_[key];
    if (wish_.by != GroupBy::kFile && wish_.by != GroupBy::kFunction) return "";
    return std::string(trace_.String(StringId{static_cast<std::uint32_t>(key)}));
  }

  const traces::Trace& trace_;
  TableWish wish_;
  bool whole_;            // count fetches and samples too: the search names a stage
  std::int64_t sum_ = 0;  // ns
  std::optional<FilesOfSamples> files_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // index into rows_, by key
  std::vector<GroupRow> rows_;
  std::unordered_map<std::uint32_t, std::uint64_t> shard_of_;  // by StringId of the file
  std::unordered_map<std::string, std::uint64_t> shards_;
  std::vector<std::string> shard_texts_;
};

const Group* GroupOfProcess(const Timeline& timeline, std::uint64_t process) {
  for (const Group& group : timeline.groups) {
    if (group.process.value == process) return &group;
  }
  return nullptr;
}

double InSeconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

std::optional<GroupTable> BuildGroups(const Extent& extent, const Timeline& timeline,
                                      std::string_view search, const std::stop_token& stop) {
  SearchTerms terms(search);
  if (!terms.table()) return std::nullopt;
  terms.Prepare(timeline, *extent.trace, stop);
  std::unordered_map<std::uint32_t, std::uint32_t> lanes;  // by thread
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    lanes[timeline.lanes[l].thread.value] = l;
  }
  Grouper grouper(extent, timeline, *terms.table(), terms.names_stage(), stop);
  ForEachCall(extent, stop, [&](ThreadId thread, const traces::Counted& counted) {
    const auto lane = lanes.find(thread.value);
    if (lane == lanes.end() || !terms.MayHold(lane->second)) return;
    Call call = CallOf(*extent.trace, thread, counted);
    if (terms.Hold(call.stage, call.length, call.detail)) grouper.Add(std::move(call), counted);
  });
  return grouper.Take();
}

std::string_view ShardOf(std::string_view path) {
  constexpr std::array<std::string_view, 14> kArchives = {
      ".tar", ".tfrecord", ".tfrecords", ".parquet", ".arrow", ".mds",  ".beton",
      ".rec", ".h5",       ".hdf5",      ".lmdb",    ".zip",   ".arec", ".array_record"};
  // An archive is a folder in the path or the file itself. "a.tar:b.jpg" is b.jpg in the archive
  // a.tar.
  for (std::size_t at = path.find('.'); at != std::string_view::npos; at = path.find('.', at + 1)) {
    for (const std::string_view archive : kArchives) {
      const std::size_t end = at + archive.size();
      const bool ends =
          end == path.size() || (end < path.size() && (path[end] == '/' || path[end] == ':'));
      if (ends && path.substr(at, archive.size()) == archive) return path.substr(0, end);
    }
  }
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(0, slash);
}

std::vector<std::uint32_t> SortGroups(const std::vector<GroupRow>& rows, GroupColumn column,
                                      bool descending) {
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto value = [&](std::uint32_t i) -> double {
    switch (column) {
      case GroupColumn::kCount:
        return static_cast<double>(rows[i].count);
      case GroupColumn::kMean:
        return rows[i].mean();
      case GroupColumn::kLargest:
        return static_cast<double>(rows[i].largest.wall);
      case GroupColumn::kName:
      case GroupColumn::kSum:
        break;
    }
    return static_cast<double>(rows[i].sum);
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (column == GroupColumn::kName) {
      return std::pair(std::string_view(rows[a].text), rows[a].key) <
             std::pair(std::string_view(rows[b].text), rows[b].key);
    }
    return value(a) < value(b);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? before(b, a) : before(a, b);
  });
  return order;
}

std::string NameOfGroup(const GroupTable& table, const GroupRow& row, const Timeline& timeline,
                        const std::vector<std::string>& loaders, Language language) {
  switch (table.wish.by) {
    case GroupBy::kStage:
      return std::string(WordOf(static_cast<StageId>(row.key), language));
    case GroupBy::kWorker: {
      const Group* group = GroupOfProcess(timeline, row.key);
      return group == nullptr ? "" : GroupName(timeline, *group, loaders, language);
    }
    case GroupBy::kEpoch: {
      if (row.key == Grouper::kNoEpoch) break;
      const auto generation = static_cast<Generation>(row.key);
      const auto id = static_cast<std::size_t>(timeline.epochs.LoaderOf(generation));
      std::string name = Filled(Text::kEpochN, language, timeline.epochs.NumberOf(generation));
      const bool named = timeline.epochs.several_loaders() && id < loaders.size();
      if (named && !loaders[id].empty())
        name += TextOf(Text::kComma, language).data() + loaders[id];
      return name;
    }
    case GroupBy::kFile:
    case GroupBy::kShard:
    case GroupBy::kFunction:
      if (!row.text.empty()) return row.text;
      break;
  }
  return std::string(TextOf(Text::kGroupNone, language));
}

std::string WordsOfGroup(const GroupTable& table, const GroupRow& row, const Timeline& timeline) {
  switch (table.wish.by) {
    case GroupBy::kStage:
      return "stage:" + std::string(traces::StageName(static_cast<StageId>(row.key)));
    case GroupBy::kWorker:
      // "worker:2" would also find the workers 2 of other ranks and loaders.
      return fmt::format("process:{}", row.key);
    case GroupBy::kEpoch:
      if (row.key == Grouper::kNoEpoch) return "";
      return fmt::format("epoch:{}@{}", timeline.epochs.NumberOf(static_cast<Generation>(row.key)),
                         row.key);
    case GroupBy::kFile:
    case GroupBy::kShard:
    case GroupBy::kFunction:
      break;
  }
  return row.text.empty() ? "" : QuotedPhrase(row.text);
}

Text HeadOfGroups(GroupBy by) {
  switch (by) {
    case GroupBy::kFile:
      return Text::kSpanFile;
    case GroupBy::kShard:
      return Text::kGroupShard;
    case GroupBy::kWorker:
      return Text::kGroupProcess;
    case GroupBy::kStage:
      return Text::kStage;
    case GroupBy::kFunction:
      return Text::kGroupName;
    case GroupBy::kEpoch:
      break;
  }
  return Text::kGroupEpoch;
}

std::string GroupsCsv(const GroupTable& table, const std::vector<std::uint32_t>& order,
                      const Timeline& timeline, const std::vector<std::string>& loaders) {
  std::string text(TextOf(HeadOfGroups(table.wish.by), Language::kEnglish));
  text += ",count,sum_s,mean_s,largest_s\n";
  for (const std::uint32_t place : order) {
    const GroupRow& row = table.rows[place];
    AppendCsv(text, NameOfGroup(table, row, timeline, loaders, Language::kEnglish));
    text += fmt::format(",{},{:.9g},{:.9g},{:.9g}\n", row.count, InSeconds(row.sum),
                        row.mean() * 1e-9, InSeconds(row.largest.wall));
  }
  return text;
}

}  // namespace penstock::gui
