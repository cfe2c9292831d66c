# SPDX-License-Identifier: Apache-2.0
"""Facts: versions of libraries as they are imported, and, if there is no collector, facts of the
machine.

Keys: version.<library>; clock.namespace, clock.offset_ns, cpu.model, cpu.cores, cpu.affinity, cgroup.cpu_quota (cores),
cgroup.memory_limit, memory.total, shm.size (bytes); process.affinity of workers and their training process.
"""
import os
import sys

from penstock_hooks import command_line
from penstock_hooks.bridge import fact

_NAMES = {"PIL": "pillow"}
_written = set()


def _read(path):
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def _once(key, value):
    if key not in _written and value not in (None, ""):
        _written.add(key)
        fact(key, str(value))


def write_affinity():
    """Writes the affinity of this process. A collector knows only its own affinity. taskset, a library or the program
    may have given this process another one."""
    if hasattr(os, "sched_getaffinity"):
        fact("process.affinity", _affinity(os.sched_getaffinity(0)))  # written in each process


def _affinity(cores):
    """A list of cores as taskset writes it: 0-3,8."""
    runs = []
    for core in sorted(cores):
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in runs)


def _groups(controller):
    """The folders of our cgroup and of the cgroups above it. `controller`: a controller of cgroup version 1, or "" for
    version 2. A container sees its own group as the topmost one, whatever its name is outside."""
    place = "/"
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controller in controllers.split(","):
            place = path
    place = place.rstrip("/")
    while True:
        yield "/sys/fs/cgroup" + ("/" + controller if controller else "") + place
        if not place:
            return
        place = place.rpartition("/")[0]


def _quota_of(group):
    """The CPU quota in cores; None: no limit."""
    words = _read(group + "/cpu.max").split()
    if not words:
        words = [_read(group + "/cpu.cfs_quota_us").strip(), _read(group + "/cpu.cfs_period_us").strip()]
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0].isdigit() and words[1].isdigit() else None


def _limit_of(group):
    """The memory limit in bytes; None: no limit."""
    text = _read(group + "/memory.max").strip() or _read(group + "/memory.limit_in_bytes").strip()
    return int(text) if text.isdigit() and int(text) < 1 << 60 else None


def _tightest(read, controller):
    for version in ("", controller):
        known = [limit for limit in map(read, _groups(version)) if limit is not None]
        if known:
            return min(known)
    return None


def _cgroup():
    """(CPU quota in cores, memory limit in bytes): the lowest limits of our cgroup and of the cgroups above it."""
    return _tightest(_quota_of, "cpu"), _tightest(_limit_of, "memory")


def _machine():
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            _once("cpu.model", line.partition(":")[2].strip())
            break
    try:
        _once("clock.namespace", os.stat("/proc/self/ns/time").st_ino)
        for line in _read("/proc/self/timens_offsets").splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "monotonic":
                _once("clock.offset_ns", int(words[1]) * 1000000000 + int(words[2]))
    except OSError:
        pass
    _once("cpu.cores", os.cpu_count())
    _once("cpu.affinity", _affinity(os.sched_getaffinity(0)))
    quota, limit = _cgroup()
    _once("cgroup.cpu_quota", quota)
    _once("cgroup.memory_limit", limit)
    page = os.sysconf("SC_PAGE_SIZE")
    _once("memory.total", page * os.sysconf("SC_PHYS_PAGES"))
    shm = os.statvfs("/dev/shm")
    _once("shm.size", shm.f_frsize * shm.f_blocks)


def _is_spawned(words):
    """Whether multiprocessing has started this Python (`words`: its command line). The program may have options that
    contain "multiprocessing", such as --multiprocessing-distributed."""
    starts = "from multiprocessing.spawn import", "from multiprocessing.forkserver import"
    return any(word == "--multiprocessing-fork" or word.startswith(starts) for word in words)


def patch(module):
    """Called after the import of each library whose version is recorded. Does nothing in workers, whose facts are the
    same."""
    if _is_spawned(command_line()):
        return
    _once("version.python", "%d.%d.%d" % sys.version_info[:3])
    name = module.__name__
    _once("version." + _NAMES.get(name, name), getattr(module, "__version__", None))
    if "PENSTOCK_ARENA" not in os.environ and "machine" not in _written:
        _written.add("machine")
        try:
            _machine()
        except (OSError, ValueError, AttributeError):
            pass
