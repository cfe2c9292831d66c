// SPDX-License-Identifier: Apache-2.0
//
// Lines of the sources that a recorded program ran, read on this machine.
#pragma once

#include "analyzer/report/function_report.h"

namespace penstock::analyzer {

// Reads lines of files that were not changed since the run began, at `started` seconds since 1970.
// Returns nothing for a file that was changed or is larger than 4 MB, and for a relative path. Each
// file is read once.
[[nodiscard]] LineReader SourceLines(double started);

}  // namespace penstock::analyzer
