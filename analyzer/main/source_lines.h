// SPDX-License-Identifier: Apache-2.0
//
// Lines of the sources that a recorded program ran, read from this machine.
#pragma once

#include "analyzer/report/function_report.h"

namespace penstock::analyzer {

// Reads lines of files that are as they were when the run began at `started`, in seconds since
// 1970: of a file that was changed since, and of one of more than 4 MB, there is none.
[[nodiscard]] LineReader SourceLines(double started);

}  // namespace penstock::analyzer
