# SPDX-License-Identifier: Apache-2.0
"""Follows the Python calls of a few samples, collated batches and steps: which functions and lines took the time.

A unit is one sample, one collated batch or one step. A followed unit is either drawn, whatever its duration, or it is a
chosen sample: one that was slow in an earlier epoch (slow_samples.py). Only followed units cost time, in all at most a
500th of the time for which the process has run. This module counts the cost, in ticks of the recording's clock, and
decides when to follow. The agent keeps the call tree (agent/python_calls.cc).
"""
import os
import sys
import threading
import weakref
from collections import deque
from time import perf_counter_ns, thread_time_ns

from penstock_hooks import wire
from penstock_hooks.bridge import fact, follow, now, recording
from penstock_hooks.follow_costs import Costs
from penstock_hooks.monitoring import Monitor, tool_in_use
from penstock_hooks.slow_samples import TIMES, SlowSamples

SHARE = 500
_SAMPLE, _COLLATE, _STEP = wire.SAMPLE, wire.COLLATE, wire.STEP
_ORDINARY = 16  # units that are only timed before the first one is followed
_KEPT = 32  # durations of ordinary units that are kept
_LEAST_NS = 300000  # a unit begins only if this much may be spent
_BETWEEN_NS = 100000000
_OTHERS = 4  # if there are samples, each other kind may spend a quarter, unless collating takes longer than they do
_CHOSEN = 2  # chosen samples may spend half; if there are any, drawn samples may spend half
_CHOSEN_FLAG = 2  # of follow_begin
_AGE_PART = 200  # after a unit, the next one of its kind begins a 200th of the process's age later, or more
_HOT = 3  # functions whose lines are followed
_TOLD = 16  # facts are written after 1, 2, 4, 8, 16, 32, 48, ... units
# Upper bounds, before Python 3.12: the part of the interpreter's time that a profile function adds, without and
# with a line tracer.
_SLOWED, _SLOWED_LINES = 0.58, 0.85
_WHOLE, _CUT, _DISPLACED = range(3)


def _refusal():
    """Why calls are not followed in this interpreter at all, or None."""
    if os.environ.get("PENSTOCK_FUNCTIONS", "").lower() in ("off", "0", "no", "false"):
        return "switched off"
    version = sys.version_info[:3]
    if sys.implementation.name != "cpython" or version < (3, 9) or version[:2] > (3, 14) or version == (3, 12, 0):
        return "this Python"
    if sys.abiflags:
        return "a debug or free-threaded build"
    return None if follow is not None else "no agent"


def _compiles():
    """Whether the program has or may have compiled something with torch.compile."""
    if "torch._dynamo.convert_frame" not in sys.modules:
        return False
    try:
        utils = sys.modules["torch._dynamo.utils"]
        frames = sys.modules["torch._dynamo.eval_frame"]
        return bool(utils.counters["frames"]) or bool(getattr(frames, "cached_backends", True))
    except Exception:
        return True


