# SPDX-License-Identifier: Apache-2.0
"""Tests PENSTOCK_OVERRIDE and PENSTOCK_FIXED_BATCH with torch's DataLoader."""
import json
import unittest

import harness
from loader_programs import PRELUDE, run

SHOW = """
def attributes(loader):
    show(loader.num_workers, loader.prefetch_factor, loader.batch_size, loader.pin_memory,
         loader.persistent_workers)
"""


def override(text, code):
    return run(SHOW + code, env={"PENSTOCK_OVERRIDE": text})


class OverrideTest(unittest.TestCase):
    def lines(self, result):
        self.assertEqual((result.status, result.err), (0, ""))
        return [json.loads(line) for line in result.out.splitlines()]

    def test_sets_every_argument_and_records_what_is_real(self):
        result = override(
            "workers=2,prefetch=4,batch=3,pin=0,persistent=1",
            """
class Mine(DataLoader):
    def __init__(self, data, extra, **options):
        super().__init__(data, 8, True, **options)
if __name__ == "__main__":
    attributes(DataLoader(Map(9)))
    attributes(Mine(Map(9), "extra", pin_memory=True))
    for data, index in DataLoader(Map(9)):
        show(index.tolist())
""",
        )
        lines = self.lines(result)
        self.assertEqual(lines, [[2, 4, 3, False, True]] * 2 + [[[0, 1, 2]], [[3, 4, 5]], [[6, 7, 8]]])
        facts = result.facts()
        self.assertEqual(facts["loader.0.num_workers"], "2")
        self.assertEqual(facts["loader.0.prefetch_factor"], "4")
        self.assertEqual(facts["loader.0.batch_size"], "3")
        self.assertEqual(facts["loader.0.persistent_workers"], "true")
        self.assertEqual(facts["override"], "workers=2,prefetch=4,batch=3,pin=0,persistent=1")

    def test_no_workers_drops_what_needs_workers(self):
        result = override(
            "workers=0,prefetch=4,persistent=1",
            """
loader = DataLoader(Map(4), 2, num_workers=3, prefetch_factor=5, persistent_workers=True, timeout=9,
                    multiprocessing_context="fork")
show(loader.num_workers, loader.persistent_workers, loader.timeout, len(list(loader)))
loader = DataLoader(Map(4))
show(loader.num_workers)
""",
        )
        self.assertEqual(self.lines(result), [[0, False, 0, 2], [0]])

    def test_workers_for_a_loader_without_and_batches_left_alone_where_given(self):
        result = override(
            "workers=1,batch=64",
            """
if __name__ == "__main__":
    attributes(DataLoader(Map(4), batch_size=None))
    loader = DataLoader(Map(4), batch_sampler=[[0, 1], [2, 3]])
    show([index.tolist() for _, index in loader])
""",
        )
        lines = self.lines(result)
        self.assertEqual(lines[0][0], 1)
        self.assertIsNone(lines[0][2])
        self.assertEqual(lines[1], [[[0, 1], [2, 3]]])

    def test_errors_of_the_program_stay(self):
        code = """
for options in ({"sampler": [1], "shuffle": True}, {"num_workers": -1}, {"nonsense": 1}):
    try:
        DataLoader(Map(4), **options)
        show("made")
    except Exception as error:
        show(type(error).__name__, str(error))
"""
        ours, plain = override("batch=2", code), harness.run(PRELUDE + code, hooks=False)
        self.assertEqual(ours.out, plain.out)

    def test_only_the_loader_of_a_line(self):
        program = """
def make():
    return DataLoader(Map(9))
def first():
    return make()
def second():
    return make()
attributes(first())
attributes(second())
"""
        code = "exec(compile(%r, '/nowhere/program.py', 'exec'))\n" % program
        for at, sizes in (("/nowhere/program.py:5", [3, 1]), ("program.py:5", [3, 1]), ("program.py:7", [1, 3]),
                          ("program.py:3", [3, 3]), ("rogram.py:5", [1, 1]), ("program.py:9", [1, 1])):  # fmt: skip
            lines = self.lines(override("batch=3,at=" + at, code))
            self.assertEqual([line[2] for line in lines], sizes, at)

    def test_a_class_of_the_program_is_passed_over_and_keeps_its_variables(self):
        """Up to Python 3.12, reading a frame's f_locals would change the dictionary that locals() has returned."""
        program = """
class Derived(DataLoader):
    def __init__(self, data, twin=False):
        given = locals()
        given.pop("self")
        later = 1
        super().__init__(data, 3)
        show(sorted(name for name in given if name[:1] != "_"))
        if twin:
            self.twin = Derived(data)
loader = Derived(Map(9), True)
for one in (loader, loader.twin):
    iter(one)
"""
        code = "exec(compile(%r, '/nowhere/program.py', 'exec'))\n" % program
        ours, plain = harness.run(PRELUDE + code), harness.run(PRELUDE + code, hooks=False)
        self.assertEqual((ours.status, ours.out, ours.err), (0, plain.out, ""))
        facts = ours.facts()
        made = [facts["loader." + key] for key in ("0.made_at", "1.made_at", "1.called_from")]
        self.assertEqual(made, ["/nowhere/program.py:%d" % line for line in (11, 10, 11)])

    def test_nonsense_changes_nothing(self):
        result = override("workers=many,=,batch=-3,prefetch=0,pin", "attributes(DataLoader(Map(4), 2))\n")
        self.assertEqual(self.lines(result)[0][0], 0)
        self.assertNotIn("override", result.facts())

    def test_a_digit_that_is_no_number_is_left_out_alone(self):
        result = override(
            "workers=\u00b2,batch=3",
            """
for data, index in DataLoader(Map(4), 2):
    show(index.tolist())
""",
        )
        self.assertEqual(self.lines(result), [[[0, 1, 2]], [[3]]])
        self.assertEqual(result.facts()["loader.0.batch_size"], "3")
        self.assertEqual(len(result.spans("wait", name="DataLoader.__next__")), 2)


