# SPDX-License-Identifier: Apache-2.0
"""record --override beyond the DataLoader: threads, malloc, workers. The report says which changes held."""
import json
import os
import sys

import support
from support import PYTHON, Case, environment, program, record, require, run
from tracefile import Trace

SCRIPT = """
import json, os, sys, torch
from torch.utils.data import DataLoader
NAMES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "PILLOW_BLOCKS_MAX",
         "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
class Data:
    def __len__(self):
        return 4
    def __getitem__(self, index):
        maps = open("/proc/self/maps").read()
        return json.dumps({"env": {n: os.environ.get(n) for n in NAMES}, "cores": len(os.sched_getaffinity(0)),
                           "nice": os.nice(0), "jemalloc": "libjemalloc" in maps, "tcmalloc": "libtcmalloc" in maps})
if __name__ == "__main__":
    %s
    print(next(iter(DataLoader(Data(), 2, num_workers=1)))[0])
"""


class Overrides(Case):
    pictures = (1, ((64, 64),))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export", "penstock")
        super().setUpClass()

    def record(self, overrides, extra="pass", status=0):
        script = self.path("program.py")
        with open(script, "w") as file:
            file.write(SCRIPT % extra)
        self.output = self.path("t.penstock")
        outcome = run(record(self.output, [PYTHON, script], "--override", overrides), environment())
        self.assertEnded(outcome, status)
        if status:
            self.assertEqual(len(outcome.stderr.strip().splitlines()), 1, outcome.stderr)
            return outcome.stderr
        self.trace = Trace(self.output)
        return json.loads(outcome.stdout.splitlines()[-1])

    def overrides(self):
        """What the report says, as {change: (state, found)}."""
        outcome = run([program("penstock"), "report", "--json", self.output])
        return {note["change"]: (note["state"], note.get("found")) for note in json.loads(outcome.stdout)["overrides"]}

    def test_variables_reach_the_workers_and_the_report(self):
        seen = self.record("threads=1,mkl=2,malloc=keep,pillow_blocks=16,nice=19,cv2_threads=0")
        self.assertEqual(seen["env"], {
            "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1",
            "PILLOW_BLOCKS_MAX": "16", "MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "268435456"})
        self.assertEqual(seen["nice"], 19)
        states = self.overrides()
        for change in ("threads=1", "mkl=2", "malloc=keep", "pillow_blocks=16", "nice=19"):
            self.assertEqual(states[change], ("held", None), states)
        self.assertEqual(states["cv2_threads=0"], ("unused", None))  # OpenCV was never imported
        self.assertEqual(self.trace.fact("override.malloc"), "keep")
        text = run([program("penstock"), "report", self.output]).stdout
        self.assertIn("overrides", text)
        self.assertIn("not used by anything in the run: cv2_threads=0", " ".join(text.split()))

    def test_a_program_that_sets_its_threads_wins_and_the_report_says_so(self):
        self.record("threads=1,workers=2", "os.environ['OMP_NUM_THREADS'] = '3'; torch.set_num_threads(2)")
        states = self.overrides()
        self.assertEqual(states["workers=2"], ("held", None))
        state, found = states["threads=1"]
        self.assertEqual(state, "lost")
        self.assertRegex(found, "OMP_NUM_THREADS=3|computes with 2")
        text = " ".join(run([program("penstock"), "report", self.output]).stdout.split())
        self.assertIn("not in effect, something else was found: threads=1", text)

    def test_an_allocator_is_preloaded_or_refused(self):
        for name, package in (("jemalloc", "libjemalloc2"), ("tcmalloc", "libtcmalloc-minimal4")):
            folder = "/usr/lib/x86_64-linux-gnu"
            files = [f for f in os.listdir(folder) if f.startswith("lib" + name)] if os.path.isdir(folder) else []
            if files:
                self.assertTrue(self.record("malloc=" + name)[name])
                self.assertEqual(self.overrides()["malloc=" + name], ("held", None))
            else:
                self.assertIn(package, self.record("malloc=" + name, status=2))

    def test_data_is_read_into_the_page_cache_first(self):
        script = self.path("p.py")
        with open(script, "w") as file:
            file.write("print('ran')\n")
        outcome = run(record(self.path("t"), [PYTHON, script], "--override", "warm=1", "--data", self.data), environment())
        self.assertEnded(outcome)
        self.assertEqual(outcome.stdout, "ran\n")
        trace = Trace(self.path("t"))
        self.assertEqual(trace.fact("warm.files"), "1")
        self.assertEqual(trace.fact("warm.bytes"), str(os.path.getsize(self.paths[0])))


if __name__ == "__main__":
    sys.exit(support.main())
