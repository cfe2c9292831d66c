// SPDX-License-Identifier: Apache-2.0
#include "gui/model/document.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/report/source_lines.h"
#include "gui/model/files/foreign_file.h"
#include "gui/model/files/sweep.h"

namespace penstock::gui {
namespace {

using traces::LiveState;

std::atomic<std::uint64_t> g_serial{1};  // relaxed: the numbers only have to differ

// Opens a copy of a growing file in memory. The file is not mapped, because its writer may cut it
// while it is read, when the disk is full.
Result<std::unique_ptr<traces::Trace>> OpenPart(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::max<std::streamoff>(size, 0)));
  file.seekg(0);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes of a file
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return traces::OpenTraceBytes(std::move(bytes), path.string());
}

std::shared_ptr<Analysis> Made(const traces::Trace& trace, const std::string& path, bool writing,
                               const std::string& loader) {
  auto analysis = std::make_shared<Analysis>();
  analysis->report = analyzer::BuildReport(trace, path, loader);
  const analyzer::LineReader source = analyzer::SourceLines(analysis->report.started);
  analyzer::ShowSources(source, analysis->report);
  analysis->plots = analyzer::BuildPlots(trace, analysis->report);
  analysis->counters = BuildCounters(trace, *analysis);
  analysis->ribbon = BuildRibbon(analysis->report);
  analysis->loop_rate = BuildLoopRate(analysis->report);
  analysis->functions = BuildFunctions(trace, analysis->report, source);
  if (writing) {
    // A trace that is being written has no end yet; that is not a loss.
    traces::Losses& losses = analysis->report.losses;
    losses.unsealed = losses.truncated = false;
    losses.damaged_bytes = losses.damaged_chunks = 0;
  }
  return analysis;
}

// Converts times of the part to times of the whole trace.
void Shift(std::int64_t from, Analysis* analysis) {
  analysis->from = static_cast<double>(from) * 1e-9;
  const double by = analysis->from;
  analysis->loop_rate.Shift(by);
  for (CounterTrack& track : analysis->counters) {
    for (CounterPoint& point : track.points) point.at += from;
  }
  for (analyzer::QueueBin& bin : analysis->plots.queue.bins) bin.at += by;
  for (analyzer::Finding& finding : analysis->report.findings) {
    if (finding.to <= finding.from) finding.to = analysis->report.duration;
    finding.from += by;
    finding.to += by;
  }
  if (auto& slow = analysis->report.slow_batches; slow && slow->between) {
    slow->between->first += from;
    slow->between->second += from;
  }
}

std::uintmax_t SizeOf(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

std::shared_ptr<const Analysis> Analyse(const traces::Trace& trace, const std::string& path,
                                        bool writing) {
  return Made(trace, path, writing, "");
}

std::shared_ptr<const Analysis> AnalysePart(const traces::Trace& part, const std::string& path,
                                            std::int64_t from, bool writing,
                                            const std::string& loader) {
  auto analysis = Made(part, path, writing, loader);
  Shift(from, analysis.get());
  return analysis;
}

std::vector<std::string> LoaderNames(const analyzer::Report& report) {
  std::vector<std::string> names;
  for (const analyzer::LoaderRun& run : report.diagnosis.run.loaders) {
    // Each rank may have a loader of the same name.
    const bool known = std::find(names.begin(), names.end(), run.name) != names.end();
    if (!run.name.empty() && !known) names.push_back(run.name);
  }
  return names;
}

LoadJob::LoadJob(std::filesystem::path path, std::function<void()> wake, const LivePace& pace)
    : path_(std::move(path)), wake_(std::move(wake)), pace_(pace) {
  document_.path = path_;
  document_.serial = g_serial.fetch_add(1, std::memory_order_relaxed);
  opener_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

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

void LoadJob::Shown() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(shown_, true)) return;
  }
  changed_.notify_all();
}

void LoadJob::Pause(bool paused) {
  {
    const std::lock_guard lock(mutex_);
    paused_ = paused;
  }
  changed_.notify_all();
}

template <class Change>
void LoadJob::Publish(const Change& change) {
  {
    const std::lock_guard lock(mutex_);
    change(document_);
  }
  wake_();
}

void LoadJob::Finish() {
  following_.store(false, std::memory_order_relaxed);
  running_.fetch_sub(1, std::memory_order_release);
  wake_();
}

void LoadJob::Run(const std::stop_token& stop) {
  if (KindOf(path_) == FileKind::kForeign) {
    LoadOtherTools(stop);
    return Finish();
  }
  const traces::LiveFile now = traces::LookAt(path_);
  if (now.state == LiveState::kWriting) {
    Follow(stop);
  } else {
    const Live live = now.state == LiveState::kDied ? Live::kDied : Live::kNo;
    ShowPreview(now.file, stop);
    LoadWhole(now.file, live, stop);
  }
  Finish();
}

void LoadJob::ShowPreview(const std::filesystem::path& file, const std::stop_token& stop) {
  const auto preview = traces::ReadPreview(file, stop);
  if (!preview || stop.stop_requested()) return;
  auto timeline = std::make_shared<const Timeline>(MakeTimeline(*preview));
  Publish([&](Document& document) { document.timeline = std::move(timeline); });
  constexpr std::chrono::milliseconds kLongest{250};
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, kLongest, [this] { return shown_; });
}

