# SPDX-License-Identifier: Apache-2.0
"""Watches workers and the training loop, to record what they wait for in a stall (agent/python_stalls.h).

The agent's watching thread is stopped before the process forks, since Python warns of a fork with several threads, and
before the interpreter finalises. The handlers that run after the fork cannot start the thread again, since Python
counts the threads after these handlers. The hook on the next batch starts it.

In a worker the thread starts after the first batch, so that worker_init_fn runs in a process of one thread: unshare(),
setns() and others fail or do less in a process of several threads. In a training process without workers it starts at
the second batch.
"""
import atexit
import os

from penstock_hooks import functions
from penstock_hooks.bridge import fact, follow

_prepared = False
_told = 0  # pid of the process that has written the fact agent.threads
forks = 0  # number of forks of this process. A thread that was watched at a smaller number must call watch() again


def _prepare():
    """Whether this process may be watched. False if a tool is in use: a debugger may stop the program anywhere, and no
    tool is to see us."""
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
    forks += 1  # last: whoever sees the new number may call watch()


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
    """To be called when the calling thread ends or leaves the loop that was watched."""
    try:
        if _prepared:
            follow["stall_leave"]()
    except Exception:
        pass
