// SPDX-License-Identifier: Apache-2.0
//
// penstock tune [--trials N] [--loader train.py:88] [--budget-ram 8G]
//               [--batches N | --for 60s] -- CMD...
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/main/external.h"
#include "analyzer/main/spawn.h"
#include "analyzer/main/tune.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "traces/base/command_line.h"

namespace penstock::analyzer {
namespace {

constexpr std::string_view kTuneName = "tune";

// A folder for the traces of the runs; gone with this unless it is to be kept.
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
    if (error || mkdtemp(name.data()) == nullptr) {
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: cannot be made: {}; set TMPDIR, or give --keep DIR", name,
                              std::strerror(errno)));
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

std::string RateText(const Interval& rate) {
  return fmt::format("{} ({}..{})", ShortNumber(rate.estimate), ShortNumber(rate.low),
                     ShortNumber(rate.high));
}

std::string Sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + ".";
}

std::string VerdictText(const TuneResult& result) {
  switch (result.verdict) {
    case TuneVerdict::kNoAction:
      return fmt::format("No action: no other setting is predicted to gain 5 % (bottleneck: {}).",
                         FactorName(result.bottleneck));
    case TuneVerdict::kConfirmed:
      return "Confirmed: as fast as predicted.";
    case TuneVerdict::kPartly:
      return "Confirmed in part: faster, but by less than predicted." +
             (result.why.empty() ? "" : " " + Sentence(result.why));
    case TuneVerdict::kRefuted:
      return "Refuted: not faster beyond noise. Keep the loader as it is.";
    case TuneVerdict::kUndecided:
      return "Not decided: what was measured allows for no gain and for the promised one. Record "
             "more batches, on a quiet machine.";
    case TuneVerdict::kCrowded:
      return "No action: other programs compete for the cores, so what other settings gain is not "
             "to be told. Run it again when the machine is quiet.";
    case TuneVerdict::kNotEnough:
      break;
  }
  return result.why;
}

// The recorder ended the command, because the limit was reached: its status then says nothing.
bool StoppedAtLimit(const traces::Trace& trace) {
  const auto why = trace.facts().find("record.stopped");
  return why != trace.facts().end() &&
         (why->second.rfind("for ", 0) == 0 || why->second.rfind("batches ", 0) == 0);
}

std::string TuneText(const TuneResult& result, Colour colour) {
  const Paint paint(colour == Colour::kOn);
  std::string text =
      "\n" +
      paint.Dim(fmt::format("  {:<4} {:<36} {:>22} {:>22} {:>8}", "run", "DataLoader",
                            "predicted " + result.unit, "measured", "speedup")) +
      "\n";
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const TuneTrial& trial = result.trials[i];
    text += fmt::format("  {:<4} {:<36} {:>22} {:>22} {:>7.2f}x\n", i + 1,
                        trial.setting ? trial.setting->Override() : "as it is",
                        trial.predicted ? RateText(trial.predicted->rate) : "-",
                        RateText(trial.measured), trial.speedup);
  }
  text += "\n  " + paint.Bold(Wrapped(VerdictText(result), 92, "  ")) + "\n";
  if (!result.code.empty()) text += "  " + result.code + "\n";
  if (!result.note.empty()) text += "  " + Wrapped(English(result.note), 92, "  ") + "\n";
  return text;
}

}  // namespace

int TuneCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line(
      "Records a command, suggests loader settings, runs it again with them, and says "
      "whether the prediction held. Nothing is edited.",
      "penstock tune");
  TuneOptions options;
  std::string budget, batches, time, keep;
  line.Add("--trials", options.trials, "Runs with other settings, at most (default 3)")
      .Check(traces::WholeNumber(1, 100));
  line.Add("--loader", options.loader,
           "Which loader to change, by the line that makes it: train.py:88 (default: all, as suits "
           "the one that the loop waits for most)");
  line.Add("--budget-ram", budget, "Memory for batches and workers: 8G");
  const auto after_batches = line.Add("--batches", batches, "End each run after so many batches");
  line.Add("--for", time, "End each run after this time: 60s").Excludes(after_batches);
  line.Add("--keep", keep, "Folder to leave the traces in");
  line.SetFooter("usage: penstock tune [OPTIONS] -- CMD...");
  const SplitWords words = SplitAtDashes(arguments);
  constexpr std::string_view kHint = "a command comes after --: penstock tune -- CMD";
  if (const auto status = Parse(line, words.own, kHint)) return *status;
  if (words.command.empty()) {
    return Complain(kTuneName, {ErrorKind::kUsage, "which command? " + std::string(kHint)});
  }
  if (!budget.empty()) {
    const auto size = ParseSize(budget);
    if (!size) return Complain(kTuneName, size.error());
    options.budget_ram = *size;
  }
  TraceFolder folder(keep);
  const auto made = folder.Make();
  if (!made) return Complain(kTuneName, made.error());

  int own = 0;  // the command's status, where it failed
  std::size_t runs = 0;
  const TuneRunner run =
      [&](const std::optional<TuneSetting>& setting) -> Result<std::unique_ptr<traces::Trace>> {
    const std::string trace = folder.Trace(++runs);
    std::vector<std::string> call = {(OwnFolder() / "penstock-record").string(), "--quiet",
                                     "--force", "-o", trace};
    if (!batches.empty()) call.insert(call.end(), {"--batches", batches, "--stop"});
    if (!time.empty()) call.insert(call.end(), {"--for", time, "--stop"});
    if (setting) call.insert(call.end(), {"--override", setting->Override()});
    call.emplace_back("--");
    call.insert(call.end(), words.command.begin(), words.command.end());
    const auto status = RunAndWait(call);
    PENSTOCK_TRY(status);
    auto opened = traces::OpenTrace(trace);
    if (*status != 0 && !(opened && StoppedAtLimit(**opened))) {
      own = *status;
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("{}: exit status {}", words.command.front(), *status));
    }
    return opened;
  };
  options.on_trial = [&](const TuneTrial& trial, const std::string& unit) {
    fmt::print(stderr, "penstock tune: run {}, {}: {} {}\n", runs,
               trial.setting ? trial.setting->Override() : "as it is", RateText(trial.measured),
               unit);
  };
  const auto result = Tune(run, options);
  if (!result) {
    const int status = Complain(kTuneName, result.error());
    return own != 0 ? own : status;
  }
  if (result->verdict == TuneVerdict::kNotEnough) {
    return Complain(kTuneName, {ErrorKind::kInput, result->why});
  }
  return Print(TuneText(*result, WantsColour() ? Colour::kOn : Colour::kOff));
}

}  // namespace penstock::analyzer
