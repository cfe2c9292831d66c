// SPDX-License-Identifier: Apache-2.0
//
// What the reports say about a device: the stages that it did, with their times and bytes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "loader/main/arguments.h"
#include "loader/pipeline/stats.h"

namespace penstock::loader {

// "cpu" or "device".
[[nodiscard]] std::string_view PlaceOf(const LoadArguments& arguments, Stage stage);
// {"device": "cuda:0", "name": "...", "read": "cpu", "decode": "device", "augment": "device",
//  "jpeg_backend": "hardware", "decode_share": 1}
void AppendPlacement(std::string& out, const LoadArguments& arguments, const DeviceStats& stats);
// Appends times, bytes and rates of copies, decoding and kernels.
void AppendDevice(std::string& out, const DeviceStats& stats);
// The most important of these figures as text, in one or two lines; empty without a device.
[[nodiscard]] std::string DeviceText(const DeviceStats& stats);

}  // namespace penstock::loader
