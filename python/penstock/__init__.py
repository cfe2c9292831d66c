# SPDX-License-Identifier: Apache-2.0
"""Penstock: a profiler and bottleneck finder for the data path that feeds a GPU.

The programs of this package need no Python: `penstock record -- python train.py`. What is here tells
scripts where they are.
"""
import os

__all__ = ["__version__", "agent", "program"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def _version():
    for name in os.listdir(_HERE):
        if name.startswith("VERSION-"):
            return name[len("VERSION-") :]
    raise ImportError("the package penstock is not complete: no VERSION file in %s" % _HERE)


__version__ = _version()


def program(name="penstock"):
    """Path of a program: "penstock", "penstock-record", "penstock-gui", ...

    Raises FileNotFoundError if there is none of that name.
    """
    path = os.path.join(_HERE, "bin", name)
    if not os.path.isfile(path):
        raise FileNotFoundError("penstock has no program %r" % name)
    return path


def agent():
    """Path of the agent, for LD_PRELOAD."""
    return os.path.join(_HERE, "lib", "penstock", "libpenstock_agent.so")
