// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/limits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/words/limits.h"
#include "analyzer/words/rule_names.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

constexpr std::uint64_t kNextToNothing = 1'000'000;  // bytes; of fewer, a share means nothing

// The last span of a process of the main loader. `worker`: -1: of the training process.
struct LastRecord {
  std::int64_t at = 0;
  std::int32_t worker = -1;
};

// The end of the file as each process of the main loader saw it, the earliest end first.
std::vector<LastRecord> LastRecords(const RunModel& model) {
  const LoaderRun& run = model.loader();
  std::map<std::int32_t, std::int64_t> last;
  const auto add = [&](std::int32_t worker, ProcessId process) {
    if (process.value >= model.last_of.size()) return;
    const std::int64_t at = model.last_of[process.value];
    if (at >= model.begin.value) last[worker] = std::max(last[worker], at);
  };
  for (const WorkerRun& worker : run.workers) {
    if (worker.worker_id >= 0) add(worker.worker_id, worker.process);
  }
  add(-1, run.config.consumer);
  std::vector<LastRecord> records;
  for (const auto& [worker, at] : last) records.push_back({at, worker});
  std::sort(records.begin(), records.end(),
            [](const LastRecord& a, const LastRecord& b) { return a.at < b.at; });
  return records;
}

// The batches of the last epoch whose fetch the file has. It may have the loop's side of others.
std::size_t MadeInLastEpoch(const LoaderRun& run) {
  const Epoch& epoch = run.epochs.back();
  const auto first = run.batches.begin() + static_cast<std::ptrdiff_t>(epoch.first);
  return static_cast<std::size_t>(std::count_if(first,
                                                first + static_cast<std::ptrdiff_t>(epoch.count),
                                                [](const Batch& batch) { return batch.whole; }));
}

Statement EndsEarly(const RunModel& run) {
  constexpr std::size_t kMostNamed = 4;
  Statements ends;
  const auto records = run.has_loader() ? LastRecords(run) : std::vector<LastRecord>();
  for (const LastRecord& record : records) {
    if (ends.size() == kMostNamed) break;
    ends.push_back(
        Say<words::kNothingAfter>(GiveIf<"worker">(record.worker >= 0, record.worker),
                                  Give<"at">(Seconds(TimeNs{record.at - run.begin.value}))));
  }
  const std::size_t more = records.size() - ends.size();
  const auto epoch =
      static_cast<std::size_t>(run.has_loader() ? run.loader().config.whole_epoch() : 0);
  const std::size_t batches =
      run.has_loader() && !run.loader().epochs.empty() ? run.loader().epochs.back().count : 0;
  const std::size_t made = batches > 0 ? MadeInLastEpoch(run.loader()) : 0;
  const bool partly = made > 0 && made < batches;
  return Say<words::kEndsEarly>(
      Give<"ends">(ends.empty() ? std::nullopt : std::optional(std::move(ends))),
      GiveIf<"more">(more > 0, more),
      GiveIf<"epoch">(epoch > batches || (epoch == batches && partly), epoch),
      Give<"batches">(batches), GiveIf<"made">(partly, made));
}

}  // namespace

Statement Lost(const traces::Losses& losses, const RunModel& run) {
  Statement all;
  const auto add = [&](Statement part) {
    all = all.empty()
              ? std::move(part)
              : Say<words::kBoth>(Give<"one">(std::move(all)), Give<"next">(std::move(part)));
  };
  if (losses.dropped_events > 0) {
    add(Say<words::kDroppedEvents>(Give<"events">(losses.dropped_events)));
  }
  if (losses.damaged_bytes > 0) {
    add(Say<words::kDamagedBytes>(Give<"bytes">(losses.damaged_bytes)));
  } else if (losses.damaged_records > 0) {
    add(Say<words::kDamagedRecords>(Give<"records">(losses.damaged_records)));
  }
  if (losses.lost_threads > 0) {
    add(Say<words::kThreadsWithoutRoom>(Give<"threads">(losses.lost_threads)));
  }
  if (losses.truncated) add(EndsEarly(run));
  return all;
}

std::optional<RecordsEnd> FirstRecordsEnd(const RunModel& run) {
  if (!run.cut || !run.has_loader()) return std::nullopt;
  const std::vector<LastRecord> records = LastRecords(run);
  if (records.empty()) return std::nullopt;
  const auto worker = std::find_if(records.begin(), records.end(),
                                   [](const LastRecord& record) { return record.worker >= 0; });
  const LastRecord& first = worker == records.end() ? records.front() : *worker;
  return RecordsEnd{Seconds(TimeNs{first.at - run.begin.value}), first.worker};
}

Statement PartlyBlind(const Coverage& coverage) {
  // If a run reads almost nothing, the system files that hooks do not see are a large share of it.
  // They do not matter.
  const bool much = coverage.bytes_total >= kNextToNothing;
  if (!coverage.known || !much || coverage.fraction() >= 0.98) return {};
  return Say<words::kPartlySeen>(Give<"share">(coverage.fraction()));
}

Statement Seen(const Coverage& coverage) {
  if (!coverage.known) return Say<words::kSeenUnknown>();
  const auto total = Give<"total">(coverage.bytes_total);
  if (coverage.mapped > 0 && coverage.bytes_total < kNextToNothing) {
    return Say<words::kSeenMapped>(total);
  }
  return Say<words::kSeenShare>(Give<"share">(coverage.fraction()),
                                Give<"seen">(coverage.bytes_seen), total);
}

Statement Unchecked(const NotChecked& missing) {
  if (missing.ids.empty()) return missing.needs;
  Statements rules;
  for (const std::string_view id : missing.ids) rules.push_back(RuleName(id));
  return Say<words::kNotChecked>(Give<"rules">(std::move(rules)), Give<"needs">(missing.needs));
}

}  // namespace penstock::analyzer
