// SPDX-License-Identifier: Apache-2.0
//
// State and answers of the what-if view. The sliders become the same analyzer::GridRequest that
// `penstock whatif` makes, so both give the same figures. Values; Ask() is pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/whatif/grid.h"
#include "gui/model/forecast.h"
#include "traces/base/result.h"

namespace penstock::gui {

// The stages that the view can speed up.
inline constexpr std::array kScalable = {analyzer::Factor::kRead, analyzer::Factor::kDecode,
                                         analyzer::Factor::kAugment, analyzer::Factor::kCollate};

struct WhatIf {
  int workers = 0;
  int prefetch = 2;
  int batch = 0;
  double step = 0;  // seconds; < 0: as recorded
  bool pin = false;
  bool persistent = false;
  std::array<double, kScalable.size()> speed{1, 1, 1, 1};  // times as fast
  analyzer::Changes changes;  // of data, storage, decoder, machine and place of stages
  bool operator==(const WhatIf&) const = default;
};

// The recorded setting, and the setting that the report suggests. Requires: diagnosis.loader.
[[nodiscard]] WhatIf Recorded(const analyzer::Diagnosis& diagnosis);
[[nodiscard]] WhatIf Suggested(const analyzer::Diagnosis& diagnosis);

// The upper ends of the sliders, and what cannot be chosen.
struct WhatIfLimits {
  int workers = 16;
  int prefetch = 16;
  int batch = 1024;
  double step = 1;           // seconds
  double recorded_step = 0;  // seconds: MeanStep()
  // Why another batch size and `changes` are not predicted; empty if they are.
  analyzer::Statement unchanged;
};
[[nodiscard]] WhatIfLimits LimitsOf(const analyzer::Diagnosis& diagnosis);

// The request that `penstock whatif` makes for the same options, with these numbers of workers.
[[nodiscard]] analyzer::GridRequest RequestOf(const analyzer::Diagnosis& diagnosis,
                                              const WhatIf& chosen, std::vector<int> workers);

// The `penstock whatif` command with the same question, quoted for a shell; "" if `trace` is "".
// `loader`: the chosen loader, such as "train.py:88", or "" for the main one.
[[nodiscard]] std::string WhatIfCommand(const analyzer::Diagnosis& diagnosis, const WhatIf& chosen,
                                        const std::string& trace, const std::string& loader);

struct WhatIfAnswer {
  analyzer::Configuration chosen;
  // The measured rate, if the recorded setting is chosen.
  std::optional<analyzer::Interval> recorded;
  std::vector<analyzer::Configuration> curve;  // over the number of workers, `chosen` among them
  analyzer::Statement unit;                    // the unit of the rates
  analyzer::Statements notes;
  double measured = 0;                 // base_rate() of the recording, the base of all predictions
  analyzer::Interval measured_within;  // base_interval() of it
  Effect effect = Effect::kWithinDoubt;  // of `chosen`
  bool whole_run = false;                // all rates are of the whole run, as in Diagnosis
  bool batches_alone = false;  // the memory is that of batches: the workers' own is not known
  bool rough_memory = false;   // the memory comes from few readings of the workers
  double budget = 0;           // bytes, 0: not known; the part of one rank
  int ranks = 1;               // ranks that share the machine's memory
  std::string code;            // line to paste, "" if the loader's arguments are not known
};

// What the view says of the memory of the chosen setting.
struct WhatIfMemory {
  Text name{};
  std::string value;  // "57.8 MB"; "-": not known
  std::string line;   // the budget, and what is not known; "" for nothing
};
[[nodiscard]] WhatIfMemory ShownMemory(const WhatIfAnswer& answer, Language language);

// A point on the curve, with its words: "recorded 222".
struct CurvePoint {
  int workers = 0;
  double rate = 0;
  bool recorded = false;  // measured, not predicted
  std::string text;
  double low = 0, high = 0;  // of what was measured; equal: not known
};
// The recorded setting, and the chosen one if it is another. `recorded`: its number of workers.
[[nodiscard]] std::vector<CurvePoint> PointsOf(const WhatIfAnswer& answer, int recorded,
                                               Language language);

// A rate on an axis: "2.5", "400", "12.5k".
[[nodiscard]] std::string AxisText(double rate);

// The seconds of a step that is set to `milliseconds`, which are shown with one digit.
[[nodiscard]] double ShownStep(double milliseconds);

// Predicts the chosen setting and the curve through it. Errors: those of analyzer::PredictGrid, and
// its reason if it left out the chosen setting.
[[nodiscard]] analyzer::Predicted<WhatIfAnswer> Ask(const analyzer::Diagnosis& diagnosis,
                                                    const WhatIf& chosen);

}  // namespace penstock::gui
