// SPDX-License-Identifier: Apache-2.0
//
// Hashes of a recording to strings of a trace. Text may come after its first use (threads are
// drained one after the other): the id is given out at once and its text set later; one whose
// text never comes reads "#<hex>". Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/pack.h"
#include "traces/string_table.h"

namespace penstock::traces {

class RecordingStrings {
 public:
  // `hash`: 64 bits of a path or other object, 0 = none.
  [[nodiscard]] StringId Object(std::uint64_t hash, Packer& out);
  // `hash`: the low 32 bits of a name, 0 = none.
  [[nodiscard]] StringId Name(std::uint32_t hash, Packer& out);
  void Text(std::uint64_t hash, std::string_view text, Packer& out);

 private:
  IdTable objects_;
  IdTable names_;  // by 32 bits
  // Paths are many, so that some of them share 32 bits with a name: names go first.
  IdTable path_names_;
};

}  // namespace penstock::traces
