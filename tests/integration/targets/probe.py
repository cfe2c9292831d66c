# SPDX-License-Identifier: Apache-2.0
"""Trains on samples whose costs are sleeps, which other programs on the machine do not change.

Prints a digest of all batches, of the parameters and of the random numbers at the end; the rate goes to standard
error. The program ends after --batches batches or --seconds seconds.
"""
import argparse
import hashlib
import random
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, default_collate


class Samples(Dataset):
    def __init__(self, count, pause):
        self.count = count
        self.pause = pause

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.pause)
        return torch.rand(8) + random.random() + index


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batches", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--sample", type=float, default=0.0, help="ms of each of four samples")
    parser.add_argument("--collate", type=float, default=0.0, help="ms")
    parser.add_argument("--step", type=float, default=0.0, help="ms")
    parser.add_argument("--timeout", type=float, default=0.0)
    parser.add_argument("--status", type=int, default=0)
    options = parser.parse_args()

    def collate(samples):
        time.sleep(options.collate / 1e3)
        return default_collate(samples)

    torch.manual_seed(7)
    random.seed(7)
    dataset = Samples(options.samples, options.sample / 1e3)
    loader = DataLoader(dataset, batch_size=4, shuffle=options.samples < 1_000_000, collate_fn=collate,
                        num_workers=options.workers, timeout=options.timeout)  # fmt: skip
    weights = torch.zeros(8)
    digest = hashlib.sha256()
    done, start, first = 0, time.monotonic(), 0
    while done < options.batches and time.monotonic() - start < options.seconds:
        for batch in loader:
            time.sleep(options.step / 1e3)
            digest.update(batch.numpy().tobytes())
            weights += batch.mean(0) * torch.rand(8)
            done += 1
            if done == 10:
                first = time.monotonic()
            if done >= options.batches or time.monotonic() - start >= options.seconds:
                break
    digest.update(weights.numpy().tobytes())
    digest.update(torch.rand(4).numpy().tobytes())
    print(digest.hexdigest(), random.random())
    if done > 10:
        print("rate %.6f" % ((done - 10) / (time.monotonic() - first)), file=sys.stderr)
    sys.exit(options.status)


if __name__ == "__main__":
    main()
