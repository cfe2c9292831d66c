# SPDX-License-Identifier: Apache-2.0
"""Switches sys.monitoring (Python 3.12 and later) on for one followed unit, with a tool id of its own, and off
again."""
import sys

from penstock_hooks.bridge import follow

OWN_TOOL = "penstock"
_IDS = (4, 3)  # not those that debuggers, coverage and profilers use


class Monitor:
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
        self.tool = next(number for number in _IDS if api.get_tool(number) is None)
        try:
            api.use_tool_id(self.tool, OWN_TOOL)
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
        """Switches it off and frees the tool id. The agent also calls this, in the middle of a unit."""
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
