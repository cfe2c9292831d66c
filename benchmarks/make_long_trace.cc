// SPDX-License-Identifier: Apache-2.0
//
// Writes a synthetic trace of N spans, packed or as a recording, to measure programs that read
// traces.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/core.h>

#include "benchmarks/recording_file.h"
#include "tests/analyzer/long_trace/long_trace.h"
#include "traces/base/command_line.h"
#include "traces/base/program.h"

namespace penstock {
namespace {

using analyzer::testing::LongTrace;

int Write(const LongTrace& run, const std::string& path, bool recording) {
  std::unique_ptr<traces::Packer> out;
  if (recording) {
    out = std::make_unique<benchmarks::RecordingFile>(path, run.spans);
  } else {
    auto packed = traces::CreatePacked(path);
    if (!packed) {
      fmt::print(stderr, "make_long_trace: {}\n", packed.error().message);
      return ExitStatus(packed.error().kind);
    }
    out = std::move(*packed);
  }
  const auto size = WriteLongTrace(run, *out);
  if (const auto done = out->Finish(); !done) {
    fmt::print(stderr, "make_long_trace: {}\n", done.error().message);
    return ExitStatus(done.error().kind);
  }
  fmt::print("{}: {} spans, {} samples, {} batches, {} bytes, {:.2f} bytes a span\n", path,
             size.spans, size.samples, size.batches, out->bytes_written(),
             static_cast<double>(out->bytes_written()) / static_cast<double>(size.spans));
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  penstock::traces::CommandLine line("Writes a trace of a synthetic training run.",
                                     "make_long_trace");
  std::string path;
  penstock::analyzer::testing::LongTrace run;
  bool recording = false;
  using penstock::traces::NumberBetween;
  using penstock::traces::WholeNumber;
  line.Add("trace", path, "File to write").Required();
  const auto number = [&line](const char* name, auto& value, std::uint64_t most, const char* what) {
    line.Add(name, value, what).ShowDefault().Check(WholeNumber(1, most));
  };
  number("--spans", run.spans, 10'000'000'000, "At least so many spans");
  number("--workers", run.workers, 500, "Worker processes");
  number("--prefetch", run.prefetch, 1024, "Batches ahead, for each worker");
  number("--batch", run.batch_size, 65536, "Samples in a batch");
  number("--epoch-batches", run.epoch_batches, 1u << 30, "Batches in an epoch");
  number("--images", run.images, 1u << 30, "Paths");
  line.Add("--step-ms", run.step_ms, "Of the consumer").ShowDefault().Check(NumberBetween(0, 1e6));
  line.Add("--seed", run.seed).ShowDefault().Check(WholeNumber());
  line.AddFlag("--lean", run.lean, "4 spans a sample, as penstock-load writes them");
  line.AddFlag("--recording", recording,
               "As agents leave it, not packed; takes as much memory as the file");
  int status = 0;
  if (!penstock::traces::ParseCommandLine(line, argc, argv, &status)) return status;
  return penstock::Write(run, path, recording);
}
