#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads and decodes whole files to RGB, and nothing else, with one process for each core: the limit of
a library.

  pil         Image.open(path).convert("RGB") to an array
  opencv      cv2.imread and the change from BGR to RGB
  torchvision torchvision.io.read_image
  turbojpeg   TurboJPEG's tjDecompress2 into memory that is used again, by ctypes
"""

import ctypes
import multiprocessing
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402


def pil_reader():
    import numpy
    from PIL import Image

    def read(path):
        with Image.open(path) as image:
            return numpy.asarray(image.convert("RGB")).shape
    return read


def opencv_reader():
    import cv2
    cv2.setNumThreads(1)

    def read(path):
        return cv2.cvtColor(cv2.imread(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB).shape
    return read


def torchvision_reader():
    import torch
    from torchvision.io import ImageReadMode, read_image
    torch.set_num_threads(1)

    def read(path):
        return tuple(read_image(path, ImageReadMode.RGB).permute(1, 2, 0).shape)
    return read


def turbojpeg_reader():
    library = ctypes.CDLL("libturbojpeg.so.0")
    library.tjInitDecompress.restype = ctypes.c_void_p
    number = ctypes.POINTER(ctypes.c_int)
    library.tjDecompressHeader3.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ulong,
                                            number, number, number, number]
    library.tjDecompress2.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_void_p,
                                      *[ctypes.c_int] * 5]
    handle, room = library.tjInitDecompress(), [ctypes.create_string_buffer(1)]

    def read(path):
        with open(path, "rb") as file:
            data = file.read()
        width, height, sampling, colour = (ctypes.c_int() for _ in range(4))
        if library.tjDecompressHeader3(handle, data, len(data), width, height, sampling, colour) != 0:
            raise ValueError(f"{path}: no JPEG")
        size = 3 * width.value * height.value
        if len(room[0]) < size:
            room[0] = ctypes.create_string_buffer(size)
        if library.tjDecompress2(handle, data, len(data), room[0], width, 0, height, 0, 0) != 0:
            raise ValueError(f"{path}: does not decode")
        return (height.value, width.value, 3)
    return read


READERS = {"pil": pil_reader, "opencv": opencv_reader, "torchvision": torchvision_reader,
           "turbojpeg": turbojpeg_reader}


def work(name, paths, seconds, ready, results):
    """Reads the files `paths` of one process again and again. All processes start their clocks together."""
    read = READERS[name]()
    shape = read(paths[0])
    assert len(shape) == 3 and shape[2] == 3, shape
    ready.wait()
    started, count, elapsed = time.monotonic(), 0, 0.0
    while elapsed < seconds:
        read(paths[count % len(paths)])
        count += 1
        elapsed = time.monotonic() - started
    results.put(count / elapsed)


def main():
    options = common.parse(__doc__.splitlines()[0], lambda parser: parser.add_argument(
        "--reader", choices=READERS, required=True))
    paths, workers = common.files(options.data), max(1, options.workers)
    context = multiprocessing.get_context("fork")
    ready, results = context.Barrier(workers), context.SimpleQueue()
    processes = [context.Process(target=work, args=(options.reader, paths[i::workers] or paths,
                                                    options.seconds, ready, results))
                 for i in range(workers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode != 0 for process in processes):
        return 3
    print(f"throughput: {sum(results.get() for _ in processes):.2f} samples/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
