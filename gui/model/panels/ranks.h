// SPDX-License-Identifier: Apache-2.0
//
// What the workers view shows about the ranks of a distributed run. Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

struct RankLine {
  std::int32_t rank = -1;
  std::uint32_t pid = 0;
  std::string host;
  int workers = 0;
  double cores = 0;      // its share of the host's cores, in cores
  double rate = 0;       // samples a second
  double wait = 0;       // fraction of its loop
  double data = 0;       // seconds an iteration waits for data, mean
  double step = 0;       // seconds, mean
  double held_up = 0;    // fraction of all ranks' loops spent waiting for its data
  bool slow = false;     // the ranks wait for this one most of the time
  bool verdict = false;  // the other views show this rank's loader
};

// How the ranks work together.
enum class RankVerdict : std::uint8_t {
  kUnknown,      // too few iterations in common
  kApart,        // their steps do not end together: no rank waits for another
  kEven,         // waiting for the last rank takes under 5 % of the loop
  kOneSlow,      // the waiting takes more, mostly for one rank
  kInTurn,       // the waiting takes more, for one rank after the other
  kInStretches,  // as kInTurn, but each is the last for many iterations in a row
};

struct RanksModel {
  std::vector<RankLine> lines;  // ascending by rank; empty for a single rank
  RankVerdict verdict = RankVerdict::kUnknown;
  double cost = 0;            // the waiting for the last rank, as a fraction of the loop
  std::int32_t slowest = -1;  // set with kOneSlow
  double stretch = 0;         // iterations; set with kInStretches
  std::int32_t world_size = 0;
};

[[nodiscard]] RanksModel BuildRanks(const analyzer::Report& report);

// The rank that the figures of a loader are about.
struct RankShown {
  std::int32_t rank = -1;
  std::int32_t of = 0;      // all ranks of the run, recorded or not
  bool waits_most = false;  // for data, and clearly more than another rank
  double all_rate = 0;      // samples per second of all ranks together; 0: not known
};
// nullopt for a single rank.
[[nodiscard]] std::optional<RankShown> ShownRank(const analyzer::Report& report);
// A panel's title that names the rank which the panel shows; `title` itself for a single rank.
[[nodiscard]] std::string TitleOfRank(const analyzer::Report& report, Text title,
                                      Language language);

}  // namespace penstock::gui
