// SPDX-License-Identifier: Apache-2.0
//
// Writes a synthetic set of JPEGs. The bytes depend on all options except `workers` and `folder`,
// and on nothing else. The set appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>

#include "loader/set/recipe.h"
#include "traces/base/result.h"

namespace penstock::loader {

enum class SetFormat {
  kFolder,  // classNN/INDEX.jpg
  kTar,     // SET-NNNNNN.tar in WebDataset's layout: INDEX.jpg and INDEX.cls
  kList,    // images/INDEX.jpg and list.txt: lines "path label", paths relative to the list
};

struct SetOptions {
  std::filesystem::path folder;
  const SetRecipe* recipe = nullptr;
  std::uint64_t count = 0;    // >= 1
  std::uint64_t classes = 0;  // >= 1
  std::uint64_t seed = 0;
  unsigned workers = 1;  // >= 1
  SetFormat format = SetFormat::kFolder;
  std::uint64_t shard = 1000;  // pictures in a tar file
};

struct SetSummary {
  std::uint64_t bytes = 0;  // of all pictures
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool already_there = false;  // the folder held the same set, so nothing was done
};

[[nodiscard]] std::string_view SetFormatName(SetFormat format);

// Makes the set beside `folder`, with a manifest set.json, and renames it at the end. An empty
// folder is replaced; a folder that holds the same set is left as it is. `progress` is called with
// the number of finished pictures, from any of the threads, one call at a time.
//
// Errors: kUsage if the folder has no name or holds anything else; kOutput if it cannot be written;
//         kEnvironment "interrupted" once `stop` is requested. An unfinished set is removed.
Result<SetSummary> MakeSet(const SetOptions& options, const std::stop_token& stop,
                           const std::function<void(std::uint64_t)>& progress);

}  // namespace penstock::loader
