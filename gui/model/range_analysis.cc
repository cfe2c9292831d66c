// SPDX-License-Identifier: Apache-2.0
#include "gui/model/range_analysis.h"

#include <atomic>
#include <thread>
#include <utility>

#include "gui/model/range_trace.h"

namespace penstock::gui {

Document PartOf(const Document& whole, const RunPart& part, std::stop_token stop) {
  Document made = whole;
  made.analysis = nullptr;
  if (part.range) made.trace = SliceTrace(whole.trace, *part.range, stop);
  if (!stop.stop_requested()) {
    const std::int64_t from = part.range ? part.range->from : 0;
    made.analysis = AnalysePart(*made.trace, whole.path.string(), from,
                                whole.live == Live::kWriting, part.loader);
  }
  return made;
}

struct RangeAnalyst::Job {
  std::shared_ptr<const traces::Trace> trace;
  std::uint64_t serial = 0;
  RunPart what;
  Document part;                  // written before `done`
  std::atomic<bool> done{false};  // release by the thread, acquire by its reader
  std::jthread thread;
};

RangeAnalyst::RangeAnalyst(std::function<void()> wake) : wake_(std::move(wake)) {}

RangeAnalyst::~RangeAnalyst() {
  if (job_) job_->thread.request_stop();
}

const Document* RangeAnalyst::Ask(const Document& whole, const RunPart& part) {
  std::erase_if(retired_,
                [](const auto& job) { return job->done.load(std::memory_order_acquire); });
  const bool current = job_ && job_->trace == whole.trace && job_->what == part;
  // While a trace grows, the part made from its previous state is shown until the next part is
  // ready. A running job finishes before the next one starts. Otherwise a trace that grows fast
  // would never show a part.
  const bool grown =
      job_ && !current && whole.serial != 0 && job_->serial == whole.serial && job_->what == part;
  if (!current && !(grown && busy())) {
    if (grown) {
      before_ = std::move(job_);
    } else {
      before_.reset();
      if (job_) {
        job_->thread.request_stop();
        retired_.push_back(std::move(job_));
      }
    }
    job_ = std::make_unique<Job>();
    job_->trace = whole.trace;
    job_->serial = whole.serial;
    job_->what = part;
    job_->thread = std::jthread([job = job_.get(), whole, wake = wake_](std::stop_token stop) {
      job->part = PartOf(whole, job->what, std::move(stop));
      job->done.store(true, std::memory_order_release);
      wake();
    });
  }
  if (busy()) return before_ ? &before_->part : nullptr;
  // The timeline of the whole document may have become ready after the job began.
  job_->part.timeline = whole.timeline;
  return &job_->part;
}

bool RangeAnalyst::busy() const {
  return job_ && !job_->done.load(std::memory_order_acquire);
}

}  // namespace penstock::gui
