// SPDX-License-Identifier: Apache-2.0
#include "tests/analyzer/html_support.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::analyzer::testing {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string Malformed(std::string_view text) {
  constexpr std::string_view kDoctype = "<!DOCTYPE html>";
  if (text.substr(0, kDoctype.size()) != kDoctype) return "no doctype";
  std::vector<std::string> open;
  std::size_t at = kDoctype.size();
  while (at < text.size()) {
    const char c = text[at];
    if (c == '&') {
      const std::string_view entity = text.substr(at, text.find(';', at) - at + 1);
      const bool known = entity == "&amp;" || entity == "&lt;" || entity == "&gt;" ||
                         entity == "&quot;" || entity == "&#39;";
      if (!known) return "entity " + std::string(entity.substr(0, 20));
    }
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "control character";
    if (c != '<') {
      ++at;
      continue;
    }
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos) return "tag without end";
    std::string tag(text.substr(at + 1, end - at - 1));
    at = end + 1;
    if (tag.empty() || tag.find('<') != std::string::npos) return "tag in a tag: " + tag;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes what is not open: " + tag;
      open.pop_back();
      if (open.empty()) break;
      continue;
    }
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "quotes: " + tag;
    if (tag.back() != '/') open.push_back(tag.substr(0, tag.find(' ')));
  }
  if (!open.empty()) return "left open: " + open.back();
  return text.substr(at) == "\n" ? "" : "text after the end";
}

std::string Prose(std::string page) {
  for (const auto& [open, close] :
       {std::pair{"<title>", "</title>"}, std::pair{"<style>", "</style>"},
        std::pair{"<code>", "</code>"}, std::pair{"<pre>", "</pre>"}, std::pair{"<", ">"}}) {
    for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
      const std::size_t end = page.find(close, at);
      page.replace(at, end - at + std::string_view(close).size(), "\n");
    }
  }
  return page;
}

}  // namespace penstock::analyzer::testing
