// SPDX-License-Identifier: Apache-2.0
//
// What of recorded waiting was competition for cores: the simulator adds that by itself. The rest
// is sleep, a lock or a core that is slow to wake up, which more cores do not shorten. Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// What of wall minus CPU of a computing stage was waiting for a core.
//
// Decoding tells: whatever it takes beyond its CPU time was spent waiting for a core, and other
// stages waited in proportion. Without it: none while a third of the machine is idle, all of it
// when it is full. Source: docs/diagnosis.md 3.4 (wall grows with W, CPU time stays); the ramp is
// ours. All this is for recordings that do not hold the kernel's own account
// (CpuLoad::delays_known). Other programs that hold cores are simulated as such, so it holds on a
// crowded machine too.
[[nodiscard]] double Crowding(const CpuLoad& load);

// Part of the waiting in decoding that was for a core.
[[nodiscard]] double ContendedPart(const LoaderRun& run, const SteadyState& steady,
                                   const CpuLoad& load);

// `work` without its waiting for a core; of decoding, of which `contended` of the waiting was.
[[nodiscard]] Work WithoutContention(const Work& work, const CpuLoad& load);
// Of decoding itself the waiting is taken off in one proportion. One sample waits longer than it
// should and another not at all, as the scheduler's slices happen to fall: cut off sample by
// sample at what each should have waited, the longer ones would leave a rest (16 % of the run on a
// machine with two programs too many).
[[nodiscard]] Work DecodeAlone(const Work& work, const CpuLoad& load, double contended);

// Of the time that the steady batches took, the part that the kernel's account takes off.
// Requires: load.delays_known.
[[nodiscard]] double TakenOff(const LoaderRun& run, const SteadyState& steady, const CpuLoad& load);

// The account also counts what a thread waits from being woken to running on a core that was free:
// the part of it that may be that. Unless other programs crowd the machine: all where half of the
// cores are idle or more, or processes that help the loader had them; nothing where three quarters
// are busy, and between them in proportion.
[[nodiscard]] double WakingUp(const CpuLoad& load);

// Returns the part of the waiting that stays: as much as the replay without it `misses` of the time
// of the batches, up to all that was `taken` off (fractions of it), where it may be waking up.
// Source: ours; of the 75 recordings of the validation's faults those below a half were replayed up
// to 11 % too fast, now 4 %; near full cores it takes from the gain of what competes (F18).
[[nodiscard]] double StayingWait(const CpuLoad& load, double missed, double taken);

}  // namespace penstock::analyzer
