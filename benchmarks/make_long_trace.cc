// SPDX-License-Identifier: Apache-2.0
//
// Writes a synthetic packed trace of N spans, to measure what reads traces.
#include <cstdio>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "tests/analyzer/long_trace/long_trace.h"

using penstock::analyzer::testing::LongTrace;
using penstock::analyzer::testing::WriteLongTrace;

int main(int argc, char** argv) {
  CLI::App app("Writes a packed trace of a synthetic training run.", "make_long_trace");
  std::string path;
  LongTrace run;
  app.add_option("trace", path, "File to write")->required();
  app.add_option("--spans", run.spans, "At least so many spans")->capture_default_str();
  app.add_option("--workers", run.workers)->capture_default_str()->check(CLI::Range(1, 1024));
  app.add_option("--prefetch", run.prefetch)->capture_default_str()->check(CLI::Range(1, 1024));
  app.add_option("--batch", run.batch_size)->capture_default_str()->check(CLI::Range(1, 65536));
  app.add_option("--epoch-batches", run.epoch_batches)->capture_default_str();
  app.add_option("--images", run.images, "Paths")->capture_default_str();
  app.add_option("--step-ms", run.step_ms)->capture_default_str();
  app.add_option("--seed", run.seed)->capture_default_str();
  app.add_flag("--lean", run.lean, "4 spans a sample, as penstock-load writes them");
  CLI11_PARSE(app, argc, argv);
  run.epoch_batches = run.epoch_batches > 0 ? run.epoch_batches : 1;
  run.images = run.images > 0 ? run.images : 1;
  auto out = penstock::traces::CreatePacked(path);
  if (!out) {
    fmt::print(stderr, "make_long_trace: {}\n", out.error().message);
    return 1;
  }
  const auto size = WriteLongTrace(run, **out);
  if (const auto done = (*out)->Finish(); !done) {
    fmt::print(stderr, "make_long_trace: {}\n", done.error().message);
    return 1;
  }
  fmt::print("{}: {} spans, {} samples, {} batches, {} bytes, {:.2f} bytes a span\n", path,
             size.spans, size.samples, size.batches, (*out)->bytes_written(),
             static_cast<double>((*out)->bytes_written()) / static_cast<double>(size.spans));
  return 0;
}
