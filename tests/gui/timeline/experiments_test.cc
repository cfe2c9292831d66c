// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/experiments.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::gui {
namespace {

// In the windows of `penstock record --probe` delays hold the workers, and the timeline did not say
// why they stood still.
TEST(ExperimentsTest, WindowsThatSlowTheRunDownSayWhatTheySpare) {
  analyzer::RunModel run;
  EXPECT_TRUE(ExperimentsOf(run).empty());
  run.begin = TimeNs{1'000};
  run.loaders.resize(1);
  run.loaders[0].probes = {{wire::kProbePlain, 1, 1'000, 2'000},
                           {wire::kProbeDecode, 2, 2'000, 3'000},
                           {wire::kProbePlain, 1, 3'000, 4'000},
                           {wire::kProbeNothing, 2, 4'000, 5'000}};
  const std::vector<Experiment> found = ExperimentsOf(run);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].range, (TimeRange{1'000, 2'000}));
  EXPECT_EQ(ExperimentText(found[0], Language::kEnglish),
            "experiment: all but decode takes 2 times as long");
  EXPECT_EQ(ExperimentText(found[1], Language::kEnglish),
            "experiment: everything takes 2 times as long");
}

}  // namespace
}  // namespace penstock::gui
