// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/tracks.h"

#include <fmt/format.h>

namespace penstock::traces {
namespace {

void EndUntil(std::vector<TimeNs>& open, std::uint32_t track, TimeNs now,
              const std::function<void(std::uint32_t, TimeNs)>& ended) {
  while (!open.empty() && open.back() <= now) {
    ended(track, open.back());
    open.pop_back();
  }
}

}  // namespace

std::uint32_t Nesting::Place(const Span& span,
                             const std::function<void(std::uint32_t, TimeNs)>& ended) {
  for (std::uint32_t track = 0; track < open_.size(); ++track) {
    EndUntil(open_[track], track, span.start, ended);
  }
  std::uint32_t track = 0;
  while (track < open_.size() && !open_[track].empty() && open_[track].back() < span.end()) ++track;
  TimeNs end = span.end();
  if (track == kMostTracks) {
    --track;
    end = open_[track].back();
  }
  if (track == open_.size()) open_.emplace_back();
  open_[track].push_back(end);
  return track;
}

void Nesting::Finish(const std::function<void(std::uint32_t, TimeNs)>& ended) {
  for (std::uint32_t track = 0; track < open_.size(); ++track) {
    while (!open_[track].empty()) {
      ended(track, open_[track].back());
      open_[track].pop_back();
    }
  }
}

std::string ProcessLabel(const ProcessInfo& process) {
  std::string label(RoleName(process.role));
  if (process.role == wire::kRoleOther) label = process.comm.empty() ? "process" : process.comm;
  if (process.worker_id >= 0) label += fmt::format(" {}", process.worker_id);
  if (process.rank >= 0) label += fmt::format(", rank {}", process.rank);
  return label;
}

std::string ThreadLabel(const ThreadInfo& thread) {
  return thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
}

std::string_view SpanLabel(const Trace& trace, const Span& span) {
  const std::string_view name = trace.String(span.name);
  return name.empty() ? StageName(span.stage) : name;
}

FlowStep FlowStepOf(const Span& span) {
  if (!span.batch.valid()) return FlowStep::kNone;
  switch (span.stage) {
    case StageId::kFetch:
      return FlowStep::kBegin;
    case StageId::kPut:
    case StageId::kGet:
    case StageId::kPin:
    case StageId::kWait:
      return FlowStep::kStep;
    case StageId::kH2d:
    case StageId::kStep:
      return FlowStep::kEnd;
    default:
      return FlowStep::kNone;
  }
}

std::uint64_t FlowId(BatchKey batch, std::int32_t rank) {
  const auto upper = static_cast<std::uint16_t>(rank + 1);
  return (std::uint64_t{upper} << 48 | std::uint64_t{batch.generation} << 32 | batch.index) + 1;
}

std::int32_t RankOf(const Trace& trace, std::uint32_t thread) {
  const std::uint32_t process = trace.threads()[thread].process.value;
  return process < trace.processes().size() ? trace.processes()[process].rank : -1;
}

CounterUnit UnitOf(std::string_view counter) {
  if (counter.ends_with("_bytes")) return CounterUnit::kBytes;
  return counter.ends_with("_ns") ? CounterUnit::kNanoseconds : CounterUnit::kCount;
}

}  // namespace penstock::traces