class FixedBatchTest(unittest.TestCase):
    def test_hands_out_the_first_batch_for_the_length_of_the_epoch(self):
        for workers, persistent in ((0, False), (2, False), (2, True)):
            result = run(
                """
if __name__ == "__main__":
    loader = DataLoader(Map(20), batch_size=2, num_workers=%d, persistent_workers=%r)
    for epoch in range(2):
        show([index.tolist() for data, index in loader])
"""
                % (workers, persistent),
                env={"PENSTOCK_FIXED_BATCH": "1"},
            )
            self.assertEqual((result.status, result.err), (0, ""))
            for line in result.out.splitlines():
                self.assertEqual(json.loads(line), [[[0, 1]] * 10])
            self.assertEqual([e["batch"] for e in result.events("delivered")], list(range(10)) * 2)
            self.assertLessEqual(len(result.spans("fetch", generation=1)), 5)
            self.assertEqual(result.facts()["loader.0.fixed_batch"], "true")

    def test_popping_from_a_batch_does_not_empty_the_next(self):
        result = run(
            """
class Named(Map):
    def __getitem__(self, index):
        return {"x": index, "y": -index}
for batch in DataLoader(Named(6), batch_size=2):
    show(batch.pop("x").tolist(), sorted(batch))
""",
            env={"PENSTOCK_FIXED_BATCH": "1"},
        )
        self.assertEqual([json.loads(line) for line in result.out.splitlines()], [[[0, 1], ["y"]]] * 3)

    def test_no_end_without_a_length(self):
        result = run(
            """
import itertools
show(sum(1 for _ in itertools.islice(DataLoader(Stream(4), batch_size=2), 50)))
""",
            env={"PENSTOCK_FIXED_BATCH": "1"},
        )
        self.assertEqual(result.out, "[50]\n", result.err)



if __name__ == "__main__":
    unittest.main()
