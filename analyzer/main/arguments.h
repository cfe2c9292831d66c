// SPDX-License-Identifier: Apache-2.0
//
// Helpers of all commands for their arguments. A mistake is reported in one line on standard error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/command_line.h"
#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Parses the arguments; `line` has the name of the command. Returns the exit status if nothing is
// left to do, after --help, --version or a mistake. The message about a mistake ends with `hint`,
// or names --help if there is no hint.
[[nodiscard]] std::optional<int> Parse(traces::CommandLine& line,
                                       const std::vector<std::string>& arguments,
                                       std::string_view hint = "");

// Writes "penstock NAME: MESSAGE" to standard error. Returns the exit status for `error`.
int Complain(std::string_view command, const Error& error);

// Opens a trace. If that fails, complains, sets `status` to the exit status and returns nullptr.
[[nodiscard]] std::unique_ptr<traces::Trace> OpenOrComplain(std::string_view command,
                                                            const std::string& path, int& status);

// The words before the first "--", and the words after it. The latter are a command, which may
// contain options and a "--" of its own.
struct SplitWords {
  std::vector<std::string> own;
  std::vector<std::string> command;
};
[[nodiscard]] SplitWords SplitAtDashes(const std::vector<std::string>& arguments);

// Reads "4", "1..16", "2,4,8" or "0,4..8": whole numbers in the order given, each from `least` to
// 1024, and at most 4096 of them. Errors: kUsage.
[[nodiscard]] Result<std::vector<int>> ParseCounts(std::string_view text, int least);

// Reads "8G", "500M", "1.5GiB" or "4096" as bytes, more than 0. K, M, G and T are powers of 1000,
// Ki, Mi, Gi and Ti of 1024. Errors: kUsage.
[[nodiscard]] Result<double> ParseSize(std::string_view text);

}  // namespace penstock::analyzer
