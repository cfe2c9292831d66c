# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the programs that try loaders: the pictures, the loop, and the counts that they print.

A program is a function of a Task. It loads SAMPLES pictures in batches of BATCH and does a short
step with each batch. Its last line has its own counts as JSON; its recording is compared with them.
"""

import argparse
import json
import os
import pathlib
import sys
import time

SAMPLES, BATCH, SIZE = 160, 4, 64
BATCHES = SAMPLES // BATCH
STEP = 0.001


class Task:
    """The folders of a program's pictures and of its own files."""

    def __init__(self, data, work):
        self.paths = sorted(str(path) for path in pathlib.Path(data).glob("*.jpg"))[:SAMPLES]
        self.work = pathlib.Path(work)
        self.batches = self.samples = 0
        if len(self.paths) != SAMPLES:
            sys.exit(f"loaders: {data} holds {len(self.paths)} pictures, not {SAMPLES}")

    @property
    def bytes(self):
        return sum(os.path.getsize(path) for path in self.paths)

    def step(self, count):
        """Does the step for a batch of `count` samples."""
        self.batches += 1
        self.samples += count
        time.sleep(STEP)

    def loop(self, batches, count=len):
        for batch in batches:
            self.step(count(batch))


def first_length(batch):
    return len(batch[0])


def label_of(path):
    return int(pathlib.Path(path).stem[-3:]) % 10


def open_picture(path):
    """Opens a picture with Pillow and converts it to RGB, as most training programs do."""
    from PIL import Image

    with Image.open(path) as image:
        return image.convert("RGB")


def pixels_of(image):
    """Resizes a picture to SIZE x SIZE and returns its pixels as an array."""
    import numpy

    return numpy.asarray(image.resize((SIZE, SIZE)), dtype=numpy.uint8)


def main(programs, preparations):
    """Runs `NAME DATA WORK [--prepare]`: the program NAME, or the function that prepares its files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(programs))
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    task = Task(options.data, options.work)
    if options.prepare:
        prepare = preparations.get(options.name)
        if prepare is not None:
            prepare(task)
        return
    said = programs[options.name](task) or {}
    counted = {"batches": task.batches, "samples": task.samples, "bytes": task.bytes}
    print(json.dumps({**counted, **said}), flush=True)
