// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/limits.h"

#include <string_view>
#include <utility>

#include "analyzer/words/limits.h"
#include "analyzer/words/rule_names.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

constexpr std::uint64_t kNextToNothing = 1'000'000;  // bytes; of fewer, a share means nothing

}  // namespace

Statement Lost(const traces::Losses& losses) {
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
  if (losses.truncated) add(Say<words::kEndsEarly>());
  return all;
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
