// SPDX-License-Identifier: Apache-2.0
//
// penstock compare A B [--json]
#include <string>
#include <vector>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/report/compare.h"

namespace penstock::analyzer {

int CompareCommand(const std::vector<std::string>& arguments) {
  constexpr std::string_view kName = "compare";
  traces::CommandLine line(
      "Says what changed between two recorded runs, and whether it is more than noise.",
      "penstock compare");
  std::string before;
  std::string after;
  bool json = false;
  line.Add("A", before, "Trace of the run before").Required();
  line.Add("B", after, "Trace of the run after").Required();
  line.AddFlag("--json", json, "One object of schema penstock.compare/1");
  if (const auto status = Parse(line, arguments)) return *status;
  int status = 0;
  const auto first = OpenOrComplain(kName, before, status);
  if (first == nullptr) return status;
  const auto second = OpenOrComplain(kName, after, status);
  if (second == nullptr) return status;
  const Diagnosis baseline = Diagnose(*first);
  const Diagnosis candidate = Diagnose(*second);
  const auto comparison = Compare(Baseline{baseline, before, RecordedCommand(*first)},
                                  Candidate{candidate, after, RecordedCommand(*second)});
  if (!comparison) return Complain(kName, comparison.error().error());
  return Print(json ? CompareJson(*comparison)
                    : CompareText(*comparison, WantsColour() ? Colour::kOn : Colour::kOff));
}

}  // namespace penstock::analyzer
