// SPDX-License-Identifier: Apache-2.0
//
// `penstock-load device-costs [SOURCE] [-o F]`: measures what decoding, augmentation and conversion
// take of a device for each megapixel, and writes it as `penstock whatif --device-costs` reads it.
#pragma once

#include <string>
#include <vector>

namespace penstock::loader {

// Parses its own arguments (those after its name). Returns the exit status: 0 done, 1 no device, 2
// usage, 3 environment or output, 4 input.
[[nodiscard]] int DeviceCostsCommand(const std::vector<std::string>& arguments);

}  // namespace penstock::loader
