# SPDX-License-Identifier: Apache-2.0
"""A program that follows its units as the hooks follow samples, in any Python from 3.9 on: followed.py CASE [off].

Prints what the case computes, which must not depend on following. Also runs without the agent.
"""
import contextlib
import os
import sys
import threading
import time
import weakref

functions = None
if "PENSTOCK_AGENT" in os.environ:
    sys.path.insert(0, os.path.join(os.path.dirname(os.environ["PENSTOCK_AGENT"]), "penstock_python"))
    from penstock_hooks import functions, wire
    from penstock_hooks.bridge import intern

    del sys.path[0]
    functions.SHARE = 0.1  # the program is short: follow nearly every unit
    functions._LEAST_NS = functions._BETWEEN_NS = 1000
    functions._AGE_PART = 10**9


@contextlib.contextmanager
def unit(number):
    if functions is None:
        yield None
        return
    entered = functions.enter(wire.SAMPLE, intern("Case"), number, 0, 1)
    try:
        yield entered
    finally:
        if entered is not None:
            functions.leave(entered)


def hot_loop(values):
    total = 0
    for value in values:
        total += value * value % 7
        total ^= value
    return total


def cheap(values):
    return sum(values)


def loop(number):
    values = list(range(3000))
    return hot_loop(values) + cheap(values) + number


def first_loop(values):
    return max(value * 3 % 7 for value in values)


def second_loop(values):
    total = 0
    for value in values:
        total += value & 3
    return total


def waits(number):
    time.sleep(0.003)
    values = range(300)
    return hot_loop(values) + first_loop(values) + second_loop(values) + number


def recursion(number):
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    try:
        depth(10**6)
    except RecursionError:
        deep = "deep"
    return depth(600), fib(12), deep, number


def exceptions(number):
    caught = []

    def fails(n):
        try:
            if n == 0:
                raise KeyError(number)
            fails(n - 1)
        finally:
            caught.append(n)

    for _ in range(20):
        try:
            fails(5)
        except KeyError as error:
            frames = 0
            trace = error.__traceback__
            while trace is not None:
                frames += 1
                trace = trace.tb_next
            caught.append((str(error), frames, type(error.__context__).__name__))
        try:
            int("no")
        except ValueError as error:
            caught.append(str(error))
    return caught[-8:], len(caught)


def generators(number):
    closed = []

    def count(n):
        try:
            for i in range(n):
                got = yield i
                if got:
                    yield -got
        except GeneratorExit:
            closed.append("closed")
            raise
        except ValueError:
            yield "thrown"
        finally:
            closed.append(n)

    first = count(50)
    seen = [next(first), first.send(3), next(first), first.throw(ValueError)]
    first.close()
    seen += list(count(4))
    left = count(9)
    next(left)
    del left

    def both():
        back = yield from count(3)
        return back

    seen += list(both()) + [sum(x for x in range(number))]
    return seen, closed


class Thing:
    def __init__(self, log, name):
        self.log = log
        self.name = name

    def __del__(self):
        self.log.append(self.name)


def destruction(number):
    log = []

    def use(name):
        thing = Thing(log, name)
        alive = weakref.ref(thing)
        thing = Thing(log, name + "2")
        log.append("replaced" if alive() is None else "alive")
        other = thing
        del thing
        log.append("one name gone")
        del other
        log.append("both gone")
        try:
            held = Thing(log, name + "3")
            raise RuntimeError(held.name)
        except RuntimeError:
            pass
        log.append("end")

    for i in range(5):
        use("t%d" % i)
    function = (lambda: Thing(log, "f"))
    gone = weakref.ref(function.__code__)
    function()
    del function
    return log, number, gone() is None or "code waits"


def threads(number):
    results = []
    lock = threading.Lock()
    cell = [0]

    def work(start):
        value = hot_loop(range(start, start + 400))
        with lock:
            cell[0] += 1
            results.append((start, value))

    running = [threading.Thread(target=work, args=(i * 7,)) for i in range(4)]
    for thread in running:
        thread.start()
    mine = hot_loop(range(500))
    for thread in running:
        thread.join()
    return sorted(results), mine, cell


def closures(number):
    """Another thread changes a closure's variable while this one runs: Python's own tracing used to lose such
    changes."""
    value = 0
    stop = threading.Event()

    def change():
        nonlocal value
        value = 1
        stop.set()

    def wait():
        other = threading.Thread(target=change)
        other.start()
        stop.wait()
        other.join()
        return value

    return wait(), number


def randomness(number):
    import random

    random.seed(number)
    return [random.random() for _ in range(50)][-1], sorted(random.sample(range(1000), 5))


class Callable:
    def __call__(self, x):
        return x + 1


def calls(number):
    from functools import partial

    one, two = Callable(), partial(max, 5)
    values = [one(i) for i in range(30)]
    values.append(two(number))
    values += map(one, range(3))
    values.append(int.from_bytes(b"ab", "big"))
    values.append("".join(sorted("hello")))
    values.append((lambda *a, **k: (a, k))(*values[:2], **{"k": 1}))
    return values


def methods(number):
    import re

    pattern = re.compile("[0-9]+")
    find, replace = pattern.findall, pattern.sub
    text = "12 and %d " % number * 50
    return len(find(text)), len(replace("", text)), pattern.match(text).span()


def profiler(number):
    """cProfile, inside a unit or around several units, sees the same calls as without following."""
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.enable()
    loop(number)
    generators(number)
    profile.disable()
    stats = pstats.Stats(profile).stats
    return sorted((os.path.basename(k[0]), k[1], k[2], v[0], v[1]) for k, v in stats.items())


def setprofile(number):
    seen = []

    def tool(frame, event, argument):
        seen.append((frame.f_code.co_name, event))

    before = sys.getprofile()
    sys.setprofile(tool)
    cheap([1, 2])
    hot_loop([3])
    same = sys.getprofile() is tool
    sys.setprofile(None)
    return seen, before, same, sys.getprofile()


def settrace(number):
    seen = []

    def tool(frame, event, argument):
        seen.append((frame.f_code.co_name, event, frame.f_lineno))
        return tool

    before = sys.gettrace()
    sys.settrace(tool)
    hot_loop([3, 4])
    same = sys.gettrace() is tool
    sys.settrace(None)
    return seen, before, same, sys.gettrace()


def monitoring(number):
    if not hasattr(sys, "monitoring"):
        return None
    api = sys.monitoring
    seen = []
    free = [i for i in range(6) if api.get_tool(i) is None]
    for tool in free:
        api.use_tool_id(tool, "mine")
    api.register_callback(4, api.events.PY_START, lambda code, offset: seen.append(code.co_name))
    api.set_events(4, api.events.PY_START)
    cheap([1])
    hot_loop([2])
    api.set_events(4, 0)
    names = [api.get_tool(i) for i in range(6)]
    for tool in free:
        api.free_tool_id(tool)
    return seen, free, names


def forks(number):
    pid = os.fork()
    if pid == 0:
        os._exit(hot_loop(range(100)) % 200)
    return os.waitpid(pid, 0)[1], hot_loop(range(100))


def main():
    case = globals()[sys.argv[1]]
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    followed = 0
    for number in range(times):
        with unit(number) as entered:
            result = case(number)
        followed += type(entered).__name__ == "_Followed"
        print(result)
        if number == times - 2 and functions is not None:
            here = functions._current
            print("followed %d off %s" % (here.units, here.off), file=sys.stderr)


main()
