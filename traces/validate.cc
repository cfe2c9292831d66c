// SPDX-License-Identifier: Apache-2.0
#include "traces/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "traces/base/file.h"
#include "traces/base/json_text.h"
#include "traces/order.h"
#include "traces/packed/packed_trace.h"
#include "traces/trace.h"
#include "traces/wire.h"

namespace penstock::traces {
namespace {

// Says which ids of a trace have no text. Remembers the answer for ids below kMostIds.
class Texts {
 public:
  explicit Texts(const Trace& trace) : trace_(trace) {}

  bool Missing(StringId id) {
    if (id.value == 0) return false;
    if (id.value >= kMostIds) return IsMissing(id);
    if (id.value >= known_.size()) known_.resize(std::max<std::size_t>(id.value + 1, 64) * 3 / 2);
    std::uint8_t& known = known_[id.value];
    if (known == 0) known = IsMissing(id) ? 2 : 1;
    return known == 2;
  }

 private:
  static constexpr std::uint32_t kMostIds = 1u << 28;  // limits what a forged id costs to 400 MB

  // Whether the text of `id` is empty, or stands for one that never came: FORMAT.md, "Texts".
  [[nodiscard]] bool IsMissing(StringId id) const {
    const std::string_view text = trace_.String(id);
    if (text.empty()) return true;
    return text.front() == '#' && (text.size() == 9 || text.size() == 17) &&
           text.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  }

  const Trace& trace_;
  std::vector<std::uint8_t> known_;  // 0: not looked up yet
};

// Bytes in the read spans that the agent's hooks wrote for one process.
struct Delivered {
  std::uint64_t files = 0;
  std::uint64_t sockets = 0;

  // Spans of the hooks have a busy time; a program's own spans have none.
  void Add(const Span& span) {
    constexpr std::uint8_t kNot = wire::kFlagMapped | wire::kFlagUnfinished;
    if (span.stage == StageId::kRead && (span.flags & wire::kFlagBusy) != 0 &&
        (span.flags & kNot) == 0) {
      ((span.flags & wire::kFlagNetwork) != 0 ? sockets : files) += span.bytes.value;
    }
  }
};

// Counts of what is wrong with the spans of one thread.
struct Walk {
  std::uint64_t spans = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t negative = 0;
  std::uint64_t unknown_stage = 0;
  std::uint64_t named = 0;
  std::uint64_t nameless = 0;

