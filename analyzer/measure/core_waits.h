// SPDX-License-Identifier: Apache-2.0
//
// How much of the recorded waiting was for a core. The simulator adds that waiting by itself. The
// rest is sleep, a lock, or a core that is slow to wake up; more cores do not make it shorter.
// Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The part of the waiting (wall minus CPU time) of computing stages that was for a core, judged by
// how full the cores were: 0 up to 65 %, 1 from 90 % on or if other programs crowd the machine, in
// proportion between. Used only if neither the kernel's account (CpuLoad::delays_known) nor
// decoding (CpuLoad::squeeze) tells more.
//
// Source: docs/diagnosis.md 3.4 (wall time grows with the workers, CPU time stays); the limits are
//         ours.
[[nodiscard]] double Crowding(const CpuLoad& load);

// The part of the waiting in decoding that was for a core, by the slowdown of decoding.
[[nodiscard]] double ContendedPart(const LoaderRun& run, const SteadyState& steady,
                                   const CpuLoad& load);

// `work` without its waiting for a core. That waiting comes from the kernel's account, else from
// the slowdown of decoding (CpuLoad::squeeze, assumed for all computing), else from Crowding().
[[nodiscard]] Work WithoutContention(const Work& work, const CpuLoad& load);
// The same for decoding itself: its waiting is shortened by the share `contended`. Single samples
// cannot be judged, because by chance of scheduling one waits longer than the slowdown says and
// another not at all. If each lost only the expected waiting, the longer waits would leave a rest
// (16 % of the run on a machine with two programs too many).
[[nodiscard]] Work DecodeAlone(const Work& work, const CpuLoad& load, double contended);

// The share of the time of the steady batches that was waiting for a core, by the kernel's account.
// Requires: load.delays_known.
[[nodiscard]] double TakenOff(const LoaderRun& run, const SteadyState& steady, const CpuLoad& load);

// The kernel's account also counts the time that a thread takes to wake up on a free core. Returns
// the part of the account that may be such waking up. The part is 1 if at most half of the cores
// are busy, or if processes that help the loader use a fifth of the CPU time. It is 0 if three
// quarters are busy, or if other programs crowd the machine. Between, it falls in proportion.
[[nodiscard]] double WakingUp(const CpuLoad& load);

// The share of the workers' waiting outside of reads that was for a core. Where the kernel's
// account was not recorded, full cores (90 %) are taken to cause all of it.
[[nodiscard]] double WaitsForCores(const CpuLoad& load);

// The part of the waiting that must stay, because it may be waking up. `taken` is the share of the
// batches' time that was removed as waiting for cores; `missed` is the share by which the replay
// without this waiting is too fast.
//
// Source: ours, on the 75 recordings of the validation's faults. With less than half of the cores
//         busy, replays were up to 11 % too fast; now it is up to 4 %. With nearly full cores,
//         waiting that stays would hide a part of the gain from more cores (F18).
[[nodiscard]] double StayingWait(const CpuLoad& load, double missed, double taken);

}  // namespace penstock::analyzer
