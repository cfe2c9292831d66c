// SPDX-License-Identifier: Apache-2.0
//
// `penstock-load device-costs [SOURCE] [-o F]`: measures how long a device takes to decode, augment
// and convert a megapixel, and writes that for `penstock whatif --device-costs`.
#pragma once

#include <string>
#include <vector>

namespace penstock::loader {

// `arguments`: those after the command's name. Returns the exit status: 0 done, 1 no device, 2
// usage, 3 environment or output, 4 input.
[[nodiscard]] int DeviceCostsCommand(const std::vector<std::string>& arguments);

}  // namespace penstock::loader
