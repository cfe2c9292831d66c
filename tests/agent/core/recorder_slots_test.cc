// SPDX-License-Identifier: Apache-2.0
//
// Tests which slot a process claims, and what counts of reads that began before the process had a
// slot.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "agent/core/pending_reads.h"
#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "tests/agent/core/recorder_fixture.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

// A claim retires the slot of the program that this process ran before an exec. A process of
// another container may have the same pid and start time; its slot stays.
TEST_F(RecorderTest, AClaimRetiresNoSlotOfAnotherPidNamespace) {
  const pid_t child = fork();
  if (child == 0) {
    if (Self() == nullptr || g_slot_index + 1 >= wire::kMaxProcesses) {
      _exit(1);
    }
    wire::ProcessSlot* const own = g_slot;
    wire::ProcessSlot* const other = own + 1;
    if (other->state != wire::kProcessFree) {
      _exit(2);
    }
    other->pid = own->pid;
    other->process_start = own->process_start;
    other->pid_namespace = own->pid_namespace + 1;
    other->state = wire::kProcessLive;
    if (!ClaimSlot() || g_slot != own + 2) {
      _exit(3);
    }
    const bool kept = other->state == wire::kProcessLive;
    other->state = wire::kProcessReplaced;
    _exit(kept && own->state == wire::kProcessReplaced ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The collector frees slots of processes that have ended, so a free slot may lie before one in use.
TEST_F(RecorderTest, AClaimRetiresAnEarlierSlotBehindAFreeOne) {
  const pid_t child = fork();
  if (child == 0) {
    if (Self() == nullptr || g_slot_index + 3 >= wire::kMaxProcesses) {
      _exit(1);
    }
    wire::ProcessSlot* const own = g_slot;
    wire::ProcessSlot* const earlier = own + 3;
    if (own[1].state != wire::kProcessFree || earlier->state != wire::kProcessFree) {
      _exit(2);
    }
    earlier->pid = own->pid;
    earlier->process_start = own->process_start;
    earlier->pid_namespace = own->pid_namespace;
    earlier->state = wire::kProcessLive;
    if (!ClaimSlot() || g_slot != own + 1) {
      _exit(3);
    }
    _exit(earlier->state == wire::kProcessReplaced ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The start of the read was measured before the process attached, maybe with another clock.
TEST_F(RecorderTest, AReadWhoseStartIsOfAnotherClockIsLost) {
  const bool saved = g_tsc;
  g_tsc = true;
  const uint64_t lost = g_slot->bytes_lost;
  const uint64_t counted = g_slot->bytes_dataset;
  const Descriptor from{200, 0, FdKind::kDataset, 0};
  CountRead(from, g_attached_at - 1, g_attached_at + 1, 100);
  CountRead(from, g_attached_at + 2, g_attached_at + 1, 100);
  CountRead(from, g_attached_at + 1, g_attached_at + 2, 10);
  g_tsc = saved;
  EXPECT_EQ(g_slot->bytes_lost, lost + 200);
  EXPECT_EQ(g_slot->bytes_dataset, counted + 10);
  FlushReads(Self());
}

}  // namespace
}  // namespace penstock::agent
