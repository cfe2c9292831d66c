# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the contenders of compare_loaders.sh: arguments, files, and the line that they print."""

import argparse
import os
import pathlib
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # before numpy
    os.environ.setdefault(_variable, "1")

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IMAGE_SUFFIXES = (".jpg", ".jpeg")


def parse(description, add=None):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with a folder per class")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5, help="measured after the first batch")
    if add:
        add(parser)
    return parser.parse_args()


def files(folder):
    """Paths of all images, in the order of their classes."""
    found = sorted(str(path) for path in folder.glob("*/*") if path.suffix.lower() in IMAGE_SUFFIXES)
    if not found:
        raise SystemExit(f"{folder}: no images in class folders")
    return found


def measure(batches, seconds):
    """Prints the rate of an endless iterator, which yields the number of samples of each batch.

    The clock starts with the first batch, since start-up is not compared. It stops with a batch, so
    that none is counted in part.
    """
    next(batches)
    started = time.monotonic()
    samples, elapsed = 0, 0.0
    while elapsed < seconds:
        samples += next(batches)
        elapsed = time.monotonic() - started
    print(f"throughput: {samples / elapsed:.2f} samples/s", flush=True)
