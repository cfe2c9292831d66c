// SPDX-License-Identifier: Apache-2.0
//
// Some samples take much longer than the others.
//
// Threshold: slow samples (analyzer/model/sample_tail.h), at least three and at most a tenth of
// all, whose excess is 5 % of the time of all samples (ours), while the loop waits 5 % (kineto,
// xprof).
// Source: docs/diagnosis.md R21; MinatoLoader; pytorch#105203.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/model/sample_tail.h"
#include "analyzer/words/findings_samples.h"

namespace penstock::analyzer {
namespace {

constexpr std::array kSampleParts = {&Demand::read, &Demand::decode, &Demand::augment,
                                     &Demand::tokenize};

// Seconds of a sample as SampleTail counts them.
double TotalOf(const SampleCost& cost, const SampleTail& found) {
  const double all = cost.read + cost.decode + cost.augment + cost.tokenize;
  const double cpu = cost.read_cpu + cost.decode_cpu + cost.augment_cpu + cost.tokenize_cpu;
  if (!(cpu > 0)) return all;  // not recorded
  const double waiting = std::max(0.0F, cost.decode - cost.decode_cpu) +
                         std::max(0.0F, cost.augment - cost.augment_cpu) +
                         std::max(0.0F, cost.tokenize - cost.tokenize_cpu);
  return all - found.for_cores * waiting;
}

void Scale(SampleCost& cost, float scale) {
  for (float* value : {&cost.read, &cost.read_cpu, &cost.decode, &cost.decode_cpu, &cost.augment,
                       &cost.augment_cpu, &cost.tokenize, &cost.tokenize_cpu}) {
    *value *= scale;
  }
}

// The loader model in which slow samples take as long as the median. A batch whose samples were not
// examined gets the mean of the others.
Pipeline WithoutSlowSamples(const LoaderRun& run, const SampleTail& found, Pipeline pipeline) {
  double mean = 0;
  for (const auto& [batch, excess] : found.excess) mean += excess;
  mean /= static_cast<double>(std::max<std::size_t>(1, found.excess.size()));
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) {
      if (demand.loader != 0 || demand.source >= run.batches.size()) continue;
      const auto own = found.excess.find(SampleTail::KeyOf(run.batches[demand.source].key));
      const double less = own != found.excess.end() ? own->second : mean;
      double all = 0;
      for (const auto part : kSampleParts) all += (demand.*part).wall;
      const double scale = all > 0 ? std::clamp(1 - less / all, 0.0, 1.0) : 1;
      for (const auto part : kSampleParts) {
        (demand.*part).wall *= scale;
        (demand.*part).cpu *= scale;
      }
    }
    for (SampleCost& cost : epoch.samples) {
      const double total = TotalOf(cost, found);
      if (total > found.least) Scale(cost, static_cast<float>(found.median / total));
    }
  }
  return pipeline;
}

// Whether functions and lines were found, but in ordinary samples only.
bool FollowsOrdinary(const FunctionProfiles& profiles) {
  return std::any_of(profiles.begin(), profiles.end(), [](const FunctionProfile& profile) {
    return profile.stage == traces::StageId::kSample && profile.slow.units == 0;
  });
}

// "5, 102, 199, ...".
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
  const SampleTail& found = input.loader().sample_tail;
  if (found.slow == 0 || found.extra_share < kExcess) return;
  if (input.diagnosis.wait_fraction < 0.05 || input.loader().cpu.crowded) return;
  if (!input.loader().steady.steady) return;
  const LoaderDiagnosis& loader = input.loader();
  Finding finding;
  finding.id = "slow-samples";
  finding.predicted =
      Predict(loader.pipeline, WithoutSlowSamples(run, found, loader.pipeline), loader.replay);
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  const double times = found.slow_time / found.median;
  // Samples of an iterable dataset have no index: they are numbered as they come.
  const bool indexed = run.config.dataset_kind != "iterable" && !found.changes;
  const auto every = indexed && found.every > 0 ? std::optional<double>(found.every) : std::nullopt;
  const auto larger =
      found.bytes_times > 0 ? std::optional<double>(found.bytes_times) : std::nullopt;
  finding.seen = Say<words::kSlowSamples>(
      Give<"slow">(found.slow), Give<"samples">(found.samples), Give<"times">(times),
      Give<"read">(found.part == SamplePart::kRead),
      Give<"decode">(found.part == SamplePart::kDecode),
      Give<"tokenize">(found.part == SamplePart::kTokenize), Give<"extra_share">(found.extra_share),
      GiveIf<"ids">(indexed, FirstIds(found)), Give<"every">(every), Give<"bytes_times">(larger),
      GiveIf<"place">(!found.place.empty(), found.place), Give<"repeats">(found.repeats),
      Give<"changes">(found.changes));
  finding.evidence = {{"slow_samples", static_cast<double>(found.slow)},
                      {"samples", static_cast<double>(found.samples)},
                      {"sample_p50_s", found.median},
                      {"slow_sample_s", found.slow_time},
                      {"extra_share", found.extra_share},
                      {"threshold", kExcess}};
  if (indexed) finding.evidence.emplace_back("indices", FirstIds(found));
  if (every) finding.evidence.emplace_back("every", *every);
  if (larger) finding.evidence.emplace_back("bytes_times", *larger);
  if (!found.place.empty()) finding.evidence.emplace_back("place", found.place);
  finding.action = Say<words::kLookAtSlowSamples>(
      Give<"changes">(found.changes), GiveIf<"first">(indexed, found.ids.front()),
      Give<"bytes_times">(larger), Give<"ordinary">(FollowsOrdinary(input.diagnosis.functions)));
  finding.from = static_cast<double>(found.longest_start - input.trace.begin().value) * 1e-9;
  finding.to = finding.from + static_cast<double>(found.longest_time) * 1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
