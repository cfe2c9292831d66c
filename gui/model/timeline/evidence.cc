// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/evidence.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace penstock::gui {
namespace {

constexpr std::size_t kMostLongest = 3;

// The searches for the spans that a rule is about. A rule has several searches if libraries use
// different names, or if a recording may lack the spans that show the problem best. The first
// search that finds something is used.
struct RuleSearches {
  std::string_view rule;
  std::array<std::string_view, 5> searches;
};

constexpr std::array kRuleSearches = {
    RuleSearches{"normalize-on-cpu",
                 {"normalize", "totensor", "convertimagedtype", "todtype", "tofloat"}},
    RuleSearches{"slow-decoder", {"decode"}},
    RuleSearches{"decode-larger-than-needed", {"decode"}},
    RuleSearches{"move-decode-to-gpu", {"decode"}},
    RuleSearches{"move-augment-to-gpu", {"augment"}},
    RuleSearches{"slow-storage", {"read"}},
    RuleSearches{"serialised-reads", {"read"}},
    RuleSearches{"small-files", {"read"}},
    RuleSearches{"cold-cache", {"read"}},
    RuleSearches{"fits-in-ram", {"read"}},
    RuleSearches{"collate-slow", {"collate"}},
    RuleSearches{"wide-labels", {"collate"}},
    RuleSearches{"transfer-ceiling", {"get", "put"}},
    RuleSearches{"pin-thread-behind", {"pin"}},
    RuleSearches{"stragglers", {"fetch"}},
    RuleSearches{"slow-samples", {"sample"}},
    RuleSearches{"pageable-copies", {"h2d", "copy"}},
    RuleSearches{"copies-not-overlapped", {"h2d", "copy"}},
    RuleSearches{"no-worker-processes", {"wait"}},
    RuleSearches{"too-few-workers", {"wait"}},
    RuleSearches{"prefetch-too-shallow", {"wait"}},
    RuleSearches{"slow-first-batch", {"wait"}},
    RuleSearches{"workers-restart-each-epoch", {"wait"}},
    RuleSearches{"slow-worker-start", {"startup", "wait"}},
};

}  // namespace

std::optional<Evidence> FindEvidence(const Timeline& timeline, const traces::Trace& trace,
                                     std::string_view rule, TimeRange range) {
  if (timeline.preview) return std::nullopt;
  for (const RuleSearches& one : kRuleSearches) {
    if (one.rule != rule) continue;
    for (const std::string_view search : one.searches) {
      if (search.empty()) continue;
      const Search found(timeline, trace, search);
      std::vector<SpanRef> inside;
      for (const SpanRef hit : found.hits()) {
        if (timeline.end(hit) >= range.from && timeline.start(hit) < range.to) {
          inside.push_back(hit);
        }
      }
      if (inside.empty()) continue;
      const auto length = [&](SpanRef span) { return timeline.end(span) - timeline.start(span); };
      const auto last =
          inside.begin() + static_cast<std::ptrdiff_t>(std::min(kMostLongest, inside.size()));
      std::partial_sort(inside.begin(), last, inside.end(), [&](SpanRef a, SpanRef b) {
        return length(a) != length(b) ? length(a) > length(b) : a < b;
      });
      inside.erase(last, inside.end());
      return Evidence{std::string(search), std::move(inside)};
    }
  }
  return std::nullopt;
}

}  // namespace penstock::gui
