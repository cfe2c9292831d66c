// SPDX-License-Identifier: Apache-2.0
//
// A function of the program loops over elements in the interpreter.
//
// Threshold: 15 % of the workers' time is spent in the interpreter, in lines or calls that run 50
// times for each sample or, in collate, for each batch (ours).
// Prediction: these lines and calls take a tenth of their time.
// Source: litData#885, scalene#541; arrays are 10 to 100 times as fast.
#include <algorithm>

#include "analyzer/advice/function_costs.h"
#include "analyzer/words/functions.h"

namespace penstock::analyzer {
namespace {

constexpr double kLoopShare = 0.15;
constexpr double kLoopTimes = 50;
constexpr double kLoopGone = 0.9;
constexpr double kTellApart = 0.01;  // shares that differ by less look alike

struct Loop {
  const FunctionProfile* profile = nullptr;
  const FunctionTime* function = nullptr;
  double share = 0;        // share of the workers' time, in the interpreter
  double with_calls = 0;   // the same, with the library functions that it calls
  double count = 0;        // times per sample or batch
  std::uint32_t line = 0;  // 0: the function itself is called that often
  bool several = false;    // other lines run often too; `count` is of the most frequent one
};

// The part of a function that runs often: its repeated lines, or the whole function if it is called
// often.
Loop LoopOf(const FunctionProfile& profile, const FunctionTime& function) {
  Loop loop{&profile, &function, 0, 0, function.count, 0};
  if (function.count >= kLoopTimes) {
    loop.share = function.own * profile.of_stage;
    loop.with_calls = function.share * profile.of_stage;
    return loop;
  }
  const LineTime* most = nullptr;
  for (const LineTime& line : function.lines) {
    if (line.count < kLoopTimes) continue;
    loop.share += line.own * profile.of_stage;
    loop.with_calls += line.share * profile.of_stage;
    loop.count = most == nullptr ? line.count : std::max(loop.count, line.count);
    loop.several = most != nullptr;
    if (most == nullptr || line.own > most->own) most = &line;
  }
  if (most != nullptr) loop.line = most->line;
  return loop;
}

Loop FindHottest(const FunctionProfiles& profiles) {
  Loop hottest;
  for (const FunctionProfile& profile : profiles) {
    if (!Tells(profile)) continue;
    for (const FunctionTime& function : profile.functions) {
      if (function.is_library) continue;
      const Loop loop = LoopOf(profile, function);
      if (loop.share > hottest.share) hottest = loop;
    }
  }
  return hottest;
}

}  // namespace

void HotPythonLoop(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const Loop loop = FindHottest(input.diagnosis.functions);
  if (loop.share < kLoopShare) {
    out.Needs("hot-python-loop", NeedsOfFunctions(input.diagnosis.functions));
    return;
  }
  const FunctionTime& function = *loop.function;
  Finding finding;
  finding.id = "hot-python-loop";
  finding.setting = WithoutShare(input, loop.profile->stage, kLoopGone * loop.share);
  finding.predicted = input.WithSetting(*finding.setting);
  finding.severity = SeverityOf(*finding.predicted);
  finding.seen = Say<words::kHotPythonLoop>(
      Give<"function">(function.name), Give<"place">(PlaceOf(function.file, function.line)),
      GiveIf<"line">(loop.line > 0, loop.line), Give<"several">(loop.several),
      Give<"count">(loop.count), Give<"batch">(loop.profile->stage == traces::StageId::kCollate),
      Give<"loop_share">(loop.share),
      GiveIf<"with_calls">(loop.with_calls - loop.share >= kTellApart, loop.with_calls));
  finding.evidence = {{"function", function.name},
                      {"file", function.file},
                      {"first_line", static_cast<double>(function.line)},
                      {"line", static_cast<double>(loop.line)},
                      {"loop_share", loop.share},
                      {"loop_share_with_calls", loop.with_calls},
                      {"threshold", kLoopShare},
                      {"times_each", loop.count},
                      {"units", static_cast<double>(loop.profile->units)}};
  finding.action = Say<words::kVectorise>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
