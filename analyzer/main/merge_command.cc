// SPDX-License-Identifier: Apache-2.0
//
// penstock merge A B... -o M [--align auto|clock|steps|wall]
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/ranks/merge_run.h"
#include "traces/pack.h"

namespace penstock::analyzer {

int MergeCommand(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Makes one trace of the traces of a run's ranks or hosts, on one clock, so that report, "
      "whatif and gui show them together.",
      "penstock merge");
  std::vector<std::string> paths;
  std::string output;
  std::string align = "auto";
  app.add_option("traces", paths, "Traces of one run, in any order")->required();
  app.add_option("-o,--output", output, "The trace to write")->required();
  app.add_option("--align", align,
                 "How the clocks of different hosts are brought together: auto; clock: traces of "
                 "one boot share it; steps: by the collective that ends each step; wall: by the "
                 "wall clocks")
      ->type_name("HOW");
  if (const auto status = Parse(app, arguments)) return *status;
  const Result<AlignMethod> method = ParseAlignMethod(align);
  if (!method) return Complain("merge", method.error());
  for (const std::string& path : paths) {
    std::error_code none;  // of an output that is not there yet
    if (path == output || std::filesystem::equivalent(path, output, none)) {
      return Complain("merge",
                      Error{ErrorKind::kUsage, fmt::format("{}: is read and written", path)});
    }
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
