// SPDX-License-Identifier: Apache-2.0
#include "tests/analyzer/synthetic_device.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer::testing {
namespace {

using traces::Span;
using traces::StageId;

Span Make(StageId stage, std::int64_t start, std::int64_t end, StringId name) {
  Span span;
  span.stage = stage;
  span.start.value = start;
  span.duration.value = std::max<std::int64_t>(0, end - start);
  span.name = name;
  return span;
}

}  // namespace

void AddDevice(traces::TraceData& data, const OnDevice& device) {
  traces::ThreadInfo lane;
  lane.tid = wire::LaneOf(0, 7);
  lane.name = "GPU 0 stream 7";
  data.threads.push_back(lane);
  const std::string memory = device.pageable ? "H2D pageable" : "H2D pinned";
  const StringId copy_name = data.Intern(memory);
  const StringId call_name = data.Intern("cudaMemcpyAsync: " + memory);
  const StringId kernel_name = data.Intern(device.kernel);
  const StringId launch_name = data.Intern("cudaLaunchKernel");
  const StringId sync_name = data.Intern("cudaStreamSynchronize");
  std::vector<Span> stream;
  std::vector<Span> calls;
  std::uint32_t correlation = 1;
  std::int64_t busy = 0;  // when the stream is done; it does one thing after the other
  for (const Span& step : data.spans[0]) {
    if (step.stage != StageId::kStep) continue;
    const auto add = [&](Span span) {
      if (device.keyed) span.batch = step.batch;
      stream.push_back(span);
    };
    const std::int64_t begin = step.start.value;
    const std::int64_t from = std::max(busy, begin + Ms(device.wait).value);
    const std::int64_t to = from + Ms(device.copy).value;
    if (device.copy > 0) {
      Span copy = Make(StageId::kH2d, from, to, copy_name);
      copy.bytes = Bytes{device.bytes};
      Span call = Make(StageId::kCall, begin, device.pageable ? to : begin + 20'000, call_name);
      call.bytes = copy.bytes;
      if (device.correlated) {
        copy.sample = call.sample = wire::SampleOfCorrelation(correlation++);
        calls.push_back(call);
      }
      add(copy);
    }
    if (device.beside > 0) {
      add(Make(StageId::kKernel, from, from + Ms(device.beside).value, kernel_name));
    }
    std::int64_t now = to;
    for (int i = 0; i < device.pieces; ++i) {
      const std::int64_t end = now + Ms(device.kernels / device.pieces).value;
      add(Make(StageId::kKernel, now, end, kernel_name));
      now = end + Ms(device.gap).value;
    }
    busy = now;
    const std::int64_t end = step.end().value;
    if (device.copy <= 0 && device.launches) {
      const std::int64_t launched = end - Ms(device.sync).value;
      calls.push_back(Make(StageId::kCall, launched - 10'000, launched, launch_name));
    }
    if (device.sync > 0) {
      calls.push_back(Make(StageId::kSync, end - Ms(device.sync).value, end, sync_name));
    }
  }
  data.spans.push_back(std::move(stream));
  data.spans[0].insert(data.spans[0].end(), calls.begin(), calls.end());
}

void RepeatDevice(traces::TraceData& data, std::uint32_t device) {
  traces::ThreadInfo lane = data.threads.back();
  lane.tid = wire::LaneOf(device, 7);
  lane.name = "GPU " + std::to_string(device) + " stream 7";
  data.threads.push_back(lane);
  const std::vector<Span> stream = data.spans.back();
  data.spans.push_back(stream);
}

std::function<void(traces::TraceData&)> Device(const OnDevice& device) {
  return [device](traces::TraceData& data) { AddDevice(data, device); };
}

}  // namespace penstock::analyzer::testing
