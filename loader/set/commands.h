// SPDX-License-Identifier: Apache-2.0
//
// The commands of penstock-load that make data instead of loading it. Each takes the arguments
// after the command's name, prints, and returns an exit status: 0 done, 2 usage, 3 environment or
// output, 4 input, 130 interrupted. While they write they handle SIGINT and SIGTERM, so call them
// only from main().
#pragma once

#include <string>
#include <vector>

namespace penstock::loader {

// `penstock-load make-set DIR --kind imagenet|coco|fullhd ...`: writes a photo-like set of JPEGs.
[[nodiscard]] int MakeSetCommand(const std::vector<std::string>& arguments);

// `penstock-load pack SOURCE -o F ...`: packs a source into one file, offline.
[[nodiscard]] int PackCommand(const std::vector<std::string>& arguments);

}  // namespace penstock::loader
