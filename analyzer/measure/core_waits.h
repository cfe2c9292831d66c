// SPDX-License-Identifier: Apache-2.0
//
// How much of the recorded waiting (wall minus CPU time) was for a core. The simulator adds that
// waiting by itself. The rest is sleep, a lock, or a core that is slow to wake up; more cores do
// not make it shorter. Names: a "contention" is a part of the waiting, from 0 to 1; the kernel's
// account is what CpuLoad::delays_known describes. Pure.
#pragma once

#include "analyzer/measure/cpu_load.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// The part of the waiting of computing stages that was for a core, judged by how full the cores
// were: 0 up to 65 %, 1 from 90 % on or if other programs crowd the machine, in proportion between.
// 0 if the load is not known. For a part of a batch it is used only if neither the kernel's account
// nor the slowdown of decoding is known. The handover and the correction "core-waits" use it too.
//
// Source: docs/diagnosis.md 3.4 (wall time grows with the workers, CPU time stays); the limits are
//         ours.
[[nodiscard]] double ContentionBySaturation(const CpuLoad& load);

// The part of the waiting in decoding that was for a core, by the slowdown of decoding.
[[nodiscard]] double DecodeContention(const LoaderRun& run, const SteadyState& steady,
                                      const CpuLoad& load);

// `work` without its waiting for a core. How much that was comes from the kernel's account, else
// from the slowdown of decoding (assumed for all computing), else from ContentionBySaturation().
[[nodiscard]] Work WithoutContention(const Work& work, const CpuLoad& load);
// The same for decoding. If the slowdown decides, this removes the part `contended`
// (DecodeContention()) of the waiting, which is right on average. By chance one sample waits longer
// than the slowdown says, and another not at all. Removing from each sample what the slowdown says
// would leave a part of the longer waits: 16 % of the run on a machine with two programs too many.
[[nodiscard]] Work DecodeWithoutContention(const Work& work, const CpuLoad& load, double contended);

// The share of the time of the steady batches that was waiting for a core, by the kernel's account.
// Requires: load.delays_known.
[[nodiscard]] double CoreWaitShare(const LoaderRun& run, const SteadyState& steady,
                                   const CpuLoad& load);

// The part of the kernel's account that may be waking up: the account also counts the time that a
// thread takes to wake up on a free core. 0 if other programs crowd the machine; else 1 if
// processes that help the loader use a fifth of the CPU time; else 1 up to half of the cores busy,
// 0 from three quarters on, in proportion between.
[[nodiscard]] double WakeUpPart(const CpuLoad& load);

// The part of the workers' waiting outside of reads that was for a core, by the kernel's account.
// Without the account it is 1 if the cores were full (90 % busy), else 0.
[[nodiscard]] double ContentionOutsideReads(const CpuLoad& load);

// The part of the removed waiting that must be kept, because it may be waking up. `removed` is the
// share of the batches' time that was removed as waiting for cores; `missed` is the share by which
// the replay without this waiting is too fast.
//
// Source: ours, on the 75 recordings of the validation's faults. With less than half of the cores
//         busy, replays were up to 11 % too fast; now they are up to 4 % too fast. With nearly
//         full cores, waiting that stays would hide a part of the gain from more cores (F18).
[[nodiscard]] double WakeUpToKeep(const CpuLoad& load, double missed, double removed);

}  // namespace penstock::analyzer
