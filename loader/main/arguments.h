// SPDX-License-Identifier: Apache-2.0
//
// The command line of penstock-load, read and checked. Values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "loader/augment/program.h"
#include "loader/pipeline/cost.h"
#include "loader/pipeline/options.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::loader {

struct LoadArguments {
  std::string source;
  std::filesystem::path index_folder;
  PipelineOptions pipeline;
  std::string ops;
  ElementType output = ElementType::kF16;
  Layout layout = Layout::kChw;
  Bytes ram_cache{};
  Cost step;         // time of the step after each batch
  TimeNs longest{};  // 0: no limit
  bool digest = false;
  bool json = false;
  std::string device = "cpu";   // or "cuda", "emulated"
  int ordinal = 0;              // number of the device
  std::filesystem::path trace;  // empty: none
};

// The texts of options that are not plain numbers or switches.
struct ArgumentTexts {
  std::string output = "f16", layout = "chw", method = "buffered", on_error = "skip";
  std::string resume, read_latency, decode_cost, augment_cost, collate_cost, step, longest;
  std::vector<std::string> without;
  std::string device, jpeg_backend = "auto";
  std::vector<std::string> gpu;
  double step_ms = 0;
  bool shuffle_off = false, fancy_off = false, lenient = false, libjpeg_huffman = false;
};

// Turns the texts into values. Errors: kUsage, with the name of the option.
Result<void> ReadTexts(const ArgumentTexts& texts, LoadArguments* arguments);

// True if the program shall go on. Else `*status` is its exit status.
bool ParseArguments(int argc, char** argv, LoadArguments* arguments, int* status);

}  // namespace penstock::loader
