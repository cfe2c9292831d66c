// SPDX-License-Identifier: Apache-2.0
//
// The fixture of tests whose own process records with the agent's core. There is no collector; the
// tests read the mapped chunk.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "traces/wire.h"

namespace penstock::agent {

inline PENSTOCK_NAME(g_outer, "outer");
inline PENSTOCK_NAME(g_inner, "inner");

// Returns the records of this thread's chunk from number `first` on.
inline std::vector<wire::Record> RecordsSince(uint32_t first) {
  ThreadState* s = Self();
  std::vector<wire::Record> out;
  for (uint32_t i = first; s != nullptr && i < s->used; ++i) {
    out.push_back(s->records[i]);
  }
  return out;
}

inline uint32_t Used() {
  return Self()->used;
}

class RecorderTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(Recording()) << "the agent's constructor found no place to record to";
    Name(&g_outer);
    Name(&g_inner);
    ASSERT_NE(Self(), nullptr);
  }
  static void TearDownTestSuite() { unlink(g_config.out); }
  // Writes records until this thread's chunk has room for those of a test.
  void SetUp() override {
    while (Self()->used > 900 || Self()->used == 0) {
      Emit({.stage = wire::kMark, .start = Now(), .duration = 1});
    }
    first_ = Used();
  }
  uint32_t first_ = 0;
};

}  // namespace penstock::agent
