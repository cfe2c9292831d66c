// SPDX-License-Identifier: Apache-2.0
#include "gui/model/penstock_command.h"

#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

TEST(PenstockCommandTest, RunsTheProgramOfTheTraceOrOneToBeReplaced) {
  traces::TraceData data;
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "doctor"),
            "penstock doctor -- python train.py");
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "record"), kRecordCommand);
  data.facts["command"] = "python a.py --x";
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "record --gpu auto"),
            "penstock record --gpu auto -- python a.py --x");
}

}  // namespace
}  // namespace penstock::gui
