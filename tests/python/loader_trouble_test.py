#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader with damaged files, wrong options, no GPU and several iterations: what it refuses, and what it says.

Runs with PyTorch, with NumPy alone or with neither (python3 -S): whatever the interpreter has.
"""
import importlib.util
import os
import shutil
import sys
import tempfile
import unittest
import weakref

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from loader_case import Case  # noqa: E402
from support import FILES, delivered  # noqa: E402

from penstock.loader import LoaderError  # noqa: E402


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
        with self.assertRaisesRegex(ValueError, "several sources must all be .tar files"):
            self.loader(source=["a.tar", "b.jpg"])
        with self.assertRaisesRegex(ValueError, "empty sequence"):
            self.loader(source=[])

    def test_wrong_options_are_named(self):
        for said, options in (
            ('output="?', {"output": "f64"}), ("layout", {"layout": "nchw"}), ("unknown operation", {"ops": "turn"}),
            ("batch", {"batch": 0}), ("workers", {"workers": -1}), ("prefetch", {"prefetch": 0}), ("io=", {"io": "tape"}),
            ("on_error", {"on_error": "ignore"}), ("rank", {"rank": 2, "world": 2}), ("go together", {"rank": 1}),
            ("reduce", {"reduce": 0.5}), ("arrays=", {"arrays": "jax"}), ("device", {"device": "tpu"}),
            ("device=0", {"device": 0}), ("seed", {"seed": -1}), ("read_ahead", {"read_ahead": 0})):  # fmt: skip
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


if __name__ == "__main__":
    unittest.main()
