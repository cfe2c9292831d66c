# SPDX-License-Identifier: Apache-2.0
"""Runs in each Python under the agent: imports the user's own sitecustomize, then installs our hooks.

Afterwards the program finds the same as without us: sys.path has no entry of ours (children find this file by
PYTHONPATH), and sys.modules has the user's sitecustomize or none. The hooks are for Python 3.7 to 3.15. Older versions,
2.7 among them, get only the user's sitecustomize. This file imports only our hooks and modules that Python has imported
already.
"""
import os
import sys

_MYSELF = sys.modules.get("sitecustomize")  # Python 2 would empty a module without references
_OURS = os.path.dirname(os.path.abspath(__file__))
# False if another tool's sitecustomize has found this file and executes it as the next sitecustomize, without an
# import. sys.modules then has the tool's module, and the tool expects no error if no further sitecustomize follows.
_SPEC = globals().get("__spec__")  # None in Python 2
_IMPORTED = _SPEC is None or getattr(_SPEC, "_initializing", False)


def _is_ours(entry):
    return os.path.abspath(entry or ".") == _OURS


def _load(path):
    """Executes the user's sitecustomize from `path`. False if there is none."""
    if sys.version_info[0] < 3:
        import imp  # built in

        try:
            found = imp.find_module("sitecustomize", path)
        except ImportError:
            return False
        del sys.modules["sitecustomize"]
        try:
            imp.load_module("sitecustomize", *found)
        finally:
            if found[0] is not None:
                found[0].close()
        return True
    finder = sys.modules["_frozen_importlib_external"].PathFinder
    spec = finder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return False
    module = sys.modules["_frozen_importlib"].module_from_spec(spec)
    if _IMPORTED:
        sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)
    return True


def _chain():
    """Runs the sitecustomize that would have run without us. Its errors are passed on."""
    # Entries before ours have no sitecustomize, or they have the one that was executed and led here.
    first = next((place for place, entry in enumerate(sys.path) if _is_ours(entry)), -1)
    later = [entry for entry in sys.path[first + 1 :] if not _is_ours(entry)]
    sys.path[:] = [entry for entry in sys.path if not _is_ours(entry)]
    try:
        return _load(later)
    except BaseException:
        if _MYSELF is not None:  # Python removes a module whose import fails
            sys.modules["sitecustomize"] = _MYSELF
        raise


def _write_own_byte_code():
    """Writes this file's byte code, as Python does when it imports a file, if there is none of this version of it."""
    cached = getattr(_SPEC, "cached", None)
    if not _IMPORTED or not cached:
        return
    try:
        with open(cached, "rb") as file:
            made_from = int.from_bytes(file.read(16)[8:12], "little")
    except OSError:
        made_from = -1
    try:
        if made_from != int(os.stat(__file__).st_mtime) & 0xFFFFFFFF and os.access(_OURS, os.W_OK):
            _SPEC.loader.get_code(_SPEC.name)
    except Exception:
        pass


def _install():
    off = os.environ.get("PENSTOCK_OFF", "")[:1] not in ("", "0")  # as agent/boot.cc judges it
    if "PENSTOCK_AGENT" not in os.environ or off or sys.version_info < (3, 7):
        return
    sys.path.insert(0, _OURS)
    silent = sys.dont_write_bytecode
    try:
        # The byte code of our files is kept even if the program's own is not (python -B), since each process would
        # compile them anew in 4 ms. It does not go into a folder that the user chose for byte code.
        if silent and getattr(sys, "pycache_prefix", None) is None:
            sys.dont_write_bytecode = False
            _write_own_byte_code()
        import penstock_hooks

        penstock_hooks.install()
    except Exception:
        pass
    finally:
        sys.dont_write_bytecode = silent
        if _OURS in sys.path:
            sys.path.remove(_OURS)


try:
    _found = _chain()
finally:
    _install()
if not _found and _IMPORTED:
    # site.py expects this error if there is no such module, and then prints nothing. Since Python 3.6 the error has a
    # class of its own.
    _kind = ImportError if sys.version_info < (3, 6) else ModuleNotFoundError
    _none = _kind("No module named 'sitecustomize'")
    _none.name = "sitecustomize"
    raise _none
