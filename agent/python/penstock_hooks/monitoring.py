# SPDX-License-Identifier: Apache-2.0
"""Finds tools (debuggers, profilers, tracers) by which a program watches its own calls. Switches our own tool on for
one followed unit (sys.monitoring, Python 3.12 and later)."""
import sys
import threading

from penstock_hooks.bridge import follow

OWN_TOOL = "penstock"
_IDS = (4, 3)  # Python reserves 0, 1, 2 and 5 for debuggers, coverage, profilers and optimizers
# Modules of tools that may begin to trace at any moment, and greenlet, which switches stacks.
_DEBUGGERS = ("pydevd", "debugpy", "greenlet", "viztracer", "scalene", "pyinstrument", "yappi")


def tool_in_use():
    """The tool by which the program watches its own calls, or None."""
    if sys.gettrace() is not None or threading.__dict__.get("_trace_hook") is not None:
        return "a debugger, coverage or other tracer of the program"
    if sys.getprofile() is not None or threading.__dict__.get("_profile_hook") is not None:
        return "a profiler of the program"
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None and any(monitoring.get_tool(i) not in (None, OWN_TOOL) for i in range(6)):
        return "a tool of the program that uses sys.monitoring"
    for name in _DEBUGGERS:
        if name in sys.modules:
            return name
    return None


def profiled():
    """Whether the interpreter now reports calls to a tracer, a profiler or another tool of the program."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(i) not in (None, OWN_TOOL) for i in range(6))


class Monitor:
    """Switches sys.monitoring on for one unit at a time, with a tool id of its own, and off again."""

    def __init__(self):
        api = self.api = sys.monitoring
        events = api.events
        self.callbacks = (
            (events.PY_START, follow["on_function"]),
            (events.PY_RESUME, follow["on_function"]),
            (events.PY_THROW, follow["on_function"]),
            (events.PY_RETURN, follow["on_return"]),
            (events.PY_YIELD, follow["on_return"]),
            (events.PY_UNWIND, follow["on_return"]),
            (events.CALL, follow["on_builtin"]),
            (events.C_RETURN, follow["on_builtin_return"]),
            (events.C_RAISE, follow["on_builtin_return"]),
            (events.LINE, follow["on_line"]),
        )
        self.events = (
            events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_RETURN | events.PY_YIELD
            | events.PY_UNWIND | events.CALL
        )  # fmt: skip
        self.tool = None
        self.hot = ()

    def begin(self, arguments, hot, chosen=0):
        api = self.api
        tool = next(number for number in _IDS if api.get_tool(number) is None)
        api.use_tool_id(tool, OWN_TOOL)  # raises if the program took the id first: end() must not free it then
        self.tool = tool
        try:
            for event, callback in self.callbacks:
                api.register_callback(self.tool, event, callback)
            self.hot = tuple(hot)
            for code in self.hot:
                api.set_local_events(self.tool, code, api.events.LINE)
            if not follow["follow_begin"](*arguments, 1 | chosen, self.end, *hot):
                self.end()
                return 0
            api.set_events(self.tool, self.events)
            return 1
        except BaseException:
            follow["follow_forget"]()
            self.end()
            raise

    def end(self):
        """Switches sys.monitoring off and frees the tool id. The agent also calls this in the middle of a unit: at the
        unit's limit, if a tool of the program takes over, or in a forked child."""
        tool, self.tool = self.tool, None
        if tool is None:
            return
        api = self.api
        hot, self.hot = self.hot, ()
        try:
            api.set_events(tool, 0)
            for code in hot:
                api.set_local_events(tool, code, 0)
            for event, _ in self.callbacks:
                api.register_callback(tool, event, None)
        finally:
            api.free_tool_id(tool)
