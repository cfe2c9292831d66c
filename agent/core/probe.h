// SPDX-License-Identifier: Apache-2.0
//
// Experiments inside the run (docs/diagnosis.md 3.12). In a window of some seconds everything
// except one part of the work takes twice as long. The rate of the loop then shows what the run
// would gain if that part took half its time. The native agent says how long to delay. The Python
// hooks then call Compute() and sleep, at places where they hold no lock.
//
// All processes of a run on one host read the windows from the header of the ring: their length,
// and when the first one began. No window begins before a batch was delivered. Threads: each
// measures its own pieces of work, one at a time.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

enum class ProbedPart : uint8_t {
  kMaking,   // a worker (or the loop itself) makes a batch
  kStep,     // from a batch to the next call of the loader
  kHanding,  // a batch is sent, received or pinned; only the CPU time counts
};

// Whether experiments were asked for and have not been stopped.
bool Probes();
// Stops the experiments in all processes of the run.
void NeverProbe();

// To be called when a batch was delivered. The first window begins a while after the run's first
// batch.
void NoteFirstBatch();

// Returns the factor that is not slowed down in window number `index`, from 0. Every second window
// is kProbePlain. The others of a round have the other factors, in a random order. One more plain
// window follows the last round; after it comes kProbeOver.
wire::ProbeFactor FactorOfWindow(uint64_t seed, uint64_t index);

// Called when a piece of work begins. At a step, also writes into the recording which window it is.
void BeginProbed(ProbedPart part);
// Called when the piece ends. Returns for how many ns of CPU time to compute; ProbedRest() says how
// long to wait after that. 0: no delay, in a plain window, for a spared step, for a piece that
// began in another window or had another piece inside (a loop over another loader), and for a step
// or handing over two seconds. kTooLong: making the batch takes over two seconds, so that the delay
// might reach a time limit of the program.
inline constexpr uint64_t kTooLong = ~uint64_t{0};
uint64_t EndProbed(ProbedPart part);
uint64_t ProbedRest();

// Computes for `cpu` ns of the thread's CPU time. Returns how many ns it computed. Behind a seccomp
// filter it stops and returns `cpu`, so that callers do not try again.
uint64_t Compute(uint64_t cpu);

// Counts a span of this thread that has ended. Requires: a piece of work is being measured.
void NoteProbed(ThreadState* state, const OpenSpan& span, uint64_t wall, uint64_t cpu);

}  // namespace penstock::agent
