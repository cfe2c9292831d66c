// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "traces/base/json_text.h"
#include "traces/base/xxh64.h"
#include "traces/exchange/formats.h"
#include "traces/exchange/tracks.h"
#include "traces/export_text.h"

namespace penstock::traces {
namespace {

// Category and event of DFTracer's conventions for AI programs. Reads are POSIX calls.
struct PfwKind {
  std::string_view category;
  std::string_view name;
};

PfwKind KindOf(StageId stage) {
  switch (stage) {
    case StageId::kRead:
      return {"POSIX", "read"};
    case StageId::kSample:
      return {"data", "item"};
    case StageId::kDecode:
    case StageId::kAugment:
    case StageId::kTokenize:
    case StageId::kCollate:
      return {"data", "preprocess"};
    case StageId::kWait:
      return {"dataloader", "fetch"};
    case StageId::kH2d:
      return {"device", "transfer"};
    case StageId::kStep:
    case StageId::kKernel:
      return {"compute", "step"};
    default:
      return {"penstock", ""};
  }
}

std::string HashText(std::string_view text) {
  return fmt::format("{:016x}", Xxh64(text.data(), text.size()));
}

class PfwWriter {
 public:
  PfwWriter(const Trace& trace, const TextSink& sink) : trace_(trace), out_(sink) {
    const auto host = trace.facts().find("host");
    host_ = host == trace.facts().end() ? "localhost" : host->second;
    host_hash_ = HashText(host_);
  }

  bool Write() {
    out_.text() += '[';
    out_.Line();
    const std::uint32_t pid = trace_.processes().empty() ? 0 : trace_.processes()[0].pid;
    Metadata("HH", pid, pid, host_, host_hash_);
    for (const ProcessInfo& process : trace_.processes()) {
      const std::string label = ProcessLabel(process);
      Metadata("PR", process.pid, process.pid, label, HashText(label));
    }
    for (std::uint32_t i = 0; i < trace_.threads().size(); ++i) {
      trace_.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
        for (const Span& span : spans) {
          if (!out_.ok()) return;
          WriteSpan(span, trace_.threads()[i]);
        }
      });
    }
    out_.text() += ']';
    out_.Line();
    return out_.Flush();
  }

 private:
  void Metadata(std::string_view kind, std::uint32_t pid, std::uint32_t tid, std::string_view name,
                std::string_view value) {
    out_.Format(
        "{{\"id\":{},\"name\":\"{}\",\"cat\":\"dftracer\",\"pid\":{},\"tid\":{},\"ph\":\"M\","
        "\"args\":{{\"hhash\":\"{}\",\"name\":",
        id_++, kind, pid, tid, host_hash_);
    AppendJson(out_.text(), name);
    out_.Format(",\"value\":\"{}\"}}}}", value);
    out_.Line();
  }

  void WriteSpan(const Span& span, const ThreadInfo& thread) {
    const std::uint32_t pid = trace_.processes()[thread.process.value].pid;
    const std::string_view object = trace_.String(span.object);
    std::string file;
    if (!object.empty() && span.stage != StageId::kMark) {  // a mark's object is its domain
      file = HashText(object);
      if (known_.insert(span.object.value).second) {
        Metadata("FH", pid, thread.tid, object, file);
      }
    }
    const PfwKind kind = KindOf(span.stage);
    const bool own = kind.name.empty() || kind.name == "preprocess";
    out_.Format("{{\"id\":{},\"name\":", id_++);
    std::string name(kind.name);
    if (own) name += (name.empty() ? "" : ".") + std::string(SpanLabel(trace_, span));
    AppendJson(out_.text(), name);
    const std::int64_t begin = (span.start + trace_.realtime_offset()).value;
    const std::int64_t end = begin + span.duration.value;
    out_.Format(
        ",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"ph\":\"X\",\"args\":{{"
        "\"hhash\":\"{}\"",
        kind.category, pid, thread.tid, begin / 1000, end / 1000 - begin / 1000, host_hash_);
    if (!file.empty()) out_.Format(",\"fhash\":\"{}\"", file);
    if (span.stage == StageId::kRead) {
      // The return value of read(), which DFAnalyzer takes as the size.
      out_.Format(",\"ret\":{}", span.bytes.value);
    } else if (span.bytes.value > 0) {
      out_.Format(",\"size\":{}", span.bytes.value);
    }
    if (span.sample >= 0) out_.Format(",\"image_idx\":{}", span.sample);
    if (span.batch.valid()) {
      out_.Format(",\"step\":{},\"epoch\":{}", span.batch.index + 1, span.batch.generation);
    }
    out_.text() += "}}";
    out_.Line();
  }

  const Trace& trace_;
  TextBuffer out_;
  std::string host_, host_hash_;
  std::unordered_set<std::uint32_t> known_;  // files whose hash has been written with its path
  std::uint64_t id_ = 0;
};

}  // namespace

bool ExportPfw(const Trace& trace, const TextSink& sink) {
  return PfwWriter(trace, sink).Write();
}

}  // namespace penstock::traces
