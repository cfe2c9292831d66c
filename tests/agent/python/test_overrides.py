# SPDX-License-Identifier: Apache-2.0
"""Tests what PENSTOCK_OVERRIDE sets for workers, loaders and threads. If the program replaces a value, facts say so."""
import importlib.util
import json
import os
import unittest

from loader_programs import run

HAS_CV2 = importlib.util.find_spec("cv2") is not None

WORKERS = """
import os
class Where(Map):
    def __getitem__(self, index):
        return torch.tensor([len(os.sched_getaffinity(0)), os.nice(0)])
"""


def override(text, code, env=()):
    return run(code, env=dict(env, PENSTOCK_OVERRIDE=text))


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


class OverridesTest(unittest.TestCase):
    def ended(self, result):
        self.assertEqual((result.status, result.err), (0, ""))
        return result

    def lost(self, result):
        return {key[14:]: value for key, value in result.facts().items() if key.startswith("override.lost.")}

    def test_affinity_and_nice_are_those_of_the_workers_alone(self):
        core = sorted(os.sched_getaffinity(0))[-1]
        before = [len(os.sched_getaffinity(0)), os.nice(0)]
        wanted = min(19, os.nice(0) + 3)
        code = WORKERS + """
if __name__ == "__main__":
    for batch in DataLoader(Where(4), 2, num_workers=2):
        show(batch.tolist())
    show([len(os.sched_getaffinity(0)), os.nice(0)])
"""
        result = self.ended(override("affinity=%d,nice=%d" % (core, wanted), code))
        self.assertEqual(lines(result), [[[[1, wanted]] * 2]] * 2 + [[before]])
        self.assertEqual(result.facts()["override.affinity"], str(core))
        self.assertEqual(result.facts()["override.nice"], str(wanted))
        self.assertEqual(self.lost(result), {})

    def test_a_program_that_sets_them_itself_wins_and_it_is_told(self):
        code = WORKERS + """
cores = os.sched_getaffinity(0)
def mine(worker):
    os.nice(1)
    os.sched_setaffinity(0, cores)
if __name__ == "__main__":
    for batch in DataLoader(Where(4), 2, num_workers=1, worker_init_fn=mine):
        show(batch.tolist())
"""
        cores = sorted(os.sched_getaffinity(0))
        wanted = min(18, os.nice(0) + 2)
        result = self.ended(override("affinity=%d,nice=%d" % (cores[0], wanted), code))
        self.assertEqual(lines(result), [[[[len(cores), wanted + 1]] * 2]] * 2)
        lost = self.lost(result)
        self.assertEqual(lost["nice"], str(wanted + 1))
        if len(cores) > 1:
            self.assertEqual(lost["affinity"], "+".join(map(str, cores)))

    def test_start_method_is_set_and_kept(self):
        code = """
if __name__ == "__main__":
    loader = DataLoader(Map(4), 2, num_workers=1)
    show(loader.multiprocessing_context.get_start_method(), len(list(loader)))
"""
        result = self.ended(override("start_method=spawn", code))
        self.assertEqual(lines(result), [["spawn", 2]])
        self.assertEqual(result.facts()["override.start_method"], "spawn")
        self.assertEqual(result.facts()["loader.0.start_method"], "spawn")

    def test_in_order_is_told_only_where_this_pytorch_has_it(self):
        code = """
import inspect
if __name__ == "__main__":
    loader = DataLoader(Map(4), 2, num_workers=1)
    show("in_order" in inspect.signature(DataLoader).parameters, getattr(loader, "in_order", None), len(list(loader)))
"""
        result = self.ended(override("in_order=0", code))
        (has, order, batches), = lines(result)
        self.assertEqual(batches, 2)
        self.assertEqual(result.facts().get("override.in_order"), "0" if has else None)
        self.assertEqual(order, False if has else None)

    def test_what_a_program_makes_of_a_loader_afterwards_is_told(self):
        code = """
if __name__ == "__main__":
    loader = DataLoader(Map(4), 2, num_workers=1)
    loader.num_workers = 0
    show(len(list(loader)))
"""
        result = self.ended(override("workers=2", code))
        self.assertEqual(self.lost(result), {"workers": "0"})

    def test_a_loader_that_is_not_meant_is_not_told_of(self):
        result = self.ended(override("workers=2,at=elsewhere.py:1", """
if __name__ == "__main__":
    loader = DataLoader(Map(4), 2)
    show(loader.num_workers, len(list(loader)))
"""))
        self.assertEqual(lines(result), [[0, 2]])
        self.assertFalse([key for key in result.facts() if key.startswith("override.")])

    def test_threads_that_the_program_sets_are_told(self):
        code = """
import os
if __name__ == "__main__":
    os.environ["MKL_NUM_THREADS"] = "7"
    torch.set_num_threads(2)
    show(len(list(DataLoader(Map(4), 2))))
"""
        env = {name + "_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}
        result = self.ended(override("threads=1", code, env))
        found = [r["value"] for r in result.of("fact") if r["key"] == "override.lost.threads"]
        self.assertEqual(sorted(found), ["MKL_NUM_THREADS=7", "torch computes with 2"])

    def test_threads_of_mkl_apart_are_not_taken_for_the_programs_own(self):
        env = {name + "_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMEXPR")}
        env["MKL_NUM_THREADS"] = "2"
        result = self.ended(override("threads=1,mkl=2", "show(len(list(DataLoader(Map(4), 2))))\n", env))
        self.assertEqual(self.lost(result), {})

    def test_a_look_at_torchs_threads_is_no_question_of_the_dataset(self):
        code = """
class Nested(IterableDataset):
    def __iter__(self):
        for batch in DataLoader(Map(4), 2):
            yield batch[1]
show(len(list(DataLoader(Nested(), batch_size=None))))
"""
        env = {name + "_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}
        result = self.ended(override("threads=1", code, env))
        self.assertEqual(lines(result), [[2]])
        self.assertEqual(result.facts()["epoch.1.shards"], "false")

    @unittest.skipUnless(HAS_CV2, "no cv2")
    def test_cv2_threads_hold_in_workers_of_either_kind(self):
        code = """
import cv2
class Threads(Map):
    def __getitem__(self, index):
        return cv2.getNumThreads()
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        for batch in DataLoader(Threads(2), 2, num_workers=1, multiprocessing_context=method):
            show(batch.tolist())
"""
        result = self.ended(override("cv2_threads=1", code))
        self.assertEqual(lines(result), [[[1, 1]], [[1, 1]]])
        self.assertEqual(result.facts()["override.cv2_threads"], "1")
        self.assertEqual(self.lost(result), {})

    @unittest.skipUnless(HAS_CV2, "no cv2")
    def test_a_program_that_sets_cv2_threads_wins(self):
        code = """
import cv2
if __name__ == "__main__":
    cv2.setNumThreads(3)
    show(cv2.getNumThreads(), len(list(DataLoader(Map(4), 2))))
"""
        result = override("cv2_threads=1", code)  # not ended(): TBB may warn on stderr about one thread
        self.assertEqual((result.status, lines(result)), (0, [[3, 2]]))
        self.assertEqual(self.lost(result), {"cv2_threads": "3"})

    def test_a_reload_of_cv2_leaves_the_number_of_the_program(self):
        code = """
import importlib, os, sys
with open("cv2.py", "w") as file:
    file.write("import sys\\nNUMBER = sys.__dict__.setdefault('cv2_number', [8])\\n"
               "def setNumThreads(number):\\n    NUMBER[0] = number\\n"
               "def getNumThreads():\\n    return NUMBER[0]\\n")
sys.path.insert(0, os.getcwd())
importlib.invalidate_caches()
import cv2
before = cv2.getNumThreads()
cv2.setNumThreads(3)
importlib.reload(cv2)
show(before, cv2.getNumThreads(), len(list(DataLoader(Map(4), 2))))
"""
        result = self.ended(override("cv2_threads=1", code))
        self.assertEqual(lines(result), [[1, 3, 2]])
        self.assertEqual(self.lost(result), {"cv2_threads": "3"})

    def test_nothing_is_told_without_an_override(self):
        result = self.ended(run("""
if __name__ == "__main__":
    show(len(list(DataLoader(Map(4), 2, num_workers=1))))
"""))
        self.assertFalse([key for key in result.facts() if key.startswith("override")])


if __name__ == "__main__":
    unittest.main()
