// SPDX-License-Identifier: Apache-2.0
//
// Reader of packed traces. Opening decodes tables, events, counters and followed units, and checks
// the checksum of each section that it uses. Blocks of spans are decoded when they are visited. The
// Trace owns the map.
#pragma once

#include <filesystem>
#include <memory>

#include "traces/base/file.h"
#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::traces {

// Whether the file begins like a packed trace.
[[nodiscard]] bool IsPacked(std::span<const std::byte> file);

// `path` is for messages. Errors: kInput if the file has another major version, has no sound part,
// or opening was stopped.
[[nodiscard]] Result<std::unique_ptr<Trace>> OpenPacked(MappedFile file,
                                                        const std::filesystem::path& path,
                                                        const OpenControl& control = {});

}  // namespace penstock::traces
