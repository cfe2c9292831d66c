// SPDX-License-Identifier: Apache-2.0
//
// Previews in packed traces: made from a file's own blocks when it is finished, and read without
// these blocks. Functions; thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "traces/base/file.h"
#include "traces/packed/section.h"
#include "traces/preview.h"

namespace penstock::traces::packed {

// What MakePreviews() must know about a file that is being finished.
struct PreviewSource {
  std::span<const SectionRef> sections;   // all sections that were written
  std::span<const std::uint32_t> stages;  // by thread: bits of the stages that occur
  TimeNs begin;                           // begin of the first span or event
  TimeNs end;
};

// Makes the preview of every thread that has spans, and passes it to `write`, one at a time.
// Cost: decodes every block once, twice if steps are derived; holds one thread's cells in memory.
void MakePreviews(const MappedFile& file, const PreviewSource& source,
                  const std::function<void(const SectionMeta&, const ByteWriter&)>& write);

// nullopt: the file has no preview that belongs to its spans. Requires: IsPacked(file.bytes()).
[[nodiscard]] std::optional<Preview> ReadPackedPreview(const MappedFile& file);

}  // namespace penstock::traces::packed
