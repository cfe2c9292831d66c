// SPDX-License-Identifier: Apache-2.0
//
// The commands of penstock-load that make data instead of loading it. Each parses its own
// arguments (those after the command's name), prints, and returns the exit status of a program:
// 0 done, 2 usage, 3 environment or output, 4 input, 130 interrupted. They install handlers of
// SIGINT and SIGTERM while they run and put the former ones back; call them from main() only.
#pragma once

#include <string>
#include <vector>

namespace penstock::loader {

// `penstock-load make-set DIR --kind imagenet|coco|fullhd ...`: writes a photo-like set of JPEGs.
[[nodiscard]] int MakeSetCommand(const std::vector<std::string>& arguments);

// `penstock-load pack SOURCE -o F ...`: packs a source into one file, offline.
[[nodiscard]] int PackCommand(const std::vector<std::string>& arguments);

}  // namespace penstock::loader
