// SPDX-License-Identifier: Apache-2.0
//
// The samples of one tar in WebDataset's layout: members that follow each other and share the name
// up to the first dot of its last part are one sample; .jpg (.jpeg, .png, ...) is its image, .cls
// its label as decimal text. Samples without an image are passed over.
// Thread-safe: no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "loader/source/member_index.h"
#include "loader/source/source.h"
#include "traces/base/result.h"

namespace penstock::loader {

// True for the extensions that torchvision's ImageFolder takes, in any case. Without the dot.
[[nodiscard]] bool IsImageExtension(std::string_view extension);

// Appends the index of `tar` to `builder`: from its sidecar if that is fresh, otherwise by walking
// the tar, and then the sidecar is written. Returns the number of samples, at least 1.
// Errors: kInput, kOutput.
Result<std::uint64_t> AppendTarIndex(const std::filesystem::path& tar, const SourceOptions& options,
                                     MemberIndexBuilder& builder);

}  // namespace penstock::loader
