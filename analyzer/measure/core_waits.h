// SPDX-License-Identifier: Apache-2.0
//
// How much of the recorded waiting (wall minus CPU time) was for a core. The simulator computes
// the waiting for a core itself, so the recorded one must be removed from its input. The rest is
// waiting for a file, a clock, a lock, or a core that is slow to wake up; more cores do not make it
// shorter. A function named ...Contention returns the part of the waiting that was for a core, from
// 0 to 1; one named ...WithoutContention returns the work without that waiting. "The kernel's
// account" means the shares in CpuLoad that are valid if `delays_known`. Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The part of the waiting of computing stages that was for a core, judged by how busy the cores
// were: 0 up to 65 % busy, 1 from 90 % on, in proportion between. 1 if other programs crowd the
// machine. 0 if the load is not known. WithoutContention() uses it only if neither the kernel's
// account nor the slowdown of decoding is known. MeasureHandover() and the correction "core-waits"
// use it too.
//
// Source: docs/diagnosis.md 3.4 (wall time grows with the workers, CPU time stays); the limits are
//         ours.
[[nodiscard]] double ContentionBySaturation(const CpuLoad& load);

// The part of the waiting in decoding that was for a core, by the slowdown of decoding.
[[nodiscard]] double DecodeContention(const LoaderRun& run, const SteadyState& steady,
                                      const CpuLoad& load);

// `work` without its waiting for a core. The length of this waiting comes from the kernel's
// account, else from the slowdown of decoding (assumed for all computing), else from
// ContentionBySaturation().
[[nodiscard]] Work WithoutContention(const Work& work, const CpuLoad& load);
// The same for decoding. If the slowdown is used, this removes the part `contended`
// (DecodeContention()) of each sample's waiting, which is right on average. By chance one sample
// waits longer than the slowdown implies, and another does not wait. Removing at most the implied
// time from each sample would leave a part of the longer waits: 16 % of the run's time on a machine
// where two more programs computed than there were free cores.
[[nodiscard]] Work DecodeWithoutContention(const Work& work, const CpuLoad& load, double contended);

// The share of the time of the steady batches that was waiting for a core, by the kernel's account.
// Requires: load.delays_known.
[[nodiscard]] double CoreWaitShare(const LoaderRun& run, const SteadyState& steady,
                                   const CpuLoad& load);

// The part of the kernel's account that may be waking up: the account also counts the time that a
// thread takes to wake up on a free core. 0 if other programs crowd the machine. Otherwise 1 if
// processes that help the loader use a fifth of the CPU time or more. Otherwise it depends on how
// busy the cores were: 1 up to 50 %, 0 from 75 % on, in proportion between.
[[nodiscard]] double WakeUpPart(const CpuLoad& load);

// The part of the workers' waiting outside of reads that was for a core, by the kernel's account.
// Without the account it is 1 if the cores were full (90 % busy), else 0.
[[nodiscard]] double ContentionOutsideReads(const CpuLoad& load);

// The part of the removed waiting that must be put back, because it may be the time of waking up.
// `removed` is the share of the batches' time that was removed as waiting for cores. `missed` is
// the share of the batches' time by which the replay without this waiting is too short.
//
// Source: ours, on the 75 recordings of the faults in docs/diagnosis.md 4. With less than half of
//         the cores busy, replays were up to 11 % too fast; now they are up to 4 % too fast. With
//         nearly full cores, waiting that is put back would hide a part of the gain from more cores
//         (fault F18).
[[nodiscard]] double WakeUpToKeep(const CpuLoad& load, double missed, double removed);

}  // namespace penstock::analyzer
