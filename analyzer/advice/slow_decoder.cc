// SPDX-License-Identifier: Apache-2.0
//
// Pillow decodes most of the images, and decoding takes most of the workers' time.
//
// The rule reports nothing if the files are known not to be JPEG: it has no figures for them.
// Threshold: decoding takes 40 % of the fetches (docs/diagnosis.md R15, ours), and Pillow takes
// 80 % of the time of decoding.
// Prediction: decoding as fast as with the faster of the decoders that the finding names, of
// predict/decoders.h.
// Source: ternaus/imread_benchmark (MIT), five CPUs, one process: simplejpeg and OpenCV are 1.2 to
// 1.3 times as fast as Pillow. rf-detr#1473: a conversion back to PIL costs the gain.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/advice/pillow.h"
#include "analyzer/predict/decoders.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

namespace {

struct FasterDecoder {
  std::string name;
  double ratio = 1;  // speed relative to Pillow, from predict/decoders.h
};

// Faster JPEG decoders that the program does not use yet; the most widely known comes first.
std::vector<FasterDecoder> UnusedDecoders(const RuleInput& input) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFast = {
      {{"cv2", "OpenCV"}, {"simplejpeg", "simplejpeg"}, {"torchvision", "torchvision.io"}}};
  std::vector<FasterDecoder> unused;
  for (const auto& [prefix, name] : kFast) {
    bool used = false;
    for (const auto& [id, part] : input.diagnosis.run.stages[traces::StageId::kDecode].children) {
      used = used || input.trace.String(id).starts_with(prefix);
    }
    if (!used) unused.push_back({std::string(name), FindDecoder(prefix)->ratio});
  }
  return unused;
}

}  // namespace

void SlowDecoder(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || !input.loader().material.may_be_jpeg()) return;
  const double share = input.ShareOfFetch(traces::StageId::kDecode);
  const double of_decode = PillowShareOfDecode(input);
  if (share < 0.4 || of_decode < 0.8) return;
  const std::vector<FasterDecoder> faster = UnusedDecoders(input);
  if (faster.empty()) return;
  // The decoders, one or two, that are named.
  const double times =
      faster.size() > 1 ? std::max(faster[0].ratio, faster[1].ratio) : faster[0].ratio;
  Finding finding;
  finding.predicted = input.WithScaled(Factor::kDecode, 1 / times);
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "slow-decoder";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kSlowDecoder>(Give<"decode_share">(share));
  finding.evidence = {{"decode_share", share},
                      {"threshold", 0.4},
                      {"pillow_share_of_decode", of_decode},
                      {"assumed_ratio", times}};
  std::optional<std::string> second;
  if (faster.size() > 1) second = faster[1].name;
  finding.action = Say<words::kFasterDecoder>(
      Give<"predicted">(true), Give<"first">(faster[0].name), Give<"second">(second),
      Give<"opencv">(faster[0].name == "OpenCV"), Give<"times">(times));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
