// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/probe_windows.h"

namespace penstock::analyzer {

std::vector<ProbeWindow> ProbeWindowsOf(const traces::Trace& trace, ProcessId process) {
  // Two records of one factor that begin closer together belong to one window: no window is shorter
  // than 100 ms (--probe-window).
  constexpr std::int64_t kSameWindow = 50'000'000;
  std::vector<ProbeWindow> windows;
  bool open = false;
  std::uint8_t last_factor = 0;
  for (const traces::Event& event : trace.events()) {
    if (event.type != traces::EventType::kProbe) continue;
    if (event.thread.value >= trace.threads().size()) continue;
    if (trace.threads()[event.thread.value].process != process) continue;
    const std::uint8_t factor = wire::FactorOfProbe(event.value);
    const std::int64_t from = event.at.value - 1000 * wire::MicrosecondsOfProbe(event.value);
    // Another thread has recorded this window. If the times are further apart, this is a new window
    // of the same factor: a step lasted through the whole window in between.
    if (open && factor == last_factor && from < windows.back().from + kSameWindow) continue;
    if (open) windows.back().to = from;
    last_factor = factor;
    open = factor < wire::kProbeFactors;
    if (!open) continue;
    windows.push_back({static_cast<wire::ProbeFactor>(factor),
                       static_cast<double>(wire::PercentOfProbe(event.value)) / 100, from,
                       trace.end().value});
  }
  return windows;
}

std::optional<std::pair<std::int64_t, std::int64_t>> ProbedTime(
    const std::vector<ProbeWindow>& windows) {
  if (windows.empty()) return std::nullopt;
  return std::pair(windows.front().from, windows.back().to);
}

}  // namespace penstock::analyzer
