// SPDX-License-Identifier: Apache-2.0
//
// Text and inline SVG for a page that is well-formed both as HTML and as XML, and that needs
// nothing from elsewhere: no script, font or image. Values; not thread-safe.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// `text` for use between tags and in quoted attributes. Control characters, what is not UTF-8 and
// marks that turn the direction of reading (paths may hold anything) become U+FFFD.
[[nodiscard]] std::string Escaped(std::string_view text);

// A table up to the begin of its body; the first column is that of names.
[[nodiscard]] std::string TableHead(std::initializer_list<std::string> columns);

// A message that has no values.
template <const Message& Said>
[[nodiscard]] std::string Word(Language language) {
  return Render(Say<Said>(), language);
}

// From values to places on a drawing.
struct Scale {
  double low = 0, high = 1;  // values
  double from = 0, to = 1;   // places of them
  bool log = false;          // Requires: low > 0

  [[nodiscard]] double At(double value) const;
};

struct Tick {
  double value = 0;
  std::string text;
};
// At most `most` round values from 0 up to `high`, and the last of them at or above `high`.
[[nodiscard]] std::vector<double> RoundSteps(double high, int most);

inline constexpr double kPictureWidth = 900;  // of every picture of a page

using Points = std::vector<std::pair<double, double>>;

// The class of a colour, and what it means.
using LegendEntry = std::pair<std::string_view, std::string>;

// One picture, sized in units of about a pixel. Classes name what the page's CSS colours; `tip` is
// what a browser shows on hovering over a shape.
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
  // Ticks, grid and title: below `y` up to `top`, or left of `x` up to `right`.
  void Below(const Scale& scale, std::span<const Tick> ticks, double y, double top,
             std::string_view title);
  void Left(const Scale& scale, std::span<const Tick> ticks, double x, double right,
            std::string_view title);
  // Coloured squares with their meaning, side by side.
  void Legend(double x, double y, std::span<const LegendEntry> entries);

  [[nodiscard]] std::string Finish() &&;

 private:
  void Shape(std::string_view start, std::string_view tag, std::string_view tip);
  std::string svg_;
};

}  // namespace penstock::analyzer
