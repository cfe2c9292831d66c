# SPDX-License-Identifier: Apache-2.0
"""Training loops with several loaders, with samples that compute or that other processes make:
structures.py KIND [WORKERS].
KIND is one of the functions that main() lists; each yields the size of every batch. The program prints the samples per
second from its first batch to its last, and the CPU seconds of its child processes for each sample."""
import concurrent.futures
import http.server
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import time
import urllib.request

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Waits(Dataset):
    """Each sample is a sleep, which takes no core."""

    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.zeros(8)


WORKERS = int(sys.argv[2]) if len(sys.argv) > 2 else 1


def make(dataset, batch):
    return DataLoader(dataset, batch_size=batch, num_workers=WORKERS)


class Derived(DataLoader):
    def __init__(self, dataset):
        super().__init__(dataset, batch_size=8, num_workers=1)


class Computes(Waits):
    """Each sample takes `seconds` of CPU time."""

    def __getitem__(self, index):
        until = time.process_time() + self.seconds
        while time.process_time() < until:
            pass
        return torch.zeros(8)


def computing():
    for _ in make(Computes(800, 0.006), 8):
        time.sleep(0.001)
        yield 8


def in_step():
    """Each step takes a batch from both loaders."""
    pair = [DataLoader(Waits(320, 0.004), batch_size=8, num_workers=WORKERS) for _ in range(2)]
    for _ in zip(*pair):
        time.sleep(0.002)
        yield 16


def by_chance():
    """Each step takes a batch from one of two loaders, at random."""
    chance = random.Random(1)
    pair = [iter(DataLoader(Waits(480, seconds), batch_size=8, num_workers=WORKERS)) for seconds in (0.004, 0.002)]
    for _ in range(80):
        next(chance.choice(pair), None)
        time.sleep(0.002)
        yield 8


def nested():
    """For each batch of a loader, the loop runs a whole epoch of another one."""
    inner = make(Waits(32, 0.001), 8)
    for _ in Derived(Waits(80, 0.001)):
        yield 8
        for _ in inner:
            time.sleep(0.001)
            yield 8


def validated():
    """A loader for validation has its turn after each epoch of training."""
    train = make(Waits(480, 0.004), 16)
    held_out = make(Waits(60, 0.02), 1)
    for _ in range(2):
        for _ in train:
            time.sleep(0.001)
            yield 16
        for _ in held_out:
            time.sleep(0.001)
            yield 1


def anew():
    """Each epoch makes a loader of its own."""
    for _ in range(4):
        for _ in make(Waits(160, 0.001), 8):
            time.sleep(0.001)
            yield 8


class Files(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.06)  # much longer than the request's CPU time and its waits for a core
        super().do_GET()

    def log_message(self, *_):
        pass


class Fetched(Dataset):
    def __init__(self, address, count):
        self.address, self.count = address, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        with urllib.request.urlopen(self.address) as answer:
            return torch.frombuffer(bytearray(answer.read()), dtype=torch.uint8)


def served():
    """A child process serves the files over HTTP. The loop stops before the epoch ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    child = os.fork()
    if child == 0:
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
        server.serve_forever()
    address = "http://127.0.0.1:%d/structures.py" % server.server_port
    loader = make(Fetched(address, 200 * max(1, WORKERS)), 2)
    for _ in itertools.islice(loader, 60 * max(1, WORKERS)):
        time.sleep(0.001)
        yield 2
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def computed(path):
    """Reads a file and computes for some milliseconds."""
    with open(path, "rb") as file:
        data = file.read()
    until = time.process_time() + 0.004
    while time.process_time() < until:
        pass
    return len(data)


class Pooled(IterableDataset):
    """Each worker starts a process that makes its samples."""

    def __iter__(self):
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            for length in pool.map(computed, ["/etc/services"] * 600):
                yield torch.tensor(length)


def pooled():
    for _ in make(Pooled(), 8):
        yield 8


class Unpacked(Dataset):
    """Starts a program for each sample; the program makes the sample and ends."""

    def __len__(self):
        return 160

    def __getitem__(self, index):
        packed = subprocess.run(["gzip", "-9", "-c", "/usr/bin/gzip"], stdout=subprocess.PIPE, check=True)
        return torch.tensor(len(packed.stdout))


def unpacked():
    for _ in make(Unpacked(), 8):
        yield 8


def main():
    kinds = (computing, in_step, by_chance, nested, validated, anew, served, pooled, unpacked)
    first = samples = 0
    for count in next(kind for kind in kinds if kind.__name__ == sys.argv[1])():
        samples += count
        ended = time.monotonic()
        if first == 0:
            first, began = count, ended
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print((samples - first) / (ended - began), (used.ru_utime + used.ru_stime) / samples)


if __name__ == "__main__":
    main()
