// SPDX-License-Identifier: Apache-2.0
//
// Reader of the packed form. Opening decodes tables, events and counters and checks every
// section's checksum; span blocks are decoded when they are visited. The Trace owns the map.
#pragma once

#include <filesystem>
#include <memory>

#include "traces/base/file.h"
#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::traces {

// Whether the file begins as a packed trace does.
[[nodiscard]] bool IsPacked(std::span<const std::byte> file);

// `path` is for messages. Errors: kInput if the major version is another one, nothing is whole, or
// it was stopped.
[[nodiscard]] Result<std::unique_ptr<Trace>> OpenPacked(MappedFile file,
                                                        const std::filesystem::path& path,
                                                        const OpenControl& control = {});

}  // namespace penstock::traces
