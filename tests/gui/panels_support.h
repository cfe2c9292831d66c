// SPDX-License-Identifier: Apache-2.0
//
// A run with files, a GPU and counters, for tests of several views. All its numbers are known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/model/document.h"
#include "tests/analyzer/synthetic.h"
#include "traces/trace.h"

namespace penstock::gui::testing {

struct GpuRun {
  double kernel = 3;  // ms of each step, at its end
  double copy = 1;    // ms, at its beginning
  bool pinned = false;
  bool files = true;     // reads have their files
  bool counters = true;  // counters of the kernel and of the driver
};

// Batches of 20 ms. The loop waits, copies, launches nothing for 2 ms, then a kernel computes. A
// small copy back runs beside the kernel.
inline traces::TraceData MakeGpuRun(const GpuRun& wanted) {
  analyzer::testing::Synthetic run;
  run.batches = 100;
  run.costs = analyzer::testing::Always(
      {.read = 4, .decode = 24, .augment = 8, .step = wanted.kernel + wanted.copy + 2});
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  traces::ThreadInfo stream;
  stream.process = ProcessId{0};
  stream.tid = 0x80000000u | 7;
  stream.name = "GPU 0 stream 7";
  data.threads.push_back(stream);
  std::vector<traces::Span> device;
  const StringId kernel = data.Intern("conv_kernel");
  const StringId copy = data.Intern(wanted.pinned ? "H2D pinned" : "H2D pageable");
  const StringId back = data.Intern("D2H pinned");
  const StringId call = data.Intern("cudaMemcpyAsync: H2D pageable");
  const auto ms = [](double value) { return analyzer::testing::Ms(value); };
  int file = 0;
  for (std::vector<traces::Span>& spans : data.spans) {
    std::vector<traces::Span> calls;
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kRead && wanted.files) {
        span.object = data.Intern("/data/train/" + std::to_string(file++ % 50) + ".jpg");
        span.sample = file;
      }
      if (span.stage != traces::StageId::kStep) continue;
      traces::Span one;
      one.batch = span.batch;
      one.stage = traces::StageId::kH2d;
      one.name = copy;
      one.start = span.start;
      one.duration = ms(wanted.copy);
      one.bytes = Bytes{1'000'000};
      if (wanted.copy > 0) device.push_back(one);
      one.stage = traces::StageId::kKernel;
      one.name = kernel;
      one.start = span.end() - ms(wanted.kernel);
      one.duration = ms(wanted.kernel);
      one.bytes = Bytes{0};
      if (wanted.kernel > 0) device.push_back(one);
      one.stage = traces::StageId::kCopy;
      one.name = back;
      one.duration = ms(0.1);
      one.bytes = Bytes{4'000};
      if (wanted.kernel > 0) device.push_back(one);
      one.stage = traces::StageId::kCall;
      one.name = call;
      one.start = span.start;
      one.duration = ms(0.2);
      if (wanted.copy > 0) calls.push_back(one);
    }
    spans.insert(spans.end(), calls.begin(), calls.end());
  }
  data.spans.push_back(std::move(device));
  if (!wanted.counters) return data;
  const auto counter = [&](const char* name, std::uint32_t process, double at, std::int64_t value) {
    traces::CounterSample sample;
    sample.at = ms(1000 + at);
    sample.name = data.Intern(name);
    sample.process = ProcessId{process};
    sample.value = value;
    data.counters.push_back(sample);
  };
  for (int i = 0; i <= 20; ++i) {
    for (const std::uint32_t worker : {1U, 2U}) {
      counter("disk_read_bytes", worker, 100.0 * i, 250'000 * i);
      counter("uss_bytes", worker, 100.0 * i, 100'000'000 + (worker == 1 ? 1'000'000 * i : 0));
    }
    counter("gpu.0.nvml_utilization_percent", 0, 100.0 * i, 40);
    counter("gpu.0.power_milliwatts", 0, 100.0 * i, 250'000);
    counter("gpu.0.clock_event_reasons", 0, 100.0 * i, 4);
  }
  data.facts["gpu.model"] = "Test GPU";
  return data;
}

// The same run with a second GPU, which does what the first one does at the same time.
inline traces::TraceData OnTwoGpus(traces::TraceData data) {
  traces::ThreadInfo stream = data.threads.back();
  stream.tid = wire::LaneOf(1, 7);
  stream.name = "GPU 1 stream 7";
  data.threads.push_back(stream);
  const std::vector<traces::Span> spans = data.spans.back();
  data.spans.push_back(spans);
  return data;
}

// Makes each sample wait 0.2 ms before it reads. The end of each read stays. Requires: all reads
// are longer than 0.2 ms.
inline void DelayReads(traces::TraceData& data) {
  for (std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage != traces::StageId::kRead) continue;
      span.start.value += 200'000;
      span.duration.value -= 200'000;
    }
  }
}

// A loop over two loaders with one epoch each: train.py:88, then train.py:97. Samples of the second
// loader are decoded in less than half the time.
inline std::unique_ptr<traces::Trace> TwoLoaders() {
  analyzer::testing::Synthetic run;
  run.epochs = 2;
  run.costs = [](int epoch, int) {
    return analyzer::testing::Costs{.decode = epoch == 0 ? 30.0 : 12.0};
  };
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  auto& facts = data.processes[0].facts;
  facts["epoch.2"] = "1";
  facts["loader.1.num_workers"] = "2";
  facts["loader.1.prefetch_factor"] = "2";
  facts["loader.1.batch_size"] = "4";
  facts["loader.0.made_at"] = "/home/a/train.py:88";
  facts["loader.1.made_at"] = "/home/a/train.py:97";
  return traces::MakeTrace(std::move(data));
}

// The document that the window makes of a trace.
inline Document DocumentOf(std::shared_ptr<const traces::Trace> trace) {
  Document document;
  document.path = "/t/run.penstock";
  document.trace = std::move(trace);
  document.timeline = std::make_shared<const Timeline>(*BuildTimeline(*document.trace));
  document.analysis = Analyse(*document.trace, "/t/run.penstock");
  return document;
}

}  // namespace penstock::gui::testing
