# SPDX-License-Identifier: Apache-2.0
"""Programs whose loader is a pipeline with its own threads: see common.py."""

import functools

import numpy
from common import BATCH, SAMPLES, SIZE, label_of, main, open_picture, pixels_of


class Pictures:
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return pixels_of(open_picture(self.paths[index])), label_of(self.paths[index])


def collate(samples):
    return numpy.stack([pixels for pixels, _ in samples]), [label for _, label in samples]


def nodes(task, workers=2, method="thread"):
    from torch.utils.data import SequentialSampler
    from torchdata.nodes import Batcher, Loader, Mapper, ParallelMapper, Prefetcher, SamplerWrapper

    data = Pictures(task.paths)
    node = SamplerWrapper(SequentialSampler(data))
    if workers:
        node = ParallelMapper(node, data.__getitem__, num_workers=workers, method=method)
    else:
        node = Mapper(node, data.__getitem__)
    node = Mapper(Batcher(node, BATCH), collate)
    task.loop(Loader(Prefetcher(node, 4) if workers else node), lambda batch: len(batch[1]))


def spdl(task):
    from spdl.pipeline import PipelineBuilder

    def load(path):
        return pixels_of(open_picture(path)), label_of(path)

    builder = PipelineBuilder().add_source(task.paths).pipe(load, concurrency=2).aggregate(BATCH)
    pipeline = builder.pipe(collate).add_sink(4).build(num_threads=4)
    with pipeline.auto_stop():
        task.loop(pipeline, lambda batch: len(batch[1]))


def spdl_loader(task):
    from spdl.dataloader import DataLoader

    def load(path):
        return pixels_of(open_picture(path)), label_of(path)

    loader = DataLoader(task.paths, preprocessor=load, batch_size=BATCH, aggregator=collate, num_threads=2)
    task.loop(loader, lambda batch: len(batch[1]))


def dali_pipeline(task):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
    def pipeline():
        encoded, labels = fn.readers.file(files=task.paths, labels=[label_of(path) for path in task.paths],
                                          name="files", dont_use_mmap=True)
        images = fn.resize(fn.decoders.image(encoded, device="cpu", output_type=types.RGB), size=(SIZE, SIZE))
        return images, labels

    built = pipeline()
    built.build()
    return built


def dali(task):
    built = dali_pipeline(task)
    for _ in range(SAMPLES // BATCH):
        images, _ = built.run()
        task.step(len(images))


def dali_torch(task):
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    loader = DALIGenericIterator(dali_pipeline(task), ["image", "label"], reader_name="files",
                                 last_batch_policy=LastBatchPolicy.PARTIAL)
    task.loop(loader, lambda batch: len(batch[0]["label"]))


def tensorflow_data(task):
    import tensorflow as tf

    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, (SIZE, SIZE))

    data = tf.data.Dataset.from_tensor_slices(task.paths)
    data = data.map(load, num_parallel_calls=2).batch(BATCH).prefetch(2)
    task.loop(data, len)


def tensorflow_python(task):
    """Decodes in a Python function that tf.data's threads call."""
    import tensorflow as tf

    def load(path):
        return pixels_of(open_picture(path.numpy().decode()))

    data = tf.data.Dataset.from_tensor_slices(task.paths)
    data = data.map(lambda path: tf.py_function(load, [path], tf.uint8), num_parallel_calls=2)
    task.loop(data.batch(BATCH).prefetch(2), len)


PROGRAMS = {
    "nodes": nodes,
    "nodes-process": functools.partial(nodes, method="process"),
    "nodes-inline": functools.partial(nodes, workers=0),
    "spdl": spdl,
    "spdl-loader": spdl_loader,
    "dali": dali,
    "dali-torch": dali_torch,
    "tf-data": tensorflow_data,
    "tf-data-python": tensorflow_python,
}

if __name__ == "__main__":
    main(PROGRAMS, {})
