#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader: what it delivers is what `penstock load` delivers, and who holds a batch keeps it.

Runs with PyTorch, with NumPy alone or with neither (python3 -S): whatever the interpreter has.
"""
import gc
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import weakref

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import BUILD, FILES, OPS, WithSet, bytes_of, command_pictures, delivered, numbers_of, ordered  # noqa: E402

import penstock  # noqa: E402
from penstock import ops  # noqa: E402
from penstock.loader import Loader, LoaderError  # noqa: E402

COMMAND = ("--ops", OPS, "--output", "f32")


class Case(WithSet):
    def loader(self, source=None, **options):
        options.setdefault("ops", OPS)
        options.setdefault("output", "f32")
        options.setdefault("batch", 4)
        options.setdefault("workers", 2)
        made = Loader(self.set if source is None else source, **options)
        self.addCleanup(made.close)
        return made

    def pictures(self, **options):
        with self.loader(**options) as loader:
            return delivered(loader)


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
        # Two in the ring, one that is held, one just released, and some in between.
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


class Resume(Case):
    def test_a_run_continues_after_the_batch_that_it_had_with_other_workers_and_batches(self):
        with self.loader(batch=4) as loader:
            iterator = iter(loader)
            before = delivered([next(iterator), next(iterator)])
            state = loader.state_dict()
        self.assertEqual((0, 8), (state["epoch"], state["position"]))
        with self.loader(batch=5, workers=1) as other:
            other.load_state_dict(state)
            other.set_epoch(0)
            after = delivered(other)
            second = delivered(other)
        with self.loader() as whole:
            self.assertEqual(delivered(whole), before + after)
            self.assertEqual(delivered(whole), second)

    def test_the_state_after_an_epoch_is_the_begin_of_the_next(self):
        loader = self.loader()
        delivered(loader)
        state = loader.state_dict()
        self.assertEqual((1, 0), (state["epoch"], state["position"]))
        loader.set_epoch(5)
        self.assertEqual(5, loader.state_dict()["epoch"])

    def test_the_state_of_another_loader_is_refused(self):
        state = self.loader(seed=1).state_dict()
        with self.assertRaisesRegex(ValueError, "seed=1"):
            self.loader().load_state_dict(state)
        with self.assertRaisesRegex(ValueError, "not one of penstock.Loader"):
            self.loader().load_state_dict({})

    def test_a_broken_off_epoch_begins_anew(self):
        loader = self.loader()
        for _ in loader:
            break
        loader.set_epoch(0)
        self.assertEqual(self.pictures(), delivered(loader))

    def test_an_iterator_that_was_never_asked_uses_no_epoch_up(self):
        loader = self.loader()
        iter(loader)  # as Lightning does before it trains
        self.assertEqual(self.pictures(), delivered(loader))
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        with self.loader() as other:
            other.load_state_dict(state)
            iter(other)
            self.assertEqual(state, other.state_dict())
            rest = delivered(other)
        self.assertEqual(delivered(iterator), rest)
        held = iter(loader)
        loader.set_epoch(7)
        del held
        with self.loader() as other:
            other.set_epoch(7)
            self.assertEqual(delivered(other), delivered(loader))

    def test_an_iterator_that_another_replaces_before_its_first_batch_uses_no_epoch_up(self):
        loader = self.loader()
        held = iter(loader)
        self.assertEqual(self.pictures(), delivered(loader))
        held = iter(loader)
        next(held)
        state = loader.state_dict()
        rest = delivered(held)
        loader.load_state_dict(state)
        held = iter(loader)
        self.assertEqual(rest, delivered(loader))
        with self.assertRaisesRegex(LoaderError, "another iteration"):
            next(held)

    def test_an_epoch_that_is_set_is_not_given_back(self):
        loader = self.loader()
        delivered(loader)
        second = delivered(loader)
        loader.set_epoch(0)
        held = iter(loader)
        loader.set_epoch(1)
        del held
        self.assertEqual(second, delivered(loader))

    def test_epochs_count_from_nought_without_set_epoch(self):
        loader = self.loader()
        first, second = delivered(loader), delivered(loader)
        loader.set_epoch(1)
        self.assertEqual(second, delivered(loader))
        self.assertEqual(1, loader.epoch)
        loader.set_epoch(0)
        self.assertEqual(first, delivered(loader))
        self.assertEqual(sorted(label for label, _ in first), sorted(label for label, _ in second))


class Trouble(Case):
    def damaged(self):
        """A copy of the set with one file that is no JPEG."""
        folder = self.folder / self.id().rsplit(".", 1)[-1]
        shutil.copytree(self.set, folder)
        (folder / "class1" / "004.jpg").write_bytes(b"no picture")
        return folder

    def test_a_damaged_file_is_replaced_and_counted_with_its_name(self):
        with self.loader(source=self.damaged(), persistent=False) as loader:
            self.assertEqual(FILES, len(delivered(loader)))
            self.assertEqual(1, loader.errors)
            self.assertIn("class1/004.jpg", loader.error_messages[0])

    def test_a_damaged_file_raises_an_error_with_its_name_where_that_is_asked_for(self):
        loader = self.loader(source=self.damaged(), on_error="fail")
        with self.assertRaisesRegex(LoaderError, r"class1/004\.jpg"):
            delivered(loader)
        with self.assertRaisesRegex(LoaderError, r"class1/004\.jpg"):  # and the next epoch as well
            delivered(loader)

    def test_what_cannot_be_opened_is_named(self):
        with self.assertRaisesRegex(LoaderError, "/nowhere/at/all"):
            self.loader(source="/nowhere/at/all")
        with self.assertRaisesRegex(ValueError, "each must be a .tar"):
            self.loader(source=["a.tar", "b.jpg"])
        with self.assertRaisesRegex(ValueError, "empty sequence"):
            self.loader(source=[])

    def test_wrong_options_are_named(self):
        for said, options in (
            ('output="?', {"output": "f64"}), ("layout", {"layout": "nchw"}), ("unknown operation", {"ops": "turn"}),
            ("batch", {"batch": 0}), ("workers", {"workers": -1}), ("prefetch", {"prefetch": 0}), ("io=", {"io": "tape"}),
            ("on_error", {"on_error": "ignore"}), ("rank", {"rank": 2, "world": 2}), ("go together", {"rank": 1}),
            ("reduce", {"reduce": 0.5}), ("arrays=", {"arrays": "jax"}), ("device", {"device": "tpu"}),
            ("seed", {"seed": -1}), ("read_ahead", {"read_ahead": 0})):  # fmt: skip
            with self.assertRaisesRegex(ValueError, said.replace('"?', "")):
                self.loader(**options)

    def test_targets_without_numpy_say_what_to_install(self):
        if importlib.util.find_spec("numpy") is None:
            with self.assertRaisesRegex(ValueError, "pip install numpy"):
                self.loader(targets=len)

    def test_no_gpu_is_said(self):
        with self.assertRaisesRegex(ValueError, "PyTorch"):
            self.loader(device="cuda")
        self.assertFalse(self.loader().pinned)

    if importlib.util.find_spec("torch") is not None:  # a bare Python has no PyTorch, and so no such case

        def test_memory_is_held_until_its_copy_to_a_gpu_is_over(self):
            import torch
            from penstock._arrays import CopiesToGpu

            class Event:
                over, waited = False, 0

                def query(self):
                    return self.over

                def synchronize(self):
                    self.over, self.waited = True, self.waited + 1

            class Memory:
                pass

            class Stream:
                events = []

                def record_event(self):
                    self.events.append(Event())
                    return self.events[-1]

            stream, held = Stream(), weakref.WeakSet()
            copies = CopiesToGpu(torch.device("meta"), lambda: stream)

            def copy():
                memory = Memory()
                held.add(memory)
                return copies(memory, (torch.zeros(3, 2), torch.zeros(3)))

            images, labels = copy()
            self.assertEqual(("meta", (3, 2), "meta"), (images.device.type, tuple(images.shape), labels.device.type))
            copy()
            self.assertEqual(2, len(held))
            stream.events[0].over = True
            copy()
            self.assertEqual(2, len(held))
            for _ in range(2 * CopiesToGpu.MOST):
                copy()
                self.assertLessEqual(len(held), CopiesToGpu.MOST)
            self.assertEqual(0, stream.events[-1].waited)
            del copies
            self.assertEqual(0, len(held))
            self.assertEqual(1, stream.events[-1].waited)

    def test_a_second_iteration_ends_the_first_with_an_error(self):
        loader = self.loader()
        first = iter(loader)
        next(first)
        second = iter(loader)
        next(second)
        with self.assertRaisesRegex(LoaderError, "another iteration"):
            next(first)
        self.assertEqual(5, len(list(second)))

    def test_pairs_that_are_refused_leave_no_folder_behind(self):
        before = tempfile.tempdir
        folder = self.folder / "temporary"
        folder.mkdir()
        tempfile.tempdir = str(folder)
        self.addCleanup(setattr, tempfile, "tempdir", before)
        for pairs, error in (([("line\nfeed", 0)], ValueError), ([("a.jpg", "cat")], TypeError), ([("a.jpg",)], ValueError)):
            with self.assertRaises(error):
                self.loader(source=pairs)
        self.assertEqual([], os.listdir(folder))

    def test_a_closed_loader_says_so(self):
        loader = self.loader()
        iterator = iter(loader)
        loader.close()
        loader.close()
        for use in (lambda: next(iterator), lambda: iter(loader), lambda: loader.errors):
            with self.assertRaisesRegex(LoaderError, "closed"):
                use()

    def test_two_loaders_work_side_by_side(self):
        one, two = self.loader(), self.loader(seed=1, batch=3)
        pairs = list(zip(one, two))
        self.assertEqual(6, len(pairs))
        self.assertEqual(self.pictures(), delivered(pair[0] for pair in pairs))
        self.assertEqual(self.pictures(seed=1)[:18], delivered(pair[1] for pair in pairs))


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
