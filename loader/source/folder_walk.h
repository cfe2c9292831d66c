// SPDX-License-Identifier: Apache-2.0
//
// The images below one class folder, in the order in which torchvision's ImageFolder finds them. No
// state, so thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "traces/base/result.h"

namespace penstock::loader {

struct FolderEntries {
  std::vector<std::string> folders;  // names, sorted by bytes; links to folders are among them
  std::vector<std::string> files;    // everything else, broken links included
};

// Errors: kInput if the folder cannot be read.
Result<FolderEntries> ListFolder(const std::filesystem::path& folder);

struct FolderFiles {
  std::string folder;              // relative to the root; empty: the root itself
  std::vector<std::string> files;  // sorted; those with an image's extension
};

// `root` and the folders below it, those that hold images, sorted by their paths as bytes (so "a-b"
// comes before "a/b"), as sorted(os.walk(root, followlinks=True)) gives them. Memory: the names of
// all folders and images below `root`.
// Errors: kInput: a folder cannot be read, or a link leads to a folder above itself.
Result<std::vector<FolderFiles>> WalkImages(const std::filesystem::path& root);

// The part after the last dot; empty if there is none.
[[nodiscard]] std::string_view FileExtension(std::string_view name);

}  // namespace penstock::loader
