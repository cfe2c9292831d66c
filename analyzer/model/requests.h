// SPDX-License-Identifier: Apache-2.0
//
// Requests over HTTP by the processes that make the data, for each host (traces/FORMAT.md, the
// counters http.connect_ns and http.first_byte_ns). Values; pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {

struct HostRequests {
  std::string host;    // "data.example.com", "127.0.0.1:8080"; "": not known
  Summary first_byte;  // seconds from the end of a request to the first byte of its answer
  Summary connect;     // seconds to open a connection, name look-up and TLS included

  [[nodiscard]] std::size_t requests() const { return first_byte.count; }
  [[nodiscard]] std::size_t connections() const { return connect.count; }
  [[nodiscard]] double waited() const { return first_byte.sum + connect.sum; }
};

// The hosts with the most waiting first. Counts the workers of the main loader. The training
// process counts only if it makes its data itself, because it may also send reports to servers.
// Without a loader: all processes.
[[nodiscard]] std::vector<HostRequests> FindRequests(const RunModel& run);

}  // namespace penstock::analyzer
