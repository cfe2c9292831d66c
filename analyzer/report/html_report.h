// SPDX-License-Identifier: Apache-2.0
//
// The report as one page without external parts, for people who work on a remote machine: inline
// SVG and CSS, no script, nothing loaded. The page is also well-formed XML. It is in English or
// Chinese. In Chinese, stages, factors and rules have Chinese names; settings keep the names of
// their arguments (num_workers). Pure.
#pragma once

#include <string>

#include "analyzer/report/html_data.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

[[nodiscard]] std::string ReportHtml(const Report& report, const ReportPlots& plots,
                                     Language language);

// A drawn part of the page, such as a <figure> with its tables. `missing` says why there is
// no plot; with a plot it is empty. `html` may hold text or tables in either case.
struct Picture {
  std::string html;
  Statement missing;
};
[[nodiscard]] Picture StageFigure(const Report& report, Language language);
// The findings of the page; a sentence if there are none.
[[nodiscard]] std::string FindingsHtml(const Report& report, Language language);
// A list of what could not be checked, with the reasons.
[[nodiscard]] std::string UncheckedHtml(const Report& report, Language language);
[[nodiscard]] std::string StageTableHtml(const Report& report, Language language);
[[nodiscard]] Picture GainFigure(const Diagnosis& diagnosis, Language language);
[[nodiscard]] Picture LatencyFigure(const std::vector<LatencyRow>& rows, Language language);
[[nodiscard]] Picture TimelineFigure(const TimelineExcerpt& excerpt, Language language);
[[nodiscard]] Picture QueueFigure(const QueueDepth& queue, Language language);
[[nodiscard]] Picture RateFigure(const WorkerCurve& curve, Language language);
[[nodiscard]] Picture MemoryFigure(const WorkerCurve& curve, Language language);

[[nodiscard]] Picture NoFigure(Statement reason);
// `caption` is text, not markup.
[[nodiscard]] std::string Figure(const std::string& svg, const std::string& caption);

}  // namespace penstock::analyzer
