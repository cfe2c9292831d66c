# SPDX-License-Identifier: Apache-2.0
"""Training loops whose data path is more than one DataLoader over a map-style dataset; structures.py sets the knobs.

    structure_cell.py KIND '{"folder": "/data/pictures", "workers": 2}'

Samples are JPEG files that Pillow decodes and resizes. Prints two rates in samples/s. Both are of the time from the
first batch to the last; the second leaves out the time before the first batch of each later epoch. Knobs: workers (of
each loader, or threads or processes of the program's own), decode (0: pixels are decoded once and kept), step (ms, a
wait), seconds.
"""
import collections
import concurrent.futures
import http.server
import io
import itertools
import json
import multiprocessing
import os
import queue
import random
import signal
import sys
import threading
import time
import urllib.request

import numpy
import torch
from PIL import Image
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler, get_worker_info

KNOBS = {"workers": 1, "decode": 1, "step": 4.0, "seconds": 6.0}
SIDE = 224
PIXELS = {}  # path -> decoded picture, if decode is 0
EPOCH = object()  # what a kind yields between two epochs


def read(path):
    with open(path, "rb") as file:
        return file.read()


def decoded(data):
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


def pixels_of(path, data=None):
    if KNOBS["decode"]:
        return decoded(data or read(path))
    if path not in PIXELS:
        PIXELS[path] = decoded(data or read(path))
    return PIXELS[path]


def sample_of(path, data=None):
    picture = pixels_of(path, data).resize((SIDE, SIDE), Image.BILINEAR)
    return torch.from_numpy(numpy.array(picture)).permute(2, 0, 1).float().div_(255)


def paths():
    names = sorted(name for name in os.listdir(KNOBS["folder"]) if name.endswith(".jpg"))
    return [os.path.join(KNOBS["folder"], name) for name in names]


class Pictures(Dataset):
    def __init__(self, count=1_000_000):
        self.paths, self.count = paths(), count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return sample_of(self.paths[index % len(self.paths)])


def loader(batch, count=1_000_000, **more):
    return DataLoader(Pictures(count), batch_size=batch, num_workers=int(KNOBS["workers"]), **more)


def in_step():
    """A labelled and an unlabelled set, one batch of each in every step."""
    for few, many in zip(loader(4), loader(12)):
        yield len(few) + len(many)


def three_in_step():
    for batches in zip(loader(4), loader(4), loader(8)):
        yield sum(map(len, batches))


def at_random():
    """Two tasks; a draw decides whose batch comes next."""
    draw = random.Random(3)
    tasks = [iter(loader(8)), iter(loader(8))]
    while True:
        yield len(next(draw.choice(tasks)))


def two_to_one():
    """A critic takes two batches of its loader for each batch that the generator takes of another."""
    critic, generator = iter(loader(8)), iter(loader(8))
    while True:
        for source in (critic, critic, generator):
            yield len(next(source))


def nested():
    """Each task of the outer loader draws four batches from a loader of its own."""
    inner = loader(8, 32)
    for task in loader(2):
        yield len(task)
        for batch in inner:
            yield len(batch)


def validated():
    train, held_out = loader(16, 480), loader(1, 60)
    while True:
        yield EPOCH
        for batch in train:
            yield len(batch)
        for _ in held_out:
            time.sleep(KNOBS["step"] / 1e3)


def anew():
    while True:
        yield EPOCH
        for batch in loader(8, 640):
            yield len(batch)


def abandoned():
    """Leaves each epoch in the middle."""
    source = loader(8, 4000, shuffle=True)
    while True:
        yield EPOCH
        for batch in itertools.islice(source, 80):
            yield len(batch)


def ahead():
    """A thread takes the loader's batches and normalises them before the loop asks."""
    ready = queue.Queue(2)

    def fill():
        for batch in loader(8):
            ready.put((batch - 0.45) / 0.22)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield len(ready.get())


def reordered():
    """The loop keeps forty batches and takes one of them at random."""
    draw, held = random.Random(5), []
    for batch in loader(8):
        held.append(batch)
        if len(held) > 40:
            yield len(held.pop(draw.randrange(40)))


def accumulated():
    """After each fourth batch comes a step that is as long as the steps of four batches."""
    for number, batch in enumerate(loader(8), 1):
        yield len(batch), 4 if number % 4 == 0 else 0


class WholeBatches(Pictures):
    def __getitem__(self, indices):
        return torch.stack([super(WholeBatches, self).__getitem__(index) for index in indices])


def whole_batches():
    dataset = WholeBatches()
    indices = BatchSampler(SequentialSampler(dataset), 8, False)
    for batch in DataLoader(dataset, sampler=indices, batch_size=None, num_workers=int(KNOBS["workers"])):
        yield len(batch)


