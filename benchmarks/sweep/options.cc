// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/options.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "traces/base/command_line.h"

namespace penstock::sweep {
namespace {

constexpr const char* kAbout =
    "Measures a loader over a grid of settings, each run in a fresh process, repeats interleaved\n"
    "in random order.\n"
    "  penstock sweep SOURCE --workers 0,1,2,4 --prefetch 1,2,4 --batch 16,64   the reference "
    "loader\n"
    "  penstock sweep --workers 0,2,4 --prefetch 2,4 -- python train.py         any training\n"
    "  penstock sweep --ablate SOURCE                                           what each step "
    "costs";
constexpr const char* kFooter =
    "The flags of Google Benchmark work as well, among them --benchmark_filter=REGEX,\n"
    "--benchmark_list_tests and --benchmark_out=F. Ctrl-C keeps what was measured.";

// Options as they are on the command line.
struct Texts {
  std::string workers, prefetch, batch, read_by, reduce, gpu, pin, persistent;
  std::vector<std::string> ops, axes, set;
  std::string pattern;
};

Error Usage(std::string message) {
  return {ErrorKind::kUsage, std::move(message)};
}

void AddAxisOptions(traces::CommandLine& line, Texts& texts) {
  line.Add("--workers", texts.workers, "values of this axis: 0,1,2,4 or 1..8");
  line.Add("--prefetch", texts.prefetch, "batches made ahead (PyTorch: by each worker)");
  line.Add("--batch", texts.batch, "samples in a batch");
  line.Add("--io", texts.read_by, "loader: buffered,direct,uring,mmap");
  line.Add("--reduce", texts.reduce, "loader: decode at reduced size, 1,2");
  line.Add("--gpu", texts.gpu,
           "loader: placements, off,none,augment,decode+augment (off: batches stay on the CPU)");
  line.Add("--ops", texts.ops, "loader: augmentation; once for each value of the axis");
  line.Add("--axis", texts.axes,
           "loader: any option of penstock-load as an axis, read-ahead=1,4,16");
  line.Add("--pin", texts.pin, "command: pin_memory, 0,1");
  line.Add("--persistent", texts.persistent, "command: persistent_workers, 0,1");
  line.Add("--set", texts.set,
           "what all runs share: KEY=VALUE of penstock-load (batches=100), or pin=1 for a command");
}

void AddOtherOptions(traces::CommandLine& line, Options& options, Texts& texts) {
  line.Add("SOURCE", options.source, "what penstock-load loads");
  line.AddFlag("--ablate", options.ablate, "the cost of each step of the loader on SOURCE");
  line.Add("--threads", options.threads, "threads of the loader with --ablate")
      .Check(traces::WholeNumber(1, 4096))
      .ShowDefault();
  line.Add("--repeats", options.repeats, "runs of each configuration")
      .Check(traces::WholeNumber(1, 10000))
      .ShowDefault();
  line.Add("--warmup", options.warmup, "runs before the first that are not counted")
      .Check(traces::WholeNumber(0, 1000))
      .ShowDefault();
  line.Add("--tie", options.tie, "settings within this fraction of the best count as equally good")
      .Check(traces::NumberBetween(0, 0.5))
      .ShowDefault();
  line.Add("--timeout", options.timeout_s, "seconds for one run; 0: no limit")
      .Check(traces::NumberBetween(0, 1e6))
      .ShowDefault();
  line.Add("--pattern", texts.pattern,
           "command: samples per second in its output, a regular expression with one group "
           "(default: from the trace)");
  line.Add("--keep", options.keep, "command: keep the traces in this folder");
  line.Add("--json", options.json, "write the result to this file; -: standard output");
  line.Add(
      "--device-costs", options.device_costs,
      "measure only how long a GPU takes for a megapixel of SOURCE's pictures, and write it to "
      "this file for penstock whatif");
  line.Add("--csv", options.csv, "write the table to this file");
  line.Add("--programs", options.programs, "folder of the other programs (default: this one's)");
}

// Errors: kUsage.
Result<void> ReadAxes(const Texts& texts, Options& options) {
  const std::array<std::pair<const char*, const std::string*>, 8> all = {{
      {"workers", &texts.workers},
      {"prefetch", &texts.prefetch},
      {"batch", &texts.batch},
      {"pin", &texts.pin},
      {"persistent", &texts.persistent},
      {"io", &texts.read_by},
      {"reduce", &texts.reduce},
      {"gpu", &texts.gpu},
  }};
  const bool trains = !options.command.empty();
  for (const auto& [name, text] : all) {
    if (text->empty()) continue;
    const std::string_view axis = name;
    const bool commands_only = axis == "pin" || axis == "persistent";
    const bool loaders_only = axis == "io" || axis == "reduce" || axis == "gpu";
    if (trains ? loaders_only : commands_only) {
      return tl::unexpected<Error>(Usage(fmt::format(
          "--{}: only {}", name, trains ? "for the reference loader" : "for a command after --")));
    }
    Result<Axis> read = ParseAxis(name, *text);
    PENSTOCK_TRY(read);
    options.axes.push_back(std::move(*read));
  }
  if (trains && !(texts.ops.empty() && texts.axes.empty())) {
    return tl::unexpected<Error>(Usage("--ops and --axis: only for the reference loader"));
  }
  if (!texts.ops.empty()) options.axes.push_back({"ops", texts.ops});
  for (const std::string& text : texts.axes) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return tl::unexpected<Error>(Usage(fmt::format("--axis {}: give NAME=V1,V2", text)));
    }
    Result<Axis> read = ParseAxis(text.substr(0, equals), text.substr(equals + 1));
    PENSTOCK_TRY(read);
    options.axes.push_back(std::move(*read));
  }
  std::set<std::string> names;
  for (const Axis& axis : options.axes) {
    if (!names.insert(axis.name).second) {
      return tl::unexpected<Error>(Usage(fmt::format("--axis {}: is an axis already", axis.name)));
    }
  }
  return {};
}

