# SPDX-License-Identifier: Apache-2.0
"""Experiments inside the run (`penstock record --probe`): delays pieces of work.

The agent says which window it is and how long to delay (agent/core/probe.h). This module then delays the thread between
two pieces of work, while it holds no lock. The program's random numbers, order and results do not change.
"""
from time import sleep

from penstock_hooks.bridge import fact, probing

MAKING, STEP, HANDING = range(3)
TIMEOUT, AHEAD, LONG = "timeout", "look-ahead", "long-delays"  # why experiments ended; the analyzer knows these words
_SLICE = 10_000_000  # ns; signals are handled between two slices

active = False  # whether this process is part of a run with experiments
if probing is not None:
    from penstock_hooks.bridge import probe_begin as begin
    from penstock_hooks.bridge import probe_compute, probe_end, probe_rest, probe_stop


def enter():
    """To be called when a loader or a worker begins."""
    global active
    active = probing is not None and probing()


def veto(reason):
    """Ends the experiments in all processes of the run."""
    global active
    if active:
        active = False
        probe_stop()
        begin(STEP)  # writes into the recording that no more windows follow
        fact("probe.off", reason)


def measure(part):
    """Ends a piece of work. Returns two times in ns: for how long to compute, and for how long to wait after that."""
    compute = probe_end(part)
    if compute < 0:
        veto(LONG)
        return 0, 0
    return compute, probe_rest()


def delay(due):
    """Computes and waits for the times that measure() has returned."""
    compute, rest = due
    while compute > 0:
        compute -= probe_compute(min(compute, _SLICE))
    if rest > 0:
        sleep(rest / 1e9)


def settle(part):
    """Ends a piece of work and delays the thread."""
    delay(measure(part))
