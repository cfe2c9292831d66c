// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a distributed run on the HTML page.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/words/format.h"
#include "analyzer/words/gpu.h"
#include "analyzer/words/page.h"
#include "analyzer/words/page_plots.h"
#include "analyzer/words/verdict.h"

namespace penstock::analyzer {
namespace {

constexpr double kRanksLeft = 90;
constexpr double kRankRow = 22;
constexpr double kRankBar = 16;
constexpr std::size_t kMostBars = 64;

std::string Bars(const RankSummary& ranks, Language language) {
  const std::size_t count = std::min(kMostBars, ranks.rows.size());
  double most = 1e-9;
  for (const RankRow& row : ranks.rows) most = std::max(most, row.wait + row.step);
  const double bottom = 10 + kRankRow * static_cast<double>(count);
  Drawing drawing(kPictureWidth, bottom + 84, Word<words::kRankPlot>(language));
  const Scale x{0, most * 1e3, kRanksLeft, kPictureWidth - 30};
  for (std::size_t i = 0; i < count; ++i) {
    const RankRow& row = ranks.rows[i];
    const double y = 8 + kRankRow * static_cast<double>(i);
    drawing.Text(kRanksLeft - 8, y + 13,
                 Render(Say<words::kRankNumber>(Give<"rank">(row.rank)), language), "end");
    const double middle = x.At(row.wait * 1e3);
    drawing.Rect(
        kRanksLeft, y, middle - kRanksLeft, kRankBar, "s-wait",
        Render(Say<words::kRankWaits>(Give<"rank">(row.rank), Give<"time">(row.wait)), language));
    drawing.Rect(
        middle, y, x.At((row.wait + row.step) * 1e3) - middle, kRankBar, "s-step",
        Render(Say<words::kRankSteps>(Give<"rank">(row.rank), Give<"time">(row.step)), language));
  }
  std::vector<Tick> ticks;
  for (const double value : RoundSteps(most * 1e3, 8)) {
    if (value <= most * 1e3) ticks.push_back({value, fmt::format("{:g}", value)});
  }
  drawing.Below(x, ticks, bottom, 4, Word<words::kRankAxis>(language));
  drawing.Legend(kRanksLeft, bottom + 62,
                 std::array{LegendEntry{"s-wait", Word<words::kLoopWaits>(language)},
                            LegendEntry{"s-step", Word<words::kRankStepLegend>(language)}});
  return Figure(std::move(drawing).Finish(), Word<words::kRankCaption>(language));
}

std::string Table(const RankSummary& ranks, Language language) {
  std::string text =
      TableHead({Word<words::kColumnRank>(language), Word<words::kColumnHost>(language),
                 Word<words::kColumnWorkers>(language), Word<words::kColumnCores>(language),
                 Word<words::kSamplesPerSecond>(language), Word<words::kColumnWaits>(language),
                 Word<words::kColumnWaitMean>(language), Word<words::kColumnStepMean>(language),
                 Word<words::kColumnDataBound>(language), Word<words::kColumnHeldUp>(language)});
  for (const RankRow& row : ranks.rows) {
    text += fmt::format(
        "<tr><th class=\"stage\">{}</th><td>{}</td><td>{}</td><td>{:.3g}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        row.rank, Escaped(ranks.hosts[row.host].name), row.workers, row.cores,
        ShortNumber(row.samples_rate), PercentText(row.wait_fraction), DurationText(row.wait),
        DurationText(row.step), PercentText(row.data_bound), DurationText(row.held_up));
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string RanksHtml(const Report& report, Language language) {
  const RankSummary& ranks = report.diagnosis.ranks;
  const Statement recorded = Say<words::kClause>(Give<"what">(RanksRecorded(report.diagnosis)));
  std::string text = fmt::format("<p>{}</p>\n", Escaped(Render(recorded, language)));
  if (!ranks.several()) return text;
  text += Bars(ranks, language) + Table(ranks, language) + "<ul>\n";
  const auto item = [&](const Statement& line) {
    text += fmt::format("<li>{}</li>\n", Escaped(Render(line, language)));
  };
  item(ImbalanceOf(ranks));
  for (const HostRow& host : ranks.hosts) {
    if (host.recorded > 0) item(HostOf(host));
  }
  for (const ClockRow& clock : ranks.clocks) {
    item(Say<words::kClockOf>(Give<"clock">(ClockOf(clock))));
  }
  return text + "</ul>\n";
}

}  // namespace penstock::analyzer
