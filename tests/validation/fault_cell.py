# SPDX-License-Identifier: Apache-2.0
"""A training loop over pictures, with knobs that put faults in; faults.py sets the knobs.

    fault_cell.py '{"workers": 1, "read_ms": 5}'    one run; prints {"rate": samples per second, ...}
    fault_cell.py --serve                           the same for every line of standard input

The server forks a child for each run, so it imports only once and two runs differ in their knobs alone. The rate
is that of the whole loop, worker start-up included, as in the analyzer's gains.
"""
import fcntl
import io
import json
import os
import signal
import sys
import tempfile
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, RandomSampler, default_collate, get_worker_info
from torchvision import transforms

from fault_cell_knobs import DEFAULTS
from fault_storage import Reader

LIMIT = 120  # seconds: a run that takes longer is ended


def burn(seconds):
    """Computes until this thread has used `seconds` of CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def waits(spread, mean, count):
    """Returns the seconds that the storage waits for each sample; their mean is exactly `mean`. The choice of the slow
    samples depends on `count` alone."""
    random = numpy.random.default_rng(11)
    if spread == "even" or spread == "constant":
        drawn = numpy.ones(count)
    elif spread == "jitter":  # one sample in twelve takes 30 times as long
        drawn = numpy.where(random.permutation(count) < count / 12, 30.0, 1.0)
    else:  # "tail": one in forty takes 100 times as long
        drawn = numpy.where(random.permutation(count) < count / 40, 100.0, 1.0)
    return drawn * (mean / drawn.mean())


class Blur:
    """A convolution on tensors, by as many threads as the process allows."""

    def __init__(self, width):
        self.kernel = torch.full((3, 1, width, width), 1.0 / width**2)

    def __call__(self, image):
        return torch.nn.functional.conv2d(image[None], self.kernel, groups=3)[0]


def make_transform(knobs):
    steps = [transforms.RandomResizedCrop(knobs["size"]), transforms.RandomHorizontalFlip()]
    if knobs["augment"] == "blur":
        steps.append(transforms.GaussianBlur(knobs["blur"], 3.0))
    if knobs["augment"] in ("float", "threads"):
        steps.append(transforms.ToTensor())
        steps.append(transforms.Normalize([0.5] * 3, [0.25] * 3) if knobs["augment"] == "float" else Blur(knobs["blur"]))
    else:
        steps.append(transforms.PILToTensor())
    return transforms.Compose(steps)


class Pictures(Dataset):
    def __init__(self, knobs):
        self.knobs = knobs
        names = sorted(name for name in os.listdir(knobs["pictures"]) if name.endswith(".jpg"))
        self.paths = [os.path.join(knobs["pictures"], name) for name in names]
        self.count = knobs["batch"] * knobs["batches"]
        self.waits = waits(knobs["spread"], knobs["read_ms"] * 1e-3, self.count)
        self.storage = Reader(knobs["port"]) if knobs["read"] == "storage" else None
        self.folder = os.path.basename(knobs["pictures"])
        self.transform = make_transform(knobs)
        self.memory = self.images = None
        if knobs["read"] == "memory":
            self.memory = [self.bytes_of(path) for path in self.paths]
        if knobs["decode"] == "done":
            self.images = [self.opened(path) for path in self.paths]
        self.sample = None
        if knobs["augment"] == "done":
            dtype = torch.float32 if knobs["floats"] else torch.uint8
            self.sample = torch.zeros((3, knobs["size"], knobs["size"]), dtype=dtype)
        self.extra = numpy.ones(max(1, int(knobs["extra_mb"] * 1e6 / knobs["batch"] / 8 / 4)), numpy.float64)
        self.lock = tempfile.TemporaryFile() if knobs["lock"] else None

    @staticmethod
    def bytes_of(path):
        with open(path, "rb", buffering=0) as file:
            return file.read()

    @staticmethod
    def opened(source):
        with Image.open(source) as image:
            return image.convert("RGB")

    def __len__(self):
        return self.count

    def read(self, index):
        number = index % len(self.paths)
        if self.memory is not None:
            return self.memory[number]
        if self.storage is None:
            return self.bytes_of(self.paths[number])
        if self.lock is None:
            return self.ask(number, index)
        # Opens the file anew, since forked workers share the lock of an open file.
        with open("/proc/self/fd/%d" % self.lock.fileno(), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self.ask(number, index)

    def ask(self, number, index):
        name = os.path.join(self.folder, os.path.basename(self.paths[number]))
        return self.storage.read(name, float(self.waits[index]), self.knobs["bandwidth_mb"] * 1e6)

    def __getitem__(self, index):
        data = self.read(index)
        image = self.images[index % len(self.images)] if self.images else self.opened(io.BytesIO(data))
        sample = self.sample if self.sample is not None else self.transform(image)
        worker = get_worker_info()
        if self.knobs["slow_worker_ms"] and worker is not None and worker.id == 0:
            time.sleep(self.knobs["slow_worker_ms"] * 1e-3)
        if self.knobs["extra_mb"]:
            return sample, [self.extra] * 4
        return sample, index


class Collate:
    def __init__(self, knobs):
        self.knobs = knobs

    def __call__(self, samples):
        if self.knobs["collate_ms"]:
            burn(self.knobs["collate_ms"] * 1e-3)
        if self.knobs["extra_mb"]:  # lists of arrays, as from code that forgot to stack them
            return torch.stack([sample for sample, _ in samples]), [extra for _, extra in samples]
        return default_collate(samples)


class StartWorker:
    def __init__(self, knobs):
        self.knobs = knobs

    def __call__(self, _worker):
        torch.set_num_threads(self.knobs["threads"])
        if self.knobs["init_ms"]:
            time.sleep(self.knobs["init_ms"] * 1e-3)


def forget_pages(paths):
    for path in paths:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(knobs):
    """Makes one run and returns what main() prints. "wait" is the share of the loop's time in next(), without the
    first batch."""
    knobs = {**DEFAULTS, **knobs}
    if knobs["cores"]:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:knobs["cores"]])
    torch.set_num_threads(knobs["threads"] if knobs["workers"] == 0 else 1)
    dataset = Pictures(knobs)
    generator = torch.Generator().manual_seed(knobs["seed"])
    extra = {}
    if knobs["workers"]:
        extra = {"prefetch_factor": knobs["prefetch"], "persistent_workers": knobs["persistent"],
                 "worker_init_fn": StartWorker(knobs)}  # fmt: skip
    loader = DataLoader(dataset, knobs["batch"], sampler=RandomSampler(dataset, generator=generator),
                        num_workers=knobs["workers"], collate_fn=Collate(knobs), **extra)  # fmt: skip
    source = numpy.ones(max(1, int(knobs["copy_mb"] * 1e6)), numpy.uint8)
    copied = numpy.empty_like(source)
    if knobs["warm"]:  # an epoch that is not timed
        for _ in loader:
            pass
    if knobs["cold"]:
        forget_pages(dataset.paths)
    batches, waited = 0, 0.0
    start = asked = time.monotonic()
    for _ in range(knobs["epochs"]):
        for _ in loader:
            if batches:
                waited += time.monotonic() - asked
            batches += 1
            if knobs["step_ms"]:
                time.sleep(knobs["step_ms"] * 1e-3)
            if knobs["copy_mb"]:
                numpy.copyto(copied, source)
            asked = time.monotonic()
    seconds = time.monotonic() - start
    return {"rate": batches * knobs["batch"] / seconds, "wait": waited / seconds, "seconds": seconds,
            "load": os.getloadavg()[0]}  # fmt: skip


def serve():
    """Reads lines of knobs and prints a line of results for each. A failed run has the line {"error": ...}."""
    for line in sys.stdin:
        receiver, sender = os.pipe()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os.close(receiver)
            signal.alarm(LIMIT)
            try:
                answer = run(json.loads(line))
            except Exception as error:
                answer = {"error": repr(error)}
            os.write(sender, json.dumps(answer).encode())
            sys.stderr.flush()
            os._exit(0)
        os.close(sender)
        # One read, since workers that outlive the run may keep the pipe open: its end may never come.
        text = os.read(receiver, 1 << 16).decode()
        os.close(receiver)
        os.waitpid(child, 0)
        try:
            os.killpg(child, signal.SIGKILL)  # ends workers that still run
        except ProcessLookupError:
            pass
        print(text or '{"error": "ended by a signal"}', flush=True)


def main():
    torch.set_num_threads(1)
    if sys.argv[1:] == ["--serve"]:
        serve()
        return
    print(json.dumps(run(json.loads(sys.argv[1]))))


if __name__ == "__main__":
    main()
