// SPDX-License-Identifier: Apache-2.0
//
// Converts hashes of a recording to strings of a trace. A text may come after its first use,
// because threads are drained one after the other: its id is given out at once, and the text is set
// later. If the text never comes, it reads "#<hex>".
//
// Memory is bounded by 56 MB, which is enough for some 3 million paths and 400,000 names. Beyond
// that, a text that has not occurred lately gets another id at its next use. An agent that sends
// the text again gives it to the new id too. Otherwise the new id has the text "#<hex>", by which
// PackedStrings finds the earlier text. Not thread-safe.
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
  IdCache names_{std::size_t{1} << 19};  // by the low 32 bits
  // A name may begin like a path. There are so many paths that some share their low 32 bits with a
  // name. So texts that do not begin like a path take precedence. Among paths with the same bits,
  // the latest one is the name, because a name is sent before it is used.
  IdCache path_names_{std::size_t{1} << 16};
};

}  // namespace penstock::traces
