# SPDX-License-Identifier: Apache-2.0
"""Turns the arguments of penstock.Loader and the environment into the options of the library."""
import os
import shutil
import sys
import tempfile

from penstock._loader_library import ALL_CORES


class Sources:
    """The paths that the library opens. Pairs become a list in a folder, which is removed after the library has opened
    it."""

    def __init__(self, source):
        self._source = source
        self._folder = None

    def __enter__(self):
        source = self._source
        if isinstance(source, (str, bytes, os.PathLike)):
            return [os.fspath(source)], None
        source = list(source)
        if not source:
            raise ValueError("source: an empty sequence")
        if all(isinstance(one, (str, bytes, os.PathLike)) for one in source):
            return [os.fspath(one) for one in source], None
        text = b"".join(map(_line_of, source))  # before there is a folder that an error would leave behind
        self._folder = tempfile.mkdtemp(prefix="penstock-list-")
        path = os.path.join(self._folder, "list.txt")
        try:
            with open(path, "wb") as file:
                file.write(text)
        except OSError:
            self.__exit__()
            raise
        return [path], self._folder

    def __exit__(self, *_):
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _line_of(pair):
    """"path label" of a pair, for a list."""
    name, label = pair
    name = os.fsencode(os.path.abspath(name))
    if b"\n" in name:
        raise ValueError("source: a path with a line feed: %r" % name)
    return b"%s %d\n" % (name, label)


def whole(name, value, bits=64, least=0):
    if isinstance(value, bool) or int(value) != value or not least <= value < 1 << bits:
        raise ValueError("%s=%r: a whole number from %d on" % (name, value, least))
    return int(value)


def environment(name):
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None


def workers_here():
    """The number of workers: one for each core, or a share of that if several processes of one job are on this host."""
    together = environment("LOCAL_WORLD_SIZE") or 1
    if together < 2:
        return ALL_CORES
    return max(len(os.sched_getaffinity(0)) // together, 1)


def ranks(rank, world):
    if rank is None and world is None:
        distributed = getattr(sys.modules.get("torch"), "distributed", None)
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        rank, world = environment("RANK"), environment("WORLD_SIZE")
        if rank is None or world is None:
            return 0, 1
    if rank is None or world is None:
        raise ValueError("rank and world go together: rank=%r, world=%r" % (rank, world))
    if whole("world", world) < 1 or not 0 <= whole("rank", rank) < world:
        raise ValueError("rank=%r of world=%r: ranks count from 0 to world - 1" % (rank, world))
    return rank, world
