# SPDX-License-Identifier: Apache-2.0
"""Wrappers that are compiled with the same parameters as the functions that they wrap.

A wrapper with *args and **kwargs costs a tuple, a dict and a call that the interpreter cannot
inline; one with the same parameters as the original costs half. Hooks on transforms run a dozen
times for each sample, so they are made here.
"""
import builtins
import functools
import sys
import types

from penstock_hooks.bridge import begin, end

# The agent and the analyzer recognise our code by "/penstock_hooks/" in the name of its file. Python's warnings skip a
# frame whose file has "importlib" and "_bootstrap" in its name. So a warning with stacklevel=2, raised in a function
# that we wrap, shows the program's line, and warning filters see the program's module.
_FILE = "</penstock_hooks/importlib._bootstrap>"
_LISTED, _KEYED = 4, 8  # CO_VARARGS, CO_VARKEYWORDS
_ABSENT = object()
_ALL = "(_original(*args, **kwargs) if kwargs else _original(*args))"
_ONE = (
    "(_original(_self, _one) if not (args or kwargs or _one is _absent) else "
    "_original(_self, *args, **kwargs) if _one is _absent else _original(_self, _one, *args, **kwargs))"
)
# Python 3.7 has no "/" for parameters that are given by position only.
_ONE_PARAMETERS = "_self, _one=_absent, %s*args, **kwargs" % ("/, " if sys.version_info >= (3, 8) else "")

# The names that every wrapper uses. All wrappers share this namespace, because wrappers of the same shape share their
# code, and the interpreter's cache for a global is bound to one dictionary.
shared = {"_begin": begin, "_end": end, "_absent": _ABSENT}


@functools.lru_cache(maxsize=256)
def _factory(names, parameters, body):
    """Returns a function that takes the values of `names` and returns a wrapper."""
    source = "def _make(%s):\n    def _wrapper(%s):\n        %s\n    return _wrapper\n" % (
        ", ".join(names),
        parameters,
        body.strip("\n").replace("\n", "\n        "),
    )
    made = {}
    exec(compile(source, _FILE, "exec"), shared, made)
    return made["_make"]


def _fixed(code):
    """(parameters, arguments) of a function without * and **; None if a name would clash.

    For example, a parameter called `type` would hide the builtin from the statements of the
    wrapper.
    """
    plain = code.co_varnames[: code.co_argcount]
    keyed = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if any(name.startswith("_") or not name.isidentifier() or hasattr(builtins, name) for name in plain + keyed):
        return None
    positional = getattr(code, "co_posonlyargcount", 0)
    parameters = list(plain)
    if positional:
        parameters.insert(positional, "/")
    if keyed:
        parameters += ("*",) + keyed
    return ", ".join(parameters), ", ".join(plain + tuple("%s=%s" % (name, name) for name in keyed))


def like(original, body, **closed):
    """A function with the parameters of `original` and the statements `body`.

    In `body`, CALL stands for the call of the original with unchanged arguments, and SELF for the first argument. LATE
    stands for a call, with the same arguments, of the __call__ that the class `_base` in `closed` has at that time. The
    names of `body`, `closed` and `shared` begin with an underscore. If `body` uses SELF, the original must have a
    parameter. If the original is then a builtin or has * or **, callers must give the first argument by position.
    """
    code = original.__code__ if isinstance(original, types.FunctionType) else None
    shape = _fixed(code) if code is not None and not code.co_flags & (_LISTED | _KEYED) else None
    if shape is not None:
        parameters, arguments = shape
        call, first = "_original(%s)" % arguments, parameters.partition(",")[0]
        defaults, keyword_defaults = original.__defaults__, original.__kwdefaults__
    elif "SELF" in body:  # nn.Module's __call__, usually with one argument
        parameters, first, call = _ONE_PARAMETERS, "_self", _ONE
        defaults, keyword_defaults = (_ABSENT,), None
    else:
        parameters, first, call = "*args, **kwargs", "", _ALL
        defaults, keyword_defaults = None, None
    late = call.replace("_original(", "_base.__call__(")
    body = body.replace("CALL", call).replace("SELF", first).replace("LATE", late)
    wrapper = _factory(("_original",) + tuple(closed), parameters, body)(original, *closed.values())
    wrapper.__defaults__, wrapper.__kwdefaults__ = defaults, keyword_defaults
    return wrapper
