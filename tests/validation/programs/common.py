# SPDX-License-Identifier: Apache-2.0
"""What the public training programs share: their command line, their files, and the clock that measures their
rate.

    FILE NAME --data DIR --work DIR --out JSON [--workers N] [--free decode,augment,step] [--seconds S] [--prepare]

A program is a function of a Task. It trains until the clock says that time is over, and tells the clock when
an epoch begins and when a step is done. The parts that --free names cost nothing: pictures are already decoded,
samples are already finished, or the model is trivial. The rate goes to the file of --out, since the program
may print other things.
"""
import argparse
import json
import os
import time

BATCH, CLASSES = 16, 10
FREE = ("decode", "augment", "step")


class Over(Exception):
    """Raised when the time is over, to leave loops inside a library."""


class Clock:
    """Notes when each step of each epoch was done. Time is over when `seconds` have passed since the first step."""

    def __init__(self, seconds, workers):
        self.seconds, self.workers = seconds, workers
        self.epochs = [[]]
        self.first = None

    def epoch(self):
        if self.epochs[-1]:
            self.epochs.append([])

    def step(self, samples):
        """Notes a finished step with `samples` samples. Returns whether the time is over."""
        now = time.monotonic()
        if self.first is None:
            self.first = now
        self.epochs[-1].append((now, samples))
        return self.over

    @property
    def over(self):
        return self.first is not None and time.monotonic() - self.first > self.seconds

    def result(self):
        """The run's figures. "rate" is the steady rate, without the first batches of each epoch, which come while the
        queues fill."""
        count = samples = steady = 0
        spent = 0.0
        for steps in self.epochs:
            count += len(steps)
            samples += sum(size for _, size in steps)
            warm = min(max(1, 2 * self.workers), max(1, len(steps) // 2))
            if len(steps) > warm:
                spent += steps[-1][0] - steps[warm - 1][0]
                steady += sum(size for _, size in steps[warm:])
        if not spent:
            raise SystemExit("programs: too few steps")
        whole = self.epochs[-1][-1][0] - self.first
        return {"rate": steady / spent, "whole_rate": samples / whole, "batches": count, "samples": samples,
                "epochs": len(self.epochs), "seconds": whole, "load": os.getloadavg()[0]}  # fmt: skip


def first_name(path):
    """Name of the picture that a link in DATA/epoch points to: "a.jpg" for "a~3.jpg"."""
    stem, extension = os.path.splitext(os.path.basename(path))
    return stem.partition("~")[0] + extension


class Held:
    """The decoded pictures of a data set in one mapped file, see sets.py. Each process opens the file itself."""

    def __init__(self, data):
        self.data = data
        self.pixels = self.places = None

    def __getstate__(self):
        return {"data": self.data, "pixels": None, "places": None}

    def array(self, path):
        """The picture of that name, [height][width][3], read-only."""
        import numpy

        if self.places is None:
            with open(os.path.join(self.data, "held.json"), encoding="ascii") as file:
                self.places = json.load(file)
            self.pixels = numpy.memmap(os.path.join(self.data, "held.raw"), numpy.uint8, "r")
        offset, width, height = self.places[first_name(path)]
        return self.pixels[offset:offset + 3 * width * height].reshape(height, width, 3)

    def image(self, path):
        from PIL import Image

        return Image.fromarray(self.array(path))


def noise(*shape):
    """A tensor of random numbers around 0, which serves as a finished sample."""
    import torch

    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


class Constant:
    """A transform that costs nothing: always returns the same finished sample."""

    def __init__(self, sample):
        self.sample = sample

    def __call__(self, *_args, **_kwargs):
        return self.sample


class Task:
    """A program's arguments, and the data and models that follow from them."""

    def __init__(self, options):
        self.data, self.work = options.data, options.work
        self.workers = options.workers
        self.free = set(filter(None, options.free.split(",")))
        self.clock = Clock(options.seconds, options.workers)
        self.held = Held(options.data)
        unknown = self.free - set(FREE)
        if unknown:
            raise SystemExit("programs: nothing can be free of the name " + ", ".join(sorted(unknown)))

    @property
    def pictures(self):
        """The folder of an epoch's pictures, with a folder for each class."""
        return os.path.join(self.data, "epoch")

    def paths(self):
        """[(path, class)] of an epoch's pictures."""
        found = []
        for label, name in enumerate(sorted(os.listdir(self.pictures))):
            folder = os.path.join(self.pictures, name)
            if os.path.isdir(folder):
                found += [(os.path.join(folder, one), label) for one in sorted(os.listdir(folder)) if one.endswith(".jpg")]
        return found

    def open_rgb(self, path):
        """A picture as Pillow's Image in RGB; the stored pixels if decoding is free."""
        if "decode" in self.free:
            return self.held.image(path)
        from PIL import Image

        with open(path, "rb") as file:
            return Image.open(file).convert("RGB")

    def transform(self, made, sample):
        """Returns `made`; if augmenting is free, a transform that always gives `sample`."""
        return Constant(sample) if "augment" in self.free else made

    def model(self, make):
        """The model of make(), or a model that costs next to nothing if the step is free. Shapes: [n][3][...] ->
        [n][CLASSES]."""
        if "step" not in self.free:
            return make()
        import torch

        class Trivial(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, CLASSES)

            def forward(self, batch):
                return self.layer(batch[:, :3, ..., 0, 0].float().reshape(len(batch), 3, -1)[..., 0])

        return Trivial()

    def persistent(self):
        """Arguments of a DataLoader that keeps its workers."""
        return {"num_workers": self.workers, "persistent_workers": self.workers > 0}


def train(task, loader, model, prepare=lambda inputs: inputs, epochs=1 << 30, validate=None):
    """The loop of most PyTorch examples: batches of (inputs, labels), cross entropy, SGD."""
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(epochs):
        task.clock.epoch()
        model.train()
        for inputs, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(prepare(inputs)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if task.clock.step(len(labels)):
                return
        if validate:
            validate(model)


def main(programs, preparations):
    """Runs the program NAME. With --prepare, makes its files instead."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(programs))
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--out")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--free", default="")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    task = Task(options)
    if options.prepare:
        preparations.get(options.name, lambda _task: None)(task)
        return
    try:
        programs[options.name](task)
    except Over:
        pass
    if options.out:
        with open(options.out, "w", encoding="ascii") as file:
            json.dump(task.clock.result(), file)
