// SPDX-License-Identifier: Apache-2.0
//
// How much of the recorded waiting was for a core. The simulator adds that waiting by itself. The
// rest is sleep, a lock, or a core that is slow to wake up, and does not get shorter with more
// cores. Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The part of the waiting (wall minus CPU time) of computing stages that was for a core, judged by
// how full the cores were: none up to 65 %, all from 90 % on and where other programs crowd the
// machine, in proportion between. It is used where nothing tells more: neither the kernel's own
// account (CpuLoad::delays_known) nor decoding (CpuLoad::squeeze).
//
// Source: docs/diagnosis.md 3.4 (wall time grows with the workers, CPU time stays); the limits are
//         ours.
[[nodiscard]] double Crowding(const CpuLoad& load);

// The part of the waiting in decoding that was for a core, by the slowdown of decoding.
[[nodiscard]] double ContendedPart(const LoaderRun& run, const SteadyState& steady,
                                   const CpuLoad& load);

// `work` without its waiting for a core: by the kernel's account, else by the slowdown of decoding
// (CpuLoad::squeeze, which computing stages share in proportion to their CPU time), else by
// Crowding().
[[nodiscard]] Work WithoutContention(const Work& work, const CpuLoad& load);
// The same for decoding itself: its waiting is shortened by the share `contended`. Single samples
// cannot be judged: as the scheduler's slices happen to fall, one waits longer than the slowdown
// says and another not at all. If each were cut off at what it should have waited, the longer ones
// would leave a rest (16 % of the run on a machine with two programs too many).
[[nodiscard]] Work DecodeAlone(const Work& work, const CpuLoad& load, double contended);

// The share of the time of the steady batches that was waiting for a core, by the kernel's account.
// Requires: load.delays_known.
[[nodiscard]] double TakenOff(const LoaderRun& run, const SteadyState& steady, const CpuLoad& load);

// The kernel's account also counts the time that a thread takes to wake up on a free core. Returns
// the part of the account that may be this: all up to half of the cores busy, or if processes that
// help the loader used them; none from three quarters on, or if other programs crowd the machine;
// in proportion between.
[[nodiscard]] double WakingUp(const CpuLoad& load);

// The part of the waiting that must stay, because it may be waking up. `taken` is the share of the
// batches' time that was removed as waiting for cores; `missed` is the share by which the replay
// without it is too fast.
//
// Source: ours. Of the 75 recordings of the validation's faults, those with less than half of the
//         cores busy were replayed up to 11 % too fast, now up to 4 %. With nearly full cores it
//         would reduce the gain of what competes for them (F18).
[[nodiscard]] double StayingWait(const CpuLoad& load, double missed, double taken);

}  // namespace penstock::analyzer
