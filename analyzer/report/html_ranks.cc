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

namespace penstock::analyzer {
namespace {

constexpr double kRanksLeft = 90;
constexpr double kRankRow = 22;
constexpr double kRankBar = 16;
constexpr std::size_t kMostBars = 64;

std::string Bars(const RankSummary& ranks) {
  const std::size_t count = std::min(kMostBars, ranks.rows.size());
  double most = 1e-9;
  for (const RankRow& row : ranks.rows) most = std::max(most, row.wait + row.step);
  const double bottom = 10 + kRankRow * static_cast<double>(count);
  Drawing drawing(kPictureWidth, bottom + 84, "An iteration of each rank");
  const Scale x{0, most * 1e3, kRanksLeft, kPictureWidth - 30};
  for (std::size_t i = 0; i < count; ++i) {
    const RankRow& row = ranks.rows[i];
    const double y = 8 + kRankRow * static_cast<double>(i);
    drawing.Text(kRanksLeft - 8, y + 13, fmt::format("rank {}", row.rank), "end");
    const double middle = x.At(row.wait * 1e3);
    drawing.Rect(kRanksLeft, y, middle - kRanksLeft, kRankBar, "s-wait",
                 fmt::format("rank {} waits for data: {}", row.rank, DurationText(row.wait)));
    drawing.Rect(middle, y, x.At((row.wait + row.step) * 1e3) - middle, kRankBar, "s-step",
                 fmt::format("rank {}, its step: {}", row.rank, DurationText(row.step)));
  }
  std::vector<Tick> ticks;
  for (const double value : RoundSteps(most * 1e3, 8)) {
    if (value <= most * 1e3) ticks.push_back({value, fmt::format("{:g}", value)});
  }
  drawing.Below(x, ticks, bottom, 4, "milliseconds of an iteration, medians");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kLegend = {
      {{"s-wait", "waits for data"}, {"s-step", "step, waiting for other ranks included"}}};
  drawing.Legend(kRanksLeft, bottom + 62, kLegend);
  return Figure(std::move(drawing).Finish(),
                "In a collective all ranks wait for the last: who waits little for data has a long "
                "step, and the one with the longest wait holds the others up.");
}

std::string Table(const RankSummary& ranks) {
  std::string text =
      "<div class=\"scroll\"><table><thead><tr><th>rank</th><th>host</th><th>workers</th>"
      "<th>cores</th><th>samples/s</th><th>waits</th><th>wait, median</th><th>step, median</th>"
      "<th>data-bound</th><th>others held up</th></tr></thead><tbody>\n";
  for (const RankRow& row : ranks.rows) {
    text += fmt::format(
        "<tr><th class=\"stage\">{}</th><td>{}</td><td>{}</td><td>{:.3g}</td><td>{:.4g}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        row.rank, Escaped(ranks.hosts[row.host].name), row.workers, row.cores, row.samples_rate,
        PercentText(row.wait_fraction), DurationText(row.wait), DurationText(row.step),
        PercentText(row.data_bound), DurationText(row.held_up));
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string RanksHtml(const Report& report) {
  const RankSummary& ranks = report.diagnosis.ranks;
  std::string text = fmt::format("<p>{}.</p>\n", Escaped(RanksLine(report.diagnosis)));
  if (!ranks.several()) return text;
  text += Bars(ranks) + Table(ranks) + "<ul>\n";
  const auto item = [&](const std::string& line) {
    text += fmt::format("<li>{}</li>\n", Escaped(line));
  };
  item(ImbalanceLine(ranks));
  for (const HostRow& host : ranks.hosts) {
    if (host.recorded > 0) item(HostLine(host));
  }
  for (const ClockRow& clock : ranks.clocks) item("clock of " + ClockLine(clock));
  return text + "</ul>\n";
}

}  // namespace penstock::analyzer
