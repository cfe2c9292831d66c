// SPDX-License-Identifier: Apache-2.0
//
// penstock merge A B... -o M [--align auto|clock|steps|wall]
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/ranks/merge_run.h"
#include "traces/merge.h"
#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::analyzer {
namespace {

std::string ClockText(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (size < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.6g} s", seconds);
}

// A line for each part, which says by how much its clock was moved and what the shift is based on.
std::string DescribeParts(std::span<const MergedPart> parts) {
  std::string text;
  for (const MergedPart& part : parts) {
    std::string ranks;
    for (const std::int32_t rank : part.ranks) {
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", rank);
    }
    text += fmt::format("{}: {}{}", part.name, ranks.empty() ? "no rank" : "rank ", ranks);
    const Alignment& found = part.alignment;
    switch (found.by) {
      case AlignBy::kReference:
        break;
      case AlignBy::kSameClock:
        text += ", same clock";
        break;
      case AlignBy::kCollective:
        text += fmt::format(", clock moved by {} +-{} by the ends of {} steps",
                            ClockText(Seconds(found.shift.offset)), ClockText(found.uncertainty),
                            found.iterations);
        if (found.bound) text += fmt::format(" (surely within {})", ClockText(*found.bound));
        if (found.shift.drift != 0) {
          text += fmt::format(", drifting {:.3g} ppm", found.shift.drift * 1e6);
        }
        if (found.wall_difference && std::abs(*found.wall_difference) > 0.01) {
          text += fmt::format("; the wall clocks differ by {}", ClockText(*found.wall_difference));
        }
        break;
      case AlignBy::kWallClock:
        text += fmt::format(", clock moved by {} by the wall clocks: only as exact as they are",
                            ClockText(Seconds(found.shift.offset)));
        break;
      case AlignBy::kNothing:
        text +=
            ", NOT aligned: there are no common steps or clocks; it is assumed to begin with the "
            "first trace";
        break;
    }
    text += '\n';
  }
  return text;
}

// Whether this file is a trace that no merge wrote. If somebody writes "-o A B" by mistake, A is
// the output, and the merge would replace it.
bool IsRecorded(const std::string& path) {
  std::error_code none;  // usually nothing has the name yet
  if (!std::filesystem::is_regular_file(path, none)) return false;
  const auto trace = traces::OpenTrace(path);
  return trace && !traces::IsMerged(**trace);
}

}  // namespace

int MergeCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line(
      "Joins the traces of a run's ranks or hosts into one, on one clock, so that report, whatif "
      "and gui show them together.",
      "penstock merge");
  std::vector<std::string> paths;
  std::string output;
  std::string align = "auto";
  line.Add("traces", paths, "Traces of one run, in any order").Required();
  line.Add("-o,--output", output, "The trace to write").Required();
  line.Add("--align", align,
           "How the clocks of different hosts are brought together: auto; clock: traces of "
           "one boot share it; steps: by the collective that ends each step; wall: by the "
           "wall clocks")
      .ShowValueAs("HOW");
  if (const auto status = Parse(line, arguments)) return *status;
  const Result<AlignMethod> method = ParseAlignMethod(align);
  if (!method) return Complain("merge", method.error());
  for (const std::string& path : paths) {
    std::error_code none;  // the output may not exist yet
    if (path == output || std::filesystem::equivalent(path, output, none)) {
      return Complain("merge",
                      Error{ErrorKind::kUsage, fmt::format("{}: is read and written", path)});
    }
  }
  if (IsRecorded(output)) {
    return Complain(
        "merge",
        Error{ErrorKind::kUsage,
              fmt::format("--output {}: is a recorded trace; name the merged one", output)});
  }
  auto packer = traces::CreatePacked(output, {.suffix = fmt::format(".{}.tmp", ::getpid())});
  if (!packer) return Complain("merge", packer.error());
  const auto merged = MergeRun(paths, *method, **packer);
  if (!merged) {
    (*packer)->Discard();
    return Complain("merge", merged.error());
  }
  if (const Result<void> done = (*packer)->Finish(); !done) {
    (*packer)->Discard();
    return Complain("merge", done.error());
  }
  return Print(DescribeParts(*merged) + fmt::format("wrote {}\n", output));
}

}  // namespace penstock::analyzer
