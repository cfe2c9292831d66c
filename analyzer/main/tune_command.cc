// SPDX-License-Identifier: Apache-2.0
//
// penstock tune [--trials N] [--pairs N] [--loader train.py:88] [--budget-ram 8G]
//               [--budget-time 10m] [--batches N | --for 60s] [--keep DIR] [--json] -- CMD...
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/main/external.h"
#include "analyzer/main/spawn.h"
#include "analyzer/main/tune.h"
#include "analyzer/words/format.h"
#include "traces/base/command_line.h"

namespace penstock::analyzer {
namespace {

constexpr std::string_view kTuneName = "tune";

// A folder for the traces of the runs. The destructor removes it unless it is to be kept.
class TraceFolder {
 public:
  explicit TraceFolder(std::string keep) : path_(std::move(keep)), kept_(!path_.empty()) {}
  ~TraceFolder() {
    std::error_code ignored;
    if (!kept_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  [[nodiscard]] Result<void> Make() {
    std::error_code error;
    if (kept_) {
      std::filesystem::create_directories(path_, error);
      if (!error) return {};
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path_, error.message()));
    }
    std::string name = std::filesystem::temp_directory_path(error) / "penstock-tune-XXXXXX";
    if (!error && mkdtemp(name.data()) == nullptr) error.assign(errno, std::generic_category());
    if (error) {
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: cannot be made: {}; set TMPDIR, or give --keep DIR", name,
                              error.message()));
    }
    path_ = name;
    return {};
  }
  [[nodiscard]] std::string Trace(std::size_t run) const {
    return (std::filesystem::path(path_) / fmt::format("run{}.penstock", run)).string();
  }

 private:
  std::string path_;
  bool kept_;
};

// Whether the recorder ended the command at the limit of time or batches. If so, the command's exit
// status means nothing.
bool StoppedAtLimit(const traces::Trace& trace) {
  const auto why = trace.facts().find("record.stopped");
  return why != trace.facts().end() &&
         (why->second.rfind("for ", 0) == 0 || why->second.rfind("batches ", 0) == 0);
}

// Seconds of "10m" or "90s"; 0 if it is not a time.
double ReadTime(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string_view unit(end);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const bool digits = !text.empty() && text[0] >= '0' && text[0] <= '9';
  return digits && value > 0 && value < 1e7 ? value * scale : 0;
}

double MonotonicSeconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

int TuneCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line(
      "Runs a command as it is and with other settings, in turns, until it is known which gain: "
      "DataLoader arguments, threads, malloc. Nothing is edited.",
      "penstock tune");
  TuneOptions options;
  int settings = 3;
  int rounds = 6;
  bool as_json = false;
  std::string budget_ram, budget_time, batches, time, keep;
  line.Add("--trials", settings, "Settings to try, at most (default 3)")
      .Check(traces::WholeNumber(1, 100));
  line.Add("--loader", options.loader,
           "Which loader to change, by the line that makes it: train.py:88 (default: all get the "
           "settings chosen for the one that the loop waits for most)");
  line.Add("--pairs", rounds,
           "Runs of each setting beside the command as it is, at most (default 6)")
      .Check(traces::WholeNumber(3, 30));
  line.Add("--budget-ram", budget_ram, "Memory for batches and workers: 8G");
  line.Add(
      "--budget-time", budget_time,
      "Time for all runs: 10m. Ends each run after a tenth of it, unless --batches or --for say "
      "otherwise");
  const auto after_batches = line.Add("--batches", batches, "End each run after so many batches");
  line.Add("--for", time, "End each run after this time: 60s").Excludes(after_batches);
  line.Add("--keep", keep, "Folder to leave the traces in");
  line.AddFlag("--json", as_json,
               "Print one JSON object; the command's own output goes to standard error");
  line.SetFooter("usage: penstock tune [OPTIONS] -- CMD...");
  const SplitWords words = SplitAtDashes(arguments);
  constexpr std::string_view kHint = "a command comes after --: penstock tune -- CMD";
  if (const auto status = Parse(line, words.own, kHint)) return *status;
  if (words.command.empty()) {
    return Complain(kTuneName, {ErrorKind::kUsage, "which command? " + std::string(kHint)});
  }
  if (!budget_ram.empty()) {
    const auto size = ParseSize(budget_ram);
    if (!size) return Complain(kTuneName, size.error());
    options.budget_ram = *size;
  }
  if (!budget_time.empty()) {
    options.budget_time = ReadTime(budget_time);
    if (options.budget_time == 0) {
      return Complain(kTuneName, {ErrorKind::kUsage, "--budget-time: '" + budget_time +
                                                         "' is not a time: give 90s or 10m"});
    }
    if (batches.empty() && time.empty()) {
      time = fmt::format("{:.0f}ms", options.budget_time * 100);
    }
  }
  options.candidates = static_cast<std::size_t>(settings);
  options.race.rounds = static_cast<std::size_t>(rounds);
  TraceFolder folder(keep);
  const auto made = folder.Make();
  if (!made) return Complain(kTuneName, made.error());

  int command_status = 0;            // exit status, if the command failed or was interrupted
  const CountInterrupts interrupts;  // also between two runs; then the known results are shown
  std::size_t runs = 0;
  const TuneRunner run = [&](const TuneSetting& setting) -> Result<TuneRun> {
    const std::string trace = folder.Trace(++runs);
    // An earlier tune with --keep may have left a trace of this name. If this run left no trace,
    // the old one would be read instead.
    std::error_code ignored;
    std::filesystem::remove(trace, ignored);
    std::vector<std::string> call = {(OwnFolder() / "penstock-record").string(), "--quiet",
                                     "--force", "-o", trace};
    if (!batches.empty()) call.insert(call.end(), {"--batches", batches, "--stop"});
    if (!time.empty()) call.insert(call.end(), {"--for", time, "--stop"});
    if (const std::string text = setting.Override(); !text.empty()) {
      call.insert(call.end(), {"--override", text});
    }
    call.emplace_back("--");
    call.insert(call.end(), words.command.begin(), words.command.end());
    TuneRun result;
    const auto watched = RunAndWatch(call, as_json, [&](std::string_view text) {
      constexpr std::size_t kMost = 100;
      for (const double loss : LossesIn(text)) {
        if (result.losses.size() < kMost) result.losses.push_back(loss);
      }
    });
    PENSTOCK_TRY(watched);
    if (watched->interrupted) {
      command_status = CountInterrupts::status();
      return Fail(ErrorKind::kEnvironment, "interrupted");
    }
    auto opened = traces::OpenTrace(trace);
    if (watched->status != 0 && !(opened && StoppedAtLimit(**opened))) {
      command_status = watched->status;
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("{}: exit status {}", words.command.front(), watched->status));
    }
    PENSTOCK_TRY(opened);
    result.trace = std::move(*opened);
    return result;
  };
  options.now = MonotonicSeconds;
  options.interrupted = [&] { return interrupts.any(); };
  options.on_trial = [&](const TuneTrial& trial, const TuneSetting& setting,
                         const std::string& unit) {
    const std::string name = setting.Override();
    fmt::print(stderr, "penstock tune: run {}, {}: {}\n", runs, name.empty() ? "as it is" : name,
               trial.rate > 0 ? ShortNumber(trial.rate) + " " + unit : "failed");
  };
  const auto result = Tune(run, options);
  if (!result) {
    const int status = Complain(kTuneName, result.error());
    return command_status != 0 ? command_status : status;
  }
  if (result->verdict == TuneVerdict::kNotEnough) {
    return Complain(kTuneName, {ErrorKind::kInput, result->why});
  }
  const int printed = Print(as_json ? TuneJson(*result) : TuneText(*result, WantsColour()));
  return printed == 0 && interrupts.any() ? CountInterrupts::status() : printed;
}

}  // namespace penstock::analyzer
