// SPDX-License-Identifier: Apache-2.0
//
// The devices on the HTML page.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "analyzer/report/gpu_phrases.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"
#include "analyzer/words/gpu.h"
#include "analyzer/words/page.h"
#include "analyzer/words/page_plots.h"

namespace penstock::analyzer {
namespace {

constexpr double kGpuLeft = 90;
constexpr double kGpuBar = 26;

void DrawView(Drawing& drawing, const Scale& x, double y, const std::string& name,
              const std::vector<StepPart>& parts, Language language) {
  drawing.Text(x.from - 8, y + 17, name, "end");
  double at = 0;
  for (const StepPart& part : parts) {
    const double from = x.At(at);
    at += part.time;
    drawing.Rect(
        from, y, x.At(at) - from, kGpuBar, part.css,
        Render(Say<words::kPartTip>(Give<"part">(part.name), Give<"time">(part.time)), language));
  }
}

std::string StepFigure(const DeviceActivity& activity, Language language) {
  const double each = activity.window / static_cast<double>(activity.batches);
  Drawing drawing(kPictureWidth, 172, Word<words::kStepPlot>(language));
  const Scale seconds{0, each, kGpuLeft, kPictureWidth - 30};
  const Scale milliseconds{0, each * 1e3, kGpuLeft, kPictureWidth - 30};  // for the axis
  DrawView(drawing, seconds, 8, Word<words::kTheLoop>(language), LoopView(activity), language);
  DrawView(drawing, seconds, 46, Word<words::kTheGpu>(language), DeviceView(activity), language);
  std::vector<Tick> ticks;
  for (const double value : RoundSteps(each * 1e3, 8)) {
    if (value <= each * 1e3) ticks.push_back({value, fmt::format("{:g}", value)});
  }
  drawing.Below(milliseconds, ticks, 82, 4, Word<words::kStepAxis>(language));
  drawing.Legend(kGpuLeft, 146,
                 std::array{LegendEntry{"s-wait", Word<words::kLoopWaits>(language)},
                            LegendEntry{"s-h2d", Word<words::kCopiesLegend>(language)},
                            LegendEntry{"s-sync", Word<words::kSyncLegend>(language)},
                            LegendEntry{"s-step", Word<words::kLaunchLegend>(language)},
                            LegendEntry{"s-kernel", Word<words::kKernels>(language)},
                            LegendEntry{"s-idle", Word<words::kPartUnknown>(language)}});
  return Figure(std::move(drawing).Finish(), Word<words::kStepCaption>(language));
}

std::string CopyTable(const DeviceActivity& activity, double link, Language language) {
  if (activity.copies.empty()) return "";
  std::string text = "<ul>\n";
  for (const CopyTotals& copies : activity.copies) {
    const Statement line =
        Say<words::kCopiesToDevice>(Give<"copies">(CopiesOf(copies, activity, link)));
    text += fmt::format("<li>{}</li>\n", Escaped(Render(line, language)));
  }
  return text + "</ul>\n";
}

std::string KernelList(const Report& report, Language language) {
  if (report.kernels.empty()) return "";
  std::string text = fmt::format("<details><summary>{}</summary><ul>\n",
                                 Escaped(Word<words::kKernelTable>(language)));
  for (const auto& [name, kernel] : report.kernels) {
    text +=
        fmt::format("<li><code>{}</code></li>\n", Escaped(Render(RunsOf(name, kernel), language)));
  }
  return text + "</ul></details>\n";
}

std::string PartTable(const DeviceActivity& activity, Language language) {
  const double each = activity.window / static_cast<double>(activity.batches);
  std::string text =
      TableHead({Word<words::kColumnBatchPart>(language), Word<words::kColumnTime>(language),
                 Word<words::kColumnShare>(language)});
  const auto rows = [&](const std::string& name, const std::vector<StepPart>& parts) {
    text += fmt::format("<tr><th class=\"stage\">{}</th><td>{}</td><td>100 %</td></tr>\n",
                        Escaped(name), DurationText(each));
    for (const StepPart& part : parts) {
      text += fmt::format("<tr><th class=\"child\">{}</th><td>{}</td><td>{}</td></tr>\n",
                          Escaped(Render(part.name, language)), DurationText(part.time),
                          PercentText(part.time / each));
    }
  };
  rows(Word<words::kTheLoop>(language), LoopView(activity));
  rows(Word<words::kTheGpu>(language), DeviceView(activity));
  return text + "</tbody></table></div>\n";
}

}  // namespace

Picture GpuHtml(const Report& report, Language language) {
  std::string text;
  if (report.diagnosis.loader) {
    const DeviceActivity& activity = report.diagnosis.loader->device;
    if (activity.kernels && activity.batches > 0 && activity.window > 0) {
      text += StepFigure(activity, language) + PartTable(activity, language);
    }
    text += CopyTable(activity, UsedLink(report.gpus), language) + KernelList(report, language);
  }
  const auto paragraph = [&](const Statement& what, std::string_view tag) {
    if (what.empty()) return;
    text += fmt::format("<{}>{}</p>\n", tag, Escaped(Render(what, language)));
  };
  Statement not_all = NotAll(report);
  if (!not_all.empty()) paragraph(Say<words::kClause>(Give<"what">(std::move(not_all))), "p");
  for (const GpuCounters& gpu : report.gpus) paragraph(CountersOf(gpu), "p");
  if (!report.gpus.empty()) paragraph(NvmlReason(report), "p class=\"dim\"");
  return {text, NoDevice(report)};
}

}  // namespace penstock::analyzer
