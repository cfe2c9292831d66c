// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "loader/set/commands.h"
#include "loader/set/interruption.h"
#include "loader/set/pack.h"
#include "loader/set/progress_bar.h"
#include "loader/set/workers.h"
#include "traces/base/command_line.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kMostNamed = 10;  // at most so many bad samples are named

int ComplainOfPack(const Error& error) {
  fmt::print(stderr, "penstock-load pack: {}\n", error.message);
  return ExitStatus(error.kind);
}

struct Texts {
  std::string source;
  std::string output;
  std::string format;
  std::string index_folder;
};

// Errors: kUsage.
Result<void> Check(const Texts& texts, PackOptions& options) {
  options.output = texts.output;
  const bool named_tar = options.output.extension() == ".tar";
  if (texts.format.empty()) {
    options.format = named_tar ? PackFormat::kTar : PackFormat::kPacked;
  } else if (texts.format == "tar" || texts.format == "packed") {
    options.format = texts.format == "tar" ? PackFormat::kTar : PackFormat::kPacked;
  } else {
    return Fail(ErrorKind::kUsage,
                fmt::format("--format {}: no such format; give packed or tar", texts.format));
  }
  if (options.format == PackFormat::kTar && !named_tar) {
    return Fail(ErrorKind::kUsage,
                fmt::format("-o {}: a tar is found by its name; end it in .tar", texts.output));
  }
  if (options.workers == 0) options.workers = UsableCores();
  return {};
}

void Report(const std::string& output, const PackSummary& summary) {
  fmt::print("{}: {} samples, {:.1f} MB of {:.1f} MB", output, summary.packed,
             static_cast<double>(summary.bytes_written) * 1e-6,
             static_cast<double>(summary.bytes_read) * 1e-6);
  if (summary.encoded > 0) fmt::print(", {} encoded again", summary.encoded);
  if (summary.left_out > 0) fmt::print(", {} bad left out", summary.left_out);
  fmt::print("\n");
}

}  // namespace

int PackCommand(const std::vector<std::string>& arguments) {
  PackOptions options;
  options.workers = 0;
  Texts texts;
  traces::CommandLine line{
      "Packs a data set into one file, which is read in large pieces instead of many small files,\n"
      "and can reduce large pictures once instead of in every epoch. Without --resize and\n"
      "--quality files are copied byte by byte.",
      "penstock-load pack"};
  line.Add("SOURCE", texts.source, "folder, list, tar or packed file").Required();
  line.Add("-o,--output", texts.output, "file to write").Required();
  line.Add("--resize", options.resize,
           "reduce larger pictures to this short side, at quality 95 unless --quality is given")
      .Check(traces::WholeNumber(1, 65500));
  line.Add("--quality", options.quality, "encode every picture again")
      .Check(traces::WholeNumber(1, 100));
  line.Add("--format", texts.format, "packed or tar (default: by the name of the file)");
  line.AddFlag("--skip-bad", options.skip_bad,
               "decode everything, and leave out what cannot be read or decoded");
  line.Add("--workers", options.workers, "threads (default: one per usable core)")
      .Check(traces::WholeNumber(1, 1024));
  line.Add("--index-folder", texts.index_folder,
           "where an index of SOURCE goes (default: beside it)");
  const auto print = line.Read(arguments);
  if (!print) {
    return ComplainOfPack(
        {ErrorKind::kUsage, fmt::format("{}; see --help", print.error().message)});
  }
  if (*print) {
    fmt::print("{}", **print);
    return 0;
  }
  if (Result<void> checked = Check(texts, options); !checked)
    return ComplainOfPack(checked.error());
  SourceOptions source_options;
  source_options.index_folder = texts.index_folder;
  const auto source = OpenSource(texts.source, source_options);
  if (!source) return ComplainOfPack(source.error());
  // Made only now: opening the source can take minutes, and nothing looks at the token meanwhile.
  const Interruption interruption;
  ProgressBar bar((*source)->size(), "samples");
  std::uint64_t bad = 0;
  const auto packed = Pack(
      **source, options, interruption.token(), [&](std::uint64_t done) { bar.Show(done); },
      [&](const std::string& why) {
        if (++bad > kMostNamed) return;
        bar.Clear();
        fmt::print(stderr, "penstock-load pack: left out: {}\n", why);
      });
  bar.Clear();
  if (!packed) {
    const int status = ComplainOfPack(packed.error());
    return interruption.happened() ? 130 : status;
  }
  if (bad > kMostNamed) {
    fmt::print(stderr, "penstock-load pack: left out: {} more\n", bad - kMostNamed);
  }
  Report(texts.output, *packed);
  return 0;
}

}  // namespace penstock::loader
