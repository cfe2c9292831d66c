// SPDX-License-Identifier: Apache-2.0
//
// Lines of the sources that a recorded program ran, read on this machine.
#pragma once

#include "analyzer/report/function_report.h"

namespace penstock::analyzer {

// Returns a reader for lines of files that have not changed since the run began, at `started`
// seconds since 1970. The reader returns no line in these cases: the file has changed or is larger
// than 4 MiB, the path is relative, or `started` is not known (0). Each file is read once.
// Threads: one at a time, copies of the reader included.
[[nodiscard]] LineReader SourceLines(double started);

}  // namespace penstock::analyzer
