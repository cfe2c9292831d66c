#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader goes on where it was: states, epochs that are set, and iterators that were broken off or not used.

Runs with PyTorch, with NumPy alone or with neither (python3 -S): whatever the interpreter has.
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from loader_case import Case  # noqa: E402
from support import delivered  # noqa: E402

from penstock.loader import LoaderError  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
