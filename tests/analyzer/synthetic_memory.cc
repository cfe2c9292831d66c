// SPDX-License-Identifier: Apache-2.0
#include "tests/analyzer/synthetic_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer::testing {

Walk Copying(double at) {
  return {40e6 + 200e6 * at, 900e6 - 200e6 * at, 0};
}

Walk Leaking(double at) {
  return {40e6 + 200e6 * at, 900e6, 0};
}

Synthetic TwoWorkers() {
  Synthetic run;
  run.batches = 800;
  return run;
}

traces::TraceData WithMemory(const Synthetic& run, const Course& course, const Told& told) {
  traces::TraceData data = MakeSynthetic(run);
  const double first = 1010;
  double last = first;
  for (const std::vector<traces::Span>& spans : data.spans) {
    for (const traces::Span& span : spans) {
      if (span.stage != traces::StageId::kFetch) continue;
      last = std::max(last, static_cast<double>(span.end().value) * 1e-6);
    }
  }
  const auto workers = static_cast<std::uint32_t>(run.workers);
  for (int i = 0; i < told.walks; ++i) {
    const double part = static_cast<double>(i) / (told.walks - 1);
    const double at = first + part * (last - first);
    for (std::uint32_t worker = 1; worker <= workers; ++worker) {
      const Walk walk = told.last && worker == workers ? told.last(part) : course(part);
      AddCounter(data, "private_dirty_bytes", worker, at, walk.own + walk.dirty);
      AddCounter(data, "pss_anon_bytes", worker, at, walk.own + walk.shared / 3);
      AddCounter(data, "anonymous_bytes", worker, at, walk.own + walk.shared);
      AddCounter(data, "uss_bytes", worker, at, walk.own + walk.cached);
      AddCounter(data, "pss_bytes", worker, at, walk.own + walk.cached + walk.shared / 3);
    }
    AddCounter(data, "rss_anon_bytes", 0, at, 1e9 + told.trainer * part);
    if (told.available > 0) AddCounter(data, "memory_available_bytes", 0, at, told.available);
  }
  data.facts["memory.total"] = "16000000000";
  return data;
}

void AddShm(traces::TraceData& data, std::uint32_t process, double before, double most) {
  for (int i = 0; i < 40; ++i) {
    AddCounter(data, "shm_used_bytes", process, 1000 + 40.0 * i, i == 0 ? before : most);
  }
}

MemoryModel MemoryOf(traces::TraceData data) {
  return Diagnose(*traces::MakeTrace(std::move(data))).loader->memory;
}

}  // namespace penstock::analyzer::testing
