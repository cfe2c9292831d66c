# SPDX-License-Identifier: Apache-2.0
"""Training without a PyTorch loader: Grain, and TensorFlow's tf.data. See common.py."""
import numpy
from common import BATCH, CLASSES, main

SIZE = 96


class Records:
    """What Grain reads: the bytes of a picture and its class."""

    def __init__(self, task):
        self.paths, self.held = task.paths(), "decode" in task.free

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        path, label = self.paths[at]
        if self.held:
            return path, label
        with open(path, "rb") as file:
            return file.read(), label


def decode(task, data):
    import io

    from PIL import Image

    if isinstance(data, str):
        return task.held.image(data)
    return Image.open(io.BytesIO(data)).convert("RGB")


def cropped(image, chance):
    """A random crop, mirrored at random, as floats [3][SIZE][SIZE]."""
    from PIL import Image

    side = int(min(image.size) * chance.uniform(0.5, 1))
    left, top = (int(chance.integers(0, space - side + 1)) for space in image.size)
    image = image.resize((SIZE, SIZE), Image.BILINEAR, box=(left, top, left + side, top + side))
    if chance.random() < 0.5:
        image = image.transpose(Image.FLIP_LEFT_RIGHT)
    return (numpy.asarray(image, dtype=numpy.float32).transpose(2, 0, 1) - 127) / 64


def grain(task):
    """Grain's DataLoader with worker processes; the step is PyTorch's."""
    import grain.python as pygrain
    import torch
    from frameworks import small

    class Decoded(pygrain.MapTransform):
        def map(self, element):
            return decode(task, element[0]), element[1]

    class Cropped(pygrain.RandomMapTransform):
        def random_map(self, element, rng):
            if "augment" in task.free:
                return finished, element[1]
            return cropped(element[0], rng), element[1]

    finished = numpy.random.default_rng(1).standard_normal((3, SIZE, SIZE), numpy.float32)
    records = Records(task)
    sampler = pygrain.IndexSampler(len(records), shard_options=pygrain.NoSharding(), shuffle=True, num_epochs=1000, seed=1)
    loader = pygrain.DataLoader(data_source=records, sampler=sampler, worker_count=task.workers,
                                operations=[Decoded(), Cropped(), pygrain.Batch(BATCH, drop_remainder=True)])  # fmt: skip
    model = task.model(small)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for inputs, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(torch.from_numpy(inputs)), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if task.clock.step(len(labels)):
            break


def tensorflow(task):
    """tf.data with an explicit training loop in Python."""
    import tensorflow as tf

    paths, labels = zip(*task.paths())

    def load(path, label):
        if "decode" in task.free:
            image = tf.ensure_shape(tf.numpy_function(lambda name: task.held.array(name.decode()), [path], tf.uint8),
                                    (None, None, 3))  # fmt: skip
        else:
            image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        if "augment" in task.free:  # uses one pixel, so that the picture is still decoded
            return tf.zeros((SIZE, SIZE, 3)) + tf.cast(image[0, 0, 0], tf.float32), label
        image = tf.image.random_crop(image, (300, 300, 3))
        image = tf.image.random_flip_left_right(tf.image.resize(image, (SIZE, SIZE)))
        return tf.image.random_brightness(image / 255.0, 0.1), label

    data = tf.data.Dataset.from_tensor_slices((list(paths), list(labels))).shuffle(len(paths)).repeat()
    data = data.map(load, num_parallel_calls=max(1, task.workers)).batch(BATCH, drop_remainder=True).prefetch(2)
    layers = [tf.keras.layers.Conv2D(16, 3, 2, activation="relu"), tf.keras.layers.Conv2D(32, 3, 2, activation="relu"),
              tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(CLASSES)]  # fmt: skip
    if "step" in task.free:
        layers = layers[2:]
    model = tf.keras.Sequential([tf.keras.Input((SIZE, SIZE, 3)), *layers])
    optimizer = tf.keras.optimizers.SGD(0.01)
    cost = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(images, classes):
        with tf.GradientTape() as tape:
            loss = cost(classes, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for images, classes in data:
        step(images, classes).numpy()
        if task.clock.step(len(classes)):
            break


PROGRAMS = {"grain": grain, "tensorflow": tensorflow}

if __name__ == "__main__":
    main(PROGRAMS, {})
