// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/without_loader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace penstock::analyzer {
namespace {

using traces::StageId;

// Diagnoses a trace of kernels and copies alone: finds what takes most of the devices' time. No
// factor stands for launches and idle time. So if one of these takes most, no bottleneck is named.
// Confidence grows with the devices' time (up to 10 s) and with the lead of the largest share.
void DiagnoseDevices(Diagnosis& diagnosis) {
  diagnosis.devices = MeasureDevicesUse(diagnosis.run.devices_alone);
  const DevicesUse& use = diagnosis.devices;
  if (use.devices.empty()) return;
  const DeviceLimit limit = use.mean.limit();
  if (limit == DeviceLimit::kCopies) diagnosis.bottleneck = Factor::kH2d;
  if (limit == DeviceLimit::kKernels) diagnosis.bottleneck = Factor::kCompute;
  double second = 0;
  for (const DeviceLimit other :
       {DeviceLimit::kKernels, DeviceLimit::kCopies, DeviceLimit::kLaunches, DeviceLimit::kIdle}) {
    if (other != limit) second = std::max(second, use.mean.Of(other));
  }
  constexpr double kLong = 10;  // seconds
  diagnosis.confidence =
      std::min(0.9, 0.4 + use.mean.Of(limit) - second) * std::min(1.0, use.window / kLong);
}

// A feed has the number of threads that make the data, the waits of the loop, and the steady rate
// (feed.h), which replaces `samples_rate` if there is a steady part. If it is
// known what limits the feed, its gains, bottleneck and wait fraction replace those that
// GainsByThreadTime() and the totals of stages gave.
void TakeFeed(Feed feed, Diagnosis& diagnosis) {
  if (feed.to > feed.from) diagnosis.samples_rate = feed.rate;
  if (feed.doubt == FeedDoubt::kNone) {
    diagnosis.gains = feed.gains;
    diagnosis.bottleneck = feed.bottleneck;
    diagnosis.wait_fraction = feed.wait + feed.own;
    constexpr double kMany = 256;  // samples
    diagnosis.confidence = 0.85 * std::min(1.0, static_cast<double>(feed.made) / kMany);
  }
  diagnosis.feed = std::move(feed);
}

}  // namespace

std::vector<Gain> GainsByThreadTime(const StageTable& stages, double life) {
  constexpr std::array<std::pair<StageId, Factor>, 9> kStages = {{
      {StageId::kRead, Factor::kRead},
      {StageId::kDecode, Factor::kDecode},
      {StageId::kAugment, Factor::kAugment},
      {StageId::kTokenize, Factor::kTokenize},
      {StageId::kCollate, Factor::kCollate},
      {StageId::kPut, Factor::kTransfer},
      {StageId::kGet, Factor::kTransfer},
      {StageId::kPin, Factor::kTransfer},
      {StageId::kH2d, Factor::kH2d},
  }};
  std::vector<Gain> gains;
  double total = 0;
  double data = 0;
  for (const auto& [stage, factor] : kStages) {
    const double wall = Seconds(stages[stage].wall);
    total += wall;
    if (factor != Factor::kH2d) data += wall;
    const auto same = std::find_if(gains.begin(), gains.end(),
                                   [f = factor](const Gain& gain) { return gain.factor == f; });
    if (same != gains.end()) {
      same->speedup += wall;
    } else {
      gains.push_back({factor, wall});
    }
  }
  if (!(data > 0)) return {};
  total = std::max(total, life);
  for (Gain& gain : gains) gain.speedup = 1 / std::max(1e-3, 1 - gain.speedup / total);
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Gain& a, const Gain& b) { return a.speedup > b.speedup; });
  return gains;
}

void DiagnoseWithoutLoader(const traces::Trace& trace, Diagnosis& diagnosis) {
  const StageTable& stages = diagnosis.run.stages;
  diagnosis.gains = GainsByThreadTime(stages, diagnosis.run.data_life);
  const double duration = diagnosis.run.duration();
  diagnosis.samples_known = stages[StageId::kSample].count > 0;
  // An image that was opened but not decoded counts as decoding too, without bytes. So only spans
  // with bytes are counted as images, if there are any.
  const StageTotals& decode = stages[StageId::kDecode];
  const std::uint64_t images = decode.with_bytes > 0 ? decode.with_bytes : decode.count;
  const std::uint64_t samples = diagnosis.samples_known ? stages[StageId::kSample].count : images;
  if (duration > 0) {
    diagnosis.samples_rate = static_cast<double>(samples) / duration;
    diagnosis.batch_rate = static_cast<double>(stages[StageId::kCollate].count) / duration;
    diagnosis.wait_fraction = std::clamp(Seconds(stages[StageId::kWait].wall) / duration, 0.0, 1.0);
  }
  diagnosis.whole_rate = diagnosis.samples_rate;
  if (diagnosis.gains.empty()) DiagnoseDevices(diagnosis);
  if (!diagnosis.gains.empty() && diagnosis.gains.front().speedup >= 1.05) {
    diagnosis.bottleneck = diagnosis.gains.front().factor;
    // Thread time shows which stage is expensive, not which one is critical. So the confidence is
    // at most a half. It is lower if the threads do other things as well, or after few samples.
    const double share = 1 - 1 / diagnosis.gains.front().speedup;
    diagnosis.confidence = 0.5 * share * std::min(1.0, static_cast<double>(samples) / 64.0);
  }
  if (!diagnosis.gains.empty())
    TakeFeed(FindFeed(MeasureThreads(trace), diagnosis.run, trace), diagnosis);
}

}  // namespace penstock::analyzer
