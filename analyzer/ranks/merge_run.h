// SPDX-License-Identifier: Apache-2.0
//
// Merges the traces of one run into one trace on one clock. There is a trace for each rank or host.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ranks/clocks.h"
#include "traces/base/result.h"
#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct MergedPart {
  std::string name;                 // the file
  std::vector<std::int32_t> ranks;  // ranks that it holds, ascending
  Alignment alignment;
};

// Reads all files, finds out how their clocks relate, and copies them to `out`, lowest rank first.
// The caller calls Finish(). Returns the parts in that order.
// Errors: kUsage for a file that is given twice; kInput for a file that cannot be read, is a merged
//         trace already, or holds a rank that another file holds too.
// Requires: at least one path.
// Cost: that of BuildRunModel() for each file, then one more pass over all spans.
[[nodiscard]] Result<std::vector<MergedPart>> MergeRun(std::span<const std::string> paths,
                                                       AlignMethod method, traces::Packer& out);

// Merges as MergeRun() does, but into memory. Requires: at least one path.
[[nodiscard]] Result<std::unique_ptr<traces::Trace>> OpenMerged(std::span<const std::string> paths,
                                                                AlignMethod method);

}  // namespace penstock::analyzer
