// SPDX-License-Identifier: Apache-2.0
//
// Hashes of a recording to strings of a trace. Text may come after its first use (threads are
// drained one after the other): the id is given out at once and its text set later; one whose
// text never comes reads "#<hex>". Memory is bounded, 56 MB: beyond some 3 million paths, or
// 400,000 names, one that has not occurred lately gets another id when it does, and its text, which
// agents tell again, is written again. Where it is not told again, "#<hex>" says whose text it is:
// PackedStrings finds it. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/pack.h"
#include "traces/packed/string_table.h"

namespace penstock::traces {

class RecordingStrings {
 public:
  // `hash`: 64 bits of a path or other object, 0 = none.
  [[nodiscard]] StringId Object(std::uint64_t hash, Packer& out);
  // `hash`: the low 32 bits of a name, 0 = none.
  [[nodiscard]] StringId Name(std::uint32_t hash, Packer& out);
  void Text(std::uint64_t hash, std::string_view text, Packer& out);

 private:
  IdCache objects_{std::size_t{1} << 22};
  IdCache names_{std::size_t{1} << 19};  // by 32 bits
  // A name may look like a path. Paths are many, so that some of them share 32 bits with a name:
  // names go first, and of paths only the last can be one, as a name is told before it is used.
  IdCache path_names_{std::size_t{1} << 16};
};

}  // namespace penstock::traces
