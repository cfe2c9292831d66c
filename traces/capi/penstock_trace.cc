// SPDX-License-Identifier: Apache-2.0
#include "traces/capi/penstock_trace.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "traces/capi/columns.h"
#include "traces/export.h"
#include "traces/trace.h"
#include "traces/wire_records.h"

using penstock::traces::CallKind;
using penstock::traces::EventType;
using penstock::traces::StageId;
using penstock::traces::Trace;

struct PenstockTrace {
  std::unique_ptr<Trace> trace;
  std::once_flag written;
  std::string about;
};

namespace {

std::string& Message() {
  thread_local std::string message;
  return message;
}

// Keeps exceptions of the C++ library (memory, threads) from callers that do not know them.
template <class Work>
std::int64_t Guarded(Work&& work) {
  try {
    return work();
  } catch (const std::exception& trouble) {
    Message() = trouble.what();
    return -1;
  }
}

unsigned Cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// nullptr for a number without a name. The names are literals, so they end with a zero.
const char* Known(std::string_view name) {
  return name == "unknown" ? nullptr : name.data();
}

}  // namespace

int penstock_trace_abi(void) {
  return PENSTOCK_TRACE_ABI;
}

const char* penstock_trace_message(void) {
  return Message().c_str();
}

int penstock_trace_open(const char* path, PenstockTrace** trace) {
  return static_cast<int>(Guarded([&]() -> std::int64_t {
    auto opened = penstock::traces::OpenTrace(path);
    if (!opened) {
      Message() = opened.error().message;
      return -1;
    }
    auto made = std::make_unique<PenstockTrace>();
    made->trace = std::move(*opened);
    *trace = made.release();
    return 0;
  }));
}

void penstock_trace_close(PenstockTrace* trace) {
  delete trace;
}

void penstock_trace_counts(const PenstockTrace* trace, PenstockCounts* counts) {
  const Trace& from = *trace->trace;
  const PenstockCounts all = {
      counts->size,       from.span_count(), from.events().size(),         from.counters().size(),
      from.begin().value, from.end().value,  from.realtime_offset().value, from.call_rows().size()};
  std::memcpy(counts, &all, std::min(counts->size, sizeof all));
}

const char* penstock_trace_about(PenstockTrace* trace) {
  const std::int64_t status = Guarded([&]() -> std::int64_t {
    std::call_once(trace->written, [&] {
      std::string about;  // a local text: after an exception the next call writes all of it again
      const bool written = ExportJsonHeads(*trace->trace, [&](std::string_view text) {
        about += text;
        return true;
      });
      static_cast<void>(written);  // the sink never refuses
      trace->about = std::move(about);
    });
    return 0;
  });
  return status == 0 ? trace->about.c_str() : nullptr;
}

const char* penstock_trace_stage(uint32_t stage) {
  if (stage >= penstock::wire::kStageCount) return nullptr;
  return Known(StageName(static_cast<StageId>(stage)));
}

const char* penstock_trace_event(uint32_t type) {
  return type > 255 ? nullptr : Known(EventName(static_cast<EventType>(type)));
}

const char* penstock_trace_call(uint32_t kind) {
  constexpr std::string_view kNames[] = {"unknown", "function", "builtin", "line"};
  static_assert(static_cast<int>(CallKind::kFunction) == 1 &&
                static_cast<int>(CallKind::kBuiltin) == 2 &&
                static_cast<int>(CallKind::kLine) == 3);
  return kind < std::size(kNames) ? Known(kNames[kind]) : nullptr;
}

int64_t penstock_trace_spans(const PenstockTrace* trace, uint64_t stages,
                             const PenstockSpans* out) {
  return Guarded([&]() -> std::int64_t {
    return static_cast<std::int64_t>(
        penstock::traces::FillSpans(*trace->trace, stages, *out, Cores()));
  });
}

int64_t penstock_trace_events(const PenstockTrace* trace, const PenstockEvents* out) {
  return Guarded([&]() -> std::int64_t {
    return static_cast<std::int64_t>(penstock::traces::FillEvents(*trace->trace, *out));
  });
}

int64_t penstock_trace_counters(const PenstockTrace* trace, const PenstockCounters* out) {
  return Guarded([&]() -> std::int64_t {
    return static_cast<std::int64_t>(penstock::traces::FillCounters(*trace->trace, *out));
  });
}

int64_t penstock_trace_functions(const PenstockTrace* trace, uint64_t stages,
                                 const PenstockFunctions* out) {
  return Guarded([&]() -> std::int64_t {
    return static_cast<std::int64_t>(penstock::traces::FillFunctions(*trace->trace, stages, *out));
  });
}

int64_t penstock_trace_places(uint32_t* column, uint64_t rows, uint32_t* places, uint64_t bound,
                              uint32_t* used) {
  return Guarded([&]() -> std::int64_t {
    return static_cast<std::int64_t>(
        penstock::traces::FillPlaces({column, rows}, {places, bound}, used, Cores()));
  });
}

int64_t penstock_trace_texts(const PenstockTrace* trace, const uint32_t* ids, size_t count,
                             uint64_t* ends, char* text, size_t room) {
  return Guarded([&]() -> std::int64_t {
    std::uint64_t end = 0;
    bool fits = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view one = trace->trace->String(penstock::StringId{ids[i]});
      fits = fits && one.size() <= room - end;
      if (fits) one.copy(text + end, one.size());
      end += one.size();
      ends[i] = end;
    }
    return static_cast<std::int64_t>(end);
  });
}
