// SPDX-License-Identifier: Apache-2.0
//
// Memory in a report: why the workers grow, how much memory they reach with the recorded and the
// suggested setting, and how much of /dev/shm batches need. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

// The memory that a setting takes after the batches of the horizon (WorkerGrowth::horizon).
struct MemoryForecast {
  bool suggested = false;  // the suggested setting; else the recorded one
  int workers = 0;
  int prefetch = 0;
  Interval worker;                        // private bytes of each worker
  Interval total;                         // bytes of all workers and of the batches in flight
  double shared = 0;                      // bytes that batches need of /dev/shm, margin included
  bool fits_shared = true;                // true if the size of /dev/shm is not known
  std::optional<Interval> out_of_memory;  // seconds from the end of the recording
};

// Forecasts for the recorded setting, and for the suggested setting if it differs. There is none
// for a setting without worker processes.
[[nodiscard]] std::vector<MemoryForecast> MemoryForecasts(const Diagnosis& diagnosis);

// Writes the value of the report's key "memory".
void WriteMemoryJson(const Diagnosis& diagnosis, JsonWriter& json);
// A sentence about memory. It is critical if memory or /dev/shm is not enough, and a warning if
// something grows.
struct MemoryNote {
  Statement statement;
  Severity severity = Severity::kInfo;
};
// Memory on the terminal, the page and the dashboard: at most four sentences, empty if nothing is
// known.
[[nodiscard]] std::vector<MemoryNote> MemoryNotes(const Diagnosis& diagnosis);
// These sentences as HTML paragraphs; "" if nothing is known.
[[nodiscard]] std::string MemoryHtml(const Report& report, Language language);

}  // namespace penstock::analyzer
