// SPDX-License-Identifier: Apache-2.0
#include "agent/python_stalls.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/process.h"
#include "agent/python_stack.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr int64_t kLookNs = 250000000;  // from one look to the next
constexpr uint32_t kFewestLooks = 3;    // a stall takes at least so many looks
constexpr uint64_t kTimesUsual = 5;     // and this many times the usual time from span to span
constexpr uint32_t kFewestSpans = 16;   // with fewer spans, the usual time is not known
constexpr uint32_t kHangLooks = 40;     // after so many looks a stall is written early
constexpr uint32_t kMostStalls = 64;    // of a process
constexpr uint32_t kMostWatched = 8;    // threads of a process

// A watched thread. `state` says whether the entry is taken; `thread` is written before `state`,
// with the GIL held. The second group of fields belongs to the watching thread, or to Start() while
// no such thread runs. Only `fresh` is set by other threads.
struct Watched {
  const ThreadState* state;  // atomic; nullptr: free
  PyThread thread;

  uint32_t serial;  // of the span that it began last
  uint32_t looks;   // how often it was seen in that span
  uint64_t since;   // ticks: when it was first seen in that span
  uint64_t spans;   // number of spans that it has begun while it was watched
  uint64_t ticks;   // time in which it began them, without stalls
  bool told;        // the stall under way has been written, or its stack could not be read
  bool fresh;       // atomic: another thread has got this entry since the last look
  uint32_t frames;  // number of frames that were read and are not written yet
  Stage stage;      // these three describe the stall to which the frames belong
  Context context;
  uint64_t start;
  StackFrame stack[kMostFrames];
};

struct Stalls {
  int pid;
  bool running;
  bool stopping;     // atomic
  bool ended;        // for good: the interpreter finalises
  uint32_t forking;  // number of threads that are about to fork or are forking
  unsigned long thread;
  uint32_t tid;   // of the watching thread; written by it
  uint32_t stop;  // atomic, a futex
  uint32_t told;  // stalls that were written
  Watched watched[kMostWatched];
};
Stalls g_stalls;

uint32_t SerialOf(const ThreadState* s) {
  return __atomic_load_n(&s->serial, __ATOMIC_RELAXED);
}

// Notes what the thread works on in a stall, and since when it has stood still.
void ReadPlace(const ThreadState* s, Watched* w) {
  w->context = s->context;
  w->start = w->since + static_cast<uint64_t>(w - g_stalls.watched);  // unique on this thread
  w->stage = wire::kStep;
  const uint32_t depth = s->depth < kMaxDepth ? s->depth : kMaxDepth;
  // If the innermost open span is the one that began last, the thread has stood still since that
  // span began. Otherwise it has stood still since the last inner span ended, shortly before
  // `since`.
  if (depth != 0 && s->open[depth - 1].serial == w->serial && s->open[depth - 1].start < w->since) {
    w->start = s->open[depth - 1].start;
  }
  for (uint32_t i = depth; i-- > 0;) {
    const uint8_t stage = s->open[i].stage;
    if (stage == wire::kSample || stage == wire::kCollate || stage == wire::kFetch) {
      w->stage = static_cast<Stage>(stage);
      break;
    }
  }
}

// Whether the thread has begun no span since the last look at it.
bool StandsStill(const void* argument) {
  const auto* w = static_cast<const Watched*>(argument);
  const ThreadState* s = __atomic_load_n(&w->state, __ATOMIC_ACQUIRE);
  return s != nullptr && SerialOf(s) == w->serial;
}

// Writes the stall: a unit, with a node for each function on the stack and one for its line.
void WriteStall(Watched* w) {
  const uint64_t now = Now();
  EmitFollowed(wire::kKindUnit, 0, w->context,
               {.stage = w->stage,
                .flags = wire::kUnitStall | wire::kUnitCut,
                .start = w->start,
                .duration = now > w->start ? now - w->start : 0,
                .bytes = w->spans != 0 ? w->ticks / w->spans : 0,
                .object = wire::UnitCounts(1, static_cast<uint16_t>(2 * w->frames), 0)});
  for (uint32_t i = 0; i < w->frames; ++i) {
    const StackFrame& frame = w->stack[w->frames - 1 - i];  // the outermost first
    for (uint32_t part = 0; part < 2; ++part) {
      const bool line = part == 1;
      const auto node = static_cast<uint16_t>(2 * i + part);
      Context place;
      place.sample = wire::CallPlace(line ? frame.line : frame.first_line, 0);
      place.batch =
          wire::CallNumbers(node, node != 0 ? static_cast<uint16_t>(node - 1) : wire::kNoNode);
      EmitFollowed(wire::kKindCall, 0, place,
                   {.stage = static_cast<Stage>(line ? wire::kCallLine : wire::kCallFunction),
                    .name = frame.name,
                    .start = w->start,
                    .bytes = 1,
                    .object = frame.file});
    }
  }
  w->told = true;
  ++g_stalls.told;
  __atomic_store_n(&w->frames, 0u, __ATOMIC_RELEASE);  // WaitUntilWritten() reads it
}

