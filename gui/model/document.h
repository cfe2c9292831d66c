// SPDX-License-Identifier: Apache-2.0
//
// An opened trace with what has been made of it so far, and the job that opens it on its own
// threads. A Document is a value of shared immutable parts: copying it is cheap, and it outlives
// its job. A LoadJob is used from the thread that made it. It locks inside, so that document() and
// error() may be called from others too, such as from `wake`.
//
// A trace that is still being written is followed: it is read repeatedly, and once more as a whole
// when the run has ended.
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
#include <vector>

#include "analyzer/report/html_data.h"
#include "analyzer/report/report.h"
#include "gui/model/counters.h"
#include "gui/model/overview.h"
#include "gui/model/panels/functions.h"
#include "gui/model/panels/loop_rate.h"
#include "gui/model/timeline/timeline.h"
#include "traces/base/result.h"
#include "traces/live_file.h"
#include "traces/trace.h"

namespace penstock::gui {

// What the analyzer found in the trace.
struct Analysis {
  analyzer::Report report;
  analyzer::ReportPlots plots;
  std::vector<CounterTrack> counters;
  Ribbon ribbon;
  LoopRate loop_rate;
  FunctionsModel functions;
  // Seconds: where the analysed part begins; all times count from the trace's begin.
  double from = 0;
};
// Analyses the whole trace at once. `writing`: the trace has no end yet, which does not count as a
// loss. Cost: seconds for a large trace.
[[nodiscard]] std::shared_ptr<const Analysis> Analyse(const traces::Trace& trace,
                                                      const std::string& path,
                                                      bool writing = false);
// Analyses a part (SliceTrace) that begins `from` ns after the begin of the whole trace. `loader`:
// as in analyzer::Diagnose().
[[nodiscard]] std::shared_ptr<const Analysis> AnalysePart(const traces::Trace& part,
                                                          const std::string& path,
                                                          std::int64_t from, bool writing = false,
                                                          const std::string& loader = "");
// The loaders of a run that have a name, each once, in the report's order.
[[nodiscard]] std::vector<std::string> LoaderNames(const analyzer::Report& report);

enum class Live : std::uint8_t {
  kNo,
  kWriting,
  kEnded,  // the run was followed to its end: this is the whole trace
  kDied,   // the collector was killed: this is what it had written
};

struct Document {
  std::filesystem::path path;
  std::shared_ptr<const traces::Trace> trace;  // nullptr: this is a preview
  std::shared_ptr<const Timeline> timeline;    // nullptr: not ready yet
  std::shared_ptr<const Analysis> analysis;    // nullptr: not ready yet
  std::uint64_t serial = 0;                    // number of the loading; the same for its parts
  Live live = Live::kNo;

  [[nodiscard]] bool open() const { return trace != nullptr || timeline != nullptr; }
  [[nodiscard]] bool complete() const {
    return timeline != nullptr && !timeline->preview && analysis != nullptr;
  }
};

// How often a trace that is being written is read again, for a timeline and for an analysis. Each
// of the two uses at most `share` of a core. If one of them takes longer, it is done less often.
struct LivePace {
  std::chrono::milliseconds look{200};       // between two looks for growth or the end
  std::chrono::milliseconds timeline{1000};  // least time between two timelines
  std::chrono::milliseconds analysis{2000};  // least time between two analyses
  double share = 0.2;                        // of a core, for each of the two; above 0
};

class LoadJob {
 public:
  // `wake` is called from the job's threads whenever there is something new to see.
  LoadJob(std::filesystem::path path, std::function<void()> wake, const LivePace& pace = {});
  // Cancels the job. An analysis cannot be cancelled, nor can the import of another tool's
  // recording, which may take minutes: the destructor waits for them. To avoid the wait, destroy
  // the job after finished() has returned true.
  ~LoadJob();
  LoadJob(const LoadJob&) = delete;
  LoadJob& operator=(const LoadJob&) = delete;

  [[nodiscard]] Document document() const;
  [[nodiscard]] std::optional<Error> error() const;
  [[nodiscard]] bool finished() const { return running_.load(std::memory_order_acquire) == 0; }
  // Whether the job follows a trace that is being written, and has read it at least once.
  [[nodiscard]] bool following() const { return following_.load(std::memory_order_relaxed); }
  // How far the current step (reading the file, building the timeline) has come, from 0 to 1.
  [[nodiscard]] float progress() const { return progress_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void Cancel();
  // Tells the job that the preview is on the screen. The job waits for this call, but only for a
  // moment, before it loads the rest, so that the cores are free to draw the preview.
  void Shown();
  // A paused job reads nothing. If the run ends during the pause, its end is shown after the pause.
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
  // Sleeps until the next look. Returns whether the job is paused.
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
  // Used by Follow() alone:
  std::uintmax_t size_ = 0;  // size of the file when it was last read
  Clock::time_point next_timeline_{};
  Clock::time_point next_analysis_{};
  // The number of running threads. The release in Finish() pairs with the acquire in finished().
  std::atomic<int> running_{1};
  std::jthread analyst_;
  std::jthread opener_;
};

// Opens and analyses a file before it returns, for programs without a window. The file may be a
// recording of another tool. A trace that is being written is read as far as it goes. Errors: those
// of traces::OpenTrace and OpenForeign.
[[nodiscard]] Result<Document> LoadDocument(const std::filesystem::path& path);

}  // namespace penstock::gui
