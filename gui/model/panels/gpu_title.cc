// SPDX-License-Identifier: Apache-2.0
//
// What the GPU view calls the devices and kernels, and why there are none.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "gui/model/panels/gpu.h"
#include "traces/names.h"

namespace penstock::gui {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;  // of the GPU

std::string FactOf(const Facts& facts, std::string_view key) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == key; });
  return found == facts.end() ? "" : found->second;
}

// The models of the devices that were used: "A100, T400". "": not known. A recorder names the
// processes of each device when it ends; its "gpu.model" is that of the first device alone. One
// that was killed has named every device of the machine. They tell something only if they are
// alike, or if as many have streams.
std::string ModelsOf(const Facts& facts, std::size_t streams, Language language) {
  std::vector<std::string> surely;
  std::vector<std::string> maybe;
  std::size_t devices = 0;
  const auto add = [](const std::string& model, std::vector<std::string>& models) {
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  };
  for (const auto& [key, value] : facts) {
    const auto of_device = traces::SplitGpuName(key);
    if (!of_device || of_device->rest != "model") continue;
    const std::string used = FactOf(facts, traces::JoinGpuName(of_device->device, "used"));
    if (used == "process") add(value, surely);
    if (used == "no") continue;
    add(value, maybe);
    ++devices;
  }
  if (surely.empty() && (maybe.size() == 1 || devices == streams)) surely = maybe;
  if (surely.empty()) return FactOf(facts, "gpu.model");
  return fmt::format("{}", fmt::join(surely, TextOf(Text::kListComma, language)));
}

}  // namespace

GpuAbsence WhyNoGpu(const GpuModel& gpu) {
  constexpr std::string_view kNotFound = "cannot open shared object file";  // says dlopen()
  for (const auto& [key, value] : gpu.facts) {
    if (key == "record.gpu" && value == "off") return GpuAbsence::kOff;
    // Other errors of the library, such as a missing function, come from a driver that is there.
    const bool missing = value.find("libnvidia-ml") != std::string::npos &&
                         value.find(kNotFound) != std::string::npos;
    if (key == "gpu.nvml" && value.starts_with("unavailable") && missing) {
      return GpuAbsence::kNoDriver;
    }
  }
  return GpuAbsence::kUnseen;
}

DeviceTitle TitleOfDevices(const GpuModel& gpu, Language language) {
  DeviceTitle title;
  title.name = ModelsOf(gpu.facts, gpu.streams_of.size(), language);
  const std::size_t count = std::max(gpu.kernel_devices, gpu.copy_devices);
  const std::string number = count > 1 ? Filled(Text::kGpuCount, language, count) : "";
  // Each rank may call its device 0. Then the numbers do not tell the devices apart.
  if (title.name.empty() && gpu.streams_of.size() < count) {
    title.name = number;
  } else {
    title.note = number;
    if (!title.name.empty()) return title;
    for (const std::uint32_t device : gpu.streams_of) {
      if (!title.name.empty()) title.name += TextOf(Text::kListComma, language);
      title.name += fmt::format("GPU {}", device);
    }
  }
  if (title.name.empty()) title.name = "–";
  const std::string nvml = FactOf(gpu.facts, "gpu.nvml");
  if (!title.note.empty()) title.note += "  ·  ";
  title.note += nvml.empty() || nvml == "sampled"
                    ? std::string(TextOf(Text::kGpuNotNamed, language))
                    : "NVML" + std::string(TextOf(Text::kColon, language)) + nvml;
  return title;
}

std::string TitleOfCurves(const GpuModel& gpu, Language language) {
  const std::size_t devices = std::max(gpu.kernel_devices, gpu.copy_devices);
  const bool both = gpu.kernels > 0 && gpu.copies > 0;
  const bool alike = !both || gpu.kernel_devices == gpu.copy_devices;
  if (devices < 2 || !alike) return std::string(TextOf(Text::kGpuOverTime, language));
  return Filled(Text::kGpuOverTimeMean, language, devices);
}

Text TitleOfTables(const GpuModel& gpu) {
  if (!gpu.kernel_rows.empty()) return Text::kGpuCopiesAndKernels;
  return gpu.call_rows.empty() ? Text::kGpuCopyKinds : Text::kGpuCopiesAndCalls;
}

std::string KernelTitle(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  if (!name.ends_with(')')) return std::string(name);
  std::size_t open = 0;  // parentheses of the parameters, from the end
  for (std::size_t at = name.size(); at > 0; --at) {
    if (name[at - 1] == ')') ++open;
    if (name[at - 1] == '(' && --open == 0) {
      return std::string(at > 1 ? name.substr(0, at - 1) : name);
    }
  }
  return std::string(name);
}

std::string OfDevices(std::string text, std::size_t devices, Language language) {
  if (devices < 2) return text;
  text += TextOf(Text::kComma, language);
  return text + Filled(Text::kGpuCount, language, devices);
}

}  // namespace penstock::gui