class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, each = (worker.id, worker.num_workers) if worker else (0, 1)
        yield from map(sample_of, itertools.islice(itertools.cycle(paths()), first, None, each))


def stream():
    for batch in DataLoader(Stream(), batch_size=8, num_workers=int(KNOBS["workers"])):
        yield len(batch)


class Threaded(IterableDataset):
    """The dataset has threads of its own, which decode. A loader's worker, or the loop itself, takes their samples."""

    def __iter__(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            waiting = collections.deque()
            for path in itertools.cycle(paths()):
                waiting.append(pool.submit(sample_of, path))
                if len(waiting) > 8:
                    yield waiting.popleft().result()


def own_threads():
    for batch in DataLoader(Threaded(), batch_size=8, num_workers=int(KNOBS["workers"])):
        yield len(batch)


class Served(Pictures):
    def __getitem__(self, index):
        path = self.paths[index % len(self.paths)]
        with urllib.request.urlopen(self.address + "/" + os.path.basename(path)) as answer:
            return sample_of(path, answer.read())


class Files(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.02)
        super().do_GET()

    def log_message(self, *_):
        pass


def served():
    """A process of the run serves the files."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    child = os.fork()
    if child == 0:
        os.chdir(KNOBS["folder"])
        server.serve_forever()
    dataset = Served()
    dataset.address = f"http://127.0.0.1:{server.server_port}"
    try:
        for batch in DataLoader(dataset, batch_size=4, num_workers=int(KNOBS["workers"])):
            yield len(batch)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def fill(shared, first, each):
    torch.set_num_threads(1)
    for path in itertools.islice(itertools.cycle(paths()), first, None, each):
        shared.put(sample_of(path).numpy())


def batches_of(take):
    while True:
        yield len(torch.stack([torch.from_numpy(take()) for _ in range(8)]))


def queue_processes():
    shared, workers = multiprocessing.Queue(16), int(KNOBS["workers"])
    for first in range(workers):
        multiprocessing.Process(target=fill, args=(shared, first, workers), daemon=True).start()
    yield from batches_of(shared.get)


def queue_threads():
    shared, workers = queue.Queue(16), int(KNOBS["workers"])
    for first in range(workers):
        threading.Thread(target=fill, args=(shared, first, workers), daemon=True).start()
    yield from batches_of(shared.get)


def array_of(path):
    return sample_of(path).numpy()


def futures():
    with concurrent.futures.ProcessPoolExecutor(int(KNOBS["workers"])) as pool:
        waiting = collections.deque()
        for path in itertools.cycle(paths()):
            waiting.append(pool.submit(array_of, path))
            if len(waiting) >= 24:
                yield len(torch.stack([torch.from_numpy(waiting.popleft().result()) for _ in range(8)]))


def run(kind):
    """The two rates, in samples/s."""
    began = last = None
    samples = 0  # after the first batch
    left_out, pauses = 0, 0.0  # the first batches of later epochs, and the time before them
    fresh = False
    for told in kind():
        if told is EPOCH:
            fresh = began is not None
            continue
        now = time.monotonic()
        count, steps = told if isinstance(told, tuple) else (told, 1)
        if began is None:
            began = now
        else:
            samples += count
            if fresh:
                left_out, pauses, fresh = left_out + count, pauses + now - last, False
        last = now
        time.sleep(KNOBS["step"] / 1e3 * steps)
        if now - began > KNOBS["seconds"]:
            break
    return samples / (last - began), (samples - left_out) / (last - began - pauses)


def ranked(rank, port):
    import torch.distributed as dist

    if rank > 0:
        KNOBS["seconds"] = float("inf")  # rank 0 alone ends the run
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 8))

    def kind():
        for batch in loader(8):
            model(batch.reshape(len(batch), -1)[:, :64]).sum().backward()
            yield len(batch)

    rates = run(kind)
    if rank == 0:
        print(*rates, flush=True)
    os._exit(0)


def two_ranks():
    port = 20000 + os.getpid() % 20000
    children = [multiprocessing.Process(target=ranked, args=(rank, port)) for rank in range(2)]
    for child in children:
        child.start()
    children[0].join()
    children[1].kill()
    children[1].join()
    sys.exit(children[0].exitcode)


KINDS = (in_step, three_in_step, at_random, two_to_one, nested, validated, anew, abandoned, ahead, reordered, accumulated,
         whole_batches, stream, own_threads, served, queue_processes, queue_threads, futures, two_ranks)  # fmt: skip


def main():
    KNOBS.update(json.loads(sys.argv[2]))
    torch.set_num_threads(1)
    kind = next(kind for kind in KINDS if kind.__name__ == sys.argv[1])
    if kind is two_ranks:
        two_ranks()
        return
    print(*run(kind), flush=True)
    os._exit(0)  # threads may still make samples


if __name__ == "__main__":
    main()
