// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/html_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/core.h>

#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

// Bytes of the UTF-8 character at the front of `text`; 0 if a page may not contain it.
std::size_t CharacterSize(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t size = lead >= 0xf0 ? 4 : (lead >= 0xe0 ? 3 : 2);
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  std::uint32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool direction = code == 0x061c || code == 0x200e || code == 0x200f ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  const bool control = code < 0xa0 || (code & 0xfffeu) == 0xfffe || code > 0x10ffff;
  return too_long || surrogate || direction || control ? 0 : size;
}

// An estimate of the width of a tick's text. A Chinese character is as wide as two Latin letters.
double WidthOf(std::string_view text) {
  constexpr double kLetter = 6.6;
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool first = (byte & 0xc0u) != 0x80u;  // the first byte of a UTF-8 character
    if (first) width += byte < 0x80 ? kLetter : 2 * kLetter;
  }
  return width;
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = CharacterSize(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    if (size == 0) {
      out += "\xef\xbf\xbd";
    } else if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "'") {
      out += "&#39;";
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string Paragraph(std::string_view css, std::string_view text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css, Escaped(text));
}

std::string EvidenceText(std::string_view key, const std::variant<double, std::string>& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  if (key.ends_with("_bytes")) return BytesText(number);
  const bool in_full = number == std::floor(number) || std::abs(number) >= 1e4;
  return in_full ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

std::string TableHead(std::initializer_list<std::string> columns) {
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& column : columns) text += fmt::format("<th>{}</th>", Escaped(column));
  return text + "</tr></thead><tbody>\n";
}

double Scale::At(double value) const {
  const double part = log ? std::log(std::max(value, low) / low) / std::log(high / low)
                          : (value - low) / (high - low);
  return from + std::clamp(std::isfinite(part) ? part : 0.0, 0.0, 1.0) * (to - from);
}

std::vector<double> RoundSteps(double high, int most) {
  if (!(high > 0) || !std::isfinite(high)) high = 1;
  const double least = high / std::max(1, most - 1);
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // steps of 1, 2, 5, 10
    if (step >= least * (1 - 1e-9)) break;
    step *= factor;
  }
  std::vector<double> steps = {0};
  while (steps.back() < high * (1 - 1e-9)) {
    steps.push_back(step * static_cast<double>(steps.size()));
  }
  return steps;
}

Drawing::Drawing(double width, double height, std::string_view name) {
  svg_ = fmt::format(
      "<svg role=\"img\" aria-label=\"{}\" "
      "viewBox=\"0 0 {:.0f} {:.0f}\">",
      Escaped(name), width, height);
}

void Drawing::Shape(std::string_view start, std::string_view tag, std::string_view tip) {
  svg_ += start;
  if (tip.empty()) {
    svg_ += "/>";
  } else {
    svg_ += fmt::format("><title>{}</title></{}>", Escaped(tip), tag);
  }
}

void Drawing::Rect(double x, double y, double width, double height, std::string_view css,
                   std::string_view tip) {
  Shape(
      fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"",
                  css, x, y, std::max(width, 0.0), std::max(height, 0.0)),
      "rect", tip);
}

void Drawing::Line(double x1, double y1, double x2, double y2, std::string_view css) {
  svg_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
                  css, x1, y1, x2, y2);
}

void Drawing::Path(const Points& points, std::string_view css) {
  svg_ += fmt::format("<polyline class=\"{}\" points=\"", css);
  for (const auto& [x, y] : points) svg_ += fmt::format("{:.1f},{:.1f} ", x, y);
  svg_ += "\"/>";
}

void Drawing::Area(const Points& points, std::string_view css) {
  svg_ += fmt::format("<polygon class=\"{}\" points=\"", css);
  for (const auto& [x, y] : points) svg_ += fmt::format("{:.1f},{:.1f} ", x, y);
  svg_ += "\"/>";
}

void Drawing::Dot(double x, double y, std::string_view css, std::string_view tip) {
  Shape(fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"", css, x, y),
        "circle", tip);
}

void Drawing::Text(double x, double y, std::string_view text, std::string_view css) {
  svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"", x, y);
  if (!css.empty()) svg_ += fmt::format(" class=\"{}\"", css);
  svg_ += fmt::format(">{}</text>", Escaped(text));
}

void Drawing::Below(const Scale& scale, std::span<const Tick> ticks, double y, double top,
                    std::string_view title) {
  for (const Tick& tick : ticks) {
    const double x = scale.At(tick.value);
    Line(x, top, x, y, "grid");
    Text(x, y + 15, tick.text, "tick mid");
  }
  Line(scale.from, y, scale.to, y, "axis");
  Text((scale.from + scale.to) / 2, y + 34, title, "title mid");
}

void Drawing::Left(const Scale& scale, std::span<const Tick> ticks, double x, double right,
                   std::string_view title) {
  for (const Tick& tick : ticks) {
    const double y = scale.At(tick.value);
    Line(x, y, right, y, "grid");
    Text(x - 6, y + 4, tick.text, "tick end");
  }
  Line(x, scale.from, x, scale.to, "axis");
  const double middle = (scale.from + scale.to) / 2;
  svg_ += fmt::format(
      "<text class=\"title mid\" transform=\"translate(13 {:.1f}) rotate(-90)\">{}</text>", middle,
      Escaped(title));
}

void Drawing::Legend(double x, double y, std::span<const LegendEntry> entries) {
  for (const auto& [css, meaning] : entries) {
    Rect(x, y - 10, 12, 12, css);
    Text(x + 17, y, meaning, "tick");
    x += 34 + WidthOf(meaning);
  }
}

std::string Drawing::Finish() && {
  return std::move(svg_) + "</svg>";
}

}  // namespace penstock::analyzer
