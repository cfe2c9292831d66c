// SPDX-License-Identifier: Apache-2.0
//
// The facts of a run that the collector writes itself: what was asked for and on which machine,
// before the command starts; how the recording ended, after it. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "agent/record/collect/stager.h"
#include "agent/record/options.h"
#include "agent/record/sample/clock.h"
#include "agent/record/sample/enrich.h"

namespace penstock::record {

// How a recording ended.
struct RunEnd {
  TimeNs duration;
  bool launcher_gone = false;
  std::int32_t exit_status = -1;  // wait status; negative: not known
  std::string stopped;            // why it ended before the command
  std::optional<TimeNs> disk_full;
  std::uint64_t walks = 0;  // of page tables
  TimeNs walks_cpu;
};

class RunFacts {
 public:
  // Requires: both outlive this object.
  RunFacts(const Options& options, EnrichingPacker& packer) : options_(options), packer_(packer) {}

  // `prepared`: facts about what was prepared for the run.
  void WriteFirst(const std::map<std::string, std::string>& prepared, const Clock& clock,
                  std::size_t ring_bytes, TimeNs realtime);
  // What copying for --stage came to.
  void WriteStage(const Stager::Outcome& outcome);
  void WriteLast(const RunEnd& end);

 private:
  // Writes the smallest cost measured so far, since other programs can only make it larger.
  void WriteFaultCost();
  void WriteDataset();

  const Options& options_;
  EnrichingPacker& packer_;
  std::optional<TimeNs> fault_cost_;  // CPU time for the first touch of a page
};

}  // namespace penstock::record
