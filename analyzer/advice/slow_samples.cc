// SPDX-License-Identifier: Apache-2.0
//
// Some samples take much longer than the others.
//
// Threshold: the time that slow samples (analyzer/model/sample_tail.h) take beyond the median is
// 5 % of the time of making batches (ours), and the loop waits 5 % (kineto, xprof). There are at
// least three slow samples, and at most a tenth of all samples is slow. The rule reports nothing if
// other programs crowd the run, because they can make any sample slow, or if there is no steady
// rate to predict from. Source: docs/diagnosis.md R21; MinatoLoader; pytorch#105203.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/model/functions.h"
#include "analyzer/model/sample_tail.h"
#include "analyzer/predict/even_samples.h"
#include "analyzer/words/findings_samples.h"

namespace penstock::analyzer {
namespace {

// Whether functions were recorded in samples, but in too few to compare slow samples with others.
bool FollowsOrdinary(const FunctionProfiles& profiles) {
  return std::any_of(profiles.begin(), profiles.end(), [](const FunctionProfile& profile) {
    return profile.stage == traces::StageId::kSample && profile.slow.units == 0;
  });
}

// The function for which the difference between slow and other samples is largest; nullptr: not
// known.
const MoreTime* LargestGap(const FunctionProfiles& profiles) {
  for (const FunctionProfile& profile : profiles) {
    if (profile.stage == traces::StageId::kSample && !profile.slow.functions.empty()) {
      return &profile.slow.functions.front();
    }
  }
  return nullptr;
}

// The first ids of slow samples: "5, 102, 199, ...".
std::string FirstIds(const SampleTail& found) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < found.ids.size() && i < kMost; ++i) {
    text += fmt::format("{}{}", i > 0 ? ", " : "", found.ids[i]);
  }
  return found.ids.size() > kMost ? text + ", ..." : text;
}

}  // namespace

void SlowSamples(const RuleInput& input, Advice& out) {
  constexpr double kExcess = 0.05;
  if (!input.diagnosis.loader) return;
  const LoaderRun& run = input.run();
  const LoaderDiagnosis& loader = input.loader();
  const SampleTail& found = loader.sample_tail;
  if (found.slow == 0) return;
  // Batches that collating makes may need next to no time for their samples.
  if (found.extra_share * input.ShareOfFetch(traces::StageId::kSample) < kExcess) return;
  if (input.diagnosis.wait_fraction < 0.05 || loader.cpu.crowded) return;
  if (!loader.steady.steady) return;
  Finding finding;
  finding.id = "slow-samples";
  const Pipeline even = WithEvenSamples(loader.pipeline, EvenSamplesOf(run, found));
  finding.predicted = Predict(loader.pipeline, even, loader.replay);
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  const double times = found.slow_time / found.median;
  // An index tells nothing if other samples are slow in other epochs. Samples of an iterable
  // dataset have no index: they are numbered as they come.
  const bool indexed = run.config.dataset_kind != "iterable" && !found.changes;
  const auto every = indexed && found.every > 0 ? std::optional<double>(found.every) : std::nullopt;
  const auto larger =
      found.bytes_times > 0 ? std::optional<double>(found.bytes_times) : std::nullopt;
  const MoreTime* more = LargestGap(input.diagnosis.functions);
  const MoreLine* line = more != nullptr && !more->lines.empty() ? &more->lines.front() : nullptr;
  const double in_slow = line != nullptr ? line->slow : more != nullptr ? more->slow : 0;
  const double in_others = line != nullptr ? line->others : more != nullptr ? more->others : 0;
  finding.seen = Say<words::kSlowSamples>(
      Give<"slow">(found.slow), Give<"samples">(found.samples), Give<"times">(times),
      Give<"read">(found.part == SamplePart::kRead),
      Give<"decode">(found.part == SamplePart::kDecode),
      Give<"tokenize">(found.part == SamplePart::kTokenize), Give<"extra_share">(found.extra_share),
      GiveIf<"ids">(indexed, FirstIds(found)), Give<"every">(every), Give<"bytes_times">(larger),
      GiveIf<"place">(!found.place.empty(), found.place), Give<"repeats">(found.repeats),
      Give<"changes">(found.changes), GiveIf<"line">(line != nullptr, line ? line->line : 0),
      GiveIf<"function">(more != nullptr, more ? more->name : ""),
      GiveIf<"place_of">(more != nullptr, more ? PlaceOf(more->file, more->line) : ""),
      GiveIf<"there">(more != nullptr, in_slow), GiveIf<"in_others">(more != nullptr, in_others));
  finding.evidence = {{"slow_samples", static_cast<double>(found.slow)},
                      {"samples", static_cast<double>(found.samples)},
                      {"sample_p50_s", found.median},
                      {"slow_sample_s", found.slow_time},
                      {"extra_share", found.extra_share},
                      {"threshold", kExcess}};
  if (indexed) finding.evidence.emplace_back("indices", FirstIds(found));
  if (every) finding.evidence.emplace_back("every", *every);
  if (larger) finding.evidence.emplace_back("bytes_times", *larger);
  if (more != nullptr) {
    finding.evidence.emplace_back("function", more->name);
    finding.evidence.emplace_back("file", more->file);
    finding.evidence.emplace_back("first_line", static_cast<double>(more->line));
    finding.evidence.emplace_back("in_slow_samples_s", in_slow);
    finding.evidence.emplace_back("in_others_s", in_others);
    if (line != nullptr) finding.evidence.emplace_back("line", static_cast<double>(line->line));
  }
  if (!found.place.empty()) finding.evidence.emplace_back("place", found.place);
  finding.action = Say<words::kLookAtSlowSamples>(
      Give<"predicted">(true), Give<"changes">(found.changes),
      GiveIf<"first">(indexed, found.ids.front()), Give<"bytes_times">(larger),
      Give<"ordinary">(FollowsOrdinary(input.diagnosis.functions)));
  finding.from = static_cast<double>(found.longest_start - input.trace.begin().value) * 1e-9;
  finding.to = finding.from + static_cast<double>(found.longest_time) * 1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
