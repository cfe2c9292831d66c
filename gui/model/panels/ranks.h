// SPDX-License-Identifier: Apache-2.0
//
// What the workers view shows of the ranks of a distributed run. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace penstock::gui {

struct RankLine {
  std::int32_t rank = -1;
  std::uint32_t pid = 0;
  std::string host;
  int workers = 0;
  double cores = 0;      // its part of the host's
  double rate = 0;       // samples a second
  double wait = 0;       // of its loop, a fraction
  double data = 0;       // seconds an iteration waits for data, median
  double step = 0;       // seconds, median
  double held_up = 0;    // of the loop of all ranks, a fraction: they wait for its data
  bool slow = false;     // most of what they wait is for this one
  bool verdict = false;  // the other views show this rank's loader
};

// What there is to say of them together.
enum class RankVerdict : std::uint8_t {
  kUnknown,  // too few iterations in common
  kApart,    // their steps do not end together: nobody waits for anybody
  kEven,     // less than a twentieth of the loop is waiting for the last
  kOneSlow,  // more; most of it for one rank
  kInTurn,   // more; for one after the other
};

struct RanksModel {
  std::vector<RankLine> lines;  // ascending by rank; empty for a single rank
  RankVerdict verdict = RankVerdict::kUnknown;
  double cost = 0;            // of the loop, a fraction
  std::int32_t slowest = -1;  // where kOneSlow
  std::int32_t world_size = 0;
};

[[nodiscard]] RanksModel BuildRanks(const analyzer::Report& report);

}  // namespace penstock::gui
