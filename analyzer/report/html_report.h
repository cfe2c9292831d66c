// SPDX-License-Identifier: Apache-2.0
//
// The report as one page that needs nothing else: inline SVG and CSS, no script, nothing loaded
// from elsewhere; well-formed as XML too. For people who look at a remote machine. Pure.
#pragma once

#include <string>

#include "analyzer/report/html_data.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

[[nodiscard]] std::string ReportHtml(const Report& report, const ReportPlots& plots);

// The parts of the page that are drawn, each a <figure>, or a sentence that says why there is none.
[[nodiscard]] std::string StageFigure(const Report& report);
[[nodiscard]] std::string StageTableHtml(const Report& report);
[[nodiscard]] std::string GainFigure(const Diagnosis& diagnosis);
[[nodiscard]] std::string LatencyFigure(const std::vector<LatencyRow>& rows);
[[nodiscard]] std::string TimelineFigure(const TimelineExcerpt& excerpt);
[[nodiscard]] std::string QueueFigure(const QueueDepth& queue);
[[nodiscard]] std::string RateFigure(const WorkerCurve& curve);
[[nodiscard]] std::string MemoryFigure(const WorkerCurve& curve);

// What stands where a plot has no data.
[[nodiscard]] std::string NoFigure(const std::string& reason);
// `caption` is text, not markup.
[[nodiscard]] std::string Figure(const std::string& svg, const std::string& caption);

}  // namespace penstock::analyzer
