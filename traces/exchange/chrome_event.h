// SPDX-License-Identifier: Apache-2.0
//
// One event of Chrome's Trace Event Format, with its values as texts. The importer interprets them.
// Functions.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "traces/base/units.h"

namespace penstock::traces {

// The fields of one event that are read. Views into the parser, valid while the document is.
struct ChromeEvent {
  std::string_view phase, category, name, pid, tid, id;
  TimeNs start{-1}, duration{}, cpu{-1};
  // args
  std::string_view label, of, role, file, correlation, device, stream, bytes, batch, epoch, sample;
  std::string_view worker, rank, parent;
  std::string_view unfinished, failed;
  // The values of a counter by series. If "args" comes before "ph", the event may be a counter, so
  // all its arguments are here.
  std::vector<std::pair<std::string_view, std::string_view>> values;
  std::vector<std::pair<std::string_view, std::string_view>> facts;
};

// Reads an event. Throws simdjson::simdjson_error if it is malformed.
[[nodiscard]] ChromeEvent ReadChromeEvent(simdjson::ondemand::object event);

}  // namespace penstock::traces
