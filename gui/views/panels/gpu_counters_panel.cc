// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/views/panels/gpu_panels.h"
#include "gui/widgets/time_plot.h"

namespace penstock::gui {
namespace {

struct Named {
  std::string_view name;
  Text text;
};
constexpr std::array kNames = {Named{"nvml_utilization_percent", Text::kGpuNvmlUtilization},
                               Named{"nvml_memory_utilization_percent", Text::kGpuMemoryBusy},
                               Named{"memory_used_bytes", Text::kGpuNvmlMemory},
                               Named{"process_memory_bytes", Text::kGpuProcessMemory},
                               Named{"pcie_rx_bytes_per_s", Text::kGpuPcieReceived},
                               Named{"pcie_tx_bytes_per_s", Text::kGpuPcieSent},
                               Named{"power_milliwatts", Text::kGpuPower},
                               Named{"sm_clock_mhz", Text::kGpuClock},
                               Named{"memory_clock_mhz", Text::kGpuMemoryClock},
                               Named{"temperature_celsius", Text::kGpuTemperature}};

std::string LabelOf(const Ui& ui, const GpuModel& gpu, const GpuCounter& counter) {
  std::string label = counter.name;
  for (const Named& named : kNames) {
    if (named.name == counter.name) label = ui.T(named.text);
  }
  const bool several = gpu.counters.front().device != gpu.counters.back().device;
  return several ? ui.F(Text::kGpuDeviceN, counter.device, label) : label;
}

std::string ValueText(GpuUnit unit, double value) {
  switch (unit) {
    case GpuUnit::kPercent:
      return fmt::format("{:.0f} %", value);
    case GpuUnit::kBytes:
      return analyzer::BytesText(static_cast<std::uint64_t>(std::max(value, 0.0)));
    case GpuUnit::kBytesPerSecond:
      return analyzer::BytesText(static_cast<std::uint64_t>(std::max(value, 0.0))) + "/s";
    case GpuUnit::kWatts:
      return fmt::format("{:.0f} W", value);
    case GpuUnit::kCelsius:
      return fmt::format("{:.0f} °C", value);
    case GpuUnit::kMegahertz:
      return fmt::format("{:.0f} MHz", value);
    case GpuUnit::kNone:
      break;
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace

void DrawGpuCounters(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  const Area panel = Panel(ui, area);
  Area inside = Headed(ui, panel, ui.T(Text::kGpuCounters));
  if (gpu.counters.empty()) {
    const float left = TextWidth(ui.strong, ui.T(Text::kGpuCounters)) + ui.Px(12);
    DrawShortened(ui, ui.body, {panel.min.x + left, panel.min.y}, Ink(p.dim),
                  ui.T(Text::kGpuNoCounters), panel.width() - left);
    return;
  }
  std::size_t& chosen = workspace.gpu.counter;
  chosen = std::min(chosen, gpu.counters.size() - 1);
  const GpuCounter& counter = gpu.counters[chosen];
  const float width = std::min(ui.Px(300), panel.width() * 0.5F);
  ImGui::SetCursorScreenPos({panel.max.x - width, panel.min.y - ui.Px(5)});
  ImGui::SetNextItemWidth(width);
  if (ImGui::BeginCombo("##counter", LabelOf(ui, gpu, counter).c_str())) {
    for (std::size_t i = 0; i < gpu.counters.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable(LabelOf(ui, gpu, gpu.counters[i]).c_str(), i == chosen)) chosen = i;
      ImGui::PopID();
    }
    ImGui::EndCombo();
  }
  const std::string low = ValueText(counter.unit, counter.curve.low);
  const std::string high = ValueText(counter.unit, counter.curve.high);
  std::string note = low == high ? ui.F(Text::kGpuCounterConstant, low)
                                 : ui.F(Text::kGpuCounterNote,
                                        ValueText(counter.unit, counter.curve.mean), low, high);
  if (counter.name.starts_with("nvml")) note += std::string("  ·  ") + ui.T(Text::kGpuNvmlNote);
  DrawShortened(ui, ui.small, {inside.min.x, inside.min.y + ui.Px(2)}, Ink(p.dim), note,
                inside.width());
  inside.min.y += FontPixels(ui.small) + ui.Px(8);
  TimePlot plot;
  const Extent extent = workspace.gpu.model.key().extent();
  plot.from = extent.from();
  plot.to = std::max(extent.to(), plot.from + 1e-9);
  plot.most = counter.unit == GpuUnit::kPercent ? 100 : counter.curve.high;
  plot.text = [unit = counter.unit](double value) { return ValueText(unit, value); };
  plot.hint = ui.T(Text::kPlotClickTip);
  plot.lines.push_back({"", StageColour(traces::StageId::kKernel, ui.theme), counter.curve.at,
                        counter.curve.value, 0, 0, true});
  if (const auto at = DrawTimePlot(ui, "##gpucounter", inside, plot)) workspace.ShowMoment(*at);
}

}  // namespace penstock::gui
