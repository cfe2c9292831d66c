// SPDX-License-Identifier: Apache-2.0
//
// Measures how long opening a trace takes: from the start of the process to the first frame, to the
// first picture of the trace, and until everything is read and analysed. Measures also the peak
// memory.
//
// This program starts a process for each run. It draws with the dashboard's App into an off-screen
// picture (EGL), 1920 x 1080, as `penstock-gui` draws into a window. A first run that does not
// count brings the file into the page cache.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "gui/main/app.h"
#include "gui/main/offscreen.h"
#include "traces/base/command_line.h"
#include "traces/base/program.h"

namespace penstock::gui {
namespace {

// The times of one run, in seconds since the process was started unless said otherwise.
struct Times {
  double screen = 0;   // OpenGL is ready
  double frame = 0;    // something is drawn
  double preview = 0;  // the first frame that shows the trace
  double spans = 0;    // the timeline is complete
  double done = 0;     // the analysis is complete
  double cpu = 0;      // CPU time until `preview`, all threads
  double drawing = 0;  // CPU time until `preview`, the drawing thread alone
  double memory = 0;   // bytes, peak
};
constexpr std::size_t kFields = sizeof(Times) / sizeof(double);

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr int kSettleFrames = 4;  // drawn after each event, until all is in place

struct Arguments {
  std::string trace;
  std::string view = "timeline";
  std::string picture;  // file for the first picture of the trace
  std::string language = "en";
};

// Runs in the child: opens the trace, draws, and writes Times to `out`. Returns the exit status.
int OpenOnce(const Arguments& arguments, double started, int out) {
  // In the order of RunWindow(): fonts and files are read while OpenGL gets ready.
  Times times;
  std::mutex mutex;
  std::condition_variable woken;
  bool news = true;
  Settings settings;
  if (arguments.language == "zh") settings.language = Language::kChinese;
  EarlyFonts fonts(1, settings.language);
  App app(settings, 1, [&] {
    {
      const std::lock_guard lock(mutex);
      news = true;
    }
    woken.notify_one();
  });
  for (const ViewInfo& view : kViews) {
    if (view.name == arguments.view) app.workspace().view = view.id;
  }
  app.UseFonts(&fonts);
  app.Open(arguments.trace);
  auto screen = Offscreen::Make(1920, 1080, &fonts);
  if (!screen) {
    fmt::print(stderr, "gui_open_bench: {}\n", screen.error().message);
    return 3;
  }
  times.screen = Seconds(CLOCK_MONOTONIC) - started;
  int settling = 1;
  while (true) {
    if (app.TakeStyleChange()) {
      app.RebuildStyle();
      (*screen)->RemakeFonts();
    }
    (*screen)->Frame([&] { app.Frame(); });
    (*screen)->Finish();
    const double now = Seconds(CLOCK_MONOTONIC) - started;
    const Document& document = app.workspace().document;
    if (times.frame == 0) times.frame = now;
    if (times.preview == 0 && document.timeline) {
      times.preview = now;
      times.cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
      times.drawing = Seconds(CLOCK_THREAD_CPUTIME_ID);
      if (!arguments.picture.empty()) {
        if (const auto written = WritePng(arguments.picture, (*screen)->Read()); !written) {
          fmt::print(stderr, "gui_open_bench: {}\n", written.error().message);
        }
      }
    }
    if (times.spans == 0 && document.timeline && !document.timeline->preview) times.spans = now;
    if (document.complete()) {
      times.done = now;
      break;
    }
    if (app.error()) {
      fmt::print(stderr, "gui_open_bench: {}\n", app.error()->message);
      return 4;
    }
    if (settling > 0) --settling;
    if (settling > 0) continue;
    std::unique_lock lock(mutex);
    const bool came = woken.wait_for(lock, std::chrono::milliseconds(100), [&] { return news; });
    news = false;
    settling = came ? kSettleFrames : 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  times.memory = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return write(out, &times, sizeof times) == sizeof times ? 0 : 3;
}

// Starts this program once more. Returns false if it failed.
bool RunChild(const Arguments& arguments, Times* times) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return false;
  const std::string out = std::to_string(pipe_ends[1]);
  const std::string started = fmt::format("{:.9f}", Seconds(CLOCK_MONOTONIC));
  const pid_t child = fork();
  if (child == 0) {
    setenv("GUI_OPEN_BENCH_STARTED", started.c_str(), 1);
    setenv("GUI_OPEN_BENCH_OUT", out.c_str(), 1);
    execl("/proc/self/exe", "gui_open_bench", arguments.trace.c_str(), "--view",
          arguments.view.c_str(), "--lang", arguments.language.c_str(), "--picture",
          arguments.picture.c_str(), nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  const bool whole = read(pipe_ends[0], times, sizeof *times) == sizeof *times;
  close(pipe_ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  return whole && status == 0;
}

int Measure(const Arguments& arguments, int runs) {
  constexpr std::array<const char*, kFields> kNames = {
      "OpenGL ready",     "first frame", "first picture of the trace",
      "all spans",        "everything",  "CPU until the first picture",
      "of that, to draw", "peak memory"};
  std::array<std::vector<double>, kFields> columns;
  for (int run = 0; run <= runs; ++run) {
    Times times;
    if (!RunChild(arguments, &times)) return 1;
    if (run == 0) continue;
    const std::array<double, kFields> row = {times.screen,  times.frame, times.preview,
                                             times.spans,   times.done,  times.cpu,
                                             times.drawing, times.memory};
    for (std::size_t f = 0; f < kFields; ++f) columns[f].push_back(row[f]);
  }
  fmt::print("{}, view {}, {} runs: median (least to most)\n", arguments.trace, arguments.view,
             runs);
  for (std::size_t f = 0; f < kFields; ++f) {
    std::sort(columns[f].begin(), columns[f].end());
    const bool bytes = f + 1 == kFields;
    const double scale = bytes ? 1e-6 : 1e3;
    const double median =
        (columns[f][(columns[f].size() - 1) / 2] + columns[f][columns[f].size() / 2]) / 2;
    fmt::print("{:<28} {:8.0f} {} ({:.0f} to {:.0f})\n", kNames[f], scale * median,
               bytes ? "MB" : "ms", scale * columns[f].front(), scale * columns[f].back());
  }
  return 0;
}

}  // namespace
}  // namespace penstock::gui

int main(int argc, char** argv) {
  using namespace penstock;
  traces::CommandLine line("Measures how soon the dashboard shows a trace.", "gui_open_bench");
  gui::Arguments arguments;
  int runs = 10;
  line.Add("trace", arguments.trace, "Trace to open").Required();
  line.Add("--runs", runs, "Runs that count").ShowDefault().Check(traces::WholeNumber(1, 1000));
  line.Add("--view", arguments.view, "overview or timeline")
      .ShowDefault()
      .OneOf({"overview", "timeline"});
  line.Add("--lang", arguments.language, "en or zh").OneOf({"en", "zh"});
  line.Add("--picture", arguments.picture, "PNG of the first picture of the trace");
  int status = 0;
  if (!traces::ParseCommandLine(line, argc, argv, &status)) return status;
  const char* started = std::getenv("GUI_OPEN_BENCH_STARTED");
  const char* out = std::getenv("GUI_OPEN_BENCH_OUT");
  if (started != nullptr && out != nullptr) {
    return gui::OpenOnce(arguments, std::strtod(started, nullptr), std::atoi(out));
  }
  return gui::Measure(arguments, runs);
}
