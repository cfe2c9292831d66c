// SPDX-License-Identifier: Apache-2.0
//
// Previews in packed traces: made from a file's own blocks when it is complete, and read without
// touching them. Functions; thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "traces/base/file.h"
#include "traces/packed/section.h"
#include "traces/preview.h"

namespace penstock::traces::packed {

// What is known of a file that is about to be finished.
struct PreviewSource {
  std::span<const SectionRef> sections;   // all that were written
  std::span<const std::uint32_t> stages;  // by thread, bit: stages that occur
  TimeNs begin;                           // of the first span or event
  TimeNs end;
};

// Makes the preview of every thread with spans and hands it to `write`, one at a time.
// Cost: decodes every block once, twice where steps are derived; one thread's cells in memory.
void MakePreviews(const MappedFile& file, const PreviewSource& source,
                  const std::function<void(const SectionMeta&, const ByteWriter&)>& write);

// nullopt: the file has none that belongs to its spans. Requires: IsPacked(file.bytes()).
[[nodiscard]] std::optional<Preview> ReadPackedPreview(const MappedFile& file);

}  // namespace penstock::traces::packed
