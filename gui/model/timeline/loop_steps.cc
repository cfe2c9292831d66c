// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/loop_steps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/report/stage_wholes.h"

namespace penstock::gui {

void Sequence::Add(std::int64_t start, std::int64_t end) {
  starts_.push_back(start);
  ends_.push_back(end);
}

void Sequence::Finish() {
  const auto prepare = [](std::vector<std::int64_t>& times, std::vector<std::uint64_t>& before) {
    std::sort(times.begin(), times.end());
    before.assign(1, 0);
    for (const std::int64_t time : times) {
      before.push_back(before.back() + static_cast<std::uint64_t>(time));
    }
  };
  prepare(starts_, starts_before_);
  prepare(ends_, ends_before_);
}

// The time of all intervals before `at`. In a long run, the products and sums exceed 64 bits. They
// are unsigned, so they may wrap around; the difference of two such times fits.
std::uint64_t Sequence::TimeBefore(std::int64_t at) const {
  const auto count = [at](const std::vector<std::int64_t>& times) {
    return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), at) -
                                    times.begin());
  };
  const std::size_t begun = count(starts_);
  const std::size_t ended = count(ends_);
  const auto time = static_cast<std::uint64_t>(at);
  return (begun * time - starts_before_[begun]) - (ended * time - ends_before_[ended]);
}

std::int64_t Sequence::TimeIn(TimeRange range) const {
  return static_cast<std::int64_t>(TimeBefore(range.to) - TimeBefore(range.from));
}

std::size_t Sequence::First(TimeRange range) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), range.from) -
                                  ends_.begin());
}

std::size_t Sequence::Last(TimeRange range) const {
  return static_cast<std::size_t>(std::lower_bound(starts_.begin(), starts_.end(), range.to) -
                                  starts_.begin());
}

std::vector<LoopSteps> LoopSteps::Of(const analyzer::RunModel& run, std::int64_t begin) {
  std::map<std::size_t, LoopSteps> loops;
  for (const analyzer::LoopStep& step : analyzer::StepsOf(run)) {
    LoopSteps& loop = loops[step.loop];
    const std::int64_t start = step.batch->delivered;
    std::int64_t end = start;
    const auto add = [&](const analyzer::Batch& batch) {
      const std::int64_t next =
          batch.next_wait == analyzer::kNever ? batch.step_end : batch.next_wait;
      if (next == analyzer::kNever || next <= batch.delivered) return;
      loop.parts_.Add(batch.delivered - begin, next - begin);
      end = std::max(end, next);
    };
    add(*step.batch);
    for (const analyzer::Batch* other : step.others) add(*other);
    loop.steps_.Add(start - begin, end - begin);
  }
  std::vector<LoopSteps> found;
  for (auto& [number, loop] : loops) {
    loop.steps_.Finish();
    loop.parts_.Finish();
    found.push_back(std::move(loop));
  }
  return found;
}

void LoopSteps::AddTo(StageSum& sum, TimeRange range) const {
  const std::size_t first = steps_.First(range);
  const std::size_t last = steps_.Last(range);
  if (first >= last) return;
  sum.count += last - first;
  sum.time += parts_.TimeIn(range);
  // The steps of a loop follow each other, so only the first and the last may reach out.
  const auto cut = [&](std::size_t i) {
    const TimeRange step = steps_[i];
    if (step.from >= range.from && step.to <= range.to) return;
    ++sum.cut;
    sum.cut_time += parts_.TimeIn({std::max(step.from, range.from), std::min(step.to, range.to)});
  };
  cut(first);
  if (last - 1 > first) cut(last - 1);
}

}  // namespace penstock::gui
