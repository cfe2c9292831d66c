#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Masks and boxes that share what the loader did to their pictures, compared with Pillow, torchvision and NumPy."""
import importlib.util
import os
import pathlib
import random
import shutil
import sys
import tempfile
import unittest

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import FILES, WithSet  # noqa: E402

import penstock  # noqa: E402
from penstock import ops, targets  # noqa: E402
from penstock.loader import Loader, LoaderError  # noqa: E402


def without(package):
    try:
        return importlib.util.find_spec(package) is None
    except ModuleNotFoundError:  # its parent package is missing too
        return True


def samples_of(rows, size=(16, 24)):
    """Samples with the geometry of `rows`: [n][12], as PenstockGeometry has them."""
    geometry = np.array(rows, np.int32).reshape(-1, 12)
    count = len(geometry)
    return targets.Samples(np.arange(count), np.full(count, -1), geometry, size,
                           lambda ids: ["picture%d.jpg" % one for one in ids])  # fmt: skip


def drawn(rng, inside=True, size=(16, 24), factor=None):
    """A random row of a geometry. Its crop is resized to the output or, if there is a factor, by that factor."""
    height, width = rng.randrange(30, 90), rng.randrange(30, 90)
    row = [height, width]
    if factor is None:
        crop = [rng.randrange(1, height + 1), rng.randrange(1, width + 1)]
        scaled = list(size)
    else:
        crop = [(side + factor - 1) // factor + 5 for side in size]
        scaled = [side * factor for side in crop]
    place = [rng.randrange(height - crop[0] + 1), rng.randrange(width - crop[1] + 1)]
    if not inside:
        place = [rng.randrange(-crop[0], side) for side in (height, width)]
    window = [rng.randrange(one - side + 1) for one, side in zip(scaled, size)]
    return [*row, *place, *crop, *scaled, *window, rng.randrange(2), rng.randrange(2)]


class Masks(unittest.TestCase):
    def test_they_are_those_of_pillow(self):
        if without("PIL"):
            self.skipTest("Pillow is not installed")
        from PIL import Image, ImageOps

        rng, noise, compared = random.Random(1), np.random.default_rng(1), 0
        for _ in range(200):
            samples = samples_of(drawn(rng))
            mask = noise.integers(0, 256, samples.picture[0], np.uint8)
            top, left, height, width = samples.crop[0].tolist()
            image = Image.fromarray(mask).crop((left, top, left + width, top + height))
            image = image.resize(samples.size[::-1], Image.NEAREST)
            image = ImageOps.flip(image) if samples.flip[0, 0] else image
            image = ImageOps.mirror(image) if samples.flip[0, 1] else image
            # Pillow sums up rounded fractions, so a centre on the border of two pixels may fall into either.
            border = [
                (2 * np.arange(side) + 1) * crop % (2 * side) == 0
                for side, crop in zip(samples.size, samples.crop[0, 2:])
            ]
            border = [one[::-1] if flip else one for one, flip in zip(border, samples.flip[0])]
            clear = ~(border[0][:, None] | border[1])
            compared += clear.sum()
            made = targets.crop_masks(samples, [mask])[0]
            np.testing.assert_array_equal(np.asarray(image)[clear], made[clear])
        self.assertGreater(compared, 30000)

    def test_they_are_those_of_torchvision(self):
        if without("torchvision"):
            self.skipTest("torchvision is not installed")
        import torch
        from torchvision.transforms import functional

        nearest = getattr(functional.InterpolationMode, "NEAREST_EXACT", None)
        rng, noise = random.Random(2), np.random.default_rng(2)
        for _ in range(200):
            samples = samples_of(drawn(rng))
            mask = noise.integers(0, 256, (2, *samples.picture[0]), np.uint8)
            part = functional.crop(torch.from_numpy(mask), *samples.crop[0].tolist())
            if nearest is None:  # before torchvision 0.16
                part = torch.nn.functional.interpolate(part[None], samples.size, mode="nearest-exact")[0]
            else:
                part = functional.resize(part, list(samples.size), nearest)
            part = functional.vflip(part) if samples.flip[0, 0] else part
            part = functional.hflip(part) if samples.flip[0, 1] else part
            np.testing.assert_array_equal(part.numpy(), targets.crop_masks(samples, [mask])[0])

    def test_what_leaves_the_picture_is_filled(self):
        rng = random.Random(3)
        for _ in range(100):
            row = drawn(rng, inside=False, factor=1)
            samples = samples_of(row)
            mask = np.arange(row[0] * row[1], dtype=np.int32).reshape(row[0], row[1])
            wide = np.pad(mask, 200, constant_values=-7)
            top, left = row[2] + row[8] + 200, row[3] + row[9] + 200
            expected = wide[top : top + 16, left : left + 24]
            expected = expected[:: -1 if row[10] else 1, :: -1 if row[11] else 1]
            np.testing.assert_array_equal(expected, targets.crop_masks(samples, [mask], fill=-7)[0])

    def test_what_does_not_fit_is_named(self):
        samples = samples_of([drawn(random.Random(4)) for _ in range(2)])
        sizes = [tuple(one) for one in samples.picture]
        with self.assertRaisesRegex(ValueError, "mask of picture1.jpg has the shape"):
            targets.crop_masks(samples, [np.zeros(sizes[0]), np.zeros((5, 5))])
        with self.assertRaisesRegex(ValueError, "cannot be one array"):
            targets.crop_masks(samples, [np.zeros(sizes[0]), np.zeros(sizes[1], bool)])
        with self.assertRaisesRegex(ValueError, "1 masks for 2 samples"):
            targets.crop_masks(samples, [np.zeros(sizes[0])])
        made = targets.crop_masks(samples[1], [np.ones((3, *sizes[1]), bool)])
        self.assertEqual(((1, 3, 16, 24), np.dtype(bool)), (made.shape, made.dtype))


class BoxesOfSamples(unittest.TestCase):
    def boxes_in(self, rng, picture, count=5):
        made = []
        for _ in range(count):
            x = sorted(rng.sample(range(picture[1] + 1), 2))
            y = sorted(rng.sample(range(picture[0] + 1), 2))
            made.append([x[0], y[0], x[1], y[1]])
        return made

    def test_they_frame_what_a_painted_mask_shows(self):
        rng = random.Random(5)
        seen = 0
        for factor in (1, 2, 3):
            for inside in (True, False):
                for _ in range(60):
                    row = drawn(rng, inside, factor=factor)
                    samples = samples_of(row)
                    boxes = self.boxes_in(rng, row[:2])
                    found = targets.crop_boxes(samples, [boxes])[0]
                    shown = {}
                    for number, (left, top, right, bottom) in enumerate(boxes):
                        mask = np.zeros(row[:2], np.uint8)
                        mask[top:bottom, left:right] = 1
                        rows, columns = np.nonzero(targets.crop_masks(samples, [mask])[0])
                        if len(rows):
                            frame = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
                            shown[number] = frame, len(rows) / (mask.sum() * factor * factor)
                    self.assertEqual(list(shown), found.kept.tolist())
                    for number, box, visible in zip(found.kept, found.boxes, found.visible):
                        np.testing.assert_allclose(box, shown[number][0], atol=1e-4)
                        self.assertAlmostEqual(shown[number][1], visible, places=5)
                        seen += 1
        self.assertGreater(seen, 300)

    def test_they_are_those_of_torchvision_v2(self):
        if without("torchvision.transforms.v2"):
            self.skipTest("no torchvision.transforms.v2")
        import torch
        from torchvision import tv_tensors
        from torchvision.transforms.v2 import functional

        rng = random.Random(6)
        for _ in range(200):
            row = drawn(rng)
            samples = samples_of(row)
            boxes = self.boxes_in(rng, row[:2])
            theirs = tv_tensors.BoundingBoxes(torch.tensor(boxes, dtype=torch.float64), format="XYXY", canvas_size=row[:2])
            theirs = functional.resized_crop(theirs, *row[2:6], size=list(samples.size))
            theirs = functional.vertical_flip(theirs) if row[10] else theirs
            theirs = functional.horizontal_flip(theirs) if row[11] else theirs
            found = targets.crop_boxes(samples, [boxes])[0]
            np.testing.assert_allclose(theirs.numpy()[found.kept], found.boxes, atol=1e-3)
            rest = np.setdiff1d(np.arange(len(boxes)), found.kept)
            sides = theirs.numpy()[rest]
            np.testing.assert_allclose(np.prod(sides[:, 2:] - sides[:, :2], axis=1), 0, atol=1e-9)

    def test_those_of_which_too_little_can_be_seen_are_left_out(self):
        row = [40, 40, 0, 0, 16, 24, 16, 24, 0, 0, 0, 0]
        boxes = [[4, 4, 8, 8], [20, 0, 30, 10], [30, 30, 40, 40]]
        every = targets.crop_boxes(samples_of(row), [boxes])[0]
        self.assertEqual([0, 1], every.kept.tolist())
        np.testing.assert_allclose(every.visible, [1, 0.4])
        self.assertEqual([0], targets.crop_boxes(samples_of(row), [boxes], least=0.5)[0].kept.tolist())
        none = targets.crop_boxes(samples_of(row), [[]])[0]
        self.assertEqual((0, 4), none.boxes.shape)


class InALoader(WithSet):
    def loader(self, function, source=None, **options):
        options = {"batch": 4, "workers": 2, "ops": "random_resized_crop=16,flip,normalize", "output": "f32", **options}
        made = Loader(self.set if source is None else source, targets=function, **options)
        self.addCleanup(made.close)
        return made

    def rows(self, **options):
        """Ids and geometry in the order of delivery."""
        with self.loader(lambda samples: samples, **options) as loader:
            return [(int(s.ids[i]), s.crop[i].tolist(), s.flip[i].tolist()) for _, s in loader for i in range(len(s))]

    def test_targets_take_the_place_of_labels(self):
        with self.loader(lambda samples: samples) as loader:
            plain = Loader(self.set, batch=4, workers=2, ops="random_resized_crop=16,flip,normalize", output="f32")
            with plain:
                for (images, samples), (expected, labels) in zip(loader, plain):
                    self.assertEqual(expected.tolist(), images.tolist())
                    self.assertEqual(labels.tolist(), samples.labels.tolist())
                    self.assertEqual((16, 16), samples.size)
                    self.assertEqual([30, 40], samples.picture[0].tolist())
                    for path, label in zip(samples.paths, samples.labels):
                        self.assertTrue(path.startswith(str(self.set / ("class%d" % label))), path)
                        self.assertTrue(os.path.isfile(path))
            self.assertGreater(loader.targets_seconds, 0)

    def test_they_are_the_same_for_any_workers_and_batch_and_after_a_resume(self):
        expected = self.rows()
        self.assertEqual(sorted(range(FILES)), sorted(row[0] for row in expected))
        self.assertLess(1, len({str(row[1]) for row in expected}))
        for workers, batch in ((0, 5), (1, 23), (3, 1)):
            self.assertEqual(expected, self.rows(workers=workers, batch=batch))
        with self.loader(lambda samples: samples) as loader:
            iterator = iter(loader)
            next(iterator)
            state = loader.state_dict()
        with self.loader(lambda samples: samples, batch=6) as other:
            other.load_state_dict(state)
            self.assertEqual([row[0] for row in expected[4:]], [one for _, s in other for one in s.ids.tolist()])

    def test_ids_count_in_the_list_that_was_given(self):
        pairs = [(path, 0) for path in sorted(self.set.rglob("*.jpg"))]
        for _, samples in self.loader(lambda samples: samples, source=pairs):
            self.assertEqual([str(pairs[one][0]) for one in samples.ids], samples.paths)

    def test_operations_that_cannot_be_shared_are_named(self):
        with self.assertRaisesRegex(ValueError, "rotate: masks and boxes share"):
            self.loader(len, ops=[ops.Resize((16, 16)), ops.RandomRotation(10)])

    def test_what_the_function_raises_reaches_the_loop(self):
        def function(samples):
            raise KeyError("no mask")

        with self.assertRaisesRegex(KeyError, "no mask"):
            next(iter(self.loader(function)))

    def test_samples_outlive_their_batch_and_say_when_their_names_cannot_be_had(self):
        with self.loader(lambda samples: samples) as loader:
            _, samples = next(iter(loader))
        self.assertEqual((4, 4), samples.crop.shape)
        with self.assertRaisesRegex(LoaderError, "closed"):
            samples.paths  # noqa: B018

    def test_pictures_and_masks_show_the_same(self):
        """If the mask is the picture itself, the cropped mask looks like the picture that the loader delivers."""
        if without("PIL"):
            self.skipTest("Pillow is not installed")
        from PIL import Image

        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.addCleanup(shutil.rmtree, folder)
        for i in range(12):
            y, x = np.mgrid[0 : 60 + 7 * i, 0 : 110 - 6 * i].astype(np.float32)
            plane = np.stack([2 * x, 2 * y, 128 + 60 * np.sin(x / 9 + i) * np.cos(y / 11)], axis=-1)
            Image.fromarray(plane.clip(0, 255).astype(np.uint8)).save(folder / ("%02d.jpg" % i), quality=95)

        def masks(samples):
            pictures = [np.asarray(Image.open(path)).transpose(2, 0, 1) for path in samples.paths]
            return targets.crop_masks(samples, pictures)

        for text in ("random_resized_crop=48,flip,vflip", "resize=56,center_crop=48,flip", "resize=40,random_crop=48:padding=4",
                     "random_crop=48:padding=9,flip", "random_crop=90,resize=50x40,vflip"):  # fmt: skip
            for images, shown in self.loader(masks, source=folder, ops=text, output="u8", arrays="numpy"):
                away = np.abs(images.astype(int) - shown.astype(int))
                self.assertLess(np.median(away), 3, text)
                self.assertLess(np.mean(away), 5, text)


class Package(unittest.TestCase):
    def test_targets_is_a_part_of_the_package(self):
        self.assertIs(targets, penstock.targets)
        self.assertIn("targets", penstock.__all__)


if __name__ == "__main__":
    unittest.main(verbosity=2)
