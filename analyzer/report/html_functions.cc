// SPDX-License-Identifier: Apache-2.0
//
// Functions of the program on the page: a table, and a flame graph as a picture.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/core.h>

#include "analyzer/report/flame.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/stall_report.h"
#include "analyzer/words/functions.h"
#include "analyzer/words/page.h"

namespace penstock::analyzer {
namespace {

constexpr double kFlameRow = 19;

std::string FlameFigure(const FunctionProfile& profile, Language language) {
  constexpr std::size_t kDepth = 40;
  constexpr double kLetter = 7;
  const std::vector<FlameBox> boxes = FlameBoxes(profile.paths);
  std::size_t depth = 0;
  for (const FlameBox& box : boxes) depth = std::max(depth, std::min(kDepth, box.depth));
  Drawing drawing(kPictureWidth, kFlameRow * static_cast<double>(depth + 1) + 4,
                  Render(NameOf(profile), language));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const CallPath& path = profile.paths[i];
    const double width = path.total * kPictureWidth;
    if (boxes[i].depth > kDepth || width < 1) continue;
    const double x = boxes[i].left * kPictureWidth;
    const double y = 2 + kFlameRow * static_cast<double>(boxes[i].depth);
    const std::string place = path.file.empty() ? path.name : PlaceOf(path.file, path.line);
    const Statement tip = Say<words::kCallPathTip>(Give<"name">(path.name), Give<"place">(place),
                                                   Give<"share">(path.total));
    const bool library = path.file.empty() || IsLibrary(path.file);
    drawing.Rect(x, y, std::max(1.0, width - 1), kFlameRow - 1, library ? "f-library" : "f-program",
                 Render(tip, language));
    const auto letters = static_cast<std::size_t>(std::max(0.0, width - 6) / kLetter);
    if (letters >= 4) drawing.Text(x + 4, y + 13, PlainText(path.name, letters), "flame");
  }
  return Figure(std::move(drawing).Finish(), Word<words::kFlameCaption>(language));
}

std::string FunctionTable(const Report& report, const FunctionProfile& profile, Language language) {
  constexpr double kLeast = 0.01;
  constexpr std::size_t kMost = 20;
  std::string text =
      TableHead({Render(NameOf(profile), language), Word<words::kColumnShare>(language),
                 Word<words::kColumnWithCalled>(language), Word<words::kColumnCalls>(language)});
  const auto add = [&](std::string_view css, const std::string& name, double share,
                       const std::string& total, double count) {
    text += fmt::format("<tr><th class=\"{}\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", css,
                        name, PercentText(share * profile.scale()), total, ShortNumber(count));
  };
  const auto add_called = [&](std::string_view css, const std::vector<CalledTime>& all) {
    for (const CalledTime& called : all) {
      if (called.share * profile.scale() < kLeast) break;
      add(css, fmt::format("<code>{}()</code>", Escaped(PlainText(called.name, 80))), called.share,
          "", called.count);
    }
  };
  std::size_t rows = 0;
  for (const FunctionTime& function : profile.functions) {
    if (function.share * profile.scale() < kLeast || rows++ == kMost) break;
    const std::string place =
        function.file.empty() ? "" : PlaceOf(function.file, function.line) + " ";
    add("stage", Escaped(PlainText(place + function.name, 80)), function.share,
        PercentText(function.total * profile.scale()), function.count);
    for (const LineTime& line : function.lines) {
      if (line.share * profile.scale() < kLeast) break;
      std::string name = Escaped(Render(Say<words::kLineOf>(Give<"line">(line.line)), language));
      const auto source = report.sources.find({function.file, line.line});
      if (source != report.sources.end()) {
        name += fmt::format(" <code>{}</code>", Escaped(PlainText(source->second, 100)));
      }
      add("child", name, line.share, "", line.count);
      add_called("child deep", line.called);
    }
    if (function.lines.empty()) add_called("child", function.called);
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

Picture FunctionsHtml(const Report& report, Language language) {
  const std::string stalls = StallsHtml(report, language);
  if (report.diagnosis.functions.empty()) {
    Picture none = NoFigure(Say<words::kFunctionsNone>());
    none.html += stalls;
    return none;
  }
  std::string text = stalls;
  for (const FunctionProfile& profile : report.diagnosis.functions) {
    const Statement followed = Say<words::kFollowed>(Give<"units">(profile.units));
    text += fmt::format("<h3>{}</h3>\n<p class=\"dim\">{}</p>\n",
                        Escaped(Render(NameOf(profile), language)),
                        Escaped(Render(followed, language)));
    const Statement slower = SlowerThanUsual(profile);
    if (!slower.empty()) text += fmt::format("<p>{}</p>\n", Escaped(Render(slower, language)));
    text += FlameFigure(profile, language) + FunctionTable(report, profile, language);
  }
  if (report.following_cost) {
    const Statement cost = Say<words::kFollowingCost>(Give<"cost">(*report.following_cost));
    text += fmt::format("<p class=\"dim\">{}</p>\n", Escaped(Render(cost, language)));
  }
  return {text, {}};
}

}  // namespace penstock::analyzer
