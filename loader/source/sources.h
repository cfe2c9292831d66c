// SPDX-License-Identifier: Apache-2.0
//
// The kinds of sources, for OpenSource(), which decides which one a path needs. Thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "loader/source/source.h"
#include "traces/base/result.h"

namespace penstock::loader {

// Opens a folder. Its subfolders are the classes, sorted; files below them are in torchvision's
// order. A folder of images without subfolders is a set without labels.
Result<std::unique_ptr<Source>> OpenFolder(const std::filesystem::path& folder,
                                           const SourceOptions& options);
Result<std::unique_ptr<Source>> OpenList(const std::filesystem::path& list,
                                         const SourceOptions& options);
// Requires: tars is not empty.
Result<std::unique_ptr<Source>> OpenTars(std::vector<std::filesystem::path> tars,
                                         const SourceOptions& options);
Result<std::unique_ptr<Source>> OpenPacked(const std::filesystem::path& file,
                                           const SourceOptions& options);

}  // namespace penstock::loader
