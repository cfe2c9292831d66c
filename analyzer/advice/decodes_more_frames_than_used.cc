// SPDX-License-Identifier: Apache-2.0
//
// A decoder of video makes far more frames than the dataset takes: most are decoded only because a
// later frame refers to them, or are thrown away.
// Threshold: twice as many frames as were used, 64 or more beyond those, and a gain of 1 % (ours).
// Frames decoded are those that came out of libavcodec in sight of the agent, or that a library
// handed out, whichever is more; frames used are those whose pixels were asked for. A frame out of
// the middle costs all frames since the key frame before it, half an interval on average: with key
// frames twice as often half of the surplus goes, which is what is predicted.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {
namespace {

struct FrameCount {
  double decoded = 0;
  double used = 0;
};

// What decoding was of video: the names of its spans.
bool IsVideoDecoder(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"ffmpeg", "av.",         "cv2.VideoCapture",
                                                      "decord", "torchcodec.", "imageio_ffmpeg"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return name.starts_with(known); });
}

// What Python saw, by process: each sample of a counter is a call's frames.
std::map<std::uint32_t, FrameCount> FramesSeenByLibraries(const RunModel& run) {
  std::map<std::uint32_t, FrameCount> frames;
  for (const CounterSeries& series : run.counters) {
    const bool used = series.name == "video.frames_used";
    if (!used && series.name != "video.frames_decoded") continue;
    FrameCount& count = frames[series.process.value];
    (used ? count.used : count.decoded) +=
        std::accumulate(series.value.begin(), series.value.end(), 0.0);
  }
  return frames;
}

// Frames that came out of libavcodec, by process. Sound has no bytes.
std::map<std::uint32_t, double> FramesOfLibavcodec(const traces::Trace& trace) {
  std::map<std::uint32_t, double> frames;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const traces::Span> block) {
      for (const traces::Span& span : block) {
        if (span.stage != traces::StageId::kDecode || span.bytes.value == 0) continue;
        if (trace.String(span.name) == "ffmpeg") frames[trace.threads()[i].process.value] += 1;
      }
    });
  }
  return frames;
}

FrameCount CountFrames(const RuleInput& input) {
  FrameCount all;
  const auto seen = FramesSeenByLibraries(input.diagnosis.run);
  const bool any =
      std::any_of(seen.begin(), seen.end(), [](const auto& one) { return one.second.used > 0; });
  if (!any) return all;
  const auto native = FramesOfLibavcodec(input.trace);
  for (const auto& [process, count] : seen) {
    if (!(count.used > 0)) continue;  // what it takes of its frames was not seen
    const auto own = native.find(process);
    all.decoded += std::max(count.decoded, own != native.end() ? own->second : 0);
    all.used += count.used;
  }
  return all;
}

}  // namespace

void DecodesMoreFramesThanUsed(const RuleInput& input, Advice& out) {
  constexpr double kTimes = 2;
  constexpr double kSurplus = 64;
  if (!input.diagnosis.loader) return;
  const FrameCount frames = CountFrames(input);
  const double surplus = frames.decoded - frames.used;
  if (!(frames.used > 0) || frames.decoded < kTimes * frames.used || surplus < kSurplus) return;
  const StageTotals& decode = input.diagnosis.run.stages[traces::StageId::kDecode];
  double video = 0;
  for (const auto& [name, part] : decode.children) {
    if (IsVideoDecoder(input.trace.String(name))) video += Seconds(part.wall);
  }
  const double share = decode.wall.value > 0 ? std::min(1.0, video / Seconds(decode.wall)) : 0;
  Finding finding;
  finding.id = "decodes-more-frames-than-used";
  finding.predicted = input.WithScaled(Factor::kDecode, 1 - 0.5 * share * surplus / frames.decoded);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for it
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen =
      Say<words::kFramesUnused>(Give<"decoded">(frames.decoded), Give<"used">(frames.used));
  finding.evidence = {{"frames_decoded", frames.decoded},
                      {"frames_used", frames.used},
                      {"ratio", frames.decoded / frames.used},
                      {"threshold", kTimes},
                      {"video_share_of_decode", share},
                      {"decode_share", input.ShareOfFetch(traces::StageId::kDecode)}};
  finding.action = Say<words::kFewerFrames>();
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
