# SPDX-License-Identifier: Apache-2.0
"""Penstock: a profiler and bottleneck finder for the data path that feeds a GPU.

    penstock.Loader("train/", batch=64)   the reference loader in a training script    docs/python-loader.md
    penstock.open("run.penstock")         a trace as tables                            docs/python-trace.md
    penstock.mark("tokenise")             a span in the program's own recording        docs/python-trace.md

The programs of this package need no Python: `penstock record -- python train.py`. program() gives their paths.
The package can be imported without PyTorch and NumPy. A part that needs one of them says so when it is used.
"""
import importlib

from penstock._places import library, program, version

__version__ = version()

# Parts are imported at their first use, so a script that only wants a path pays for nothing else.
_PARTS = {
    "Loader": "penstock.loader",
    "LoaderError": "penstock.loader",
    "Trace": "penstock.trace",
    "TraceError": "penstock.trace",
    "open": "penstock.trace",
    "open_many": "penstock.fleet",
    "mark": "penstock.marks",
    "step": "penstock.marks",
    "batch": "penstock.marks",
    "recording": "penstock.marks",
}

__all__ = ["__version__", "agent", "ops", "program", "targets", *_PARTS]


def agent():
    """Path of the agent, for LD_PRELOAD."""
    return library("libpenstock_agent.so")


def __getattr__(name):
    if name in ("ops", "targets"):
        return importlib.import_module("penstock." + name)
    if name not in _PARTS:
        raise AttributeError("module 'penstock' has no attribute %r" % name)
    value = getattr(importlib.import_module(_PARTS[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
