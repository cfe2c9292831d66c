// SPDX-License-Identifier: Apache-2.0
//
// A small sweep with known figures, in the form that penstock sweep writes.
#pragma once

#include <string>

#include <fmt/core.h>

#include "gui/model/files/sweep.h"

namespace penstock::gui::testing {

// A measured cell as JSON. `prefetch`: "-" without workers, because it makes no difference there.
inline std::string CellText(const std::string& workers, const std::string& prefetch,
                            const std::string& batch, double median, double least, double most,
                            double best, const std::string& more = "") {
  return fmt::format(
      R"({{"name": "workers:{0}/prefetch:{1}/batch:{2}", "values": {{"workers": "{0}",
 "prefetch": "{1}", "batch": "{2}"}}, "state": "measured", "samples_per_s": {{"median": {3},
 "min": {4}, "max": {5}, "p25": {4}, "p75": {5}}}, "runs": [{4}, {3}, {5}], "wall_s": 4,
 "first_batch_s": 0.5, "of_best": {6:.4f}, "within_noise": false, "bottleneck": "decode"{7}}})",
      workers, prefetch, batch, median, least, most, median / best, more);
}

// A sweep with workers 0, 2, 4; prefetch 2, 4; batch 16, 64. Among the cells with batch 16, one
// failed and one was not reached.
inline std::string SweepText() {
  const auto failed = [](const std::string& state, const std::string& error) {
    return fmt::format(
        R"({{"name": "workers:4/prefetch:{0}/batch:16", "values": {{"workers": "4",
 "prefetch": "{0}", "batch": "16"}}, "state": "{1}", "error": "{2}"}})",
        state == "failed" ? "2" : "4", state, error);
  };
  return R"({"schema": "penstock.sweep/1", "mode": "command",
 "subject": ["python", "train.py"],
 "figure": "samples_per_s", "repeats": 3, "interrupted": true, "tie": 0.02,
 "machine": {"cores": 8, "cpu": "Test CPU"},
 "axes": [{"name": "workers", "values": ["0", "2", "4"]},
  {"name": "prefetch", "values": ["2", "4"]}, {"name": "batch", "values": ["16", "64"]}],
 "cells": [
)" + CellText("0", "-", "64", 100, 98, 104, 420) +
         ",\n" + CellText("2", "2", "64", 250, 240, 260, 420) + ",\n" +
         CellText("2", "4", "64", 415, 410, 421, 420) + ",\n" +
         CellText("4", "2", "64", 300, 280, 330, 420) + ",\n" +
         CellText("4", "4", "64", 420, 400, 430, 420,
                  R"(, "traces": ["/runs/run-0021.penstock", "/runs/run-0022.penstock", ""])") +
         ",\n" + CellText("0", "-", "16", 90, 80, 95, 420) + ",\n" +
         CellText("2", "2", "16", 200, 190, 210, 420) + ",\n" +
         failed("failed", "status 1: out of memory") + ",\n" + failed("pending", "") +
         R"(
 ],
 "best": "workers:4/prefetch:4/batch:64", "suggested": "workers:2/prefetch:4/batch:64"}
)";
}

inline Sweep SampleSweep() {
  Sweep sweep = *ParseSweep(SweepText());
  sweep.path = "/s/sweep.json";
  return sweep;
}

}  // namespace penstock::gui::testing
