// SPDX-License-Identifier: Apache-2.0
//
// --trace T: the loader writes its trace itself, without an agent. Each thread fills chunks of its
// own, and now and then a thread of the tracer passes complete entries to a Packer. Memory is
// bounded: if the file cannot keep up, spans are dropped and counted, and the pipeline does not
// wait.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "loader/trace/tracer.h"

namespace penstock::loader {

struct FileTracerOptions {
  std::filesystem::path path{};        // written as path + ".part" until Finish()
  std::vector<std::string> command{};  // argv
  std::string version{};               // of the program
  std::int32_t rank = -1;
  std::int32_t world_size = -1;
  Bytes memory{std::uint64_t{32} << 20};    // for the chunks of all threads
  std::chrono::milliseconds interval{250};  // between two rounds of the writer
};

// A tracer that is destroyed without Finish() leaves a readable file under its temporary name.
// Errors: kOutput if the file cannot be made; Finish(): kOutput if it could not be written whole.
[[nodiscard]] Result<std::unique_ptr<Tracer>> FileTracer(const FileTracerOptions& options);

}  // namespace penstock::loader
