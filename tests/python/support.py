# SPDX-License-Identifier: Apache-2.0
"""Pictures, digests and child processes for the tests of the Python package.

PENSTOCK_BUILD names the build folder. Nothing here needs PyTorch or NumPy.
"""
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.path.abspath(os.environ.get("PENSTOCK_BUILD", str(ROOT / "build/release")))
os.environ["PENSTOCK_BUILD"] = BUILD
sys.path.insert(0, str(ROOT / "python"))

# A grey gradient of 40 by 30 pixels.
JPEG = base64.b64decode("""
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdB
RkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
T09PT09PT09PT09PT0//wAARCAAeACgDASIAAhEBAxEB/8QAGgAAAgMBAQAAAAAAAAAAAAAABQYAAwcEAf/EACIQAAEEAgEF
AQEAAAAAAAAAAAEAAgQRBSEVAxITIjEyQf/EABQBAQAAAAAAAAAAAAAAAAAAAAD/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oA
DAMBAAIRAxEAPwBrmzyL2gknJ0T7LzJdUi0rZCU5t7QHuW3+l1xsnZHss95F3l7bKMY+U5xG0GjQp5NbUQLHdUmlEFuRjk3p
LM6CXE6WjTYbTfxBZEBhJ+IM+4s+S+1FIMFzSNJj45l/xdUeAwEfEFGOjkVpRMEKG0V8UQf/2Q==""")
FILES = 23
OPS = "random_resized_crop=16,flip,normalize"


def make_set(folder, files=FILES, classes=3):
    """Class folders with pictures of which no two are alike."""
    for i in range(files):
        file = pathlib.Path(folder) / ("class%d" % (i % classes)) / ("%03d.jpg" % i)
        file.parent.mkdir(parents=True, exist_ok=True)
        jpeg = bytearray(JPEG)
        jpeg[25] = 13 + i % 200  # the quantisation of the first coefficient
        file.write_bytes(jpeg)


_MASK = (1 << 64) - 1
_P1, _P2, _P3, _P4, _P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
                           2870177450012600261)  # fmt: skip


def _rotate(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def _round(state, lane):
    return (_rotate((state + lane * _P2) & _MASK, 31) * _P1) & _MASK


def xxh64(data):
    """XXH64 with seed 0, written here from its specification."""
    size, at = len(data), 0
    if size >= 32:
        state = [(_P1 + _P2) & _MASK, _P2, 0, (-_P1) & _MASK]
        whole = size // 32 * 32
        lanes = struct.unpack("<%dQ" % (whole // 8), data[:whole])
        for i, lane in enumerate(lanes):
            state[i % 4] = _round(state[i % 4], lane)
        at = whole
        value = sum(_rotate(one, bits) for one, bits in zip(state, (1, 7, 12, 18))) & _MASK
        for one in state:
            value = ((value ^ _round(0, one)) * _P1 + _P4) & _MASK
    else:
        value = _P5
    value = (value + size) & _MASK
    while at + 8 <= size:
        value = (_rotate(value ^ _round(0, struct.unpack_from("<Q", data, at)[0]), 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= size:
        value = (_rotate(value ^ (struct.unpack_from("<I", data, at)[0] * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        value = (_rotate(value ^ (byte * _P5 & _MASK), 11) * _P1) & _MASK
    value = ((value ^ (value >> 33)) * _P2) & _MASK
    value = ((value ^ (value >> 29)) * _P3) & _MASK
    return value ^ (value >> 32)


def bytes_of(array):
    """The bytes of a tensor, an array or a memoryview."""
    if hasattr(array, "numpy"):
        array = array.numpy()
    return array.tobytes()


def numbers_of(array):
    return array.tolist()


class Digest:
    """Digests pictures as `penstock load --digest` does, but without the ids, which Python's batches do not have."""

    def __init__(self):
        self.pictures = []

    def add(self, images, labels):
        labels = numbers_of(labels)
        data = bytes_of(images)
        size = len(data) // len(labels)
        for i, label in enumerate(labels):
            self.pictures.append((label, xxh64(data[i * size : (i + 1) * size])))


def delivered(batches):
    digest = Digest()
    for images, labels in batches:
        digest.add(images, labels)
    return digest.pictures


def command_pictures(source, *arguments):
    """What `penstock load --digest` says of its epochs: {epoch: (samples, ordered)}."""
    done = subprocess.run([os.path.join(BUILD, "bin", "penstock-load"), str(source), *map(str, arguments), "--digest",
                           "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {one["epoch"]: (one["samples"], one["ordered"]) for one in json.loads(done.stdout)["digest"]}


def ordered(pictures, ids):
    """The ordered digest of loader/pipeline/digest.h."""
    value = 0
    for (label, pixels), number in zip(pictures, ids):
        value = xxh64(struct.pack("<QQ", value, xxh64(struct.pack("<qQQ", label, number, pixels))))
    return len(pictures), "%016x" % value


def python(script, *arguments, interpreter=sys.executable, environment=None, prefix=(), timeout=120, **kwargs):
    """Runs a script with the package; returns the completed process."""
    # Python 3.12 and newer warn of each fork of a process with threads, which some scripts are about.
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), PENSTOCK_BUILD=BUILD, PYTHONDONTWRITEBYTECODE="1",
               PYTHONWARNINGS="ignore:This process:DeprecationWarning")  # fmt: skip
    env.update(environment or {})
    return subprocess.run([*prefix, interpreter, *bare(), "-c", script, *map(str, arguments)], env=env, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False,
                          **kwargs)  # fmt: skip


def bare():
    """The option that starts a child as this process was started: with or without the system's packages."""
    return ["-S"] if sys.flags.no_site else []


def threads():
    """The threads of this process, without those that have been joined: the kernel lists them for a moment more."""
    for _ in range(100):
        found = sorted(os.listdir("/proc/self/task"))
        if not any(_is_exiting(task) for task in found):
            break
        time.sleep(0.01)
    return found


def _is_exiting(task):
    try:
        with open("/proc/self/task/%s/stat" % task, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:  # it has left since
        return True


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class WithSet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-python-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.set = cls.folder / "set"
        make_set(cls.set)
