// SPDX-License-Identifier: Apache-2.0
//
// Everything about a run that somebody needs who was not there, in one archive: the trace, the
// report as page, JSON and text, facts of the environment.
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
  bool replace = false;          // a file of that name
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

// Errors: kUsage, kOutput; nothing is left behind then. Cost: opens and writes the whole trace.
[[nodiscard]] Result<Bundle> WriteBundle(const traces::Trace& trace, const BundleOptions& options);

}  // namespace penstock::analyzer
