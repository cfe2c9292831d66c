// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device_records.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {
namespace {

using traces::Span;
using traces::StageId;

class Reader {
 public:
  Reader(const traces::Trace& trace, const LoaderRun& run)
      : trace_(trace), run_(run), kinds_(trace) {
    for (std::size_t i = 0; i < run.batches.size(); ++i) {
      const Batch& batch = run.batches[i];
      if (!batch.was_delivered()) continue;
      by_time_.emplace_back(batch.delivered, static_cast<std::int32_t>(i));
      by_key_[batch.key] = static_cast<std::int32_t>(i);
      loop_thread_ = batch.wait_thread;
    }
    std::sort(by_time_.begin(), by_time_.end());
  }

  DeviceRecords Read() {
    const auto threads = trace_.threads();
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      if (threads[i].process != run_.config.consumer) continue;
      const std::optional<std::uint32_t> device = DeviceOf(threads[i]);
      trace_.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
        for (const Span& span : spans) {
          if ((span.flags & wire::kFlagUnfinished) == 0) Take(span, i, device);
        }
      });
    }
    PairCalls();
    Finish();
    return std::move(out_);
  }

 private:
  // `stream`: the device whose stream the thread stands for; nullopt: the thread is not a stream.
  void Take(const Span& span, std::uint32_t thread, std::optional<std::uint32_t> stream) {
    const std::uint32_t device = stream.value_or(0);
    const std::pair<std::int64_t, std::int64_t> stretch{span.start.value, span.end().value};
    switch (span.stage) {
      case StageId::kKernel: {
        DeviceLog& log = LogOf(device);
        ++log.kernels;
        ++out_.kernel_count;
        log.computing.push_back(stretch);
        KernelTime& kernel = kernels_[span.name.value];
        kernel.name = span.name;
        kernel.time += Seconds(span.duration);
        ++kernel.count;
        Belongs(span);
        return;
      }
      case StageId::kCopy:
        TakeOther(span, device);
        return;
      case StageId::kH2d:
        if (stream) {
          TakeTransfer(span, device);
        } else if (thread == loop_thread_) {
          host_spans_.push_back(CopyOf(span, device));
          out_.copy_calls.push_back(stretch);
        }
        return;
      case StageId::kCall: {
        out_.called = true;
        if (!IsCopy(span, CopyWay::kToDevice)) return;
        if (thread == loop_thread_) out_.copy_calls.push_back(stretch);
        if (wire::HasCorrelation(span.sample)) {
          calls_[wire::CorrelationOf(span.sample)] = stretch;
        } else if (thread == loop_thread_) {
          host_calls_.push_back(CopyOf(span, device));
        }
        return;
      }
      case StageId::kSync:
        out_.called = true;
        if (thread == loop_thread_) out_.syncs.push_back(stretch);
        return;
      default:
        return;
    }
  }

  [[nodiscard]] bool IsCopy(const Span& span, CopyWay way) {
    const std::optional<CopyKind> kind = kinds_.Of(span.stage, span.name);
    return kind && kind->way == way;
  }

  // A span of stage `copy`. Copies on or between devices, and setting memory, occupy the device as
  // kernels do.
  void TakeOther(const Span& span, std::uint32_t device) {
    DeviceLog& log = LogOf(device);
    const bool to_host = IsCopy(span, CopyWay::kFromDevice);
    IntervalSet& set = to_host ? log.transferring : log.computing;
    set.emplace_back(span.start.value, span.end().value);
    Belongs(span);
  }

  void TakeTransfer(const Span& span, std::uint32_t device) {
    out_.on_device = true;
    LogOf(device).transferring.emplace_back(span.start.value, span.end().value);
    out_.copies.push_back(CopyOf(span, device));
    correlations_.push_back(wire::HasCorrelation(span.sample)
                                ? static_cast<std::int64_t>(wire::CorrelationOf(span.sample))
                                : -1);
    Belongs(span);
  }

  DeviceCopy CopyOf(const Span& span, std::uint32_t device) {
    DeviceCopy copy;
    copy.start = span.start.value;
    copy.end = span.end().value;
    copy.bytes = span.bytes.value;
    copy.device = device;
    const std::optional<CopyKind> kind = kinds_.Of(span.stage, span.name);
    copy.memory = kind ? kind->memory : CopyMemory::kUnknown;
    copy.batch = BatchOf(span, span.start.value);
    return copy;
  }

  DeviceLog& LogOf(std::uint32_t device) { return logs_[device]; }

  [[nodiscard]] std::int32_t BatchOf(const Span& span, std::int64_t at) const {
    if (span.batch.valid()) {
      const auto found = by_key_.find(span.batch);
      if (found != by_key_.end()) return found->second;
    }
    auto after = std::upper_bound(by_time_.begin(), by_time_.end(),
                                  std::make_pair(at, std::int32_t{0x7fffffff}));
    return after == by_time_.begin() ? -1 : (--after)->second;
  }

  // Extends the device's work on the batch that the span belongs to.
  void Belongs(const Span& span) {
    const std::int32_t batch = BatchOf(span, span.start.value);
    if (batch < 0) return;
    if (out_.batches.empty()) out_.batches.resize(run_.batches.size());
    BatchOnDevice& on = out_.batches[static_cast<std::size_t>(batch)];
    on.end = std::max(on.end, span.end().value);
  }

  void PairCalls() {
    for (std::size_t i = 0; i < out_.copies.size(); ++i) {
      if (correlations_[i] < 0) continue;
      const auto call = calls_.find(static_cast<std::uint32_t>(correlations_[i]));
      if (call == calls_.end()) continue;
      out_.copies[i].call_start = call->second.first;
      out_.copies[i].call_end = call->second.second;
      out_.calls = true;
    }
    if (out_.on_device) return;
    // Without transfers on streams, only the host's calls tell of copies. They do not name a device
    // (CopyOf() got 0). If only one device was seen, they count for it. A call of the runtime
    // inside a span of Python is the same copy. So only the calls count, or the spans if there are
    // no calls.
    std::vector<DeviceCopy>& seen = host_calls_.empty() ? host_spans_ : host_calls_;
    const bool one = logs_.size() == 1;
    for (DeviceCopy& copy : seen) {
      if (one) copy.device = logs_.begin()->first;
      copy.call_start = copy.start;
      copy.call_end = copy.end;
      if (out_.kernel_count > 0) {
        LogOf(copy.device).transferring.emplace_back(copy.start, copy.end);
      }
    }
    out_.copies = std::move(seen);
  }

  void Finish() {
    for (auto& [device, log] : logs_) {
      log.device = device;
      Normalise(log.computing);
      Normalise(log.transferring);
      out_.devices.push_back(std::move(log));
    }
    for (const auto& [name, kernel] : kernels_) out_.kernel_times.push_back(kernel);
    std::sort(out_.kernel_times.begin(), out_.kernel_times.end(),
              [](const KernelTime& a, const KernelTime& b) {
                return a.time != b.time ? a.time > b.time : a.name < b.name;
              });
    Normalise(out_.copy_calls);
    Normalise(out_.syncs);
    std::sort(out_.copies.begin(), out_.copies.end(),
              [](const DeviceCopy& a, const DeviceCopy& b) { return a.start < b.start; });
    if (out_.kernel_count == 0) out_.batches.clear();
    // Copies of a batch to several devices run at the same time: each moment counts once.
    std::vector<std::int64_t> counted(out_.batches.size(), kNever);
    for (const DeviceCopy& copy : out_.copies) {
      if (copy.batch < 0 || out_.batches.empty()) continue;
      const auto batch = static_cast<std::size_t>(copy.batch);
      const std::int64_t from = std::max(copy.start, counted[batch]);
      if (copy.end <= from) continue;
      counted[batch] = copy.end;
      std::int64_t beside = 0;
      for (const DeviceLog& log : out_.devices) {
        if (log.device == copy.device) beside = Within(log.computing, from, copy.end);
      }
      out_.batches[batch].exposed += static_cast<double>(copy.end - from - beside) * 1e-9;
    }
  }

  const traces::Trace& trace_;
  const LoaderRun& run_;
  CopyKinds kinds_;
  DeviceRecords out_;
  std::map<std::uint32_t, DeviceLog> logs_;
  std::unordered_map<std::uint32_t, KernelTime> kernels_;
  std::unordered_map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> calls_;
  std::vector<std::int64_t> correlations_;  // by index in out_.copies; -1: none
  std::vector<DeviceCopy> host_spans_;      // spans of Python: Tensor.to
  std::vector<DeviceCopy> host_calls_;      // calls of the runtime
  std::vector<std::pair<std::int64_t, std::int32_t>> by_time_;
  std::map<traces::BatchKey, std::int32_t> by_key_;
  std::uint32_t loop_thread_ = 0;  // the thread that took the last batch
};

}  // namespace

DeviceRecords ReadDeviceRecords(const traces::Trace& trace, const LoaderRun& run) {
  return Reader(trace, run).Read();
}

}  // namespace penstock::analyzer
