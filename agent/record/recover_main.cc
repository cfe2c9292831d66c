// SPDX-License-Identifier: Apache-2.0
//
// penstock-recover T: finishes a trace whose processes were all killed at once, including the
// collector (by the end of a container, or an out-of-memory kill of a whole cgroup). T.part holds
// the records that were on disk, and names the ring that holds the rest. A recording without a
// collector names its segment.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "agent/core/segment.h"
#include "agent/record/collect/arena.h"
#include "agent/record/collect/rescue.h"
#include "agent/record/sample/proc_fs.h"
#include "traces/base/command_line.h"
#include "traces/base/file.h"
#include "traces/base/json_text.h"
#include "traces/base/say.h"
#include "traces/recording/join_segment.h"
#include "traces/recording/recording.h"
#include "traces/trace.h"

namespace penstock::record {
namespace {

// The ring with the rest of a recording, and the id of the run to which it belongs.
struct Ring {
  std::string path;
  std::string run;  // uuid of the run; "" in older files
};

Result<Ring> RingOf(const std::string& output) {
  if (const auto name = LookAtName(output + ".part"); name.exists && !name.IsOursAlone()) {
    return Fail(name.is_hidden ? ErrorKind::kEnvironment : ErrorKind::kInput,
                fmt::format("{}.part: {}", output, name.WhyNot()));
  }
  const auto part = traces::OpenTrace(output + ".part");
  PENSTOCK_TRY(part);
  const auto ring = (*part)->facts().find("record.ring");
  if (ring == (*part)->facts().end()) {
    return Fail(ErrorKind::kInput, output + ".part: does not say where its ring is");
  }
  const auto run = (*part)->facts().find("record.run");
  Ring found{ring->second, run != (*part)->facts().end() ? run->second : ""};
  // A ring file beside the trace may have been moved together with it, so it is looked for there.
  if (found.path.ends_with(".ring")) found.path = output + ".ring";
  return found;
}

// Whether the collector of this ring still runs. Its pid alone does not show that, since another
// program or another recorder may have that pid by now.
bool CollectorRuns(const wire::FileHeader& header) {
  const auto name = ReadFile(fmt::format("/proc/{}/comm", header.collector_pid), 64);
  const auto text = ReadFile(fmt::format("/proc/{}/stat", header.collector_pid), 4096);
  const auto stat = text ? ParseStat(*text) : std::nullopt;
  if (!name || name->rfind("penstock-record", 0) != 0 || !stat || stat->gone()) return false;
  return header.collector_start == 0 || header.collector_start == stat->start;
}

// Whether `ring` is a name that Arena::Create() would give. The file may come from somebody else,
// so the name in it is checked.
bool IsNameOfRing(const std::filesystem::path& ring, const std::string& output) {
  const std::string name = ring.filename().string();
  std::error_code error;
  return ring.string().rfind(agent::kSegmentPrefix, 0) == 0 ||
         ring.string().rfind("/proc/", 0) == 0 || name.rfind("penstock-", 0) == 0 ||
         std::filesystem::equivalent(ring, output + ".ring", error);
}

Result<std::filesystem::path> Recover(const std::string& output, bool force) {
  // Without a collector there is no T.part: the remaining records lie in a segment in the host's
  // memory.
  if (!LookAtName(output + ".part").exists && LookAtName(output).exists) {
    PENSTOCK_TRY(traces::FinishFromSegment(output));
    return std::filesystem::path(output);
  }
  const auto ring = RingOf(output);
  PENSTOCK_TRY(ring);
  if (!IsNameOfRing(ring->path, output)) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}.part: names no ring of ours; it is not what penstock record wrote",
                            output));
  }
  auto arena = Arena::Open(ring->path);
  if (!arena && arena.error().kind == ErrorKind::kEnvironment) {  // it exists
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: the ring cannot be read now ({}); try again", output,
                            arena.error().message));
  }
  if (!arena) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: the ring is gone ({}); what was on disk is in {}.part", output,
                            arena.error().message, output));
  }
  traces::RecordingDrain drain(arena->memory(), false);
  const auto header = drain.CheckHeader();
  const auto& uuid = arena->header().uuid;
  const bool is_its =
      ring->run.empty() || ring->run == fmt::format("{:016x}{:016x}", uuid[0], uuid[1]);
  if (!header || arena->header().mode != wire::kRing || !is_its) {
    return Fail(ErrorKind::kInput, fmt::format("{}.part: {} is not its ring", output, ring->path));
  }
  if (CollectorRuns(arena->header())) {
    return Fail(ErrorKind::kEnvironment, fmt::format("{}: is still being recorded by process {}",
                                                     output, arena->header().collector_pid));
  }
  auto done = Rescue(output, *arena, force);
  if (done) arena->Unlink();
  return done;
}

}  // namespace
}  // namespace penstock::record

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-recover");
  penstock::traces::CommandLine line(
      "Finishes a trace whose collector was killed together with the command.", argv[0]);
  line.AddVersion("penstock-recover");
  std::string output;
  line.Add("T", output, "The trace that was asked for (T.part is there, T is not)").Required();
  bool force = false;
  line.AddFlag("--force", force, "Replace a trace of that name; else the new one goes beside it");
  const auto print = line.Read({argv + 1, argv + argc});
  if (!print) {
    penstock::SayError("penstock-recover", print.error().message);
    return 2;
  }
  if (*print) {
    fmt::print("{}", **print);
    return 0;
  }
  // An argument T.part means T, unless the trace itself was to be called T.part.
  if (output.size() > 5 && output.ends_with(".part") &&
      !penstock::LookAtName(output + ".part").exists) {
    output.resize(output.size() - 5);
  }
  const auto done = penstock::record::Recover(output, force);
  if (!done) {
    penstock::SayError("penstock-recover", penstock::VisibleText(done.error().message));
    return penstock::ExitStatus(done.error().kind);
  }
  penstock::SayError("penstock-recover", "wrote " + penstock::VisibleText(done->string()));
  return 0;
}
