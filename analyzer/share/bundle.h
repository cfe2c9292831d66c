// SPDX-License-Identifier: Apache-2.0
//
// One archive with everything about a run that the reader of a bug report needs: the trace, the
// report as page, JSON and text, and facts of the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"
#include "traces/stand_ins.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct BundleOptions {
  std::filesystem::path output;  // .zip or .tar.gz
  bool anonymous = false;        // names are replaced, source lines left out
  bool replace = false;          // whether to replace a file of that name
  std::string_view version;      // of this program
};

struct BundledFile {
  std::string name;
  std::uint64_t size = 0;
};

struct Bundle {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::vector<BundledFile> files;
  std::optional<traces::StandIns::Counts> replaced;  // if it is anonymous
};

// Errors: kUsage, kOutput; after an error no file is left. Cost: opens and writes the whole trace.
[[nodiscard]] Result<Bundle> WriteBundle(const traces::Trace& trace, const BundleOptions& options);

}  // namespace penstock::analyzer
