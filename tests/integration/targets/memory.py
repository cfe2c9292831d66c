# SPDX-License-Identifier: Apache-2.0
"""A training loop whose workers use memory in one known way; the loop watches their memory in /proc.

--kind says how:
  objects   the dataset holds a list of Python strings, and each sample looks at its share of them; updating their
            reference counts makes the worker copy pages that it shared since the fork
  early     the same list, but each worker looks at all of it for its first sample
  arrays    the same strings as one numpy array
  leak      workers keep something of every sample
  mapped    the strings are in a mapped file, of which each part is read once
  pictures  each sample makes two arrays of a large picture's size and frees them
  batches   the batches of tensors are large
  pickled   the batches are large numpy arrays, which do not pass through /dev/shm

Prints one line of JSON: what smaps_rollup and stat said of each worker over time, and how much of /dev/shm was used.
"""
import argparse
import ctypes
import json
import os
import tempfile
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

WIDTH = 80  # characters of a string

parser = argparse.ArgumentParser()
parser.add_argument("--kind", required=True)
parser.add_argument("--strings", type=int, default=1_200_000)
parser.add_argument("--batches", type=int, default=400)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--sample-bytes", type=int, default=4096)
parser.add_argument("--leak-bytes", type=int, default=60_000)
parser.add_argument("--step-ms", type=float, default=20)
options = parser.parse_args()


class Holder(Dataset):
    """Samples of zeros; --kind says what else __getitem__ touches."""

    def __init__(self, folder):
        self.samples = options.batches * options.batch
        self.share = options.strings // self.samples
        self.kept = []
        self.strings = None
        self.first = True
        if options.kind in ("objects", "early"):
            self.strings = [("%d" % number).rjust(WIDTH, "x") for number in range(options.strings)]
        elif options.kind == "arrays":
            self.strings = numpy.zeros(options.strings, dtype="S%d" % WIDTH)
            self.strings[:] = b"x" * WIDTH
        elif options.kind == "mapped":
            path = os.path.join(folder, "strings")
            with open(path, "wb") as file:
                for _ in range(options.strings // 10_000):
                    file.write(b"x" * WIDTH * 20_000)
            self.strings = numpy.memmap(path, dtype="S%d" % (2 * WIDTH), mode="r")

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        count = 0
        if options.kind == "early":
            count = sum(map(len, self.strings)) if self.first else 0
            self.first = False
        elif self.strings is not None:
            part = self.strings[index * self.share:(index + 1) * self.share]
            count = len(part) if options.kind == "objects" else int(numpy.asarray(part).view(numpy.uint8).sum())
        if options.kind == "leak":
            self.kept.append(bytearray(os.urandom(1000)) * (options.leak_bytes // 1000))
        if options.kind == "pictures":
            picture = numpy.full((1080, 1920, 3), index & 255, dtype=numpy.uint8)
            count = int(picture[::100, ::100, ::-1].copy().sum()) + int((255 - picture)[0, 0, 0])
        sample = numpy.zeros(options.sample_bytes, dtype=numpy.uint8)
        sample[0] = count & 1
        return sample if options.kind == "pickled" else torch.from_numpy(sample)


def give_back_at_once():
    """Makes glibc map and unmap every large block separately. By default glibc does so only until it has learnt the
    size of such blocks. After that, whether it gives a block back to the kernel depends on what lies behind the
    block."""
    mmap_threshold = -3  # M_MMAP_THRESHOLD of malloc.h
    if "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        ctypes.CDLL(None).mallopt(mmap_threshold, 128 * 1024)


def rollup(pid):
    """Private_Dirty and Anonymous of a process, in bytes."""
    values = {}
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        for line in file:
            key, _, rest = line.partition(":")
            values[key] = rest.split()[0]
    return [int(values["Private_Dirty"]) * 1024, int(values["Anonymous"]) * 1024]


def minor_faults(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[7])


def shared_used():
    info = os.statvfs("/dev/shm")
    return (info.f_blocks - info.f_bfree) * info.f_frsize


def main():
    torch.set_num_threads(1)
    if options.kind == "pictures":
        give_back_at_once()  # forked workers inherit the setting
    before = shared_used()
    seen = {"workers": {}, "shm_before": before, "shm_most": before, "epoch": options.batches}
    with tempfile.TemporaryDirectory() as folder:
        data = Holder(folder)
        loader = DataLoader(data, batch_size=options.batch, num_workers=2, multiprocessing_context="fork",
                            collate_fn=numpy.stack if options.kind == "pickled" else None)  # fmt: skip
        iterator = iter(loader)
        start = looked = time.monotonic()
        for count, _batch in enumerate(iterator, 1):
            seen["shm_most"] = max(seen["shm_most"], shared_used())
            time.sleep(options.step_ms / 1000)
            now = time.monotonic()
            if now - looked > 0.4 or count == options.batches - 8:  # last reading: workers end with their last batch
                looked = now
                for worker in iterator._workers:
                    if worker.is_alive():
                        series = seen["workers"].setdefault(worker.pid, [])
                        series.append([now - start, count, *rollup(worker.pid), minor_faults(worker.pid)])
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
