// SPDX-License-Identifier: Apache-2.0
//
// Far more pixels are decoded than the batch holds.
//
// Threshold: the decoded bytes are at least four times the bytes of the sample that leaves the
// worker, whatever its type. For float32 samples this means sixteen times the pixels (ours,
// cautious). Decoding takes 40 % of the fetches (docs/diagnosis.md R15).
// The rule reports nothing if the files are known not to be JPEG, because other decoders cannot
// decode at smaller sizes.
// Prediction: decoding in half the time. Libjpeg decodes at 1/2, 1/4 and 1/8 size at a fraction of
// the cost.
#include "analyzer/advice/rules.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void DecodeLargerThanNeeded(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || !input.loader().material.may_be_jpeg()) return;
  const StageTotals& decode = input.diagnosis.run.stages[traces::StageId::kDecode];
  const StageTotals& samples = input.diagnosis.run.stages[traces::StageId::kSample];
  const LoaderRun& run = input.run();
  const double share = input.ShareOfFetch(traces::StageId::kDecode);
  const double batch = BatchBytes(run);
  const double sample = run.samples_known ? batch / static_cast<double>(run.samples_per_batch) : 0;
  if (decode.bytes.value == 0 || samples.count == 0 || sample <= 0 || share < 0.4) return;
  const double decoded = input.loader().material.decoded_bytes;
  const double ratio = decoded / sample;
  if (ratio < 4) return;
  Finding finding;
  finding.id = "decode-larger-than-needed";
  finding.setting = input.Recorded();
  finding.setting->scale = {{Factor::kDecode, 0.5}};
  finding.predicted = input.WithSetting(*finding.setting);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for decoding
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen =
      Say<words::kDecodeLarger>(Give<"decoded_bytes">(decoded), Give<"sample_bytes">(sample));
  finding.evidence = {{"decoded_bytes_per_sample", decoded},
                      {"sample_bytes", sample},
                      {"ratio", ratio},
                      {"threshold", 4.0},
                      {"decode_share", share}};
  finding.action = Say<words::kDecodeSmaller>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