// Errors: kUsage.
Result<void> ReadFixed(const Texts& texts, Options& options) {
  for (const std::string& text : texts.set) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (key.empty() || key == "json") {
      return tl::unexpected<Error>(Usage(fmt::format("--set {}: give KEY=VALUE", text)));
    }
    if (std::any_of(options.axes.begin(), options.axes.end(),
                    [&](const Axis& axis) { return axis.name == key; })) {
      return tl::unexpected<Error>(Usage(fmt::format("--set {}: {} is an axis", text, key)));
    }
    if (!options.command.empty()) {
      options.overrides += (options.overrides.empty() ? "" : ",") + text;
      continue;
    }
    options.fixed.push_back("--" + key);
    if (equals != std::string::npos) options.fixed.push_back(text.substr(equals + 1));
  }
  return {};
}

// Errors: kUsage.
Result<void> Check(const Texts& texts, Options& options) {
  const bool trains = !options.command.empty();
  if (!options.device_costs.empty()) {
    if (!trains && !options.ablate && options.axes.empty()) return {};
    return tl::unexpected<Error>(Usage("--device-costs takes a SOURCE and no axes"));
  }
  if (trains == !options.source.empty()) {
    return tl::unexpected<Error>(
        Usage(trains ? fmt::format("'{}' before the command: give a SOURCE or -- CMD, not both",
                                   options.source)
                     : "nothing to measure: give a SOURCE, or -- CMD at the end"));
  }
  if (options.ablate && (trains || !options.axes.empty())) {
    return tl::unexpected<Error>(Usage("--ablate takes a SOURCE and no axes; see --set"));
  }
  if (!options.ablate && options.axes.empty()) {
    return tl::unexpected<Error>(
        Usage("nothing to vary: give --workers 0,1,2,4, --prefetch 1,2,4 or --batch 16,64"));
  }
  if (!texts.pattern.empty()) {
    if (!trains) return tl::unexpected<Error>(Usage("--pattern: only for a command after --"));
    try {
      options.pattern.emplace(texts.pattern, std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
      return tl::unexpected<Error>(
          Usage(fmt::format("--pattern '{}': {}", texts.pattern, error.what())));
    }
    if (options.pattern->mark_count() != 1) {
      return tl::unexpected<Error>(Usage("--pattern needs exactly one group: the figure"));
    }
  }
  return {};
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  Texts texts;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    options.command.assign(dashes + 1, arguments.end());
    if (options.command.empty()) return tl::unexpected<Error>(Usage("no command after --"));
  }
  std::vector<std::string> own;
  for (auto word = arguments.begin(); word != dashes; ++word) {
    const bool theirs = word->rfind("--benchmark_", 0) == 0 || word->rfind("--v=", 0) == 0;
    (theirs ? options.benchmark_flags : own).push_back(*word);
  }
  traces::CommandLine line{kAbout, "penstock-sweep"};
  line.SetFooter(kFooter);
  line.AddVersion(line.name());
  AddAxisOptions(line, texts);
  AddOtherOptions(line, options, texts);
  const auto print = line.Read(own);
  if (!print) {
    return tl::unexpected<Error>(Usage(fmt::format("{}; see --help", print.error().message)));
  }
  if (*print) {
    options.print = **print;
    return options;
  }
  Result<void> checked = ReadAxes(texts, options);
  if (checked) checked = ReadFixed(texts, options);
  if (checked) checked = Check(texts, options);
  PENSTOCK_TRY(checked);
  return options;
}

}  // namespace penstock::sweep
