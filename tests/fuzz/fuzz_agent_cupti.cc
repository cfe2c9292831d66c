// SPDX-License-Identifier: Apache-2.0
//
// Decodes any bytes as a buffer of CUPTI: records of every kind, cut short, overlapping, with times
// of other clocks and with any text as a name. The agent's decoder turns them into spans in a ring
// of this process. Each copy, memset and kernel that the decoder accepts must come out of the ring
// once, or count as lost.
//
// An input consists of: one byte of flags, one byte with the number of clock readings, eight bytes
// for each reading, the name of kernels after a byte with its length, and records. In front of each
// record is a byte with its size in words of eight bytes.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "agent/core/recorder.h"
#include "agent/gpu/cupti_abi.h"
#include "agent/gpu/cupti_decode.h"
#include "agent/gpu/device_clock.h"
#include "agent/gpu/device_records.h"
#include "agent/gpu/text_cache.h"
#include "tests/agent/core_driver/ring.h"
#include "traces/pack.h"
#include "traces/recording/recording.h"
#include "traces/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace penstock::agent {
namespace {

namespace at = cupti::at;
using Bytes = std::span<const std::uint8_t>;

enum Flags : std::uint8_t { kSystemThreads = 1, kEndsInvalid = 2, kStaysAtEnd = 4, kTexts = 8 };

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

// A Packer that counts the spans of copies, memsets and kernels, and stores nothing.
class WorkCounter final : public traces::Packer {
 public:
  StringId Intern(std::string_view) override { return StringId{++strings_}; }
  void SetString(StringId, std::string_view) override {}
  ThreadId AddThread(const traces::ThreadInfo&) override { return ThreadId{threads_++}; }
  ProcessId AddProcess(const traces::ProcessInfo&) override { return ProcessId{0}; }
  void UpdateProcess(ProcessId, const traces::ProcessInfo&) override {}
  void UpdateThread(ThreadId, const traces::ThreadInfo&) override {}
  void SetFact(std::string_view, std::string_view) override {}
  void AddSpan(ThreadId, const traces::Span& span) override {
    const bool work = span.stage == traces::StageId::kH2d || span.stage == traces::StageId::kCopy ||
                      span.stage == traces::StageId::kKernel;
    works += work ? 1u : 0u;
    Require(span.duration.value >= 0);
  }
  void AddEvent(const traces::Event&) override {}
  void AddCounter(const traces::CounterSample&) override {}
  void SetLosses(const traces::Losses& all) override { losses = all; }
  void SetRealtimeOffset(TimeNs) override {}
  Result<void> Flush(const BeforeMark& /*before_mark*/) override { return {}; }
  Result<void> Finish() override { return {}; }
  [[nodiscard]] std::uint64_t bytes_written() const override { return 0; }

  std::uint64_t works = 0;
  traces::Losses losses;

 private:
  std::uint32_t strings_ = 0;
  std::uint32_t threads_ = 0;
};

// The records of one buffer, which the double of CUPTI gives to the decoder.
struct Buffer {
  std::vector<std::uint64_t> words;
  std::vector<std::size_t> sizes;  // of its records, in bytes
  std::size_t next = 0;
  std::uint8_t flags = 0;
  std::string name;
};
Buffer g_buffer;

bool IsKernel(std::uint32_t kind) {
  return kind == cupti::kKernel || kind == cupti::kConcurrentKernel;
}

cupti::Result NextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  if (g_buffer.next == g_buffer.sizes.size()) {
    if ((g_buffer.flags & kStaysAtEnd) != 0 && *record != nullptr) return cupti::kSuccess;
    return (g_buffer.flags & kEndsInvalid) != 0 ? 21 : cupti::kMaxLimitReached;
  }
  std::size_t offset = 0;
  for (std::size_t i = 0; i < g_buffer.next; ++i) offset += g_buffer.sizes[i];
  ++g_buffer.next;
  *record = buffer + offset;
  // The field of a kernel's name is a pointer. CUPTI's pointers are valid, so the double stores one
  // of its own there.
  std::uint32_t kind = 0;
  std::memcpy(&kind, *record, std::min(sizeof kind, valid - offset));
  if (IsKernel(kind) && valid - offset >= at::Launch::kSize) {
    std::uint8_t* field = *record + at::Launch::kName;
    const char* name = *field % 4 == 0 ? nullptr : g_buffer.name.c_str() + *field % 2;
    std::memcpy(field, &name, sizeof name);
  }
  return cupti::kSuccess;
}

cupti::Result CallbackName(std::uint32_t domain, std::uint32_t id, const char** name) {
  static const std::string long_name = std::string(300, 'L') + "aunch_ptsz_v7000";
  static const char* const names[] = {"cudaMemcpyAsync_ptsz_v7000",
                                      "cuMemcpyHtoDAsync_v2",
                                      "cudaLaunchKernel_v7000",
                                      "cuStreamSynchronize",
                                      "cudaMalloc_v3020",
                                      "cudaLaunchHostFunc",
                                      "_v12",
                                      "",
                                      long_name.c_str(),
                                      "cudaGetDevice_v3020",
                                      nullptr,
                                      "_ptsz"};
  if (id % 16 >= std::size(names)) return cupti::kUnknown;
  *name = names[(id + domain) % std::size(names)];
  return cupti::kSuccess;
}

struct Stamps {
  std::size_t start;
  std::size_t end;
};

