#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Marks without an agent: they do nothing, fast. What they record is in record_test.py."""
import os
import sys
import timeit
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402, F401

import penstock  # noqa: E402


class Nothing(unittest.TestCase):
    def test_they_are_context_managers_and_decorators_that_change_nothing(self):
        @penstock.mark("double")
        def double(value):
            return 2 * value

        with penstock.mark("work"), penstock.step():
            self.assertEqual(6, double(3))
        self.assertEqual("double", double.__name__)
        penstock.batch(0)
        penstock.batch(7, epoch=1)
        self.assertFalse(penstock.recording())

    def test_exceptions_pass(self):
        with self.assertRaises(KeyError):
            with penstock.mark("work"):
                raise KeyError("key")

    def test_they_cost_no_more_than_a_few_empty_calls(self):
        mark, batch = penstock.mark, penstock.batch

        def empty():
            pass

        def marked():
            with mark("work"):
                pass

        def delivered():
            batch(1)

        def best(function):
            return min(timeit.repeat(function, number=2000, repeat=50)) / 2000

        call = best(empty)
        # At most 100 ns or, on a slow or busy machine, the time of six empty calls.
        self.assertLess(best(marked) - call, max(100e-9, 6 * call))
        self.assertLess(best(delivered) - call, max(100e-9, 6 * call))


if __name__ == "__main__":
    unittest.main()
