// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/evidence.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace penstock::gui {
namespace {

constexpr std::size_t kMostLongest = 3;

// The search for the spans that a rule is about. There are several where libraries use different
// names; the first one that finds something is used.
struct Kind {
  std::string_view rule;
  std::array<std::string_view, 4> searches;
};

constexpr std::array kKinds = {
    Kind{"normalize-on-cpu", {"normalize", "totensor", "convertimagedtype", "todtype"}},
    Kind{"slow-decoder", {"decode"}},
    Kind{"decode-larger-than-needed", {"decode"}},
    Kind{"move-decode-to-gpu", {"decode"}},
    Kind{"move-augment-to-gpu", {"augment"}},
    Kind{"slow-storage", {"read"}},
    Kind{"serialised-reads", {"read"}},
    Kind{"small-files", {"read"}},
    Kind{"cold-cache", {"read"}},
    Kind{"fits-in-ram", {"read"}},
    Kind{"collate-slow", {"collate"}},
    Kind{"wide-labels", {"collate"}},
    Kind{"transfer-ceiling", {"get", "put"}},
    Kind{"pin-thread-behind", {"pin"}},
    Kind{"stragglers", {"fetch"}},
    Kind{"slow-samples", {"sample"}},
    Kind{"pageable-copies", {"h2d", "copy"}},
    Kind{"copies-not-overlapped", {"h2d", "copy"}},
    Kind{"no-worker-processes", {"wait"}},
    Kind{"too-few-workers", {"wait"}},
    Kind{"prefetch-too-shallow", {"wait"}},
    Kind{"slow-first-batch", {"wait"}},
    Kind{"workers-restart-each-epoch", {"wait"}},
    Kind{"slow-worker-start", {"startup", "wait"}},
};

}  // namespace

std::optional<Evidence> FindEvidence(const Timeline& timeline, const traces::Trace& trace,
                                     std::string_view rule, TimeRange range) {
  if (timeline.preview) return std::nullopt;
  for (const Kind& kind : kKinds) {
    if (kind.rule != rule) continue;
    for (const std::string_view search : kind.searches) {
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
