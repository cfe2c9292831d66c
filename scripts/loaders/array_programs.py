# SPDX-License-Identifier: Apache-2.0
"""Programs that read pictures and arrays with one library each: see common.py.

For each reader there are two programs: one with PyTorch's DataLoader and two workers, and one with a plain
`for`. In a plain `for` the agent can record only reads, decodes and transforms.
"""

import functools

import numpy
from common import BATCH, SAMPLES, SIZE, label_of, main, open_picture, pixels_of


class Reader:
    """Gives sample i as an array. Opens the file at the first read, since some files cannot be used after a fork."""

    def __init__(self, task):
        self.paths = task.paths
        self.work = task.work
        self.file = None

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        if self.file is None:
            self.file = self.open()
        return self.read(index), label_of(self.paths[index])

    def open(self):
        return True


    def stored(self):
        """Returns the bytes that all samples take in storage, or None if each sample is a file of its own."""


class Hdf5(Reader):
    def open(self):
        import h5py

        return h5py.File(self.work / "pictures.h5", "r")["pictures"]

    def stored(self):
        return self.open().id.get_storage_size()

    def read(self, index):
        return self.file[index]


class Lmdb(Reader):
    def open(self):
        import lmdb

        return lmdb.open(str(self.work / "lmdb"), readonly=True, lock=False)

    def read(self, index):
        with self.file.begin() as transaction:
            return numpy.frombuffer(transaction.get(b"%08d" % index), numpy.uint8).reshape(SIZE, SIZE, 3)

    def stored(self):
        return SAMPLES * SIZE * SIZE * 3


class LmdbPictures(Lmdb):
    """Reads encoded pictures from LMDB. Most image sets in LMDB hold encoded pictures."""

    def read(self, index):
        import cv2

        with self.file.begin() as transaction:
            data = numpy.frombuffer(transaction.get(b"jpg%05d" % index), numpy.uint8)
        return cv2.resize(cv2.imdecode(data, cv2.IMREAD_COLOR), (SIZE, SIZE))

    def stored(self):
        return None


class Imageio(Reader):
    def read(self, index):
        import imageio

        image = getattr(imageio, "v3", imageio).imread(self.paths[index])
        return numpy.ascontiguousarray(image[:SIZE, :SIZE])


class Skimage(Reader):
    def read(self, index):
        from skimage import io, transform

        return transform.resize(io.imread(self.paths[index]), (SIZE, SIZE)).astype(numpy.float32)


def under_torch(reader, task):
    from torch.utils.data import DataLoader

    source = reader(task)
    task.loop(DataLoader(source, batch_size=BATCH, num_workers=2), lambda batch: len(batch[0]))
    return counted(source)


def plain(reader, task):
    source = reader(task)
    for first in range(0, SAMPLES, BATCH):
        task.step(len([source[index][0] for index in range(first, first + BATCH)]))
    return counted(source)


def counted(source):
    stored = source.stored()
    return {"bytes": stored} if stored else None


def make_hdf5(task):
    import h5py

    task.work.mkdir(parents=True, exist_ok=True)
    with h5py.File(task.work / "pictures.h5", "w") as file:
        pictures = numpy.stack([pixels_of(open_picture(path)) for path in task.paths])
        file.create_dataset("pictures", data=pictures, chunks=(1, SIZE, SIZE, 3), compression="gzip")


def make_lmdb(task):
    import lmdb

    task.work.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(task.work / "lmdb"), map_size=1 << 28) as environment:
        with environment.begin(write=True) as transaction:
            for index, path in enumerate(task.paths):
                transaction.put(b"%08d" % index, pixels_of(open_picture(path)).tobytes())
                with open(path, "rb") as file:
                    transaction.put(b"jpg%05d" % index, file.read())


READERS = {"h5py": Hdf5, "lmdb": Lmdb, "lmdb-pictures": LmdbPictures, "imageio": Imageio, "skimage": Skimage}
MAKERS = {"h5py": make_hdf5, "lmdb": make_lmdb, "lmdb-pictures": make_lmdb}
PROGRAMS = {name: functools.partial(under_torch, reader) for name, reader in READERS.items()}
PROGRAMS.update({name + "-plain": functools.partial(plain, reader) for name, reader in READERS.items()})
PREPARATIONS = {name + ending: make for name, make in MAKERS.items() for ending in ("", "-plain")}

if __name__ == "__main__":
    main(PROGRAMS, PREPARATIONS)
