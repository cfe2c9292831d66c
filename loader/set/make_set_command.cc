// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "loader/set/commands.h"
#include "loader/set/interruption.h"
#include "loader/set/make_set.h"
#include "loader/set/progress_bar.h"
#include "loader/set/workers.h"
#include "traces/base/command_line.h"

namespace penstock::loader {
namespace {

int ComplainOfMakeSet(const Error& error) {
  fmt::print(stderr, "penstock-load make-set: {}\n", error.message);
  return ExitStatus(error.kind);
}

std::string Kinds() {
  std::string text = "what to make:";
  for (const SetRecipe& recipe : SetRecipes()) {
    text += fmt::format("\n{}: {}", recipe.name, recipe.summary);
  }
  return text;
}

// Fills in what the texts name, and the defaults. Errors: kUsage.
Result<void> Complete(SetOptions& options, const std::string& kind, const std::string& format) {
  options.recipe = FindSetRecipe(kind);
  if (options.recipe == nullptr) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--kind {}: no such kind; give imagenet, coco or fullhd", kind));
  }
  const std::map<std::string, SetFormat> formats = {
      {"folder", SetFormat::kFolder}, {"tar", SetFormat::kTar}, {"list", SetFormat::kList}};
  const auto found = formats.find(format);
  if (found == formats.end()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--format {}: no such format; give folder, tar or list", format));
  }
  options.format = found->second;
  if (options.count == 0) options.count = options.recipe->default_count;
  if (options.workers == 0) options.workers = UsableCores();
  return {};
}

}  // namespace

int MakeSetCommand(const std::vector<std::string>& arguments) {
  SetOptions options;
  options.classes = 10;
  options.workers = 0;
  std::string folder;
  std::string kind = "imagenet";
  std::string format = "folder";
  traces::CommandLine line{
      "Writes JPEGs that cost a decoder what photographs cost it: shapes that occlude one "
      "another,\n"
      "textures, light and shade, blur and sensor noise. The same seed gives the same pictures.",
      "penstock-load make-set"};
  line.Add("DIR", folder, "folder to make; it must not be there, or be empty").Required();
  line.Add("--kind", kind, Kinds()).ShowDefault();
  line.Add("--count", options.count, "pictures (default: 1200; fullhd: 120)")
      .Check(traces::WholeNumber(1, 1'000'000'000));
  line.Add("--classes", options.classes, "classes, in turn")
      .Check(traces::WholeNumber(1, 100'000))
      .ShowDefault();
  line.Add("--seed", options.seed, "another set of the same kind")
      .Check(traces::WholeNumber())
      .ShowDefault();
  line.Add("--workers", options.workers, "threads (default: one per usable core)")
      .Check(traces::WholeNumber(1, 1024));
  line.Add("--format", format,
           "folder: one per class; tar: shards in WebDataset's layout; list: one folder and "
           "list.txt")
      .ShowDefault();
  line.Add("--shard", options.shard, "pictures in a tar")
      .Check(traces::WholeNumber(1, 1'000'000))
      .ShowDefault();
  const auto print = line.Read(arguments);
  if (!print) {
    return ComplainOfMakeSet(
        {ErrorKind::kUsage, fmt::format("{}; see --help", print.error().message)});
  }
  if (*print) {
    fmt::print("{}", **print);
    return 0;
  }
  options.folder = folder;
  if (Result<void> completed = Complete(options, kind, format); !completed) {
    return ComplainOfMakeSet(completed.error());
  }
  const Interruption interruption;
  ProgressBar bar(options.count, "pictures");
  const auto started = std::chrono::steady_clock::now();
  const Result<SetSummary> made =
      MakeSet(options, interruption.token(), [&](std::uint64_t done) { bar.Show(done); });
  bar.Clear();
  if (!made) {
    const int status = ComplainOfMakeSet(made.error());
    return interruption.happened() ? 130 : status;
  }
  if (made->already_there) {
    fmt::print("{}: {} pictures, already there\n", folder, options.count);
    return 0;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  fmt::print("{}: {} pictures, mean {:.1f} KB ({:.0f} to {:.0f}), made in {:.1f} s\n", folder,
             options.count,
             static_cast<double>(made->bytes) / 1000 / static_cast<double>(options.count),
             static_cast<double>(made->least) / 1000, static_cast<double>(made->most) / 1000,
             seconds.count());
  return 0;
}

}  // namespace penstock::loader
