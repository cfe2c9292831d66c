// SPDX-License-Identifier: Apache-2.0
//
// Reads the options that place stages on a device, and opens that device. Values.
#pragma once

#include <memory>

#include "cuda/device.h"
#include "loader/main/arguments.h"
#include "traces/base/command_line.h"
#include "traces/base/result.h"

namespace penstock::loader {

void AddDeviceOptions(traces::CommandLine& line, LoadArguments& arguments, ArgumentTexts& texts);

// Turns --device, --gpu and --gpu-decoder into values. Errors: kUsage, with the name of the option.
[[nodiscard]] Result<void> ReadPlacement(const ArgumentTexts& texts, LoadArguments* arguments);

// Opens the device that the arguments name. nullptr for the CPU. Errors: kEnvironment, in one line.
[[nodiscard]] Result<std::unique_ptr<cuda::Device>> OpenNamedDevice(const LoadArguments& arguments);

}  // namespace penstock::loader
