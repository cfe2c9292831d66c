# SPDX-License-Identifier: Apache-2.0
"""A program that makes samples as a worker does: stalled.py CASE. One sample stands still. Needs Python 3.9 or later.

Prints what the case computes. Also runs without the agent.
"""
import os
import queue
import socket
import sys
import threading
import time
import warnings

stalls = None
if "PENSTOCK_AGENT" in os.environ:
    sys.path.insert(0, os.path.join(os.path.dirname(os.environ["PENSTOCK_AGENT"]), "penstock_python"))
    from penstock_hooks import stalls, wire
    from penstock_hooks.bridge import begin, end, intern

    del sys.path[0]
LONG = 1.3


def later(action):
    def run():
        time.sleep(LONG)
        action()

    threading.Thread(target=run).start()


def lock():
    held = threading.Lock()
    held.acquire()
    later(held.release)
    held.acquire()  # waits: lock
    return "got it"


def from_queue():
    values = queue.Queue()
    later(lambda: values.put(5))
    return values.get()  # waits: from_queue


def network():
    ours, theirs = socket.socketpair()
    later(lambda: theirs.sendall(b"late"))
    return ours.recv(4)  # waits: network


def sleep():
    time.sleep(LONG)  # waits: sleep
    return "slept"


def deep():
    def below(depth):
        return below(depth - 1) + 1 if depth else len(sleep())

    return below(100)


def generator():
    def values():
        yield 1
        time.sleep(LONG)  # waits: generator
        yield 2

    return list(values())


def leaving():
    """The process ends right after the sample, as a worker does."""
    time.sleep(LONG)  # waits: leaving
    if stalls is not None:
        stalls.leave()
    os.write(1, b"left\n")
    os._exit(0)


def inner():
    """The sample contains other spans, which work. After the last of them the sample stands still."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        sample(100, lambda: time.sleep(0.002))
    return sleep()


class Thing:
    log = []

    def __del__(self):
        Thing.log.append(threading.current_thread() is threading.main_thread())


def garbage():
    """Finalizers run on the thread that makes the garbage, not on one of ours."""
    for _ in range(300):
        one, two = Thing(), Thing()
        one.other, two.other = two, one
        del one, two
    time.sleep(LONG)
    import gc

    gc.collect()
    return set(Thing.log), len(Thing.log)


def forks():
    """Python must not warn that a process with several threads forks, and the child must go on."""
    seen = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            watch()
            pid = os.fork()
            if pid == 0:
                watch()
                os._exit(7)
            seen.append(os.waitpid(pid, 0)[1])
        seen.append([str(one.message)[:80] for one in caught])
    time.sleep(LONG)
    return seen


def watch():
    if stalls is not None:
        stalls.watch()


def sample(number, work):
    token = begin(wire.SAMPLE, intern("Case"), number, 0, 1) if stalls is not None else 0
    try:
        return work()
    finally:
        if token:
            end(token)


def main():
    watch()
    for number in range(100):
        sample(number, lambda: time.sleep(0.002))
    print(sample(100, globals()[sys.argv[1]]))
    for number in range(101, 201):
        sample(number, lambda: time.sleep(0.002))
    print(threading.active_count(), len(sys._current_frames()))


main()
