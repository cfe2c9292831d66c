// SPDX-License-Identifier: Apache-2.0
//
// The samples of one tar in WebDataset's layout. Consecutive members are one sample if their paths
// are the same up to the first dot of the file name. .jpg (.jpeg, .png, ...) is its image, .cls its
// label as decimal text. Samples without an image are skipped. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "loader/source/member_index.h"
#include "loader/source/source.h"
#include "traces/base/result.h"

namespace penstock::loader {

// True for the extensions (without dot, in lower or upper case) that torchvision's ImageFolder
// takes.
[[nodiscard]] bool IsImageExtension(std::string_view extension);

// Appends the index of `tar` to `builder`: from its sidecar if that is up to date. Otherwise reads
// the headers of the tar and then writes the sidecar. Returns the number of samples, at least 1.
// Errors: kInput, kOutput.
Result<std::uint64_t> AppendTarIndex(const std::filesystem::path& tar, const SourceOptions& options,
                                     MemberIndexBuilder& builder);

}  // namespace penstock::loader
