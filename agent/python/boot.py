# SPDX-License-Identifier: Apache-2.0
"""Installs the hooks in a Python that ignores PYTHONPATH (`python -I`, `-E`).

A program runs this file F by exec(compile(open(F).read(), F, "exec"), {"__file__": F}). A second run has no effect.
Only tests do this: the agent runs code of its own (agent/system/isolated_python.cc).
"""


def _boot(directory):
    import os
    import sys

    if "PENSTOCK_AGENT" not in os.environ or os.environ.get("PENSTOCK_OFF"):
        return
    hooks = sys.modules.get("penstock_hooks")
    if hooks is None:
        sys.path.insert(0, directory)
        try:
            import penstock_hooks as hooks
        finally:
            if directory in sys.path:
                sys.path.remove(directory)
    hooks.install()


try:
    _boot(__file__.rpartition("/")[0])
except Exception:
    pass
