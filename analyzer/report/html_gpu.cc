// SPDX-License-Identifier: Apache-2.0
//
// The devices on the HTML page.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/report/gpu_phrases.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

constexpr double kGpuLeft = 90;
constexpr double kGpuBar = 26;

void DrawView(Drawing& drawing, const Scale& x, double y, std::string_view name,
              const std::vector<StepPart>& parts) {
  drawing.Text(x.from - 8, y + 17, name, "end");
  double at = 0;
  for (const StepPart& part : parts) {
    const double from = x.At(at);
    at += part.time;
    drawing.Rect(from, y, x.At(at) - from, kGpuBar, part.css,
                 fmt::format("{}: {}", part.name, DurationText(part.time)));
  }
}

std::string StepFigure(const DeviceActivity& activity) {
  const double each = activity.window / static_cast<double>(activity.batches);
  Drawing drawing(kPictureWidth, 172, "A step, as the loop and as the device spend it");
  const Scale x{0, each * 1e3, kGpuLeft, kPictureWidth - 30};
  const Scale places{0, each, kGpuLeft, kPictureWidth - 30};
  DrawView(drawing, places, 8, "the loop", LoopView(activity));
  DrawView(drawing, places, 46, "the GPU", DeviceView(activity));
  std::vector<Tick> ticks;
  for (const double value : RoundSteps(each * 1e3, 8)) {
    if (value <= each * 1e3) ticks.push_back({value, fmt::format("{:g}", value)});
  }
  drawing.Below(x, ticks, 82, 4, "milliseconds from batch to batch");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kLegend = {
      {{"s-wait", "waits for data"},
       {"s-h2d", "copies"},
       {"s-sync", "synchronisation"},
       {"s-step", "host launches"},
       {"s-kernel", "kernels"},
       {"s-idle", "unknown"}}};
  drawing.Legend(kGpuLeft, 146, kLegend);
  return Figure(std::move(drawing).Finish(),
                "The same time twice. Above, what the training loop's thread did; below, what the "
                "device did, and where it stood idle, what the loop was at meanwhile. A wait for "
                "data costs nothing while kernels run below it.");
}

std::string CopyTable(const DeviceActivity& activity, double link) {
  if (activity.copies.empty()) return "";
  std::string text = "<ul>\n";
  for (const CopyTotals& copies : activity.copies) {
    text += fmt::format("<li>Copies to the device: {}</li>\n",
                        Escaped(CopiesText(copies, activity, link)));
  }
  return text + "</ul>\n";
}

std::string KernelList(const Report& report) {
  if (report.kernels.empty()) return "";
  std::string text =
      "<details><summary>The most expensive kernels of the recording</summary><ul>\n";
  for (const auto& [name, kernel] : report.kernels) {
    text += fmt::format("<li><code>{}</code></li>\n", Escaped(KernelText(name, kernel)));
  }
  return text + "</ul></details>\n";
}

std::string PartTable(const DeviceActivity& activity) {
  const double each = activity.window / static_cast<double>(activity.batches);
  std::string text =
      "<div class=\"scroll\"><table><thead><tr><th>for one batch</th><th>time</th><th>share</th>"
      "</tr></thead><tbody>\n";
  const auto rows = [&](std::string_view name, const std::vector<StepPart>& parts) {
    text += fmt::format("<tr><th class=\"stage\">{}</th><td>{}</td><td>100 %</td></tr>\n", name,
                        DurationText(each));
    for (const StepPart& part : parts) {
      text += fmt::format("<tr><th class=\"child\">{}</th><td>{}</td><td>{}</td></tr>\n", part.name,
                          DurationText(part.time), PercentText(part.time / each));
    }
  };
  rows("the loop", LoopView(activity));
  rows("the GPU", DeviceView(activity));
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string GpuHtml(const Report& report) {
  std::string text;
  const std::string missing = NoDeviceText(report);
  if (!missing.empty()) text += NoFigure(missing + ".");
  if (report.diagnosis.loader) {
    const DeviceActivity& activity = report.diagnosis.loader->device;
    if (activity.kernels && activity.batches > 0 && activity.window > 0) {
      text += StepFigure(activity) + PartTable(activity);
    }
    text += CopyTable(activity, UsedLink(report.gpus)) + KernelList(report);
  }
  const std::string not_all = NotAllText(report);
  if (!not_all.empty()) text += fmt::format("<p>{}.</p>\n", Escaped(not_all));
  for (const GpuCounters& gpu : report.gpus) {
    text += fmt::format("<p>{}</p>\n", Escaped(GpuLine(gpu)));
  }
  const std::string nvml = NvmlText(report);
  if (!nvml.empty()) text += fmt::format("<p class=\"dim\">{}</p>\n", Escaped(nvml));
  return text;
}

}  // namespace penstock::analyzer
