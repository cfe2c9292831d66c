// SPDX-License-Identifier: Apache-2.0
//
// Small timelines with known spans.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/model/timeline/timeline.h"
#include "traces/trace.h"

namespace penstock::gui::testing {

struct TestSpan {
  std::int64_t start;
  std::int64_t length;
  traces::StageId stage;
  std::uint32_t batch = wire::kNoBatch;
  std::string name = {};
  std::string object = {};
  std::uint32_t sample = SpanDetail::kNoSample;
};

// A trace with a process, of one thread, for each list of spans. The first is the training process,
// the others are workers. Times are in ns.
inline std::unique_ptr<traces::Trace> MakeThreads(
    const std::vector<std::vector<TestSpan>>& threads) {
  traces::TraceData data;
  for (std::uint32_t t = 0; t < threads.size(); ++t) {
    traces::ProcessInfo process;
    process.pid = 100 + t;
    process.role = t == 0 ? wire::kRoleConsumer : wire::kRoleWorker;
    process.worker_id = static_cast<std::int32_t>(t) - 1;
    data.processes.push_back(process);
    traces::ThreadInfo thread;
    thread.process = ProcessId{t};
    thread.tid = 100 + t;
    data.threads.push_back(thread);
    std::vector<traces::Span> spans;
    for (const TestSpan& one : threads[t]) {
      traces::Span span;
      span.start = TimeNs{1'000'000 + one.start};
      span.duration = TimeNs{one.length};
      span.stage = one.stage;
      span.batch = {one.batch, 0};
      if (!one.name.empty()) span.name = data.Intern(one.name);
      if (!one.object.empty()) span.object = data.Intern(one.object);
      if (one.sample != SpanDetail::kNoSample) span.sample = one.sample;
      spans.push_back(span);
    }
    data.spans.push_back(std::move(spans));
  }
  return traces::MakeTrace(std::move(data));
}

inline Timeline TimelineOf(const std::vector<std::vector<TestSpan>>& threads) {
  return *BuildTimeline(*MakeThreads(threads));
}

}  // namespace penstock::gui::testing
