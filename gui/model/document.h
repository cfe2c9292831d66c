// SPDX-License-Identifier: Apache-2.0
//
// An opened trace and what has been made of it so far, and the job that opens it on threads of its
// own. A Document is a value of shared immutable parts: copying it is cheap, and it outlives its
// job. LoadJob: all members may be called from the thread that made it; it locks inside.
#pragma once

#include <atomic>
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
#include "gui/model/timeline.h"
#include "traces/base/result.h"
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
// All of it, at once. Cost: seconds for a large trace.
[[nodiscard]] std::shared_ptr<const Analysis> Analyse(const traces::Trace& trace,
                                                      const std::string& path);
// Of a part (SliceTrace) that begins `from` ns after the whole.
[[nodiscard]] std::shared_ptr<const Analysis> AnalysePart(const traces::Trace& part,
                                                          const std::string& path,
                                                          std::int64_t from);

struct Document {
  std::filesystem::path path;
  std::shared_ptr<const traces::Trace> trace;
  std::shared_ptr<const Timeline> timeline;  // nullptr: not ready yet
  std::shared_ptr<const Analysis> analysis;  // nullptr: not ready yet

  [[nodiscard]] bool open() const { return trace != nullptr; }
  [[nodiscard]] bool complete() const { return timeline != nullptr && analysis != nullptr; }
};

class LoadJob {
 public:
  // `wake` is called from the job's threads whenever there is something new to see.
  LoadJob(std::filesystem::path path, std::function<void()> wake);
  ~LoadJob();  // cancels, and waits for what cannot be cancelled: seconds at most
  LoadJob(const LoadJob&) = delete;
  LoadJob& operator=(const LoadJob&) = delete;

  [[nodiscard]] Document document() const;
  [[nodiscard]] std::optional<Error> error() const;
  [[nodiscard]] bool finished() const { return running_.load(std::memory_order_acquire) == 0; }
  // Of the spans taken in, 0 to 1.
  [[nodiscard]] float progress() const { return progress_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void Cancel();

 private:
  void Open(const std::stop_token& stop);
  void Analyse();
  void Finish();

  const std::filesystem::path path_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  Document document_;           // guarded by mutex_
  std::optional<Error> error_;  // guarded by mutex_
  std::atomic<float> progress_{0};
  // Threads at work. Release in Finish() pairs with acquire in finished().
  std::atomic<int> running_{1};
  std::jthread analyst_;
  std::jthread opener_;
};

// Opens and analyses at once, for programs that have no window to keep alive.
// Errors: those of traces::OpenTrace.
[[nodiscard]] Result<Document> LoadDocument(const std::filesystem::path& path);

}  // namespace penstock::gui
