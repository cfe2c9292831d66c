# SPDX-License-Identifier: Apache-2.0
"""Training loops whose samples come from threads and processes (makers) that the program starts itself: queues.py KIND
FOLDER [--step MS] [--count N] [--free] [--makers N]. Samples are JPEG files that Pillow decodes; with --free, each file
is decoded only once. The step is a sleep. Prints how many samples a second the loop took after the first eighth of the
samples."""
import argparse
import asyncio
import collections
import concurrent.futures
import glob
import itertools
import multiprocessing
import os
import queue
import socket
import threading
import time

import numpy
from PIL import Image

ARGUMENTS = None
CACHE = {}


def decode(path):
    if ARGUMENTS.free and path in CACHE:
        return CACHE[path]
    with Image.open(path) as image:
        sample = numpy.asarray(image.convert("RGB").resize((96, 96)))
    CACHE[path] = sample
    return sample


def paths():
    files = sorted(glob.glob(os.path.join(ARGUMENTS.folder, "*.jpg")))
    return list(itertools.islice(itertools.cycle(files), ARGUMENTS.count))


def share_of(worker):
    return paths()[worker :: ARGUMENTS.makers]


def fill(to, worker):
    for path in share_of(worker):
        to.put(decode(path))
    to.put(None)


def drain(take):
    for _ in range(ARGUMENTS.makers):
        while (sample := take()) is not None:
            yield sample


def processes():
    """Processes fill a queue of multiprocessing."""
    shared = multiprocessing.Queue(8)
    makers = [multiprocessing.Process(target=fill, args=(shared, i), daemon=True) for i in range(ARGUMENTS.makers)]
    for maker in makers:
        maker.start()
    yield from drain(shared.get)


def threads(kind=queue.Queue):
    """Threads fill a queue."""
    shared = kind(8)
    for i in range(ARGUMENTS.makers):
        threading.Thread(target=fill, args=(shared, i), daemon=True).start()
    yield from drain(shared.get)


def futures(pool):
    """The loop takes futures in order and keeps a fixed number of them ahead."""
    ahead = collections.deque()
    with pool:
        for path in paths():
            ahead.append(pool.submit(decode, path))
            if len(ahead) > 8:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def thread_futures():
    yield from futures(concurrent.futures.ThreadPoolExecutor(ARGUMENTS.makers))


def process_futures():
    yield from futures(concurrent.futures.ProcessPoolExecutor(ARGUMENTS.makers))


def mapped():
    with concurrent.futures.ThreadPoolExecutor(ARGUMENTS.makers) as pool:
        yield from pool.map(decode, paths())


def pool():
    """A pool's imap(): all samples may be made ahead of the loop."""
    with multiprocessing.Pool(ARGUMENTS.makers) as makers:
        yield from makers.imap(decode, paths(), chunksize=4)


def joblib():
    from joblib import Parallel, delayed

    yield from Parallel(ARGUMENTS.makers, return_as="generator")(delayed(decode)(path) for path in paths())


def shared_reading():
    """One thread makes half of the samples, the loop the other half."""
    shared = queue.Queue(4)
    half = paths()[::2]
    threading.Thread(target=lambda: [shared.put(decode(path)) for path in half], daemon=True).start()
    for path in paths()[1::2]:
        yield shared.get()
        yield decode(path)


def alone():
    """The loop makes its samples itself, without threads."""
    yield from map(decode, paths())


def condition():
    """Threads fill a list that a condition guards."""
    ready, changed = collections.deque(), threading.Condition()

    def make(worker):
        for path in share_of(worker):
            sample = decode(path)
            with changed:
                changed.wait_for(lambda: len(ready) < 8)
                ready.append(sample)
                changed.notify_all()

    for i in range(ARGUMENTS.makers):
        threading.Thread(target=make, args=(i,), daemon=True).start()
    for _ in paths():
        with changed:
            changed.wait_for(lambda: ready)
            sample = ready.popleft()
            changed.notify_all()
        yield sample


def pipes():
    """Processes write pictures into sockets, from which the loop reads them."""
    ends = []
    for i in range(ARGUMENTS.makers):
        here, there = socket.socketpair()
        if os.fork() == 0:
            here.close()
            for path in share_of(i):
                there.sendall(decode(path).tobytes())
            os._exit(0)
        there.close()
        ends.append(here)
    for i in range(ARGUMENTS.count):
        left = 96 * 96 * 3
        while left:
            left -= len(ends[i % ARGUMENTS.makers].recv(left))
        yield left


def simple():
    """Indices go out through one queue, samples come back through another."""
    asked, made = queue.SimpleQueue(), queue.SimpleQueue()

    def make():
        for path in iter(asked.get, None):
            made.put(decode(path))

    for _ in range(ARGUMENTS.makers):
        threading.Thread(target=make, daemon=True).start()
    ahead = 0
    for path in paths():
        asked.put(path)
        ahead += 1
        if ahead > 8:
            ahead -= 1
            yield made.get()
    for _ in range(ahead):
        yield made.get()


def tasks():
    """The loop awaits asyncio futures; threads decode."""
    loop = asyncio.new_event_loop()
    makers = concurrent.futures.ThreadPoolExecutor(ARGUMENTS.makers)
    ahead = collections.deque()
    for path in paths():
        ahead.append(loop.run_in_executor(makers, decode, path))
        if len(ahead) > 8:
            yield loop.run_until_complete(ahead.popleft())
    while ahead:
        yield loop.run_until_complete(ahead.popleft())


def another_thread():
    """The loop is a thread that the main thread waits for."""
    out = queue.Queue()
    runner = threading.Thread(target=lambda: out.put(train(threads())))
    runner.start()
    runner.join()
    return out.get()


def train(samples):
    warm, began = ARGUMENTS.count // 8, 0
    taken = 0
    for _ in samples:
        taken += 1
        if taken == warm:
            began = time.monotonic()
        if ARGUMENTS.step:
            time.sleep(ARGUMENTS.step * 1e-3)
    return (taken - warm) / (time.monotonic() - began)


KINDS = (processes, threads, thread_futures, process_futures, mapped, pool, joblib, shared_reading, alone, condition,
         pipes, simple, tasks)  # fmt: skip


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("folder")
    parser.add_argument("--step", type=float, default=0)
    parser.add_argument("--count", type=int, default=800)
    parser.add_argument("--makers", type=int, default=2)
    parser.add_argument("--free", action="store_true")
    ARGUMENTS = parser.parse_args()
    if ARGUMENTS.kind == "another_thread":
        print(another_thread())
    else:
        print(train({kind.__name__: kind for kind in KINDS}[ARGUMENTS.kind]()))


if __name__ == "__main__":
    main()
