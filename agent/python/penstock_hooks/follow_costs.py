# SPDX-License-Identifier: Apache-2.0
"""Measures once in this process what following calls costs: the cost of an event of each kind, of switching on and off,
and of each new code object (sys.monitoring rewrites it twice)."""
from penstock_hooks import wire
from penstock_hooks.bridge import follow, now

_ROUNDS = 5
_CALLS = 100
_CODES = 8
_MOST = 1 << 30


def _empty():
    pass


def _calls(count):
    for _ in range(count):
        _empty()


def _builtins(count):
    one = len
    for _ in range(count):
        one(())


def _lines(count):
    x = 0
    for _ in range(count):
        x = 1
        x = 2
    return x


def _fresh():
    space = {}
    for i in range(_CODES):
        exec("def f%d(x):\n    y = x + 1\n    return len((y, x))\n" % i, space)
    return [space["f%d" % i] for i in range(_CODES)]


class Costs:
    """`function`, `builtin`, `line`: the cost of an event of that kind, in 256ths of a tick. `spread`: by how many
    percent these costs may be wrong. `toggle`: the cost of switching on and off, `code`: that of a code object, both in
    ticks."""

    def __init__(self, monitor):
        self.monitor = monitor
        self.function, one = self._event(_calls, 1, ())
        self.builtin, two = self._event(_builtins, 2, ())
        self.line, three = self._event(_lines, 3, (_lines.__code__,))
        self.spread = min(max(one, two, three), 100)
        self.toggle = self._toggle()
        self.code = self._code() if monitor is not None else 0

    def events(self):
        return self.function, self.builtin, self.line

    def _begin(self, hot):
        arguments = (wire.MARK, 0, -1, -1, 0, 0, 0, _MOST, 1 << 60)
        if self.monitor is not None:
            return self.monitor.begin(arguments, hot)
        return follow["follow_begin"](*arguments, 0, None, *hot)

    def _end(self):
        follow["follow_stop"](0)
        if self.monitor is not None:
            self.monitor.end()

    def _event(self, work, which, hot):
        """(cost, spread in percent) of the kind of event that `work` causes most often. `which`: the argument of
        follow_fact() that counts these events."""
        costs = []
        for _ in range(_ROUNDS):
            work(_CALLS)
            began = now()
            work(_CALLS)
            plain = now() - began
            if not self._begin(hot):
                raise RuntimeError("another unit is under way")
            work(_CALLS)
            began = now()
            work(_CALLS)
            followed = now() - began
            self._end()
            events = follow["follow_fact"](which) // 2
            follow["follow_finish"](0, 0, 0, 0, 0)
            costs.append(max(0, followed - plain) * 256 // max(events, 1))
        costs.sort()
        middle = costs[len(costs) // 2]
        return middle, 100 * (costs[-2] - costs[1]) // (2 * middle) + 5 if middle else 100

    def _toggle(self):
        times = []
        for _ in range(_ROUNDS):
            began = now()
            self._begin(())
            self._end()
            follow["follow_finish"](0, 0, 0, 0, 0)
            times.append(now() - began)
        return sorted(times)[_ROUNDS // 2]

    def _code(self):
        functions = _fresh()
        for function in functions * 20:
            function(1)
        began = now()
        for function in functions:
            function(1)
        plain = now() - began
        self._begin(())
        began = now()
        for function in functions:
            function(1)
        on = now() - began
        self._end()
        on -= follow["follow_finish"](0, 0, 0, 0, 0)  # the cost of first events, which the agent measures itself
        began = now()
        for function in functions * 4:
            function(1)
        off = now() - began - 4 * plain
        return max(0, on - plain + off) // _CODES
