// SPDX-License-Identifier: Apache-2.0
//
// Memory in a report: what makes the workers grow, what that comes to with the recorded and the
// suggested setting, and what batches need of /dev/shm. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

// What a setting takes when the batches of the horizon are made.
struct MemoryForecast {
  bool suggested = false;  // else the recorded setting
  int workers = 0;
  int prefetch = 0;
  Interval worker;                        // private bytes of each worker
  Interval total;                         // bytes of all workers and of the batches on their way
  double shared = 0;                      // bytes that batches need of /dev/shm, margin included
  bool fits_shared = true;                // as far as its size is known
  std::optional<Interval> out_of_memory;  // seconds from the end of the recording
};

// The recorded setting, and the suggested one where it differs; empty without worker processes.
[[nodiscard]] std::vector<MemoryForecast> MemoryForecasts(const Diagnosis& diagnosis);

// The value of the report's key "memory".
void WriteMemoryJson(const Diagnosis& diagnosis, JsonWriter& json);
// A sentence of it. Critical: memory or /dev/shm does not suffice; a warning: something grows.
struct MemoryNote {
  Statement statement;
  Severity severity = Severity::kInfo;
};
// What terminal, page and dashboard say of it, at most four, in the order of the first two; empty
// where nothing is known.
[[nodiscard]] std::vector<MemoryNote> MemoryNotes(const Diagnosis& diagnosis);
// The same as paragraphs; "" where nothing is known.
[[nodiscard]] std::string MemoryHtml(const Report& report, Language language);

}  // namespace penstock::analyzer
