# SPDX-License-Identifier: Apache-2.0
"""The training run that the integration tests record: JPEG files, a DataLoader, a tiny network.

Prints one line per epoch with the exact losses and the order in which samples arrived, then "done".
The same arguments always print the same.
"""
import argparse
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--start", default=None)
    parser.add_argument("--style", default="map", choices=("map", "iterable"))
    parser.add_argument("--decoder", default="pil", choices=("pil", "torchvision", "cv2"))
    parser.add_argument("--threads", action="store_true", help="read the files in a thread pool")
    parser.add_argument("--batch", type=int, default=8, help="0: batch_size=None")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--prefetch", type=int, default=2)
    parser.add_argument("--optimizer", default="sgd", choices=("sgd", "adam"))
    parser.add_argument("--log", help="append `sample epoch` once a sample is finished")
    parser.add_argument("--end", default="", help="exit3, raise, dataset-raise, segv, term, int, kill-worker")
    parser.add_argument("--at", type=int, default=2, help="the step at which --end happens")
    return parser.parse_args()


class Log:
    """One line for each finished sample, written with one system call."""

    def __init__(self, path):
        self.path = path
        self.fd = self.pid = None
        self.pending = []

    def finished(self):
        """Logs the samples that were begun since the last call. Their __getitem__ has returned."""
        if not self.path or not self.pending:
            return
        if self.pid != os.getpid():
            self.pid = os.getpid()
            self.fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        lines, self.pending = self.pending, []
        os.write(self.fd, "".join("%d %d\n" % line for line in lines).encode())

    def begin(self, sample, epoch):
        self.finished()
        if self.path:
            self.pending.append((sample, epoch))


class Pictures:
    """Reads, decodes and augments one picture."""

    def __init__(self, options):
        names = sorted(name for name in os.listdir(options.data) if name.endswith(".jpg"))
        self.paths = [os.path.join(options.data, name) for name in names]
        self.decoder = options.decoder
        self.threads = options.threads
        self.transform = None
        self.pool = None
        self.epoch = 0
        self.log = Log(options.log)
        self.raise_at = 20 if options.end == "dataset-raise" else -1

    def preload(self):
        """Imports what __getitem__ needs, so that forked workers read nothing but the pictures."""
        self.transform = self._transforms()
        names = {"cv2": ["cv2", "numpy"], "torchvision": ["torchvision.io"],
                 "pil": ["PIL.Image", "PIL.JpegImagePlugin"]}  # fmt: skip
        for name in names[self.decoder]:
            __import__(name)

    def _transforms(self):
        from torchvision import transforms

        if self.decoder == "cv2":
            return transforms.Compose([Blur(), transforms.ToTensor()])
        floats = transforms.ConvertImageDtype(torch.float)
        last = [transforms.ToTensor() if self.decoder == "pil" else floats]
        return transforms.Compose(
            [transforms.RandomResizedCrop(32), transforms.RandomHorizontalFlip(), *last,
             transforms.Normalize([0.5] * 3, [0.25] * 3)])  # fmt: skip

    def _decode(self, index):
        path = self.paths[index]
        if self.decoder == "torchvision":
            from torchvision import io

            return io.read_image(path) if index % 2 else io.decode_jpeg(io.read_file(path))
        if self.decoder == "cv2":
            import cv2
            import numpy

            cv2.setNumThreads(0)
            if index % 2:
                image = cv2.imread(path)
            else:
                with open(path, "rb") as file:
                    image = cv2.imdecode(numpy.frombuffer(file.read(), numpy.uint8), cv2.IMREAD_COLOR)
            return cv2.resize(image, (32, 32))
        from PIL import Image

        with Image.open(path) as image:
            return image.convert("RGB")

    def picture(self, index):
        self.log.begin(index, self.epoch)
        if index == self.raise_at:
            raise ValueError("sample %d is bad" % index)
        torch.set_num_threads(1)
        if self.threads:
            return index, self.transform(self._decode_elsewhere(index))
        return index, self.transform(self._decode(index))

    def _decode_elsewhere(self, index):
        if self.pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self.pool = ThreadPoolExecutor(2)
        return self.pool.submit(self._decode, index).result()


class Blur:
    def __call__(self, image):
        import cv2

        return cv2.cvtColor(cv2.GaussianBlur(image, (3, 3), 0), cv2.COLOR_BGR2RGB)


class Map(Pictures, Dataset):
    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.picture(index)


class Stream(Pictures, IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for index in range(first, len(self.paths), step):
            yield self.picture(index)


class Collate:
    """Stacks a batch, and tells the log that its samples are finished."""

    def __init__(self, log):
        self.log = log

    def __call__(self, samples):
        self.log.finished()
        if isinstance(samples, tuple):  # batch_size=None: a single sample
            samples = [samples]
        return torch.tensor([index for index, _ in samples]), torch.stack([image for _, image in samples])


def make_loader(options):
    data = (Map if options.style == "map" else Stream)(options)
    data.preload()
    arguments = {"num_workers": options.workers, "collate_fn": Collate(data.log), "pin_memory": options.pin}
    if options.batch:
        arguments["batch_size"] = options.batch
    else:
        arguments["batch_size"] = None
    if options.style == "map":
        generator = torch.Generator()
        generator.manual_seed(5)
        arguments["shuffle"] = True
        arguments["generator"] = generator
    if options.workers:
        arguments["multiprocessing_context"] = options.start
        arguments["persistent_workers"] = options.persistent
        arguments["prefetch_factor"] = options.prefetch
    return DataLoader(data, **arguments)


def end(how):
    import signal

    if how == "kill-worker":
        import multiprocessing

        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
        time.sleep(10)  # the loader's handler of SIGCHLD raises here

    sys.stdout.flush()
    if how == "exit3":
        sys.exit(3)
    if how == "raise":
        raise RuntimeError("the step went wrong")
    number = {"segv": signal.SIGSEGV, "term": signal.SIGTERM, "int": signal.SIGINT}.get(how)
    if number:
        os.kill(os.getpid(), number)
        time.sleep(1)


def main():
    options = parse()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    loader = make_loader(options)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(512, 4))
    kind = torch.optim.SGD if options.optimizer == "sgd" else torch.optim.Adam
    optimizer = kind(model.parameters(), lr=0.01)
    step = 0
    for epoch in range(options.epochs):
        loader.dataset.epoch = epoch
        losses, order = [], []
        for index, image in loader:
            if step == options.at:
                end(options.end)
            order += index.tolist()
            loss = torch.nn.functional.cross_entropy(model(image), index % 4)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            step += 1
        print("epoch", epoch, "losses", losses, "order", order, flush=True)
    print("done", step, flush=True)


if __name__ == "__main__":
    main()
