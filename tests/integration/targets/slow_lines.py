# SPDX-License-Identifier: Apache-2.0
"""A DataLoader in which one sample in 97 sleeps in a line of its own: slow_lines.py SAMPLES WORKERS EPOCHS.

Also runs without the agent. Under the agent it raises the share of samples that are followed, because the run is short.
"""
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

functions = sys.modules.get("penstock_hooks.functions")
if functions is not None:
    functions.SHARE = 10
    functions._BETWEEN_NS = 10000000
    functions._AGE_PART = 10**6


def load(index):
    if index % 97 == 5:
        time.sleep(0.03)  # the slow line
    time.sleep(0.002)
    return torch.full((4,), index)


class Items(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return load(index)


def main():
    samples, workers, epochs = map(int, sys.argv[1:4])
    total = 0
    loader = DataLoader(Items(samples), batch_size=4, num_workers=workers, shuffle=True)
    for _ in range(epochs):
        for values in loader:
            total += int(values.sum())
    print(total)


main()
