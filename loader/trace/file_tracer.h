// SPDX-License-Identifier: Apache-2.0
//
// --trace T: the loader writes its trace itself, without an agent. Each thread fills chunks of its
// own; a thread of the tracer takes what is complete to a Packer, now and then. Memory is bounded:
// where the file cannot keep up, spans are dropped and counted, and the pipeline does not wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "loader/trace/tracer.h"

namespace penstock::loader {

struct FileTracerOptions {
  std::filesystem::path path;               // final name; written as path + ".part" until Finish()
  std::vector<std::string> command;         // argv
  Bytes memory{std::uint64_t{32} << 20};    // of all threads' chunks
  std::chrono::milliseconds interval{250};  // between two looks at the threads
};

// Errors: kOutput if the file cannot be made.
[[nodiscard]] Result<std::unique_ptr<Tracer>> FileTracer(const FileTracerOptions& options);

}  // namespace penstock::loader
