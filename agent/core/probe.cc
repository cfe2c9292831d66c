// SPDX-License-Identifier: Apache-2.0
#include "agent/core/probe.h"

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr uint64_t kProbeRounds = 5;  // each factor has one window in each round
constexpr uint64_t kPerRound = wire::kProbeFactors - 1;
// The first window begins this many window lengths after the first batch. A report needs this time:
// apart from the results of the experiments, it describes only the time outside the windows.
constexpr uint64_t kProbeLead = 4;
// The longest delay, in ns. A batch that needs a longer one ends the experiments, since a program
// may have time limits. A step that needs a longer one (a checkpoint) is not delayed.
constexpr uint64_t kLongestDelay = 2000000000u;

uint64_t Scrambled(uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// The number of the window at `ticks`, from 1. 0: the first has not begun, or there are none.
uint64_t WindowAt(uint64_t ticks) {
  if (g_header == nullptr || g_header->probe_window == 0) {
    return 0;
  }
  const uint64_t from = __atomic_load_n(&g_header->probe_from, __ATOMIC_RELAXED);
  return from != 0 && from <= ticks ? (ticks - from) / g_header->probe_window + 1 : 0;
}

// How long the thread has waited for a core, in ns; 0 if the kernel does not say.
uint64_t QueuedFor() {
  char text[64];
  if (sys::ReadFile("/proc/thread-self/schedstat", text, sizeof text) == 0) {
    return 0;
  }
  const char* blank = Find(text, " ");
  const int64_t value = blank != nullptr ? ParseNumber(blank + 1) : 0;
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

uint64_t NsOf(uint64_t ticks) {
  return ticks * g_ns_per_tick >> 20;
}

uint64_t Less(uint64_t value, uint64_t by) {
  return value > by ? value - by : 0;
}
uint64_t Least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

// How long one stage took in making a batch, in ns. The stages are those of the report, where
// augment is the time of a sample outside of reads, decoding and tokenizing. Reads also get the CPU
// time of a sample that belongs to no other stage.
ProbedTime SparedOf(const ProbedPiece& piece, wire::ProbeFactor factor) {
  const uint64_t told = piece.reads + piece.decode.wall + piece.tokenize.wall;
  const uint64_t augment = NsOf(Less(piece.sample.wall, told));
  const uint64_t rest = Less(piece.sample.cpu, piece.decode.cpu + piece.tokenize.cpu);
  switch (factor) {
    case wire::kProbeRead:
      return {NsOf(piece.reads), Less(rest, augment)};
    case wire::kProbeDecode:
      return {NsOf(piece.decode.wall), piece.decode.cpu};
    case wire::kProbeAugment:
      return {augment, Least(rest, augment)};
    case wire::kProbeCollate:
      return {NsOf(piece.collate.wall), piece.collate.cpu};
    default:
      return {0, 0};
  }
}

// Writes into the recording which window it is. `window`: from 1; 0: no more follow.
void TellWindow(ThreadState* s, uint64_t window, uint64_t now) {
  if (s->probe.told == window) {
    return;
  }
  const uint64_t seed = g_header->uuid[0];
  const bool was_over =
      s->probe.told == 0 || FactorOfWindow(seed, s->probe.told - 1) == wire::kProbeOver;
  const wire::ProbeFactor factor =
      window != 0 ? FactorOfWindow(seed, window - 1) : wire::kProbeOver;
  s->probe.told = window;
  if (factor == wire::kProbeOver && was_over) {
    return;
  }
  const uint64_t from = __atomic_load_n(&g_header->probe_from, __ATOMIC_RELAXED);
  const uint64_t since = factor != wire::kProbeOver ? (now - from) % g_header->probe_window : 0;
  EmitEvent(wire::kProbe, Context{},
            wire::ProbeValue(factor, wire::kProbePercent, NsOf(since) / 1000));
}

}  // namespace

bool Probes() {
  return Recording() && g_header != nullptr && g_header->probe_window != 0 &&
         __atomic_load_n(&g_header->probe_from, __ATOMIC_RELAXED) != wire::kProbeNever;
}

void NeverProbe() {
  if (g_header != nullptr) {
    __atomic_store_n(&g_header->probe_from, wire::kProbeNever, __ATOMIC_RELAXED);
  }
}

void NoteFirstBatch() {
  if (g_header == nullptr || g_header->probe_window == 0 ||
      __atomic_load_n(&g_header->probe_from, __ATOMIC_RELAXED) != 0) {
    return;
  }
  uint64_t expected = 0;
  __atomic_compare_exchange_n(&g_header->probe_from, &expected,
                              Now() + kProbeLead * g_header->probe_window, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

wire::ProbeFactor FactorOfWindow(uint64_t seed, uint64_t index) {
  const uint64_t round = index / (2 * kPerRound);
  if (round >= kProbeRounds) {
    // One more plain window follows, so that the last window of a factor can be compared with it.
    return index == kProbeRounds * 2 * kPerRound ? wire::kProbePlain : wire::kProbeOver;
  }
  if (index % 2 == 0) {
    return wire::kProbePlain;
  }
  uint8_t order[kPerRound];
  for (uint64_t i = 0; i < kPerRound; ++i) {
    order[i] = static_cast<uint8_t>(i + 1);
  }
  uint64_t random = Scrambled(seed) ^ (round + 1);
  for (uint64_t i = kPerRound; i > 1; --i) {
    random = Scrambled(random);
    const uint64_t other = random % i;
    const uint8_t kept = order[i - 1];
    order[i - 1] = order[other];
    order[other] = kept;
  }
  return static_cast<wire::ProbeFactor>(order[index / 2 % kPerRound]);
}

void BeginProbed(ProbedPart part) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return;
  }
  const uint64_t now = Now();
  const uint64_t window = Probes() ? WindowAt(now) : 0;
  if (part == ProbedPart::kStep && g_header != nullptr) {
    TellWindow(s, window, now);
  }
  const uint64_t told = s->probe.told;
  s->probe = ProbedPiece{};
  s->probe.told = told;
  if (window == 0) {
    return;
  }
  const wire::ProbeFactor factor = FactorOfWindow(g_header->uuid[0], window - 1);
  if (factor == wire::kProbePlain || factor == wire::kProbeOver) {
    return;
  }
  s->probe.window = window;
  s->probe.queued = part != ProbedPart::kHanding ? QueuedFor() : 0;
  s->probe.cpu = ThreadCpu();
  s->probe.start = Now();
}

uint64_t EndProbed(ProbedPart part) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return 0;
  }
  ProbedPiece& piece = s->probe;
  piece.rest = 0;
  const uint64_t window = piece.window;
  if (window == 0) {
    return 0;
  }
  const uint64_t end = Now();
  piece.window = 0;
  if (!Probes() || WindowAt(end) != window) {
    return 0;
  }
  const wire::ProbeFactor factor = FactorOfWindow(g_header->uuid[0], window - 1);
  if (part == ProbedPart::kStep && factor == wire::kProbeStep) {
    return 0;
  }
  const uint64_t wall = NsOf(Less(end, piece.start));
  const uint64_t cpu = Least(Less(ThreadCpu(), piece.cpu), wall);
  if (part == ProbedPart::kHanding) {
    return cpu <= kLongestDelay ? cpu : 0;
  }
  const uint64_t queued = Least(Less(QueuedFor(), piece.queued), wall - cpu);
  const ProbedTime spared =
      part == ProbedPart::kMaking ? SparedOf(piece, factor) : ProbedTime{0, 0};
  const uint64_t spared_cpu = Least(spared.cpu, cpu);
  // The time that the thread waited for a core is not part of the delay: when the delay computes,
  // it has to wait for a core as well. The spared stage gets its share of the recorded wait.
  const uint64_t spared_queue =
      cpu != 0 ? static_cast<uint64_t>(static_cast<double>(queued) *
                                       (static_cast<double>(spared_cpu) / static_cast<double>(cpu)))
               : 0;
  const uint64_t compute = cpu - spared_cpu;
  const uint64_t wait = Less(wall - cpu - queued, Less(spared.wall, spared_cpu + spared_queue));
  if (compute + wait > kLongestDelay) {
    return part == ProbedPart::kMaking ? kTooLong : 0;
  }
  piece.rest = wait;
  return compute;
}

