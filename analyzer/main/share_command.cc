// SPDX-License-Identifier: Apache-2.0
//
// penstock share T [-o FILE.zip|FILE.tar.gz] [--anonymous] [--force]
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/share/archive.h"
#include "analyzer/share/bundle.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

// The files of a bundle, each with a description.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kAbout = {
    {{"trace.penstock", "the trace, for penstock gui, report and the rest"},
     {"report.html", "its report as a page with plots"},
     {"report.json", "penstock report --json"},
     {"report.txt", "penstock report"},
     {"environment.json", "kernel, distribution, processor, devices, versions"}}};

std::string DescribeReplaced(const traces::StandIns::Counts& replaced) {
  const auto count = [](std::size_t number, std::string_view noun) {
    return CountedText(static_cast<std::int64_t>(number), noun);
  };
  return fmt::format(
      "replaced by stand-ins, in {}: {}, {}, {} (functions, classes, ranges), {}, {} (command "
      "lines), {} (boots, devices)\n"
      "no source lines; kept: options, numbers, times, names of libraries\n",
      count(replaced.uses, "place"), count(replaced.files, "file"),
      count(replaced.folders, "folder"), count(replaced.names, "name"),
      count(replaced.hosts, "host"), count(replaced.words, "word"), count(replaced.ids, "id"));
}

std::string Describe(const Bundle& bundle) {
  std::string text = fmt::format("wrote {}, {}\n", bundle.path.string(), BytesText(bundle.size));
  for (const BundledFile& file : bundle.files) {
    const auto about = std::find_if(kAbout.begin(), kAbout.end(),
                                    [&](const auto& one) { return one.first == file.name; });
    text += fmt::format("  {:<17} {:>9}  {}\n", file.name, BytesText(file.size),
                        about == kAbout.end() ? "" : about->second);
  }
  if (bundle.replaced) return text + DescribeReplaced(*bundle.replaced);
  return text +
         "it names files, functions, the host and the command line, and shows source lines; "
         "--anonymous replaces them\n";
}

}  // namespace

int ShareCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line(
      "Makes one file of a run to attach to a report of a bug: the trace, its report as a page, "
      "JSON and text, and facts of the environment.",
      "penstock share");
  std::string path;
  std::string output = "penstock-share.zip";
  bool anonymous = false;
  bool force = false;
  line.Add("trace", path, "A trace or a recording").Required();
  line.Add("-o,--output", output, "The file to write; its name ends in .zip or .tar.gz")
      .ShowValueAs("FILE")
      .ShowDefault();
  line.AddFlag("--anonymous", anonymous,
               "Replace files, folders, hosts, the program's functions and words of its command "
               "line by stand-ins such as /d1/d2/f17.jpg, in the trace and the reports; leave out "
               "source lines");
  line.AddFlag("--force", force, "Replace a file of that name");
  if (const auto status = Parse(line, arguments)) return *status;
  if (const auto kind = ArchiveKindOf(output); !kind) return Complain("share", kind.error());
  int status = 0;
  const auto trace = OpenOrComplain("share", path, status);
  if (trace == nullptr) return status;
  const Result<Bundle> bundle = WriteBundle(
      *trace,
      {.output = output, .anonymous = anonymous, .replace = force, .version = PENSTOCK_VERSION});
  return bundle ? Print(Describe(*bundle)) : Complain("share", bundle.error());
}

}  // namespace penstock::analyzer
