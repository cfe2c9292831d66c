// SPDX-License-Identifier: Apache-2.0
//
// An opened trace and what has been made of it so far, and the job that opens it on threads of its
// own. A Document is a value of shared immutable parts: copying it is cheap, and it outlives its
// job. LoadJob: all members may be called from the thread that made it; it locks inside.
//
// A trace that is still being written is followed: read again and again, and again as a whole when
// the run has ended.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analyzer/report/html_data.h"
#include "analyzer/report/report.h"
#include "gui/model/counters.h"
#include "gui/model/overview.h"
#include "gui/model/timeline/timeline.h"
#include "traces/base/result.h"
#include "traces/live_file.h"
#include "traces/trace.h"

namespace penstock::gui {

// What the analyzer says of it.
struct Analysis {
  analyzer::Report report;
  analyzer::ReportPlots plots;
  std::vector<CounterTrack> counters;
  Ribbon ribbon;
  // Seconds: where the analysed part begins; all times count from the trace's begin.
  double from = 0;
};
// All of it, at once. `writing`: it has no end yet, which is no loss. Cost: seconds for a large
// trace.
[[nodiscard]] std::shared_ptr<const Analysis> Analyse(const traces::Trace& trace,
                                                      const std::string& path,
                                                      bool writing = false);
// Of a part (SliceTrace) that begins `from` ns after the whole.
[[nodiscard]] std::shared_ptr<const Analysis> AnalysePart(const traces::Trace& part,
                                                          const std::string& path,
                                                          std::int64_t from, bool writing = false);

enum class Live : std::uint8_t {
  kNo,
  kWriting,
  kEnded,  // it was followed to its end: this is the whole trace
  kDied,   // the collector was killed: this is what it had written
};

struct Document {
  std::filesystem::path path;
  std::shared_ptr<const traces::Trace> trace;  // nullptr: of a preview
  std::shared_ptr<const Timeline> timeline;    // nullptr: not ready yet
  std::shared_ptr<const Analysis> analysis;    // nullptr: not ready yet
  std::uint64_t serial = 0;                    // of the job: parts of one trace have the same
  Live live = Live::kNo;

  [[nodiscard]] bool open() const { return trace != nullptr || timeline != nullptr; }
  [[nodiscard]] bool complete() const {
    return timeline != nullptr && !timeline->preview && analysis != nullptr;
  }
};

// How often a trace that is being written is read again. A share of one core at most: what took
// long is done seldom.
struct LivePace {
  std::chrono::milliseconds look{200};       // whether it has grown or ended
  std::chrono::milliseconds timeline{1000};  // at least between two timelines
  std::chrono::milliseconds analysis{2000};
  double share = 0.2;  // of a core, for each of the two
};

class LoadJob {
 public:
  // `wake` is called from the job's threads whenever there is something new to see.
  LoadJob(std::filesystem::path path, std::function<void()> wake, const LivePace& pace = {});
  ~LoadJob();  // cancels, and waits for what cannot be cancelled: seconds at most
  LoadJob(const LoadJob&) = delete;
  LoadJob& operator=(const LoadJob&) = delete;

  [[nodiscard]] Document document() const;
  [[nodiscard]] std::optional<Error> error() const;
  [[nodiscard]] bool finished() const { return running_.load(std::memory_order_acquire) == 0; }
  // It follows a trace that is being written, and has shown it once.
  [[nodiscard]] bool following() const { return following_.load(std::memory_order_relaxed); }
  // Of the spans taken in, 0 to 1.
  [[nodiscard]] float progress() const { return progress_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void Cancel();
  // The first sight of the trace is on the screen: until then the rest waits, a moment at most, as
  // it would take the cores away from drawing.
  void Shown();
  // Nothing is read again while it is paused; that the run ends is noticed, and shown afterwards.
  void Pause(bool paused);

 private:
  using Clock = std::chrono::steady_clock;

  void Run(const std::stop_token& stop);
  void LoadWhole(const std::filesystem::path& file, Live live, const std::stop_token& stop);
  void LoadOtherTools(const std::stop_token& stop);
  void TakeWhole(Result<std::unique_ptr<traces::Trace>> opened, Live live,
                 const std::stop_token& stop);
  void ShowPreview(const std::filesystem::path& file, const std::stop_token& stop);
  void Follow(const std::stop_token& stop);
  void Refresh(const std::filesystem::path& file, const std::stop_token& stop);
  // Sleeps until the next look. Returns whether it is paused.
  bool Wait(const std::stop_token& stop);
  template <class Change>
  void Publish(const Change& change);
  void Finish();

  const std::filesystem::path path_;
  const std::function<void()> wake_;
  const LivePace pace_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Document document_;           // guarded by mutex_
  std::optional<Error> error_;  // guarded by mutex_
  bool paused_ = false;         // guarded by mutex_
  bool shown_ = false;          // guarded by mutex_
  std::atomic<float> progress_{0};
  std::atomic<bool> following_{false};
  // Of Follow() alone:
  std::uintmax_t size_ = 0;  // of the file when it was read last
  Clock::time_point next_timeline_{};
  Clock::time_point next_analysis_{};
  // Threads at work. Release in Finish() pairs with acquire in finished().
  std::atomic<int> running_{1};
  std::jthread analyst_;
  std::jthread opener_;
};

// Opens and analyses at once, also a file of another tool, for programs that have no window to keep
// alive. Of a trace that is being written: what there is. Errors: those of traces::OpenTrace.
[[nodiscard]] Result<Document> LoadDocument(const std::filesystem::path& path);

}  // namespace penstock::gui
