# SPDX-License-Identifier: Apache-2.0
"""The agent's functions (C builtins) as names of this module.

Importing this module fails with ImportError if there is no agent, or if the agent does not know this
Python. A patch that imports this module is then not made. All functions may be called while the recording is off: then
`begin` returns 0, and `end(0)` does nothing.
"""
import os


def _load():
    try:
        import ctypes

        function = ctypes.PyDLL(os.environ["PENSTOCK_AGENT"]).penstock_python_bridge
        function.restype = ctypes.py_object
        function.argtypes = ()
        functions = function()
        if functions is None:
            raise RuntimeError("it does not support this Python")
        return functions
    except Exception as error:
        raise ImportError("the agent cannot be used: %s" % error) from None


_functions = _load()
try:
    recording = _functions["recording"]
    now = _functions["now"]
    intern = _functions["intern"]
    begin = _functions["begin"]
    end = _functions["end"]
    cancel = _functions["cancel"]
    emit = _functions["emit"]
    event = _functions["event"]
    counter = _functions["counter"]
    fact = _functions["fact"]
    context = _functions["context"]
    role = _functions["role"]
    delivered = _functions["delivered"]
    open_spans = _functions["open_spans"]
except KeyError as missing:
    raise ImportError("agent without %s" % missing) from None
# The functions that probe.py needs; None if the agent is of an earlier version.
probing = _functions.get("probing")
if probing is not None:
    probe_begin = _functions["probe_begin"]
    probe_end = _functions["probe_end"]
    probe_rest = _functions["probe_rest"]
    probe_compute = _functions["probe_compute"]
    probe_stop = _functions["probe_stop"]
# The functions that functions.py needs, by name; None if the agent is of an earlier version.
follow = _functions if "stall_forked" in _functions else None
