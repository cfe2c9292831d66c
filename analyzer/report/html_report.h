// SPDX-License-Identifier: Apache-2.0
//
// The report as one page without external parts, for people who work on a remote machine: inline
// SVG and CSS, no script, nothing loaded. The page is also well-formed XML. It is in English or
// Chinese; stages, factors, rules and settings keep their names. Pure.
#pragma once

#include <string>

#include "analyzer/report/html_data.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

[[nodiscard]] std::string ReportHtml(const Report& report, const ReportPlots& plots,
                                     Language language);

// The drawn parts of the page. Each is a <figure>, or a sentence that says why there is none.
[[nodiscard]] std::string StageFigure(const Report& report, Language language);
[[nodiscard]] std::string StageTableHtml(const Report& report, Language language);
[[nodiscard]] std::string GainFigure(const Diagnosis& diagnosis, Language language);
[[nodiscard]] std::string LatencyFigure(const std::vector<LatencyRow>& rows, Language language);
[[nodiscard]] std::string TimelineFigure(const TimelineExcerpt& excerpt, Language language);
[[nodiscard]] std::string QueueFigure(const QueueDepth& queue, Language language);
[[nodiscard]] std::string RateFigure(const WorkerCurve& curve, Language language);
[[nodiscard]] std::string MemoryFigure(const WorkerCurve& curve, Language language);

// The text in place of a plot that has no data.
[[nodiscard]] std::string NoFigure(Statement reason, Language language);
// `caption` is text, not markup.
[[nodiscard]] std::string Figure(const std::string& svg, const std::string& caption);

}  // namespace penstock::analyzer
