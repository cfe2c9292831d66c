// SPDX-License-Identifier: Apache-2.0
//
// A dataset calls a function that is known to be slow for its task.
// Threshold: a tenth of the workers' time (ours). Source: known_calls.h.
#include "analyzer/advice/function_costs.h"
#include "analyzer/advice/known_calls.h"
#include "analyzer/words/functions.h"

namespace penstock::analyzer {
namespace {

struct SlowestCall {
  const FunctionProfile* profile = nullptr;
  const FunctionTime* function = nullptr;
  const CalledTime* called = nullptr;
  const KnownCall* known = nullptr;
  double share = 0;
};

// The line of `function` that spends most time in `called`; 0: no such line was recorded.
std::uint32_t LineOfCall(const FunctionTime& function, const CalledTime& called) {
  std::uint32_t found = 0;
  double most = 0;
  for (const LineTime& line : function.lines) {
    for (const CalledTime& one : line.called) {
      if (one.name != called.name || one.file != called.file || one.share <= most) continue;
      most = one.share;
      found = line.line;
    }
  }
  return found;
}

SlowestCall FindSlowestCall(const FunctionProfiles& profiles) {
  SlowestCall worst;
  for (const FunctionProfile& profile : profiles) {
    if (!Tells(profile)) continue;
    for (const FunctionTime& function : profile.functions) {
      for (const CalledTime& called : function.called) {
        const KnownCall* known = FindKnownCall(called.name, called.file);
        const double share = called.share * profile.of_stage;
        if (known == nullptr || called.count < known->least_count || share <= worst.share) continue;
        worst = {&profile, &function, &called, known, share};
      }
    }
  }
  return worst;
}

}  // namespace

void SlowCall(const RuleInput& input, Advice& out) {
  constexpr double kCallShare = 0.1;
  if (!input.diagnosis.loader) return;
  const SlowestCall worst = FindSlowestCall(input.diagnosis.functions);
  if (worst.known == nullptr || worst.share < kCallShare) {
    out.Needs("slow-call", NeedsOfFunctions(input.diagnosis.functions));
    return;
  }
  Finding finding;
  finding.id = "slow-call";
  finding.setting = WithoutShare(input, worst.profile->stage, worst.share * worst.known->gone);
  finding.predicted = input.WithSetting(*finding.setting);
  finding.severity = SeverityOf(*finding.predicted);
  const FunctionTime& function = *worst.function;
  const std::uint32_t line = LineOfCall(function, *worst.called);
  finding.seen =
      Say<words::kSlowCall>(Give<"call">(worst.known->shown), Give<"function">(function.name),
                            Give<"place">(PlaceOf(function.file, function.line)),
                            GiveIf<"line">(line > 0, line), Give<"call_share">(worst.share));
  finding.evidence = {{"call", std::string(worst.known->shown)},
                      {"call_share", worst.share},
                      {"threshold", kCallShare},
                      {"function", function.name},
                      {"file", function.file},
                      {"first_line", static_cast<double>(function.line)},
                      {"units", static_cast<double>(worst.profile->units)},
                      {"assumed_saving", worst.known->gone}};
  finding.action = Say<words::kDoInstead>(Give<"predicted">(true),
                                          Give<"advice">(Statement{worst.known->instead, {}}),
                                          Give<"gone">(worst.known->gone));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
