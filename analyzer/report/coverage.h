// SPDX-License-Identifier: Apache-2.0
//
// How much of the run the recording saw, and which parts it could not see. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct Coverage {
  bool known = false;            // the kernel's count was recorded
  std::uint64_t bytes_seen = 0;  // by hooks
  // By the kernel. Processes without its count, such as programs that ended soon, have what hooks
  // saw.
  std::uint64_t bytes_total = 0;
  std::uint64_t network = 0;  // bytes received from sockets; the kernel's count leaves them out
  std::uint64_t mapped = 0;   // bytes of mapped dataset files; how many were read is not known
  Statements blind;           // what was not seen, and the consequences

  [[nodiscard]] double fraction() const;
};

// `used_gpu`: the run is known to have used a GPU. If the run is known to have had no GPU,
// libraries that need one are not named.
[[nodiscard]] Coverage MeasureCoverage(const traces::Trace& trace, bool used_gpu);

enum class Sight {
  kSeen,     // hooked by symbol
  kPython,   // seen where Python calls it
  kBlind,    // not seen
  kUnknown,  // not a library of interest
};

struct LibrarySight {
  Sight sight = Sight::kUnknown;
  Statement what;    // "AVIF decoding (libavif)"; empty if it is seen or not of interest
  bool gpu = false;  // the library is useless without a GPU
};

// How a mapped library or wheel is seen, by its path.
[[nodiscard]] LibrarySight SightOf(std::string_view path);

}  // namespace penstock::analyzer
