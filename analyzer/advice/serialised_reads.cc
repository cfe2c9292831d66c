// SPDX-License-Identifier: Apache-2.0
//
// Reads of different workers hardly ever overlap, as if one lock guarded the file. Examples are
// HDF5's global lock, a shared handle and a lock of the dataset. If reads take turns, more workers
// do not make them faster.
//
// Threshold: ReadTurns::taken(), and reads take 15 % of the fetches (ours).
// Prediction: the same reads without turns. Nothing is predicted if the turns could not be
// simulated because sample spans are missing.
// Source: docs/diagnosis.md R37; pytorch#11929, #3415; pathml#131.
#include "analyzer/advice/place.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void SerialisedReads(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().workers.size() < 2) return;
  if (input.run().config.sample_tasks) return;
  const ReadTurns& turns = input.diagnosis.run.reads.turns;
  if (input.ShareOfFetch(traces::StageId::kRead) < 0.15 || !turns.taken()) return;
  Finding finding;
  finding.id = "serialised-reads";
  finding.severity = Severity::kWarning;
  Pipeline apart = input.loader().pipeline;
  if (apart.turns) {
    apart.device_per_sample = 0;
    apart.turns = false;
    finding.predicted = Predict(input.loader().pipeline, apart, input.loader().replay);
    if (finding.predicted->speedup < 1.05) finding.severity = Severity::kInfo;
  }
  finding.seen = Say<words::kSerialisedReads>(Give<"reading_alone">(turns.alone));
  finding.evidence = {{"overlap", turns.together},
                      {"overlap_by_chance", turns.by_chance},
                      {"reading_alone", turns.alone},
                      {"reads", static_cast<double>(turns.reads)},
                      {"threshold_of_chance", ReadTurns::kShare}};
  finding.action = Say<words::kOpenInEachWorker>(Give<"predicted">(finding.predicted.has_value()));
  PlaceInWorkers(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
