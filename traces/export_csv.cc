// SPDX-License-Identifier: Apache-2.0
#include "traces/base/json_text.h"
#include "traces/export.h"
#include "traces/export_text.h"

namespace penstock::traces {

bool ExportCsv(const Trace& trace, const TextSink& sink) {
  TextBuffer out(sink);
  out.text() +=
      "stage,name,object,start_ns,duration_ns,cpu_ns,busy_ns,bytes,sample,batch,generation,pid,"
      "tid,role,worker_id,flags,depth";
  out.Line();
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const ThreadInfo& thread = trace.threads()[i];
    const ProcessInfo& process = trace.processes()[thread.process.value];
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
      for (const Span& s : spans) {
        if (!out.ok()) {
          return;
        }
        out.text() += StageName(s.stage);
        out.text() += ',';
        AppendCsv(out.text(), trace.String(s.name));
        out.text() += ',';
        AppendCsv(out.text(), trace.String(s.object));
        out.Format(",{},{},", s.start.value, s.duration.value);
        if (s.cpu.value >= 0) {
          out.Format("{}", s.cpu.value);
        }
        out.Format(",{},{},{},{},{},{},{},{},{},{},{}",
                   s.busy.value >= 0 ? s.busy.value : s.duration.value, s.bytes.value, s.sample,
                   BatchIndex(s.batch), s.batch.generation, process.pid, thread.tid,
                   RoleName(process.role), process.worker_id, s.flags, s.depth);
        out.Line();
      }
    });
  }
  return out.Flush();
}

}  // namespace penstock::traces
