// SPDX-License-Identifier: Apache-2.0
//
// Writes the traces for window_walk_test.py: FOLDER/run.penstock, like the trace of the demo;
// FOLDER/long.penstock with SPANS spans; FOLDER/gpu.penstock with the records of a device;
// FOLDER/loaders.penstock with two loaders; FOLDER/empty.penstock; and FOLDER/cut.penstock, the
// first two thirds of run.penstock.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/core.h>

#include "tests/analyzer/long_trace/long_trace.h"
#include "tests/gui/panels_support.h"
#include "traces/pack.h"
#include "traces/translate.h"

namespace {

using penstock::analyzer::testing::LongTrace;
using penstock::traces::Trace;

bool Write(const std::filesystem::path& path, const LongTrace* run) {
  auto out = penstock::traces::CreatePacked(path);
  if (!out) return false;
  if (run != nullptr) static_cast<void>(penstock::analyzer::testing::WriteLongTrace(*run, **out));
  return (*out)->Finish().has_value();
}

// Writes a trace that is in memory.
bool Write(const std::filesystem::path& path, const Trace& trace) {
  auto out = penstock::traces::CreatePacked(path);
  if (!out) return false;
  penstock::traces::CopyTrace(trace, **out);
  return (*out)->Finish().has_value();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_gui_traces FOLDER SPANS\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  LongTrace run;
  run.spans = 20'000;
  run.workers = 2;
  run.epoch_batches = 20;
  LongTrace long_run;
  long_run.spans = std::strtoull(argv[2], nullptr, 10);
  long_run.workers = 8;
  const auto gpu = penstock::traces::MakeTrace(penstock::gui::testing::MakeGpuRun({}));
  const bool written = Write(folder / "run.penstock", &run) &&
                       Write(folder / "long.penstock", &long_run) &&
                       Write(folder / "gpu.penstock", *gpu) &&
                       Write(folder / "loaders.penstock", *penstock::gui::testing::TwoLoaders()) &&
                       Write(folder / "empty.penstock", static_cast<const LongTrace*>(nullptr));
  if (!written) {
    fmt::print(stderr, "make_gui_traces: {} cannot be written\n", folder.string());
    return 1;
  }
  const auto whole = std::filesystem::file_size(folder / "run.penstock");
  std::filesystem::copy_file(folder / "run.penstock", folder / "cut.penstock",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(folder / "cut.penstock", whole / 3 * 2);
  return 0;
}
