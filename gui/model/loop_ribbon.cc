// SPDX-License-Identifier: Apache-2.0
//
// The ribbon of a program without a loader, whose loop makes its data itself.
#include <algorithm>

#include "gui/model/overview.h"

namespace penstock::gui {
namespace {

using analyzer::Factor;
using traces::StageId;

// The share of the loop's time that one cost takes, as the loop does all costs in turn.
double ShareOf(const analyzer::Feed& feed, Factor factor) {
  for (const analyzer::Gain& gain : feed.gains) {
    if (gain.factor == factor) return 1 - 1 / std::max(1.0, gain.speedup);
  }
  return 0;
}

}  // namespace

Ribbon RibbonOfLoop(const analyzer::Diagnosis& diagnosis) {
  const analyzer::Feed& feed = diagnosis.feed;
  Ribbon ribbon;
  if (feed.doubt != analyzer::FeedDoubt::kNone || feed.makers > 0) return ribbon;
  if (!(feed.rate > 0) || !(feed.own > 0)) return ribbon;
  ribbon.title = feed.samples ? Text::kRibbonOfSample : Text::kRibbonOfImage;
  ribbon.each = ribbon.each_made = feed.samples ? Text::kEachSample : Text::kEachImage;
  std::vector<RibbonPart>& making = ribbon.making;
  const auto add = [&](StageId colour, Text name, Factor factor) {
    const double share = ShareOf(feed, factor);
    if (share > 0) making.push_back({colour, name, share, factor == feed.bottleneck});
  };
  add(StageId::kRead, Text::kRead, Factor::kRead);
  add(StageId::kDecode, Text::kDecode, Factor::kDecode);
  add(StageId::kAugment, Text::kAugment, Factor::kAugment);
  add(StageId::kTokenize, Text::kTokenize, Factor::kTokenize);
  add(StageId::kCollate, Text::kCollate, Factor::kCollate);
  double shares = 0;
  for (const RibbonPart& part : making) shares += part.seconds;
  if (!(shares > 0)) return {};
  // The parts make up what the verdict says that the loop takes to make its data.
  ribbon.making_time = ribbon.worker_time = feed.own / feed.rate;
  ribbon.loop_time = 1 / feed.rate;
  for (RibbonPart& part : making) part.seconds *= ribbon.making_time / shares;
  const double rest = ribbon.loop_time - ribbon.making_time;
  ribbon.loop = {{StageId::kFetch, Text::kLoopMakesData, ribbon.making_time, false}};
  if (rest > 0) {
    const bool bottleneck = feed.bottleneck == Factor::kCompute;
    ribbon.loop.push_back({StageId::kStep, Text::kRestOfLoop, rest, bottleneck});
  }
  return ribbon;
}

}  // namespace penstock::gui
