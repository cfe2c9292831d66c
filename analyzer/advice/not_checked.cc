// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/not_checked.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/words/rule_names.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

// Needs that only another program or machine meets come first. Needs that another recording of the
// same program meets follow. A need that is not listed comes last.
constexpr std::array kOrder = {
    &words::kRuleNeedsKernels,     &words::kRuleNeedsCopies,    &words::kRuleNeedsCalls,
    &words::kRuleNeedsGpu,         &words::kRuleNeedsTypes,     &words::kRuleNeedsRanks,
    &words::kRuleNeedsEpochs,      &words::kRuleNeedsIndices,   &words::kRuleNeedsDigests,
    &words::kRuleNeedsComparable,  &words::kRuleNeedsWorkerCpu, &words::kRuleNeedsWorkerMemory,
    &words::kRuleNeedsFaults,      &words::kRuleNeedsUnmapped,  &words::kRuleNeedsBatches,
    &words::kRuleNeedsMemoryWalks, &words::kRuleNeedsAnonymous, &words::kRuleNeedsUsualUnits,
    &words::kRuleNeedsQuiet,       &words::kRuleNeedsLonger};

auto PlaceOfNeed(const NotChecked& one) {
  return std::find(kOrder.begin(), kOrder.end(), one.needs.message) - kOrder.begin();
}

auto PlaceOfRule(std::string_view id) {
  return std::find_if(words::kRuleNames.begin(), words::kRuleNames.end(),
                      [&](const Message& name) { return name.id == id; }) -
         words::kRuleNames.begin();
}

}  // namespace

void AddNeed(std::string_view id, Statement what, std::vector<NotChecked>& all) {
  if (what.empty()) return;
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const NotChecked& one) { return one.needs == what; });
  if (same != all.end()) {
    same->ids.push_back(id);
  } else {
    all.push_back({{id}, std::move(what)});
  }
}

void SortNeeds(std::vector<NotChecked>& all) {
  for (NotChecked& one : all) {
    std::sort(one.ids.begin(), one.ids.end(), [](std::string_view a, std::string_view b) {
      return PlaceOfRule(a) < PlaceOfRule(b);
    });
  }
  std::stable_sort(all.begin(), all.end(), [](const NotChecked& a, const NotChecked& b) {
    return PlaceOfNeed(a) < PlaceOfNeed(b);
  });
}

}  // namespace penstock::analyzer