  void Add(std::span<const Span> block, Span& before, Texts& texts, Delivered& delivered) {
    for (const Span& span : block) {
      delivered.Add(span);
      out_of_order += spans > 0 && StartsBefore(span, before) ? 1u : 0u;
      negative += span.duration.value < 0 ? 1u : 0u;
      unfinished += (span.flags & wire::kFlagUnfinished) != 0 ? 1u : 0u;
      unknown_stage += span.stage >= StageId{wire::kStageCount} ? 1u : 0u;
      named += span.object.value != 0 || span.name.value != 0 ? 1u : 0u;
      nameless += texts.Missing(span.object) || texts.Missing(span.name) ? 1u : 0u;
      before = span;
      ++spans;
    }
  }
};

void ReadVersion(const MappedFile& file, ValidationReport& report) {
  constexpr std::size_t kMajorAt = 8;  // after the magic in both kinds of file
  report.kind =
      IsPacked(file.bytes()) ? ValidationReport::Kind::kPacked : ValidationReport::Kind::kRecording;
  report.file_size.value = file.bytes().size();
  std::memcpy(&report.major, file.bytes().data() + kMajorAt, sizeof report.major);
  std::memcpy(&report.minor, file.bytes().data() + kMajorAt + 2, sizeof report.minor);
}

void Complain(ValidationReport& report, std::uint64_t count, const std::string& where,
              std::string_view what) {
  if (count != 0) {
    report.problems.push_back(fmt::format("{}: {} {}", where, count, what));
  }
}

// Compares the bytes that a process counted with those in its spans. `open`: the tolerance that is
// left; the used part is subtracted.
void Balance(ByteBalance own, Bytes& open, const std::string& where, std::string_view what,
             ByteBalance& sum, ValidationReport& report) {
  const std::uint64_t there = own.in_spans.value + own.lost.value + own.claimed.value;
  const bool less = there < own.counted.value;
  const std::uint64_t off = less ? own.counted.value - there : there - own.counted.value;
  if (off != 0 && off <= open.value) {
    own.open.value = off;
    open.value -= off;
  } else if (off != 0) {
    report.problems.push_back(fmt::format(
        "{}: the trace accounts for {} bytes {} than the reads of {} returned ({} in spans, {} "
        "lost, {} of the program's own, {} counted)",
        where, off, less ? "less" : "more", what, own.in_spans.value, own.lost.value,
        own.claimed.value, own.counted.value));
  }
  sum.counted += own.counted;
  sum.in_spans += own.in_spans;
  sum.lost += own.lost;
  sum.claimed += own.claimed;
  sum.open += own.open;
}

void BalanceAll(const Trace& trace, const std::vector<Delivered>& delivered,
                ValidationReport& report) {
  const auto& facts = trace.facts();
  if (const auto lost = facts.find("record.bytes_lost"); lost != facts.end()) {
    const std::string& text = lost->second;
    std::from_chars(text.data(), text.data() + text.size(), report.lost_elsewhere.value);
  }
  // Bytes can be compared only in a whole trace: undamaged, finished, and with its beginning. The
  // losses are reported elsewhere.
  const Losses& l = report.losses;
  const bool whole = l.damaged_records == 0 && l.damaged_chunks == 0 && !l.truncated &&
                     !l.unsealed && facts.find("record.keep_ns") == facts.end();
  for (std::size_t i = 0; i < trace.processes().size(); ++i) {
    const ProcessInfo& process = trace.processes()[i];
    if (process.bytes_kernel.value != 0) {
      report.kernel += process.bytes_kernel;
      report.hooked += process.bytes_hooked;
    }
    if (!whole || !process.counted) {
      continue;
    }
    ++report.balanced;
    Bytes open = process.bytes_open;
    const std::string where = fmt::format("process {}", process.pid);
    Balance({process.bytes_dataset,
             Bytes{delivered[i].files},
             process.bytes_lost,
             process.bytes_claimed,
             {}},
            open, where, "files", report.files, report);
    Balance({process.bytes_network,
             Bytes{delivered[i].sockets},
             process.network_lost,
             process.network_claimed,
             {}},
            open, where, "sockets", report.sockets, report);
  }
}

std::string BalanceJson(const ByteBalance& b) {
  return fmt::format("{{\"counted\":{},\"in_spans\":{},\"lost\":{},\"claimed\":{},\"open\":{}}}",
                     b.counted.value, b.in_spans.value, b.lost.value, b.claimed.value,
                     b.open.value);
}

}  // namespace

Result<ValidationReport> ValidateTrace(const std::filesystem::path& path) {
  const Result<std::unique_ptr<Trace>> opened = OpenTrace(path);
  PENSTOCK_TRY(opened);
  const Trace& trace = **opened;
  ValidationReport report;
  if (const Result<MappedFile> file = MappedFile::Open(path); file && file->bytes().size() >= 12) {
    ReadVersion(*file, report);
  }
  report.processes = trace.processes().size();
  report.threads = trace.threads().size();
  report.events = trace.events().size();
  report.counters = trace.counters().size();
  report.duration = trace.end() - trace.begin();
  report.losses = trace.losses();
  Texts texts(trace);
  std::vector<Delivered> delivered(trace.processes().size());
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const ThreadInfo& thread = trace.threads()[i];
    Walk walk;
    Span before;
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      walk.Add(block, before, texts, delivered[thread.process.value]);
    });
    report.spans += walk.spans;
    report.unfinished += walk.unfinished;
    report.named += walk.named;
    report.nameless += walk.nameless;
    const std::string where = fmt::format("thread {} of process {}", thread.tid,
                                          trace.processes()[thread.process.value].pid);
    Complain(report, walk.out_of_order, where, "spans out of order");
    Complain(report, walk.negative, where, "spans that end before they start");
    Complain(report, walk.unknown_stage, where, "spans of an unknown stage");
    if (walk.spans != thread.spans) {
      report.problems.push_back(
          fmt::format("{}: {} spans announced, {} readable", where, thread.spans, walk.spans));
    }
  }
  if (report.nameless != 0) {
    report.problems.push_back(
        fmt::format("for {} of {} spans the text of the object or name is missing", report.nameless,
                    report.named));
  }
  BalanceAll(trace, delivered, report);
  return report;
}

std::string ToJson(const ValidationReport& r) {
  const Losses& l = r.losses;
  std::string out = fmt::format(
      "{{\"kind\":\"{}\",\"version\":\"{}.{}\",\"file_bytes\":{},\"sound\":{},\"processes\":{},"
      "\"threads\":{},\"spans\":{},\"unfinished\":{},\"named\":{},\"nameless\":{},\"events\":{},"
      "\"counters\":{},"
      "\"duration_s\":{:.9f},\"losses\":{{\"dropped_events\":{},\"damaged_records\":{},"
      "\"damaged_bytes\":{},\"damaged_chunks\":{},\"lost_threads\":{},\"truncated\":{},"
      "\"unsealed\":{}}},\"bytes\":{{\"processes\":{},\"files\":{},\"sockets\":{},"
      "\"lost_elsewhere\":{},\"kernel\":{},\"hooked\":{}}},\"problems\":[",
      r.kind == ValidationReport::Kind::kPacked ? "packed" : "recording", r.major, r.minor,
      r.file_size.value, r.sound(), r.processes, r.threads, r.spans, r.unfinished, r.named,
      r.nameless, r.events, r.counters, Seconds(r.duration), l.dropped_events, l.damaged_records,
      l.damaged_bytes, l.damaged_chunks, l.lost_threads, l.truncated, l.unsealed, r.balanced,
      BalanceJson(r.files), BalanceJson(r.sockets), r.lost_elsewhere.value, r.kernel.value,
      r.hooked.value);
  for (std::size_t i = 0; i < r.problems.size(); ++i) {
    out += i > 0 ? "," : "";
    AppendJson(out, r.problems[i]);
  }
  return out + "]}";
}

}  // namespace penstock::traces
