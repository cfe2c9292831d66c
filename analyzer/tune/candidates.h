// SPDX-License-Identifier: Apache-2.0
//
// The settings that tune tries. They come from the plan of changes that need no edit, as a whole
// and without its last steps, and from fixes of findings whose gain cannot be predicted. Values;
// pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct LoaderSetting {
  int workers = 0;
  int prefetch = 2;
  bool persistent = false;
  std::string at;  // the line that makes the loader, "train.py:88"; "": changes all loaders
  bool operator==(const LoaderSetting&) const = default;
};

// The changes to a run; empty: the program as it is.
struct TuneSetting {
  std::optional<LoaderSetting> loader;
  std::vector<std::string> outside;  // "malloc=keep"

  // "workers=4,prefetch=2,persistent=1,malloc=keep", for penstock record --override.
  [[nodiscard]] std::string Override() const;
  bool operator==(const TuneSetting&) const = default;
};

struct TuneCandidate {
  TuneSetting setting;
  std::vector<std::string> reasons;     // "plan", "suggestion", ids of findings
  std::optional<Prediction> predicted;  // nullopt: the gain cannot be predicted
  std::vector<std::string> paste;       // lines: variables, calls, the DataLoader
  Statement note;                       // how the setting changes the data that the network sees
};

struct TuneBudget {
  std::size_t candidates = 3;  // at most
  double ram = 0;              // bytes; 0: the memory of the machine
  std::string loader;          // as in LoaderSetting::at
};

// The most promising settings, in order of their cost: fewest workers, then least depth, then
// fewest changes of the environment. `trace` is the trace of the program as it is.
// Requires: diagnosis.loader, a loader of PyTorch.
[[nodiscard]] std::vector<TuneCandidate> TuneCandidates(const traces::Trace& trace,
                                                        const Diagnosis& diagnosis,
                                                        const TuneBudget& budget);

// The suggestion for a diagnosis within a budget of `ram` bytes (0: the memory of the machine).
[[nodiscard]] Suggestion SuggestWithin(const Diagnosis& diagnosis, double ram);

}  // namespace penstock::analyzer
