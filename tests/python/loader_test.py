#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader: what it delivers is what `penstock load` delivers, and who holds a batch keeps it.

Runs with PyTorch, with NumPy alone or with neither (python3 -S): whatever the interpreter has.
"""
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from loader_case import Case  # noqa: E402
from support import BUILD, FILES, OPS, bytes_of, command_pictures, delivered, numbers_of, ordered  # noqa: E402

import penstock  # noqa: E402
from penstock import ops  # noqa: E402

COMMAND = ("--ops", OPS, "--output", "f32")


class Bytes(Case):
    def ids(self, epoch=0, seed=0, world=1, rank=0):
        """The dataset's indices in the order of an epoch, from unaugmented pictures, which are all different."""
        plain = {"ops": "resize=30x40", "output": "u8", "seed": seed}
        place = {picture: i for i, (_, picture) in enumerate(self.pictures(shuffle=False, **plain))}
        self.assertEqual(FILES, len(place))
        with self.loader(world=world, rank=rank, **plain) as loader:
            loader.set_epoch(epoch)
            return [place[picture] for _, picture in delivered(loader)]

    def test_bytes_are_those_of_the_command_for_any_number_of_workers(self):
        expected = command_pictures(self.set, *COMMAND, "--epochs", 3, "--workers", 1, "--batch", 7)
        ids = [self.ids(epoch) for epoch in range(3)]
        for workers, batch in ((0, 4), (1, 23), (2, 5), (4, 1), (3, 64)):
            with self.loader(workers=workers, batch=batch) as loader:
                for epoch in range(3):
                    got = ordered(delivered(loader), ids[epoch])
                    self.assertEqual(expected[epoch], got, (workers, batch, epoch))

    def test_seed_and_order_are_those_of_the_command(self):
        expected = command_pictures(self.set, *COMMAND, "--seed", 7)
        self.assertEqual(expected[0], ordered(self.pictures(seed=7), self.ids(seed=7)))
        expected = command_pictures(self.set, *COMMAND, "--no-shuffle")
        self.assertEqual(expected[0], ordered(self.pictures(shuffle=False), range(FILES)))
        self.assertNotEqual(self.pictures(seed=7), self.pictures())

    def test_ranks_share_an_epoch_as_those_of_the_command_do(self):
        whole = self.pictures()
        shares = []
        for rank in range(3):
            expected = command_pictures(self.set, *COMMAND, "--rank", rank, "--world", 3)
            share = self.pictures(rank=rank, world=3)
            self.assertEqual(expected[0], ordered(share, self.ids(rank=rank, world=3)))
            shares += share
        self.assertEqual(sorted(whole), sorted(shares))

    def test_ranks_come_from_the_environment(self):
        expected = self.pictures(rank=1, world=2)
        os.environ.update(RANK="1", WORLD_SIZE="2")
        self.addCleanup(os.environ.pop, "RANK")
        self.addCleanup(os.environ.pop, "WORLD_SIZE")
        self.assertEqual(expected, self.pictures())
        self.assertEqual(FILES, len(self.pictures(rank=0, world=1)))

    def test_a_list_of_pairs_and_a_packed_file_give_the_same_pictures(self):
        pairs = [(path, int(path.parent.name[-1])) for path in sorted(self.set.rglob("*.jpg"))]
        self.assertEqual(self.pictures(), self.pictures(source=pairs))
        packed = self.folder / "set.packed"
        subprocess.run([os.path.join(BUILD, "bin", "penstock-load"), "pack", str(self.set), "-o", str(packed)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.assertEqual(self.pictures(), self.pictures(source=packed))

    def test_tars_are_a_source(self):
        members = sorted(self.set.rglob("*.jpg"))
        tars = []
        for part in range(2):
            flat = self.folder / ("part%d" % part)
            flat.mkdir()
            for i, path in enumerate(members[part::2]):
                shutil.copy(path, flat / ("%03d.jpg" % i))
                (flat / ("%03d.cls" % i)).write_text(path.parent.name[-1])
            tars.append(self.folder / ("part%d.tar" % part))
            subprocess.run(["tar", "-C", str(flat), "--sort=name", "-cf", str(tars[-1]), "."], check=True)
        with self.loader(source=tars, ops="resize=30x40") as loader:
            self.assertEqual("tar", loader.kind)
            self.assertEqual(FILES, len(delivered(loader)))


class Shapes(Case):
    def test_shapes_types_and_labels(self):
        for layout, shape in (("chw", (3, 12, 16)), ("hwc", (12, 16, 3))):
            for output, size in (("u8", 1), ("f32", 4)):
                with self.loader(output=output, layout=layout, ops="random_resized_crop=12x16") as loader:
                    images, labels = next(iter(loader))
                    self.assertEqual((4, *shape), tuple(images.shape))
                    self.assertEqual(4 * 3 * 12 * 16 * size, len(bytes_of(images)))
                    self.assertEqual((4,), tuple(labels.shape))
                    self.assertTrue(set(numbers_of(labels)) <= {0, 1, 2})

    def test_sixteen_bit_output_or_what_to_install(self):
        if penstock.Loader and self.loader().arrays == "memoryview" and sys.version_info < (3, 12):
            with self.assertRaisesRegex(ValueError, "pip install numpy"):
                self.loader(output="f16")
            return
        images, _ = next(iter(self.loader(output="f16")))
        self.assertEqual(4 * 3 * 16 * 16 * 2, len(bytes_of(images)))

    def test_classes_are_the_folders(self):
        loader = self.loader()
        self.assertEqual(["class0", "class1", "class2"], loader.classes)
        self.assertEqual({"class0": 0, "class1": 1, "class2": 2}, loader.class_to_idx)

    def test_length_is_that_of_an_epoch(self):
        for drop_last, batches in ((False, 6), (True, 5)):
            loader = self.loader(drop_last=drop_last)
            self.assertEqual(batches, len(loader))
            self.assertEqual(batches, len(list(loader)))

    def test_operations_are_their_texts(self):
        made = [ops.RandomResizedCrop(16), ops.RandomHorizontalFlip(), ops.Normalize()]
        self.assertEqual(self.pictures(), self.pictures(ops=made))
        every = [ops.Resize(32), ops.RandomCrop(24, padding=2), ops.RandomVerticalFlip(0.3), ops.RandomRotation(10),
                 ops.ColorJitter(0.4, 0.4, 0.4, 0.1), ops.Hsv(), ops.GaussianBlur(5), ops.GridMask(8), ops.CenterCrop(16),
                 ops.Normalize(), ops.RandomErasing()]  # fmt: skip
        self.assertEqual(FILES, len(self.pictures(ops=every)))

    def test_a_transform_of_the_caller_is_applied_and_timed(self):
        seen = []

        def transform(images):
            seen.append(tuple(images.shape))
            return len(seen)

        with self.loader(transform=transform) as loader:
            self.assertEqual([1, 2, 3, 4, 5, 6], [images for images, _ in loader])
            self.assertEqual((4, 3, 16, 16), seen[0])
            self.assertGreater(loader.transform_seconds, 0)


class Held(Case):
    """Batches stay what they are as long as somebody holds them."""

    def test_a_loop_that_keeps_all_batches_ends_and_keeps_them_right(self):
        expected = self.pictures(batch=1, prefetch=2)
        with self.loader(batch=1, prefetch=2) as loader:
            kept = list(loader)
        self.assertEqual(expected, delivered(kept))

    def test_a_batch_outlives_its_loader(self):
        loader = self.loader()
        images, labels = next(iter(loader))
        before = bytes_of(images), numbers_of(labels)
        loader.close()
        del loader
        gc.collect()
        with self.loader(seed=1) as other:
            delivered(other)
        self.assertEqual(before, (bytes_of(images), numbers_of(labels)))

    def test_labels_alone_hold_the_batch(self):
        with self.loader() as loader:
            kept = [labels for _, labels in loader]
            expected = [label for label, _ in self.pictures()]
            self.assertEqual(expected, [one for labels in kept for one in numbers_of(labels)])

    def test_memory_is_used_again_when_it_is_let_go(self):
        def address(images):
            if hasattr(images, "data_ptr"):
                return images.data_ptr()
            if hasattr(images, "__array_interface__"):
                return images.__array_interface__["data"][0]
            import ctypes

            return ctypes.addressof(ctypes.c_char.from_buffer(images.cast("B")))

        with self.loader(batch=1, prefetch=2) as loader:
            places = set()
            for _ in range(4):
                for images, _ in loader:
                    places.add(address(images))
        # The most that are in use: two in the ring, one that is held, one just released, and some in between.
        self.assertLessEqual(len(places), 7)

    def test_arrays_are_views_without_a_copy(self):
        images, _ = next(iter(self.loader()))
        if hasattr(images, "is_contiguous"):
            self.assertTrue(images.is_contiguous())
            return
        base = images
        while getattr(base, "base", None) is not None:
            base = base.base
        owner = getattr(base, "obj", base)
        self.assertIn("Block", type(owner).__name__)


class Package(unittest.TestCase):
    def test_what_is_promised_is_there(self):
        for name in penstock.__all__:
            self.assertIsNotNone(getattr(penstock, name))
        self.assertTrue(os.path.isfile(penstock.program()))
        self.assertTrue(os.path.isfile(penstock.agent()))
        self.assertTrue((pathlib.Path(penstock.__file__).parent / "py.typed").is_file())
        with self.assertRaises(AttributeError):
            penstock.nothing_of_that_name


if __name__ == "__main__":
    unittest.main()