Stamps StampsOf(std::uint32_t kind) {
  switch (kind) {
    case cupti::kRuntime:
    case cupti::kDriver:
      return {at::Api::kStart, at::Api::kEnd};
    case cupti::kSynchronization:
      return {at::Sync::kStart, at::Sync::kEnd};
    case cupti::kOverhead:
      return {at::Cost::kStart, at::Cost::kEnd};
    default:
      return {at::Copy::kStart, at::Copy::kEnd};  // the same for copies, memsets and kernels
  }
}

// Replaces a time by `base` plus its low 32 bits, unless its top byte is 0xff. The fuzzer alone
// would hardly find times near the clock's.
void SetTime(std::uint8_t* field, std::uint64_t base) {
  std::uint64_t value = 0;
  std::memcpy(&value, field, sizeof value);
  if (value >> 56 == 0xff) return;
  value = base + (value & 0xffffffffu);
  std::memcpy(field, &value, sizeof value);
}

void Fill(Bytes input, std::uint64_t base) {
  Buffer& b = g_buffer;
  b.words.clear();
  b.sizes.clear();
  b.next = 0;
  while (input.size() > 1) {
    const std::size_t size =
        std::min<std::size_t>((input[0] % 32) * std::size_t{8}, input.size() - 1);
    if (size < 8) {  // too small for a record
      input = input.subspan(1);
      continue;
    }
    const std::size_t from = b.words.size();
    b.words.resize(from + size / 8);
    std::memcpy(b.words.data() + from, input.data() + 1, size / 8 * 8);
    auto* record = reinterpret_cast<std::uint8_t*>(b.words.data() + from);
    std::uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof kind);
    const Stamps stamps = StampsOf(kind);
    if (size >= stamps.end + 8) {
      SetTime(record + stamps.start, base);
      SetTime(record + stamps.end, base);
    }
    b.sizes.push_back(size / 8 * 8);
    input = input.subspan(1 + size);
  }
}

void Texts(Bytes input) {
  static NameCache cache;
  const std::string narrow(input.begin(), input.end());
  const std::uint64_t once = CachedName(&cache, narrow.c_str());
  Require(CachedName(&cache, narrow.c_str()) == once);
  std::vector<wchar_t> wide(input.size() / sizeof(wchar_t) + 1);
  std::memcpy(wide.data(), input.data(), (wide.size() - 1) * sizeof(wchar_t));
  wide.back() = 0;
  const std::uint64_t id = CachedName(&cache, wide.data());
  Require(CachedName(&cache, wide.data()) == id);
}

class Session {
 public:
  Session() : ring_(256), drain_(ring_.memory(), true) {
    cupti::Functions functions{};
    functions.next_record = NextRecord;
    functions.callback_name = CallbackName;
    Require(cupti::PrepareDecoder(functions, true));
    functions_ = functions;
    Require(PrepareDeviceRecords());
  }

  void Decode(Bytes input) {
    const std::uint8_t flags = input[0];
    const std::uint64_t base = Now();
    DeviceClock clock;
    clock.Add(base, base);
    std::uint64_t ns = base;
    std::uint64_t ticks = base;
    std::size_t readings = input[1] % 80;
    input = input.subspan(2);
    for (; readings > 0 && input.size() >= 8; --readings) {
      std::uint32_t steps[2];
      std::memcpy(steps, input.data(), sizeof steps);
      clock.Add(ns += steps[0], ticks += steps[1]);
      input = input.subspan(8);
    }
    g_buffer.flags = flags;
    const std::size_t name = std::min<std::size_t>(input.empty() ? 0 : input[0], input.size());
    g_buffer.name.assign(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(name));
    g_buffer.name += " ";
    Fill(input.subspan(name), base);
    const std::uint64_t works = CountDeviceRecords().works;
    const std::uint64_t unstamped = cupti::CountDecoded().unstamped_works;
    const std::size_t valid = g_buffer.words.size() * 8;
    const auto decoded = cupti::DecodeBuffer(reinterpret_cast<std::uint8_t*>(g_buffer.words.data()),
                                             valid, clock, 1.0);
    Require(decoded.unread <= valid);
    EndRound((flags & 16) != 0);
    EndRound(true);
    Settle(CountDeviceRecords().works - works, cupti::CountDecoded().unstamped_works - unstamped);
  }

 private:
  // Drains the ring. Requires that `works` spans of copies, memsets and kernels come out of it, or
  // fewer if the others count as lost.
  void Settle(std::uint64_t works, std::uint64_t unstamped) {
    const std::uint64_t before = out_.works;
    const traces::Losses lost = out_.losses;
    const std::uint64_t dropped = ring_.Dropped();
    const auto alive = [](std::uint32_t, std::uint64_t, std::uint32_t) { return false; };
    drain_.Drain(out_, alive);
    drain_.Release();
    const std::uint64_t damaged = out_.losses.damaged_records - lost.damaged_records;
    Require(out_.works - before <= works);
    Require(out_.works - before + damaged + (dropped - dropped_) - unstamped >= works);
    dropped_ = dropped;
  }

  driver::Ring ring_;
  traces::RecordingDrain drain_;
  WorkCounter out_;
  cupti::Functions functions_;
  std::uint64_t dropped_ = 0;
};

}  // namespace
}  // namespace penstock::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static penstock::agent::Session session;
  if (size < 3) return 0;
  if ((data[0] & penstock::agent::kTexts) != 0) {
    penstock::agent::Texts({data + 1, size - 1});
  } else {
    session.Decode({data, size});
  }
  return 0;
}
