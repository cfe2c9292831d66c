# SPDX-License-Identifier: Apache-2.0
"""Datasets in which one line takes much of the time of each sample, and a healthy one.

    programs.py CASE record SECONDS     one loop, to be recorded
    programs.py CASE compare SECONDS    loops with the line and without it, in turn; a line of JSON tells the rates

A case is a function of a dataset, the number of the sample and its picture. In a loop without the line, a sample uses
the value that the line returned when the dataset was made. Each loop has one worker, which makes samples without a
pause: the loop only counts them.
"""
import copy
import io
import json
import math
import random
import re
import sys
import threading
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

SIDE = 480
BATCH = 8
SAMPLES = 1_000_000
WINDOWS = 20  # number of windows of a comparison; half of them run with the line


def python_loop(data, index, pixels):
    total = 0
    for value in data.values:
        total += (value * 7 + index) % 13  # the loop
    return total


def comprehension(data, index, pixels):
    weights = [math.sqrt(value + index) for value in data.values]  # the comprehension
    return weights[-1]


def deepcopy(data, index, pixels):
    boxes = copy.deepcopy(data.boxes)  # the copy
    return len(boxes)


def pandas_rows(data, index, pixels):
    total = 0.0
    for _, row in data.table.iterrows():  # the rows
        total += row["width"]
    return total


def regular_expression(data, index, pixels):
    return len(re.findall(r"(\w+)\s+(\w+ing)\b", data.text))  # the expression


def numpy_temporary(data, index, pixels):
    brighter = numpy.sqrt(pixels.astype(numpy.float64) ** 2 * 1.1 + 3.0)  # the temporary
    return float(brighter[0, 0, 0])


def opencv_call(data, index, pixels):
    smooth = data.cv2.bilateralFilter(pixels, 5, 40.0, 40.0)  # the filter
    return int(smooth[0, 0, 0])


def pil_round_trip(data, index, pixels):
    for _ in range(6):
        pixels = numpy.asarray(Image.fromarray(pixels).convert("RGB").resize((SIDE, SIDE)))  # the round trip
    return int(pixels[0, 0, 0])


def lock(data, index, pixels):
    with data.busy():  # the lock
        return index


def sleep(data, index, pixels):
    time.sleep(0.006)  # the sleep
    return index


def windows(values, width):
    for at in range(0, len(values) - width, 4):
        yield sum(values[at:at + width])  # the generator


def generator(data, index, pixels):
    return max(windows(data.values, 48))


def recursion(data, index, pixels):
    return depth(data.tree)


def depth(node):
    return 1 + max(map(depth, node)) if node else 0  # the recursion


def healthy(data, index, pixels):
    return index


class Pictures(Dataset):
    """A JPEG file in memory, decoded by load() for each sample, and what the case does with it."""

    def __init__(self, case):
        self.case = globals()[case]
        self.hot = True
        noise = numpy.random.default_rng(1)
        file = io.BytesIO()
        Image.fromarray(noise.integers(0, 255, (SIDE, SIDE, 3), dtype=numpy.uint8)).save(file, "JPEG", quality=80)
        self.file = file.getvalue()
        self.values = [int(value) for value in noise.integers(0, 1000, 60000)]
        self.boxes = [{"box": [1, 2, 3, 4], "label": "cat", "area": (5, 6)} for _ in range(700)]
        self.text = "the cat is running and the dog was sitting under a very old tree " * 600
        self.tree = self.grow(5) * 30
        self.mutex = None
        if case == "pandas_rows":
            import pandas

            self.table = pandas.DataFrame({"width": range(150), "height": range(150), "name": ["x"] * 150})
        if case == "opencv_call":
            import cv2

            cv2.setNumThreads(0)
            self.cv2 = cv2
        self.known = None
        self.known = self[0][1]
        self.mutex = None  # its thread does not survive a fork: busy() makes lock and thread anew in each worker

    def grow(self, levels):
        return [self.grow(levels - 1) for _ in range(4)] if levels else []

    def busy(self):
        """A lock that another thread of this process holds most of the time."""
        if self.mutex is None:
            self.mutex = threading.Lock()
            threading.Thread(target=self.hold, args=(self.mutex,), daemon=True).start()
        return self.mutex

    def hold(self, mutex):
        chance = random.Random(1)  # pauses of equal length would synchronise with the samples
        while True:
            with mutex:
                time.sleep(chance.uniform(0.002, 0.010))
            time.sleep(chance.uniform(0.001, 0.003))

    def __len__(self):
        return SAMPLES

    def load(self):
        return numpy.asarray(Image.open(io.BytesIO(self.file)).convert("RGB"))

    def __getitem__(self, index):
        pixels = self.load()
        made = self.case(self, index, pixels) if self.hot else self.known
        picture = torch.from_numpy(pixels.transpose(2, 0, 1).astype(numpy.float32))
        return picture, float(made) if self.known is not None else made


def loop(data, seconds):
    """Samples per second of a loop of `seconds`, without its first batches."""
    count = 0
    began = None
    for _ in DataLoader(data, batch_size=BATCH, num_workers=1, multiprocessing_context="fork"):
        now = time.perf_counter()
        if began is None and count == 4:
            began, count = now, 0
        count += 1
        if began is not None and now - began > seconds:
            return (count - 1) * BATCH / (now - began)
    raise SystemExit("programs: too few samples")


def main():
    case, what, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    torch.set_num_threads(1)
    data = Pictures(case)
    if what == "record":
        print(json.dumps(loop(data, seconds)))
        return
    rates = {True: [], False: []}
    for window in range(WINDOWS):
        data.hot = window % 4 in (0, 3)
        rates[data.hot].append(loop(data, seconds / WINDOWS))
    print(json.dumps({"with": rates[True], "without": rates[False]}))


if __name__ == "__main__":
    main()
