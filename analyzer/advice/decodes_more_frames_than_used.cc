// SPDX-License-Identifier: Apache-2.0
//
// A video decoder makes far more frames than the dataset uses. Most are decoded only because a
// later frame refers to them, or are thrown away.
//
// Threshold: twice as many frames as were used, at least 64 more, and a gain of 1 % (ours). The
// number of frames that a process decoded is the larger of two: frames that the agent saw leave
// libavcodec, and frames that a library handed out. A frame is used if its pixels were asked for.
// Prediction: decoding without half of the surplus. One wanted frame costs all frames since the key
// frame before it, on average half of the distance between key frames. Twice as many key frames
// halve this cost.
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

// Whether the decode spans of this name are those of a video decoder.
bool IsVideoDecoder(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"ffmpeg", "av.",         "cv2.VideoCapture",
                                                      "decord", "torchcodec.", "imageio_ffmpeg"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return name.starts_with(known); });
}

// The frames that Python saw, by process: each sample of a counter holds the frames of one call.
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

// The frames that left libavcodec, by process. libavcodec's spans without bytes are decoded sound.
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
    if (!(count.used > 0)) continue;  // the number of used frames was not seen
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
  finding.setting = input.Recorded();
  finding.setting->scale = {{Factor::kDecode, 1 - 0.5 * share * surplus / frames.decoded}};
  finding.predicted = input.WithSetting(*finding.setting);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for decoding
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen =
      Say<words::kFramesUnused>(Give<"decoded">(frames.decoded), Give<"used">(frames.used));
  finding.evidence = {{"frames_decoded", frames.decoded},
                      {"frames_used", frames.used},
                      {"ratio", frames.decoded / frames.used},
                      {"threshold", kTimes},
                      {"video_share_of_decode", share},
                      {"decode_share", input.ShareOfFetch(traces::StageId::kDecode)}};
  finding.action = Say<words::kFewerFrames>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
