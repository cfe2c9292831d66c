# SPDX-License-Identifier: Apache-2.0
"""A training loop with a DataLoader; one sample and one step stand still: stalled_loop.py both|forks|none WORKERS.

forks: the worker and the loop fork some batches earlier. none: nothing stands still. Prints how many threads a process
has at moments when a program may rely on having only one.
"""
import os
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

LONG = 1.8 if sys.argv[1] != "none" else 0.002


def fork():
    if sys.argv[1] == "forks":
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def load(index):
    if index == 80:
        fork()
    if index == 150:
        threading.Event().wait(LONG)  # waits: sample
    time.sleep(0.002)
    return torch.full((4,), index)


def tell_threads(worker=None):
    os.write(1, b"%d threads\n" % len(os.listdir("/proc/self/task")))


class Items(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return load(index)


def main():
    total = 0
    workers = int(sys.argv[2])
    loader = DataLoader(Items(), batch_size=4, num_workers=workers, worker_init_fn=tell_threads)
    for number, values in enumerate(loader):
        if number == 0 and workers == 0:
            tell_threads()
        if number == 60:
            fork()
        if number == 80:
            time.sleep(LONG)  # waits: step
        total += int(values.sum())
    print(total)


main()
