// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"
#include "gui/model/panels/loop_rate.h"
#include "gui/model/panels/ranks.h"
#include "gui/views/panels/overview_parts.h"
#include "gui/widgets/time_plot.h"

namespace penstock::gui {

using traces::StageId;

void DrawLoopRate(const Ui& ui, Workspace& workspace, Area area) {
  const Analysis& analysis = *workspace.Shown().analysis;
  const LoopRate& loop = analysis.loop_rate;
  const Area inside =
      Headed(ui, Panel(ui, area), TitleOfRank(analysis.report, Text::kLoopOverTime, ui.language));
  const float middle = std::floor((inside.min.x + inside.max.x) / 2);
  TimePlot plot;
  plot.from = loop.rate.from;
  plot.to = loop.rate.to();
  plot.hint = ui.T(Text::kPlotClickTip);
  const auto draw = [&](const char* id, const std::string& name, StageId colour,
                        const Series& series, float left, float right) {
    const Rgb ink = StageColour(colour, ui.theme);
    plot.lines = {{name, ink, {}, series.value, series.from, series.width, true}};
    const Area half{{left, inside.min.y}, {right, inside.max.y}};
    if (const auto at = DrawTimePlot(ui, id, half, plot)) workspace.ShowMoment(*at);
  };
  const std::string unit = Render(analyzer::RateUnit(analysis.report.diagnosis), ui.language);
  if (loop.change) {
    plot.marks = {
        {loop.change->at, fmt::format("{} → {} {}", analyzer::ShortNumber(loop.change->before),
                                      analyzer::ShortNumber(loop.change->after), unit)}};
  }
  plot.most = loop.rate.most();
  plot.text = [](double rate) { return rate > 0 ? analyzer::ShortNumber(rate) : "0"; };
  draw("##rate", unit, StageId::kStep, loop.rate, inside.min.x, middle - ui.Px(10));
  for (TimeMark& mark : plot.marks) mark.text.clear();
  plot.most = 1;
  plot.text = [](double share) { return analyzer::PercentText(share); };
  draw("##wait", ui.T(Text::kLoopWaiting), StageId::kWait, loop.wait, middle + ui.Px(10),
       inside.max.x);
}

}  // namespace penstock::gui
