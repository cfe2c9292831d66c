# SPDX-License-Identifier: Apache-2.0
"""What the loaders that compare_loaders.sh compares share: arguments, files, and the line that they print."""

import argparse
import os
import pathlib
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # read when numpy is imported
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
    """Sorted paths of all images in the class folders."""
    found = sorted(str(path) for path in folder.glob("*/*") if path.suffix.lower() in IMAGE_SUFFIXES)
    if not found:
        raise SystemExit(f"{folder}: no images in class folders")
    return found


def measure(batches, seconds):
    """Prints the rate of `batches`, an endless iterator that yields the number of samples of each batch.

    The clock starts after the first batch, since start-up is not compared. It stops at the end of a batch,
    so no batch is counted in part.
    """
    next(batches)
    started = time.monotonic()
    samples, elapsed = 0, 0.0
    while elapsed < seconds:
        samples += next(batches)
        elapsed = time.monotonic() - started
    print(f"throughput: {samples / elapsed:.2f} samples/s", flush=True)
