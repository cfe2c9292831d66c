# SPDX-License-Identifier: Apache-2.0
"""Runs in each Python below the agent: imports the user's own sitecustomize, then installs our hooks.

The directory is on PYTHONPATH and stays there (children need it). Pure standard library, 3.8 to
3.15; nothing is imported here that Python has not imported already.
"""
import os
import sys


def _chain():
    """Runs the sitecustomize that would have run without us; its errors are its own."""
    ours = os.path.dirname(os.path.abspath(__file__))
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != ours]
    finder = sys.modules["_frozen_importlib_external"].PathFinder
    spec = finder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    bootstrap = sys.modules["_frozen_importlib"]
    module = bootstrap.module_from_spec(spec)
    myself = sys.modules.pop("sitecustomize", None)
    sys.modules["sitecustomize"] = module
    kept = sys.path[:]
    sys.path[:] = path
    trimmed = sys.path[:]
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if myself is not None:  # importlib removes it itself, as for any module that fails
            sys.modules["sitecustomize"] = myself
        raise
    finally:
        if sys.path == trimmed:
            sys.path[:] = kept
        elif ours not in sys.path:  # the user's code changed the path: keep that, add ours again
            sys.path.insert(0, ours)


def _install():
    try:
        if "PENSTOCK_AGENT" not in os.environ or os.environ.get("PENSTOCK_OFF"):
            return
        import penstock_hooks

        penstock_hooks.install()
    except Exception:
        pass


try:
    _chain()
finally:
    _install()
