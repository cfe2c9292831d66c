# SPDX-License-Identifier: Apache-2.0
"""Applies the keys of --override that are no arguments of the DataLoader. Checks later whether the values of all keys
still hold.

Facts: override.<key> is the value that was applied. If the program or a library has then set another value,
override.lost.<key> is the value that was found. If the value could not be applied, override.lost.<key> is the reason.
The program's value stays: nothing is applied twice.
"""
import os
import sys

from penstock_hooks.bridge import fact

_POOLS = (("omp", "OMP_NUM_THREADS"), ("mkl", "MKL_NUM_THREADS"), ("openblas", "OPENBLAS_NUM_THREADS"),
          ("numexpr", "NUMEXPR_NUM_THREADS"))  # fmt: skip
# key of a DataLoader's override -> its attribute
_ATTRIBUTES = (("workers", "num_workers"), ("prefetch", "prefetch_factor"), ("batch", "batch_size"),
               ("pin", "pin_memory"), ("persistent", "persistent_workers"), ("in_order", "in_order"))  # fmt: skip


def _parse(text):
    """Every key with its value as text. The recorder has checked the values."""
    values = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if equals:
            values[key.strip()] = value.strip()
    return values


def _number(value):
    return int(value) if value is not None and value.isdigit() else None


def _cores(text):
    """0-3+8 becomes {0, 1, 2, 3, 8}."""
    cores = set()
    for part in text.split("+"):
        first, dash, last = part.partition("-")
        cores.update(range(int(first), int(last if dash else first) + 1))
    return cores


_values = _parse(os.environ.get("PENSTOCK_OVERRIDE", ""))
# The facts that have been written by this process, or by its parents before they forked: (key, value that was found)
# for override.lost, (key, None) for override.
_told = set()
_cv2 = None  # cv2.getNumThreads() after the number was set
_worker = {}  # in a worker: affinity and nice as they were set


def _lost(key, found):
    if (key, found) not in _told:
        _told.add((key, found))
        fact("override.lost." + key, found)


def _applied(key, value):
    if (key, None) not in _told:
        _told.add((key, None))
        fact("override." + key, value)


def enter_cv2(module):
    """To be called when cv2 was imported. A second call, after a reload, does nothing. Forked workers inherit the
    number from their parent."""
    global _cv2
    number = _number(_values.get("cv2_threads"))
    if number is None or _cv2 is not None or not hasattr(module, "setNumThreads"):
        return
    try:
        module.setNumThreads(number)
        _cv2 = module.getNumThreads()
        _applied("cv2_threads", str(number))
    except Exception:
        pass


def enter_worker():
    """To be called when a worker process begins, before any code of the program runs in it."""
    if "affinity" in _values and hasattr(os, "sched_setaffinity"):
        try:
            os.sched_setaffinity(0, _cores(_values["affinity"]))
            _worker["affinity"] = os.sched_getaffinity(0)
            _applied("affinity", _values["affinity"])
        except (OSError, ValueError) as error:
            _lost("affinity", str(error))
    if "nice" in _values:
        try:
            wanted = int(_values["nice"])
            if wanted > os.nice(0):
                os.nice(wanted - os.nice(0))
            _worker["nice"] = os.nice(0)
            if _worker["nice"] == wanted:
                _applied("nice", _values["nice"])
            else:
                _lost("nice", "%d before" % _worker["nice"])
        except (OSError, ValueError) as error:
            _lost("nice", str(error))


def _check_variables():
    general = _values.get("threads")
    for key, name in _POOLS:
        wanted = _values.get(key, general)
        if wanted is not None and os.environ.get(name) != wanted:
            _lost(key if key in _values else "threads", "%s=%s" % (name, os.environ.get(name, "")))
    blocks = _values.get("pillow_blocks")
    if blocks is not None and os.environ.get("PILLOW_BLOCKS_MAX") != blocks:
        _lost("pillow_blocks", "PILLOW_BLOCKS_MAX=%s" % os.environ.get("PILLOW_BLOCKS_MAX", ""))


def _check_torch():
    """Checks whether the program called torch.set_num_threads(). Workers are left out, since PyTorch
    itself sets one thread there.

    PyTorch takes its number of threads from OpenMP or from MKL, depending on its build.
    """
    key = "omp" if "omp" in _values else "threads"
    wanted = [_values.get(pool, _values.get("threads")) for pool in ("omp", "mkl")]
    torch = sys.modules.get("torch")
    if key not in _values or None in wanted or torch is None or _in_worker(torch):
        return
    threads = torch.get_num_threads()
    if str(threads) not in wanted:
        _lost(key, "torch computes with %d" % threads)


def _in_worker(torch):
    ask = torch.utils.data.get_worker_info
    return getattr(ask, "__wrapped__", ask)() is not None  # not the wrapper, which notes who asks


def check():
    """Records the values that no longer hold. Called at each epoch of a loader, and at the end of a worker."""
    if not _values:
        return
    for look in (_check_variables, _check_torch, _check_cv2, _check_worker):
        try:
            look()
        except Exception:
            pass


def _check_cv2():
    if _cv2 is not None:
        threads = sys.modules["cv2"].getNumThreads()
        if threads != _cv2:
            _lost("cv2_threads", "%d" % threads)


def _check_worker():
    if "affinity" in _worker and os.sched_getaffinity(0) != _worker["affinity"]:
        _lost("affinity", "+".join(str(core) for core in sorted(os.sched_getaffinity(0))))
    if "nice" in _worker and os.nice(0) != _worker["nice"]:
        _lost("nice", str(os.nice(0)))


def check_loader(loader, values):
    """`values`: as torch_options.parse_override() returns them."""
    workers = loader.num_workers
    for key, attribute in _ATTRIBUTES:
        if key not in values or not (workers or key in ("workers", "batch", "pin")):
            continue
        missing = object()
        found = getattr(loader, attribute, missing)
        if found is missing or (key == "batch" and found is None):
            continue  # this PyTorch has no such argument, or the sampler makes the batches
        if found == values[key]:
            _applied(key, _text(values[key]))
        else:
            _lost(key, _text(found))
    if "at" in values:
        _applied("at", values["at"])
    if "start_method" in values and workers:
        context = loader.multiprocessing_context
        found = context.get_start_method() if context is not None else "default"
        if found == values["start_method"]:
            _applied("start_method", found)
        else:
            _lost("start_method", found)


def _text(value):
    return ("1" if value else "0") if isinstance(value, bool) else str(value)
