// SPDX-License-Identifier: Apache-2.0
#include "gui/model/document.h"

#include <utility>

#include <fmt/core.h>

namespace penstock::gui {
namespace {

Result<std::unique_ptr<traces::Trace>> Open(const std::filesystem::path& path) {
  auto trace = traces::OpenTrace(path);
  if (trace) return trace;
  std::error_code ignored;
  const std::string name = path.string();
  Error error = trace.error();
  if (!std::filesystem::exists(path, ignored) && std::filesystem::exists(name + ".part", ignored)) {
    error.message += fmt::format("; {0}.part is there: penstock recover {0}", name);
  }
  return Fail(error.kind, error.message);
}

std::shared_ptr<Analysis> Made(const traces::Trace& trace, const std::string& path) {
  auto analysis = std::make_shared<Analysis>();
  analysis->report = analyzer::BuildReport(trace, path);
  analysis->plots = analyzer::BuildPlots(trace, analysis->report);
  analysis->counters = BuildCounters(trace, *analysis);
  analysis->ribbon = BuildRibbon(analysis->report);
  return analysis;
}

// From times of the part to times of the whole.
void Shift(std::int64_t from, Analysis* analysis) {
  analysis->from = static_cast<double>(from) * 1e-9;
  const double by = analysis->from;
  for (CounterTrack& track : analysis->counters) {
    for (CounterPoint& point : track.points) point.at += from;
  }
  for (analyzer::QueueBin& bin : analysis->plots.queue.bins) bin.at += by;
  for (analyzer::Finding& finding : analysis->report.findings) {
    if (finding.to <= finding.from) finding.to = analysis->report.duration;
    finding.from += by;
    finding.to += by;
  }
}

}  // namespace

std::shared_ptr<const Analysis> Analyse(const traces::Trace& trace, const std::string& path) {
  return Made(trace, path);
}

std::shared_ptr<const Analysis> AnalysePart(const traces::Trace& part, const std::string& path,
                                            std::int64_t from) {
  auto analysis = Made(part, path);
  Shift(from, analysis.get());
  return analysis;
}

LoadJob::LoadJob(std::filesystem::path path, std::function<void()> wake)
    : path_(std::move(path)),
      wake_(std::move(wake)),
      opener_([this](const std::stop_token& stop) { Open(stop); }) {}

LoadJob::~LoadJob() {
  Cancel();
  opener_.join();
  if (analyst_.joinable()) analyst_.join();
}

Document LoadJob::document() const {
  const std::lock_guard lock(mutex_);
  return document_;
}

std::optional<Error> LoadJob::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void LoadJob::Cancel() {
  opener_.request_stop();
}

void LoadJob::Finish() {
  running_.fetch_sub(1, std::memory_order_release);
  wake_();
}

void LoadJob::Open(const std::stop_token& stop) {
  auto trace = gui::Open(path_);
  if (!trace) {
    const std::lock_guard lock(mutex_);
    error_ = trace.error();
  } else if (!stop.stop_requested()) {
    const std::shared_ptr<const traces::Trace> shared = std::move(*trace);
    {
      const std::lock_guard lock(mutex_);
      document_.path = path_;
      document_.trace = shared;
    }
    running_.fetch_add(1, std::memory_order_relaxed);
    analyst_ = std::jthread([this] { Analyse(); });
    wake_();
    std::optional<Timeline> timeline = BuildTimeline(*shared, {stop, &progress_});
    if (timeline) {
      const std::lock_guard lock(mutex_);
      document_.timeline = std::make_shared<const Timeline>(std::move(*timeline));
    }
  }
  Finish();
}

void LoadJob::Analyse() {
  std::shared_ptr<const Analysis> analysis = gui::Analyse(*document().trace, path_.string());
  {
    const std::lock_guard lock(mutex_);
    document_.analysis = std::move(analysis);
  }
  Finish();
}

Result<Document> LoadDocument(const std::filesystem::path& path) {
  auto trace = Open(path);
  if (!trace) return tl::unexpected<Error>(trace.error());
  Document document;
  document.path = path;
  document.trace = std::move(*trace);
  document.timeline = std::make_shared<const Timeline>(*BuildTimeline(*document.trace));
  document.analysis = Analyse(*document.trace, path.string());
  return document;
}

}  // namespace penstock::gui
