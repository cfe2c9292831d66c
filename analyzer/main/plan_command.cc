// SPDX-License-Identifier: Apache-2.0
//
// penstock plan T [--json] [--loader train.py:88] [--budget-ram 8G] [--outside]
#include <string>
#include <vector>

#include "analyzer/advice/rules.h"
#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

int PlanCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line(
      "Says which changes lead from a recorded run to the limit of its training step, in the order "
      "in which to make them: what each gains on top of those before it, what it costs, and what "
      "limits the run then.",
      "penstock plan");
  std::string path;
  std::string loader;
  std::string budget;
  bool json = false;
  PlanRequest request;
  line.Add("trace", path, "Trace of the run").Required();
  line.Add("--loader", loader,
           "Which loader, by the line that makes it: train.py:88 (default: the one that the loop "
           "waits for most)");
  line.Add("--budget-ram", budget, "Memory for batches, workers and caches: 8G");
  line.AddFlag("--outside", request.outside,
               "Only changes that need no edit of the program, which are those that tune tries");
  line.AddFlag("--json", json, "One object: {\"steps\": [...], \"ceiling_samples_per_s\": ...}");
  if (const auto status = Parse(line, arguments)) return *status;
  request.trace = path;
  if (!budget.empty()) {
    const auto bytes = ParseSize(budget);
    if (!bytes) return Complain("plan", bytes.error());
    request.budget_ram = *bytes;
  }
  int status = 0;
  const auto trace = OpenOrComplain("plan", path, status);
  if (trace == nullptr) return status;
  request.command = RecordedCommand(*trace);
  const Diagnosis diagnosis = Diagnose(*trace, loader);
  if (const Statement unknown = UnknownLoader(diagnosis.run, loader); !unknown.empty()) {
    return Complain("plan", {ErrorKind::kUsage, English(unknown)});
  }
  const Plan plan = BuildPlan(*trace, diagnosis, RunRules(*trace, diagnosis).findings, request);
  if (!plan.missing.empty()) {
    return Complain("plan", {ErrorKind::kInput, path + ": " + English(plan.missing)});
  }
  return Print(json ? PlanJson(plan) : PlanText(plan, WantsColour() ? Colour::kOn : Colour::kOff));
}

}  // namespace penstock::analyzer