class _Kind:
    """What this process knows of one kind of unit: samples, collated batches or steps."""

    __slots__ = ("times", "units", "due", "hot", "cost", "lines_cost", "spent", "whole")

    def __init__(self):
        self.times = deque(maxlen=_KEPT)
        self.units = 0
        self.due = 0
        self.hot = ()
        self.cost = self.lines_cost = self.spent = 0.0
        self.whole = False  # whether the last unit was followed to its end, without lines

    def wants_lines(self):
        """Whether lines are followed in the next unit: in every other one, but not after a unit that was cut. A report
        needs whole units first."""
        return self.whole and bool(self.hot)

    def median(self):
        return sorted(self.times)[len(self.times) // 2] if self.times else 0


class _Timing:
    """A unit that is only timed, not followed."""

    __slots__ = ("kind", "began")

    def __init__(self, kind):
        self.kind = kind
        self.began = now()

    def leave(self):
        self.kind.times.append(now() - self.began)


class _Followed:
    """A followed unit. It ends at leave(), or when it is deleted because a loop was left early."""

    __slots__ = ("follower", "kind", "sample", "lines", "allowed", "pid", "cpu", "is_open")

    def __init__(self, follower, kind, sample, lines, allowed):
        self.follower = follower
        self.kind = kind
        self.sample = sample
        self.lines = lines
        self.allowed = allowed  # ticks that it may cost
        self.pid = os.getpid()
        self.cpu = thread_time_ns()
        self.is_open = False

    def leave(self):
        if self.is_open:
            self.is_open = False
            state = follow["follow_stop"](0)  # first, so that the lines below are not in the unit
            if self.pid == os.getpid():
                try:
                    self.follower.end(self, state)
                finally:
                    self.follower.busy.release()

    def __del__(self):
        try:  # not leave(): at the end of the interpreter the names of this module may be None
            self.leave()
        except Exception:
            pass


class Follower:
    """Decides for one process which units are followed."""

    def __init__(self):
        self.pid = os.getpid()
        self.off = _refusal()
        self.began, self.began_ns = now(), perf_counter_ns()
        self.spent = 0.0
        self.units = 0
        self.costs = None
        self.monitor = Monitor() if self.off is None and hasattr(sys, "monitoring") else None
        self.kinds = {_SAMPLE: _Kind(), _COLLATE: _Kind(), _STEP: _Kind()}
        self.chosen = _Kind()  # slow samples; `times` holds the durations of those that were followed
        self.slow = SlowSamples() if self.off is None else None
        self.batch = 1  # number of samples in a batch
        self.busy = threading.Lock()  # held while a unit is under way or costs are measured

    def ticks(self, nanoseconds):
        passed = perf_counter_ns() - self.began_ns
        return nanoseconds * (now() - self.began) / passed if passed > 0 else nanoseconds

    def nanoseconds(self, ticks):
        passed = now() - self.began
        return int(ticks * (perf_counter_ns() - self.began_ns) / passed) if passed > 0 else 0

    def stop(self, reason):
        self.off = reason
        self.tell()

    def tell(self):
        fact("functions.units", str(self.units))
        fact("functions.spent_ns", str(self.nanoseconds(self.spent)))
        fact("functions.of_ns", str(perf_counter_ns() - self.began_ns))
        fact("functions.method", "profile" if self.monitor is None else "sys.monitoring")
        if self.off is not None:
            fact("functions.off", self.off)

    def left(self):
        """Ticks that may be spent now."""
        return (now() - self.began) / SHARE - self.spent

    def enter(self, stage, name, sample, batch, generation, follows=True):
        """Begins to follow a unit, or only to time it. Returns an object with leave(); None if the unit is neither
        followed nor timed."""
        kind = self.kinds[stage]
        if follows and not self.busy.locked() and len(kind.times) >= _ORDINARY and now() >= kind.due:
            unit = self._begin(kind, kind.wants_lines(), stage, name, sample, batch, generation)
            if unit is not None:
                return unit
        return _Timing(kind) if not self.busy.locked() else None

    def enter_chosen(self, name, sample, batch, generation):
        """Begins to follow a sample that is known to be slow. Returns an object with leave(), or None."""
        return self._begin(self.chosen, self.chosen.wants_lines(), _SAMPLE, name, sample, batch, generation)

    def pick(self, indices):
        """Returns the one of `indices` that is followed because it was slow before; -1: none."""
        ordinary, kind, slow = self.kinds[_SAMPLE], self.chosen, self.slow
        if slow.told != ordinary.units:
            slow.tell(ordinary.units, ordinary.median())
        if now() < kind.due or not slow.known() or type(indices) not in (list, tuple):
            return -1
        index = slow.pick(indices)
        if index >= 0 and (self.left() < self._expected(kind, kind.wants_lines()) or self._has_spent(kind, _CHOSEN)):
            kind.due = now() + int(self.ticks(_BETWEEN_NS) / 8)
            return -1
        return index

    def _has_spent(self, kind, part):
        """Whether a kind has spent its part (1 / `part`) of the time that all kinds may spend."""
        return kind.spent * part > (now() - self.began) / SHARE

    def is_due(self, stage):
        """Whether a unit of this stage may be drawn now."""
        kind = self.kinds[stage]
        if self.busy.locked() or now() < kind.due or self.left() < self._expected(kind, kind.wants_lines()):
            return False
        return not (self.slow.indices and self._has_spent(kind, _CHOSEN))

    def _expected(self, kind, lines):
        """Ticks that following the next unit is expected to cost. `lines`: the lines of hot functions are followed
        too."""
        least = self.ticks(_LEAST_NS)
        known = kind.lines_cost if lines else kind.cost
        if known:
            return max(least, known)
        if self.monitor is None:  # following ends at an event, and a function may have none
            return max(least, self._usual(kind) * (_SLOWED_LINES if lines else _SLOWED))
        return max(least, kind.cost)  # that of a unit without lines

    def _usual(self, kind):
        """Ticks of a unit that is not followed."""
        return kind.median() if kind is not self.chosen or kind.times else 2 * TIMES * self.kinds[_SAMPLE].median()

    def _begin(self, kind, lines, *what):
        """Begins to follow a unit. Returns None if another thread is here or follows a unit: the agent and Monitor
        handle one unit at a time."""
        if not self.busy.acquire(False):
            return None
        unit = None
        try:
            unit = self._follow(kind, lines, *what)
            return unit
        except BaseException:  # a unit may be open in the agent, perhaps one whose cost was being measured
            follow["follow_forget"]()
            raise
        finally:
            if unit is None:
                self.busy.release()

    def _follow(self, kind, lines, stage, name, sample, batch, generation):
        if self.left() < self._expected(kind, lines):
            return None
        chosen = kind is self.chosen
        samples = self.kinds[_SAMPLE]
        minor = stage != _COLLATE or kind.median() <= self.batch * samples.median()
        if stage != _SAMPLE and samples.times and minor and self._has_spent(kind, _OTHERS):
            return None
        reason = tool_in_use()
        if reason is not None:
            self.stop(reason)
            return None
        if stage == _STEP and _compiles():
            kind.due = 1 << 62
            return None
        if self.costs is None:
            began = thread_time_ns()
            self.costs = Costs(self.monitor)
            self.spent += self.ticks(thread_time_ns() - began)
            each = [self.nanoseconds(cost << 8) / 65536 for cost in self.costs.events()]
            fact("functions.event_ns", " ".join("%.0f" % one for one in each))
            return None
        hot = [code for code in (reference() for reference in kind.hot) if code is not None] if lines else []
        left, costs = self.left(), self.costs
        dearest = max(costs.function, costs.builtin, costs.line if hot else 0) / 256
        if self.monitor is None:
            most_ticks = left / (_SLOWED_LINES if hot else _SLOWED)
        else:
            most_ticks = max(20 * self._usual(kind), 50 * left)
        ordinary, neighbours = (0, 0) if chosen else (kind.median(), len(kind.times))
        arguments = (
            stage, name, sample, batch, generation, ordinary, neighbours,
            min(max(int(left / max(dearest, 1)), 1), 1 << 30), int(most_ticks),
        )  # fmt: skip
        kind.due = now() + int(self.ticks(_BETWEEN_NS))  # if following fails
        unit, flags = _Followed(self, kind, sample if chosen else -1, bool(hot), left), _CHOSEN_FLAG if chosen else 0
        if self.monitor is not None:
            unit.is_open = self.monitor.begin(arguments, hot, flags)
        else:
            unit.is_open = follow["follow_begin"](*arguments, flags, None, *hot)
        return unit if unit.is_open else None

    def end(self, unit, state):
        stopped = thread_time_ns()  # CPU time: waiting for a core does not count
        if self.monitor is not None:
            self.monitor.end()
        reason = tool_in_use()
        if reason is not None or state == _DISPLACED:
            follow["follow_finish"](0, 0, 0, 0, 0)
            self.spent += self.ticks(thread_time_ns() - stopped)
            self.stop(reason or "a tool of the program")
            return
        kind, costs = unit.kind, self.costs
        number = follow["follow_fact"]
        duration, functions, builtins, lines, interpreted, codes = [number(i) for i in range(6)]
        if functions:
            kind.hot = tuple(weakref.ref(code) for code in (follow["follow_hot"](i) for i in range(_HOT)) if code)
        cost = follow["follow_finish"](1, *costs.events(), costs.spread)
        if self.monitor is None:
            slowed = min(interpreted, self.ticks(stopped - unit.cpu)) * (_SLOWED_LINES if unit.lines else _SLOWED)
            cost = max(cost, min(slowed, max(0.0, duration - 0.7 * kind.median())))
        if kind is self.chosen:
            kind.times.append(duration - int(cost))
            self.slow.note(unit.sample, duration - cost, self.kinds[_SAMPLE].median())
        cost += costs.toggle + codes * costs.code
        expected = 2 * max(cost, unit.allowed) if state == _CUT else cost  # until a unit is followed to its end
        if unit.lines:
            kind.lines_cost = expected
        else:
            kind.cost = expected
        kind.whole = not unit.lines and state != _CUT
        kind.units += 1
        self.units += 1
        age = now() - self.began
        kind.due = now() + int(max(self.ticks(_BETWEEN_NS), age / _AGE_PART))
        cost += self.ticks(thread_time_ns() - stopped)
        kind.spent += cost
        self.spent += cost
        if self.units % _TOLD == 0 or self.units & self.units - 1 == 0:
            told = thread_time_ns()
            self.tell()
            self.spent += self.ticks(thread_time_ns() - told)


_current = None


def follower():
    """The follower of this process; None if nothing is followed."""
    global _current
    here = _current
    if here is None or here.pid != os.getpid():
        first, here = here is None, Follower()
        if first and here.off is None:
            os.register_at_fork(after_in_child=follow["follow_forget"])
        _current = here
        if here.off is not None:
            fact("functions.off", here.off)
    return here if here.off is None and recording() else None


def enter(stage, name, sample, batch, generation):
    """Called when a collated batch or a step begins. Returns an object for leave(), or None."""
    try:
        here = follower()
        return here.enter(stage, name, sample, batch, generation) if here is not None else None
    except Exception:
        return None


def leave(unit):
    try:
        unit.leave()
    except Exception:
        pass


class _Batch:
    """The samples of one fetch. Sample number `left` (1: the first) is followed: it was drawn. The sample of index
    `chosen` (-1: none) is followed too, because it was slow before. The others are timed. The draw does not depend on
    `chosen`."""

    __slots__ = ("follower", "left", "chosen", "unit")

    def __init__(self, follower, left, chosen=-1):
        self.follower = follower
        self.left = left
        self.chosen = chosen
        self.unit = None

    def enter(self, name, sample, progress):
        try:
            self.left -= 1
            if self.left > 0 and 0 <= sample == self.chosen:
                self.unit = self.follower.enter_chosen(name, sample, progress.batch, progress.generation)
                return  # its time is not that of an ordinary sample
            self.unit = self.follower.enter(
                _SAMPLE, name, sample, progress.batch, progress.generation, self.left <= 0
            )
            if type(self.unit) is _Followed:
                self.left = 1 << 62
        except Exception:
            self.unit = None

    def leave(self):
        unit, self.unit = self.unit, None
        if unit is not None:
            leave(unit)


def plan(indices):
    """Decides about the samples of a fetch: returns a _Batch, or None if none is followed or timed."""
    try:
        here = follower()
        if here is None:
            return None
        count = here.batch = max(len(indices), 1) if isinstance(indices, (list, tuple)) else 1
        kind = here.kinds[_SAMPLE]
        if len(kind.times) < _ORDINARY:
            return _Batch(here, 1 << 62)
        draws, chosen = here.is_due(_SAMPLE), here.pick(indices)
        if not draws:
            return _Batch(here, 1 << 62, chosen) if chosen >= 0 else None
        # The first unit lies in the middle of a batch: in the first sample, caches are cold from collating.
        return _Batch(here, 1 + (kind.units * 40503 + count // 2) % count, chosen)
    except Exception:
        return None