uint64_t ProbedRest() {
  const ThreadState* s = Attached();
  return s != nullptr ? s->probe.rest : 0;
}

uint64_t Compute(uint64_t cpu) {
  const uint64_t start = ThreadCpu();
  uint64_t done = 0;
  while (done < cpu && !sys::IsShut()) {
    for (int i = 0; i < 64; ++i) {
      sys::Pause();
    }
    done = Less(ThreadCpu(), start);  // ThreadCpu() returns 0 behind a seccomp filter
  }
  return done < cpu ? cpu : done;
}

void NoteProbed(ThreadState* s, const OpenSpan& span, uint64_t wall, uint64_t cpu) {
  if (s->open_stage[span.stage] != 1) {
    return;  // inside another span of its stage
  }
  ProbedPiece& piece = s->probe;
  ProbedTime* time = nullptr;
  switch (span.stage) {
    case wire::kDecode:
      time = &piece.decode;
      break;
    case wire::kTokenize:
      time = &piece.tokenize;
      break;
    case wire::kSample:
      time = &piece.sample;
      break;
    case wire::kCollate:
      time = &piece.collate;
      break;
    default:
      return;
  }
  const bool without_reads = span.stage == wire::kDecode || span.stage == wire::kTokenize;
  time->wall += without_reads ? Less(wall, piece.reads - span.reads) : wall;
  time->cpu += cpu;
}

}  // namespace penstock::agent
