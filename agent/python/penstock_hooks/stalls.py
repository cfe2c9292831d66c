# SPDX-License-Identifier: Apache-2.0
"""What workers and the training loop wait for when they stand still (agent/python_stalls.h).

The agent's watching thread is stopped before the process forks, since Python warns of a fork with several threads, and
before the interpreter finalises. The handlers of the fork cannot start it again, since Python counts the threads after
they have run. The next batch does.

It starts after a worker's first batch, so that worker_init_fn runs in a process of one thread: unshare(), setns() and
others fail or do less where there are more. A training process without workers has it from its second batch on.
"""
import atexit
import os

from penstock_hooks import functions
from penstock_hooks.bridge import fact, follow

_prepared = False
_told = 0  # the process that has said that one of its threads is ours
forks = 0  # of this process: who watched before one of them watches again


def _prepare():
    """Whether this process may be watched. A debugger stops the program where it likes, and no tool is to see us."""
    global _prepared
    if functions.follower() is None or functions.tool_in_use() is not None:
        return False
    if not _prepared:
        _prepared = True
        os.register_at_fork(before=_stop, after_in_parent=_forked, after_in_child=_forked)
        atexit.register(_end)
    return True


def _stop():
    follow["stall_stop"](0)


def _forked():
    global forks
    follow["stall_forked"]()
    forks += 1  # after it: who sees the new number may watch


def _end():
    follow["stall_stop"](1)


def watch():
    """Watches the calling thread. The fact lets the analyzer count the program's threads without ours."""
    global _told
    try:
        if _prepare():
            follow["stall_watch"]()
            if _told != os.getpid():
                _told = os.getpid()
                fact("agent.threads", "1")
    except Exception:
        pass


def leave():
    """The calling thread ends, or does something else."""
    try:
        if _prepared:
            follow["stall_leave"]()
    except Exception:
        pass