// Whether the thread waits for its next task or batch, hands over a batch or starts up. Such waits
// are not stalls: spans show them anyway.
bool WaitsForWork(const ThreadState* s) {
  const uint32_t depth = s->depth;
  if (depth == 0 || depth > kMaxDepth) {
    return false;
  }
  const uint8_t stage = s->open[depth - 1].stage;
  return stage == wire::kIdle || stage == wire::kWait || stage == wire::kPut ||
         stage == wire::kStartup;
}

// Counts the looks from 0 again.
void Restart(Watched* w, uint32_t serial, uint64_t now) {
  w->serial = serial;
  w->since = now;
  w->looks = 0;
  w->told = false;
  w->frames = 0;
}

// Checks one thread for a stall. `passed`: ticks since the last look.
void Look(Watched* w, uint64_t now, uint64_t passed) {
  const ThreadState* s = __atomic_load_n(&w->state, __ATOMIC_ACQUIRE);
  if (s == nullptr || __atomic_exchange_n(&w->fresh, false, __ATOMIC_ACQUIRE)) {
    if (w->frames != 0) {
      WriteStall(w);  // the thread has left since the last look
    }
    if (s != nullptr) {
      w->spans = w->ticks = 0;
      Restart(w, SerialOf(s), now);
    }
    return;
  }
  const uint32_t serial = SerialOf(s);
  const bool waits = WaitsForWork(s);
  if (serial != w->serial || waits) {
    if (w->frames != 0) {
      WriteStall(w);
    }
    if (serial < w->serial) {  // the state is another thread's now
      w->spans = w->ticks = 0;
    } else {
      w->spans += serial - w->serial;
      w->ticks += waits ? 0 : passed;
    }
    Restart(w, serial, now);
    return;
  }
  ++w->looks;
  const uint64_t usual = w->spans != 0 ? w->ticks / w->spans : 0;
  if (w->spans < kFewestSpans || w->looks < kFewestLooks || now - w->since < kTimesUsual * usual) {
    w->ticks += passed;
  } else if (w->frames == 0 && !w->told) {
    ReadPlace(s, w);
    w->frames = Self() != nullptr ? ReadStack(w->thread, StandsStill, w, w->stack) : 0;
    w->told = w->frames == 0;
  } else if (w->frames != 0 && w->looks >= kHangLooks) {
    WriteStall(w);
  }
}

// Uses sys::Raw(), since sys::Shut() waits for every sys::Call(), and would have to wait until this
// thread wakes. Every seccomp filter under which an interpreter with several threads can run allows
// this call.
void Sleep() {
  struct timespec time = {0, kLookNs};
  if (!sys::IsShut()) {
    sys::Raw(SYS_futex, sys::Pointer(&g_stalls.stop), 0 /* FUTEX_WAIT */, 0, sys::Pointer(&time));
  }
}

// Ends this thread if the program has installed a seccomp filter. Every filter allows exit(), but
// perhaps not the calls with which the C library ends a thread.
void LeaveIfShut() {
  while (sys::IsShut()) {
    sys::Raw(SYS_exit, 0);
  }
}

void* WatchMain(void* /*unused*/) {
  g_stalls.tid = sys::Tid();
  sys::Call(SYS_prctl, 15 /* PR_SET_NAME */, sys::Pointer("penstock-watch"));
  uint64_t last = Now();
  while (g_stalls.told < kMostStalls && Recording()) {
    Sleep();
    LeaveIfShut();
    if (__atomic_load_n(&g_stalls.stop, __ATOMIC_ACQUIRE) != 0) {
      break;
    }
    const uint64_t now = Now();
    for (Watched& w : g_stalls.watched) {
      Look(&w, now, now - last);
    }
    last = now;
  }
  for (Watched& w : g_stalls.watched) {
    if (w.frames != 0 && Recording()) {
      WriteStall(&w);
    }
  }
  LeaveIfShut();
  return nullptr;
}

// Makes the watching thread, with the program's signals blocked in it; gpu/cupti_flush.cc explains
// why two signals are not blocked.
void Start() {
  const uint64_t all = ~(uint64_t{3} << 31);
  uint64_t before = 0;
  if (sys::IsShut() || sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, sys::Pointer(&all),
                                 sys::Pointer(&before), 8) != 0) {
    return;
  }
  g_stalls.stop = 0;
  for (Watched& w : g_stalls.watched) {
    const ThreadState* s = w.state;
    if (s != nullptr) {
      if (w.fresh) {
        w.fresh = false;
        w.spans = w.ticks = 0;
      }
      Restart(&w, SerialOf(s), Now());
    }
  }
  g_stalls.running = CreateThread(&g_stalls.thread, WatchMain);
  sys::Raw(SYS_rt_sigprocmask, SIG_SETMASK, sys::Pointer(&before), 0, 8);
}

// Forgets what a forked child has from its parent: it has no watching thread, and other threads.
void ForgetParent() {
  const int pid = getpid();
  if (g_stalls.pid != pid) {
    const bool ended = g_stalls.ended;
    g_stalls = Stalls{};
    g_stalls.pid = pid;
    g_stalls.ended = ended;
  }
}

