// SPDX-License-Identifier: Apache-2.0
//
// Text and inline SVG for a page. The page is well-formed HTML and XML, and loads no script, font
// or image. Values; not thread-safe.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// Returns `text` for use between tags and in quoted attributes. Control characters, invalid UTF-8
// and marks that turn the direction of reading (paths may contain anything) become U+FFFD.
[[nodiscard]] std::string Escaped(std::string_view text);

// A paragraph of the CSS class `css`; `text` is text, not markup.
[[nodiscard]] std::string Paragraph(std::string_view css, std::string_view text);

// A figure of a finding: bytes with their unit, other numbers with four digits.
[[nodiscard]] std::string EvidenceText(std::string_view key,
                                       const std::variant<double, std::string>& value);

// The start of a table, with its column titles; the caller appends rows and </tbody></table></div>.
// The first column holds names.
[[nodiscard]] std::string TableHead(std::initializer_list<std::string> columns);

// The text of a message that takes no values.
template <const Message& Said>
[[nodiscard]] std::string Word(Language language) {
  return Render(Say<Said>(), language);
}

// Maps values to places on a drawing. A value outside of the scale gets the place of its end.
struct Scale {
  double low = 0, high = 1;  // values
  double from = 0, to = 1;   // their places
  bool log = false;          // Requires: low > 0

  [[nodiscard]] double At(double value) const;
};

struct Tick {
  double value = 0;
  std::string text;
};
// At most `most` round values from 0 on; the last one is at least `high`.
[[nodiscard]] std::vector<double> RoundSteps(double high, int most);

inline constexpr double kPictureWidth = 900;  // width of every picture on a page

using Points = std::vector<std::pair<double, double>>;

// A colour class and its meaning.
using LegendEntry = std::pair<std::string_view, std::string>;

// One picture; a unit is about a pixel. The page's CSS gives a shape its colour by its class.
// A browser shows `tip` when the mouse is over the shape.
class Drawing {
 public:
  Drawing(double width, double height, std::string_view name);

  void Rect(double x, double y, double width, double height, std::string_view css,
            std::string_view tip = {});
  void Line(double x1, double y1, double x2, double y2, std::string_view css);
  void Path(const Points& points, std::string_view css);
  void Area(const Points& points, std::string_view css);
  void Dot(double x, double y, std::string_view css, std::string_view tip);
  void Text(double x, double y, std::string_view text, std::string_view css = {});
  // An axis at the height `y`, with ticks and title below it and grid lines up to `top`.
  void Below(const Scale& scale, std::span<const Tick> ticks, double y, double top,
             std::string_view title);
  // An axis at `x`, with ticks and title left of it and grid lines to the right up to `right`.
  void Left(const Scale& scale, std::span<const Tick> ticks, double x, double right,
            std::string_view title);
  // Draws coloured squares with their meanings, side by side.
  void Legend(double x, double y, std::span<const LegendEntry> entries);

  [[nodiscard]] std::string Finish() &&;

 private:
  void Shape(std::string_view start, std::string_view tag, std::string_view tip);
  std::string svg_;
};

}  // namespace penstock::analyzer
