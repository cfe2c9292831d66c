// SPDX-License-Identifier: Apache-2.0
//
// The command line of penstock-record. Parsing has no side effects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/record/overrides.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::record {

struct Options {
  std::filesystem::path output;  // as given, or DefaultOutput(command)
  bool output_given = false;
  bool force = false;       // replace a trace of that name
  bool no_command = false;  // command lines are not recorded
  std::string gpu = "auto";
  TimeNs limit_time;  // 0 = none
  std::string limit_time_text;
  std::uint64_t limit_batches = 0;  // 0 = none
  TimeNs keep;                      // length of the last part to be kept; 0 = keep all
  bool stop = false;                // interrupt the command at the limit
  bool fixed_batch = false;
  std::vector<Override> overrides;
  std::string allocator;  // library to preload for malloc=jemalloc or tcmalloc
  Bytes buffer{64u << 20};
  bool buffer_given = false;
  bool memory = true;             // measure private and shared memory
  TimeNs memory_every;            // 0: as often as ProcSampler's budget allows
  TimeNs probe;                   // length of the windows of experiments; 0: there are none
  std::string stage;              // folder for copies of the files that are read; "": no copies
  std::vector<std::string> data;  // directories of the dataset
  bool quiet = false;
  std::vector<std::string> command;
};

struct Parsed {
  Options options;
  std::optional<std::string> print;  // --help, --version: print this and exit 0
};

// Errors: kUsage.
[[nodiscard]] Result<Parsed> ParseOptions(const std::vector<std::string>& args);

// "500ms", "60s", "5m", "1h", "90" (seconds).
[[nodiscard]] std::optional<TimeNs> ParseDuration(std::string_view text);
// "64M", "65536K", "1G", "67108864"; units are powers of 1024.
[[nodiscard]] std::optional<Bytes> ParseSize(std::string_view text);
// train.penstock for `python -u train.py`, CMD.penstock elsewhere.
[[nodiscard]] std::filesystem::path DefaultOutput(const std::vector<std::string>& command);

}  // namespace penstock::record
