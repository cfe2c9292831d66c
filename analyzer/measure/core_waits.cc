// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/core_waits.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

// Seconds of `work` that were waiting for a core.
double CoreWait(const Work& work, const CpuLoad& load) {
  const double waiting = std::max(0.0, work.wall - work.cpu);
  if (load.delays_known) return waiting * load.delayed_rest;
  if (load.decode_slowdown > 0)
    return std::min(waiting, std::max(0.0, load.decode_slowdown - 1) * work.cpu);
  return waiting * ContentionBySaturation(load);
}

}  // namespace

double ContentionBySaturation(const CpuLoad& load) {
  if (load.crowded) return 1;
  constexpr double kNoneBelow = 0.65;  // saturation of the cores
  constexpr double kAllAbove = 0.9;    // likewise
  if (!load.known) return 0;
  return std::clamp((load.saturation() - kNoneBelow) / (kAllAbove - kNoneBelow), 0.0, 1.0);
}

Work DecodeWithoutContention(const Work& work, const CpuLoad& load, double contended) {
  // `contended` is derived from the slowdown of decoding. The kernel's account is better, and
  // without a slowdown there is no `contended`.
  if (load.delays_known || !(load.decode_slowdown > 0)) return WithoutContention(work, load);
  return {work.wall - contended * std::max(0.0, work.wall - work.cpu),
          std::min(work.cpu, work.wall)};
}

double DecodeContention(const LoaderRun& run, const SteadyState& steady, const CpuLoad& load) {
  Work decode;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i] || !run.batches[i].cpu_known) continue;
    decode.wall += run.batches[i].decode.wall;
    decode.cpu += run.batches[i].decode.cpu;
  }
  const double waiting = decode.wall - decode.cpu;
  if (!(waiting > 0)) return 0;
  return std::clamp((load.decode_slowdown - 1) * decode.cpu / waiting, 0.0, 1.0);
}

Work WithoutContention(const Work& work, const CpuLoad& load) {
  return {work.wall - CoreWait(work, load), std::min(work.cpu, work.wall)};
}

double CoreWaitShare(const LoaderRun& run, const SteadyState& steady, const CpuLoad& load) {
  double delayed = 0;
  double whole = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i] || !batch.cpu_known) continue;
    whole += batch.fetch.wall;
    const double waiting = std::max(0.0, batch.fetch.wall - batch.fetch.cpu);
    const double reading = std::min(waiting, std::max(0.0, batch.read.wall - batch.read.cpu));
    delayed += load.delayed_reads * reading + load.delayed_rest * (waiting - reading);
  }
  return whole > 0 ? delayed / whole : 0;
}

double WakeUpPart(const CpuLoad& load) {
  constexpr double kAllBelow = 0.5;    // saturation of the cores
  constexpr double kNoneAbove = 0.75;  // likewise
  if (load.crowded) return 0;
  if (load.helped) return 1;
  return std::clamp((kNoneAbove - load.saturation()) / (kNoneAbove - kAllBelow), 0.0, 1.0);
}

double WakeUpToKeep(const CpuLoad& load, double missed, double removed) {
  return removed > 0 ? WakeUpPart(load) * std::clamp(missed / removed, 0.0, 1.0) : 0;
}

double ContentionOutsideReads(const CpuLoad& load) {
  constexpr double kAllFrom = 0.9;
  if (load.delays_known) return std::clamp(load.delayed_rest, 0.0, 1.0);
  return load.known && load.saturation() >= kAllFrom ? 1 : 0;
}

}  // namespace penstock::analyzer
