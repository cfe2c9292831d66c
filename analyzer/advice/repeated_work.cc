// SPDX-License-Identifier: Apache-2.0
//
// Every epoch repeats work whose result is always the same and could be stored once.
//
// Threshold: at least two epochs, a gain of 5 %, and one of two conditions. Either the first
// transforms of the chain returned the same for the same samples and take 10 % of the fetches after
// the first epoch (as docs/diagnosis.md R17). Or the finished samples were the same, and decoding,
// transforms and tokenizing inside of them take 40 % of these fetches (R15). Digests of samples
// show which results are the same (model/sameness.h). To store a result that varies would freeze an
// augmentation.
// Source: PRESTO (split points, 3 to 13x); Plumber's caches.
#include <algorithm>
#include <string>

#include "analyzer/advice/rules.h"
#include "analyzer/model/sameness.h"
#include "analyzer/words/findings_data.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

// Seconds of the stages whose result may be stored.
struct StorableWork {
  double decode = 0;
  double augment = 0;
  double tokenize = 0;

  [[nodiscard]] double sum() const { return decode + augment + tokenize; }
};

// Seconds of fetches in the epochs after the first, and of stages in them. The first epoch is left
// out because it may fill a cache of the dataset: later epochs do not repeat such work.
struct LaterWork {
  double fetch = 0;
  StorableWork all;
  // The part inside of samples. Only samples are compared: collate may decode or augment what they
  // hold, and its result may depend on chance.
  StorableWork samples;
};

StorableWork InsideSamples(const LoaderRun& run, const Batch& batch, const StorableWork& all) {
  if (run.samples_per_span > 1) return all;  // one span holds the samples of the batch
  StorableWork inside;
  for (std::size_t k = 0; k < batch.sample_costs; ++k) {
    const SampleCost& cost = run.samples[batch.first_sample + k];
    inside.decode += static_cast<double>(cost.decode);
    inside.augment += static_cast<double>(cost.augment);
    inside.tokenize += static_cast<double>(cost.tokenize);
  }
  return inside;
}

LaterWork WorkAfterFirstEpoch(const LoaderRun& run) {
  const auto add = [](const StorableWork& more, StorableWork& sum) {
    sum.decode += more.decode;
    sum.augment += more.augment;
    sum.tokenize += more.tokenize;
  };
  LaterWork work;
  for (std::size_t e = 1; e < run.epochs.size(); ++e) {
    const Epoch& epoch = run.epochs[e];
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      const Batch& batch = run.batches[i];
      const StorableWork all = {batch.decode.wall, batch.augment.wall, batch.tokenize.wall};
      work.fetch += batch.fetch.wall;
      add(all, work.all);
      add(InsideSamples(run, batch, all), work.samples);
    }
  }
  // The sums are compared, since the smaller one of each batch would be too small in the mean.
  work.samples = {std::min(work.samples.decode, work.all.decode),
                  std::min(work.samples.augment, work.all.augment),
                  std::min(work.samples.tokenize, work.all.tokenize)};
  return work;
}

// What is left of a stage without its work inside of samples.
double LeftOf(double all, double samples) {
  return all > 0 ? 1 - samples / all : 1;
}

// The bytes that are read per sample if finished samples are stored, divided by the bytes that are
// read per sample now; 0: not known.
double ReadScale(const RuleInput& input) {
  const double sample = input.run().samples_known ? input.loader().material.sample_bytes : 0;
  const StageTotals& read = input.diagnosis.run.stages[traces::StageId::kRead];
  const double samples = input.diagnosis.run.samples();
  const double file = samples > 0 ? static_cast<double>(read.bytes.value) / samples : 0;
  return sample > 0 && file > 0 ? sample / file : 0;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Statement NeedsToCompare(const LoaderRun& run, const EpochComparison& compared) {
  if (compared.digests == 0 && run.config.dataset_kind == "iterable") {
    return Say<words::kRuleNeedsIndices>();
  }
  if (compared.digests == 0) return Say<words::kRuleNeedsDigests>();
  return compared.unknown() ? Say<words::kRuleNeedsComparable>() : Statement{};
}

}  // namespace

void RepeatedWork(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (input.run().epochs.size() < 2) {
    return out.Needs("repeated-work", Say<words::kRuleNeedsEpochs>());
  }
  const LoaderRun& run = input.run();
  const EpochComparison compared = CompareEpochs(input.trace, input.diagnosis.run);
  out.Needs("repeated-work", NeedsToCompare(run, compared));
  const bool all = compared.finished == Sameness::kSame;
  if (!all && compared.prefix.empty()) return;
  const LaterWork work = WorkAfterFirstEpoch(run);
  if (work.fetch <= 0 || (!all && work.all.augment <= 0)) return;
  const double same =
      all ? work.samples.sum()
          : std::min(work.samples.augment,
                     PrefixTime(input.trace, input.diagnosis.run, compared.prefix.size()));
  const double share = same / work.fetch;
  const double limit = all ? 0.4 : 0.1;
  if (share < limit) return;
  Setting setting = input.Recorded();
  if (all) {
    // Finished samples are read instead of files, at the same speed.
    const double read = ReadScale(input);
    if (read <= 0) return;
    setting.scale = {{Factor::kDecode, LeftOf(work.all.decode, work.samples.decode)},
                     {Factor::kAugment, LeftOf(work.all.augment, work.samples.augment)},
                     {Factor::kTokenize, LeftOf(work.all.tokenize, work.samples.tokenize)},
                     {Factor::kRead, read}};
  } else {
    setting.scale = {{Factor::kAugment, LeftOf(work.all.augment, same)}};
  }
  Finding finding;
  finding.predicted = input.WithSetting(setting);
  finding.setting = setting;
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "repeated-work";
  finding.severity = Severity::kWarning;
  const std::string last = all ? "" : compared.prefix.back();
  const std::size_t pairs = all ? compared.finished_pairs : compared.prefix_pairs;
  finding.seen =
      Say<words::kRepeatedWork>(Give<"epochs">(run.epochs.size()), Give<"repeated_share">(share),
                                Give<"all">(all), Give<"samples">(compared.samples),
                                Give<"compared_epochs">(compared.epochs), Give<"last">(last));
  finding.evidence = {{"repeated_share", share},
                      {"threshold", limit},
                      {"transforms", Joined(compared.prefix)},
                      {"epochs", static_cast<double>(run.epochs.size())},
                      {"compared_samples", static_cast<double>(compared.samples)},
                      {"compared_pairs", static_cast<double>(pairs)},
                      {"compared_epochs", static_cast<double>(compared.epochs)},
                      {"finished_samples", all ? "same" : "different"}};
  finding.action =
      Say<words::kStoreOnce>(Give<"all">(all), Give<"transforms">(Joined(compared.prefix)),
                             Give<"last">(last), Give<"samples">(compared.samples),
                             Give<"pairs">(pairs), Give<"compared_epochs">(compared.epochs));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
