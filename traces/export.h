// SPDX-License-Identifier: Apache-2.0
//
// Exports a trace as plain text: the formats that need no library (traces/exchange/ has the
// others). Functions; several threads may export a Trace at once.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "traces/trace.h"

namespace penstock::traces {

// Takes the next piece of output; false stops the export.
using TextSink = std::function<bool(std::string_view)>;

// One JSON object per line, each with "type": losses, fact, process, thread, span, event, counter.
// Every value that is not known is null or, for sample and batch, -1.
// Returns false if the sink did. Cost: about 1 us and 400 bytes of text per span; a bounded buffer.
[[nodiscard]] bool ExportJsonLines(const Trace& trace, const TextSink& sink);

// Only the JSON lines in front of the spans (losses, facts, processes), and the threads.
[[nodiscard]] bool ExportJsonHeads(const Trace& trace, const TextSink& sink);

// The spans as a table by RFC 4180 with a header line.
[[nodiscard]] bool ExportCsv(const Trace& trace, const TextSink& sink);

}  // namespace penstock::traces