void LoadJob::LoadWhole(const std::filesystem::path& file, Live live, const std::stop_token& stop) {
  progress_.store(0, std::memory_order_relaxed);
  TakeWhole(traces::OpenTrace(file, {stop, &progress_}), live, stop);
}

void LoadJob::LoadOtherTools(const std::stop_token& stop) {
  TakeWhole(OpenForeign(path_), Live::kNo, stop);
}

void LoadJob::TakeWhole(Result<std::unique_ptr<traces::Trace>> opened, Live live,
                        const std::stop_token& stop) {
  if (stop.stop_requested()) return;
  if (!opened) {
    const std::lock_guard lock(mutex_);
    error_ = opened.error();
    return;
  }
  const std::shared_ptr<const traces::Trace> trace = std::move(*opened);
  progress_.store(0, std::memory_order_relaxed);
  if (live != Live::kEnded) {
    // A trace that was followed stays visible until its successor is ready.
    Publish([&](Document& document) {
      if (!document.timeline) document.trace = trace;
      document.live = live;
    });
  }
  running_.fetch_add(1, std::memory_order_relaxed);
  std::shared_ptr<const Analysis> analysis;
  const auto analyse = [this, trace, live] {
    auto made = gui::Analyse(*trace, path_.string(), false);
    if (live != Live::kEnded) {
      Publish([&](Document& document) { document.analysis = std::move(made); });
    } else {
      Publish([&](Document& document) {
        document.analysis = std::move(made);
        document.live = live;
      });
    }
    Finish();
  };
  analyst_ = std::jthread(analyse);
  std::optional<Timeline> timeline = BuildTimeline(*trace, {stop, &progress_});
  if (!timeline) return;
  Publish([&](Document& document) {
    document.trace = trace;
    document.timeline = std::make_shared<const Timeline>(std::move(*timeline));
    document.live = live;
  });
}

bool LoadJob::Wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool was = paused_;
  changed_.wait_for(lock, stop, pace_.look, [&] { return paused_ != was; });
  return paused_;
}

void LoadJob::Follow(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const traces::LiveFile now = traces::LookAt(path_);
    if (now.state == LiveState::kWriting) {
      Refresh(now.file, stop);
      if (Wait(stop)) {
        // Paused: the shown state stays, and the file is not read.
        while (!stop.stop_requested() && Wait(stop)) {
        }
      }
      continue;
    }
    LoadWhole(now.file, now.state == LiveState::kDied ? Live::kDied : Live::kEnded, stop);
    return;
  }
}

void LoadJob::Refresh(const std::filesystem::path& file, const std::stop_token& stop) {
  const auto began = Clock::now();
  const std::uintmax_t size = SizeOf(file);
  const bool part = file.extension() == ".part";
  // Only the size of a .part file shows growth. A recording without a collector grows inside its
  // chunks, while the size of the file stays the same.
  if (began < next_timeline_ || (part && size == size_)) return;
  auto opened = part ? OpenPart(file) : traces::OpenTrace(file, {stop, nullptr});
  if (!opened || stop.stop_requested()) return;  // the file may have just been replaced: look again
  const std::shared_ptr<const traces::Trace> trace = std::move(*opened);
  std::optional<Timeline> built = BuildTimeline(*trace, {stop, nullptr});
  if (!built) return;
  size_ = size;
  auto timeline = std::make_shared<const Timeline>(std::move(*built));
  Publish([&](Document& document) {
    document.trace = trace;
    document.timeline = std::move(timeline);
    document.live = Live::kWriting;
  });
  following_.store(true, std::memory_order_relaxed);
  // When this work may start again: after a rest that keeps it within its share of a core.
  const auto rest = [this](Clock::time_point from, std::chrono::milliseconds least) {
    const auto now = Clock::now();
    const std::chrono::duration<double> pause = (now - from) * (1 / pace_.share - 1);
    return now + std::max(std::chrono::duration_cast<Clock::duration>(pause),
                          std::chrono::duration_cast<Clock::duration>(least));
  };
  next_timeline_ = rest(began, pace_.timeline);
  const auto analysing = Clock::now();
  if (analysing < next_analysis_ || trace->span_count() == 0) return;
  auto analysis = gui::Analyse(*trace, path_.string(), true);
  Publish([&](Document& document) { document.analysis = std::move(analysis); });
  next_analysis_ = rest(analysing, pace_.analysis);
}

Result<Document> LoadDocument(const std::filesystem::path& path) {
  const bool foreign = KindOf(path) == FileKind::kForeign;
  const traces::LiveFile now = traces::LookAt(path);
  const bool writing = now.state == LiveState::kWriting;
  const bool part = writing && now.file.extension() == ".part";
  auto trace = foreign ? OpenForeign(path)
               : part  ? OpenPart(now.file)
                       : traces::OpenTrace(now.file);
  if (!trace && writing) {
    return Fail(trace.error().kind,
                path.string() + ": its recording has just begun; try again in a second");
  }
  PENSTOCK_TRY(trace);
  Document document;
  document.path = path;
  document.trace = std::move(*trace);
  document.timeline = std::make_shared<const Timeline>(*BuildTimeline(*document.trace));
  document.analysis = Analyse(*document.trace, path.string(), writing);
  document.live = writing                         ? Live::kWriting
                  : now.state == LiveState::kDied ? Live::kDied
                                                  : Live::kNo;
  return document;
}

}  // namespace penstock::gui