// Returns the entry of the thread with state `s`; for nullptr, a free entry. nullptr if there is
// none.
Watched* FindWatched(const ThreadState* s) {
  for (Watched& w : g_stalls.watched) {
    if (w.state == s) {
      return &w;
    }
  }
  return nullptr;
}

void Pause(long ns) {
  const struct timespec time = {0, ns};
  sys::Call(SYS_nanosleep, sys::Pointer(&time), 0);
}

// pthread_join() returns a little before the kernel forgets the thread. Until then the thread
// counts as one of the process, and Python warns of a fork with several threads.
void WaitUntilReleased() {
  const long pid = sys::Pid();
  for (int i = 0; i < 100 && sys::Call(SYS_tgkill, pid, g_stalls.tid, 0) == 0; ++i) {
    Pause(100000);
  }
}

// Waits until the thread that called StallStop() first has stopped the watching thread; 0.1 s at
// most.
void WaitUntilStopped() {
  for (int i = 0; i < 100 && __atomic_load_n(&g_stalls.stopping, __ATOMIC_ACQUIRE); ++i) {
    Pause(1000000);
  }
}

// If the watching thread has read a stall of a thread that has left, waits until it has written
// that stall. Wakes it, since a worker's process ends soon after the thread has left, before the
// next look. Waits 0.1 s at most, without the GIL, since the watching thread may be waiting for the
// GIL.
void WaitUntilWritten(const Watched* w) {
  const auto is_written = [w] { return __atomic_load_n(&w->frames, __ATOMIC_ACQUIRE) == 0; };
  if (is_written() || !g_stalls.running || !Recording() || sys::IsShut()) {
    return;
  }
  void* thread = g_python.save_thread();
  for (int i = 0; i < 100 && !is_written(); ++i) {
    sys::Call(SYS_futex, sys::Pointer(&g_stalls.stop), 1 /* FUTEX_WAKE */, 1);
    Pause(1000000);
  }
  g_python.restore_thread(thread);
}

}  // namespace

Object* StallWatch(Object* /*self*/, Arguments, Count) {
  const ThreadState* s = Recording() && LoadStackApi() ? Self() : nullptr;
  if (s == nullptr) {
    return None();
  }
  ForgetParent();
  const PyThread thread = ThisPyThread();
  Watched* w = FindWatched(s);
  // A thread that has ended may have had this state before.
  const bool known = w != nullptr && w->thread.id == thread.id;
  w = w != nullptr ? w : FindWatched(nullptr);
  if (w != nullptr && !known) {
    w->thread = thread;
    __atomic_store_n(&w->fresh, true, __ATOMIC_RELEASE);
    __atomic_store_n(&w->state, s, __ATOMIC_RELEASE);
  }
  if (!g_stalls.running && !g_stalls.stopping && !g_stalls.ended && g_stalls.forking == 0 &&
      g_stalls.told < kMostStalls) {
    Start();
  }
  return None();
}

Object* StallLeave(Object* /*self*/, Arguments, Count) {
  ForgetParent();
  const ThreadState* s = Attached();
  Watched* w = s != nullptr ? FindWatched(s) : nullptr;
  if (w != nullptr) {
    __atomic_store_n(&w->state, static_cast<const ThreadState*>(nullptr), __ATOMIC_RELEASE);
    WaitUntilWritten(w);
  }
  return None();
}

// The watching thread may be waiting for the GIL, so this function releases the GIL while it waits.
// If another thread is already stopping the watching thread, it waits for that thread.
Object* StallStop(Object* /*self*/, Arguments a, Count n) {
  ForgetParent();
  const bool for_good = Number(a, n, 0, 0) != 0;
  g_stalls.ended = g_stalls.ended || for_good;
  g_stalls.forking += for_good ? 0U : 1U;
  if (!g_stalls.running || sys::IsShut()) {
    return None();
  }
  const bool first = !g_stalls.stopping;
  if (first) {
    __atomic_store_n(&g_stalls.stopping, true, __ATOMIC_RELAXED);
    __atomic_store_n(&g_stalls.stop, 1u, __ATOMIC_RELEASE);
    sys::Call(SYS_futex, sys::Pointer(&g_stalls.stop), 1 /* FUTEX_WAKE */, 1);
  }
  void* thread = g_python.save_thread();
  if (first) {
    JoinThread(g_stalls.thread);
    WaitUntilReleased();
  } else {
    WaitUntilStopped();
  }
  g_python.restore_thread(thread);
  if (first) {
    g_stalls.running = false;
    __atomic_store_n(&g_stalls.stopping, false, __ATOMIC_RELEASE);
  }
  return None();
}

Object* StallForked(Object* /*self*/, Arguments, Count) {
  ForgetParent();  // in the child `forking` is 0 after this
  g_stalls.forking -= g_stalls.forking != 0 ? 1U : 0U;
  return None();
}

}  // namespace penstock::agent
