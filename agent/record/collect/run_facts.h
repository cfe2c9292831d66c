// SPDX-License-Identifier: Apache-2.0
//
// The facts of a run that the collector writes itself. Before the command starts, it writes the
// options and facts about the machine. After the end of the recording, it writes how the recording
// ended. Not thread-safe.
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
  bool launcher_gone = false;       // before the recording ended
  std::int32_t exit_status = -1;    // the command's, as waitpid() gives it; negative: not known
  std::string stopped;              // why it ended before the command; "": it did not
  std::optional<TimeNs> disk_full;  // how long the disk was full; set if it is full at the end
  std::uint64_t walks = 0;          // how often page tables were walked
  TimeNs walks_cpu;                 // the collector's CPU time for walks and reading maps
};

class RunFacts {
 public:
  // Requires: both outlive this object.
  RunFacts(const Options& options, EnrichingPacker& packer) : options_(options), packer_(packer) {}

  // `prepared`: facts from before the start of the collector, such as the files that warm=1 read.
  // `realtime`: the wall time at which the recording began.
  void WriteFirst(const std::map<std::string, std::string>& prepared, const Clock& clock,
                  std::size_t ring_bytes, TimeNs realtime);
  // Writes what --stage copied. Requires: copying has ended.
  void WriteStage(const Stager::Outcome& outcome);
  void WriteLast(const RunEnd& end);

 private:
  // Measures the cost of a page fault and writes it if it is the smallest so far: other programs
  // can only make it larger.
  void WriteFaultCost();
  void WriteDataset();

  const Options& options_;
  EnrichingPacker& packer_;
  std::optional<TimeNs> fault_cost_;  // CPU time for the first touch of a page
};

}  // namespace penstock::record
