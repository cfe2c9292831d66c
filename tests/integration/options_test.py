# SPDX-License-Identifier: Apache-2.0
"""--for, --batches, --stop, --fixed-batch and --override of penstock record, on a script that knows nothing of them."""
import re
import sys

import support
from support import Case, environment, record, require, run, train
from tracefile import Trace

PICTURES, BATCH = 48, 8


class Options(Case):
    pictures = (PICTURES, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export")
        super().setUpClass()

    def load(self, options, *arguments, status=0):
        output = self.path("o.penstock")
        self.outcome = run(record(output, train(self.data, *arguments), *options), environment())
        self.assertEqual(self.outcome.status, status, repr(self.outcome))
        self.trace = Trace(output)
        self.batches = len(self.trace.events_of("batch_delivered"))
        return self.trace

    def loader(self, key):
        return self.trace.fact("loader.0." + key)

    def test_batches(self):
        trace = self.load(["--batches", "4"], "--epochs", 2)
        self.assertIn("done 12", self.outcome.stdout)
        self.assertEqual(self.batches, 4)
        self.assertEqual(len(trace.of("sample")), 4 * BATCH)

    def test_batches_with_workers(self):
        self.load(["--batches", "4"], "--epochs", 2, "--workers", 2, "--start", "fork")
        self.assertIn("done 12", self.outcome.stdout)
        self.assertEqual(self.batches, 4)

    def test_time(self):
        trace = self.load(["--for", "2s"], "--epochs", 60)
        self.assertIn("done 360", self.outcome.stdout)
        self.assertLess(self.batches, 360)
        times = [span.start for span in trace.spans] + [span.end for span in trace.spans]
        # On a busy machine the two seconds may pass before anything is loaded.
        self.assertLess(max(times, default=0) - min(times, default=0), 2.5e9)

    def test_stop(self):
        trace = self.load(["--batches", "4", "--stop"], "--epochs", 200, status=-2)
        self.assertEqual(self.batches, 4)
        self.assertGreaterEqual(len(trace.of("sample")), 4 * BATCH)
        self.assertNotIn("done", self.outcome.stdout)

    def test_fixed_batch(self):
        trace = self.load(["--fixed-batch"], "--epochs", 1)
        self.assertEqual(self.batches, PICTURES // BATCH)
        self.assertEqual(self.loader("fixed_batch"), "true")
        self.assertEqual(len(trace.of("sample")), BATCH)
        self.check_first_batch_only(trace)
        order = [int(word) for word in re.search(r"order \[(.*)\]", self.outcome.stdout).group(1).split(",")]
        self.assertEqual(order, order[:BATCH] * (PICTURES // BATCH))

    def test_fixed_batch_with_workers(self):
        trace = self.load(["--fixed-batch"], "--workers", 2, "--start", "fork", "--batch", 2)
        self.assertEqual(self.batches, PICTURES // 2)
        # The loader requested five batches before the first one was delivered: two for each of two workers, and
        # one more.
        self.assertLessEqual(len(trace.of("sample")), 5 * 2)

    def check_first_batch_only(self, trace):
        """Checks that nothing is read, decoded or augmented after the first batch is delivered."""
        first = min(event["at_ns"] for event in trace.events_of("batch_delivered"))
        late = [span for span in trace.of("read", "decode", "augment", "sample", "fetch")
                if span.start > first and (span.stage != "read" or span.object.startswith(self.data))]
        self.assertEqual(late, [])

    def test_override_of_everything(self):
        trace = self.load(["--override", "workers=2,prefetch=4,batch=16,persistent=1"], "--epochs", 2)
        self.assertEqual(self.batches, 2 * PICTURES // 16)
        keys = "num_workers", "prefetch_factor", "batch_size", "persistent_workers"
        facts = [self.loader(key) for key in keys]
        self.assertEqual(facts, ["2", "4", "16", "true"])
        self.assertEqual(len({span.pid for span in trace.of("fetch")}), 2)
        self.assertIn("done 6", self.outcome.stdout)

    def test_override_to_no_workers(self):
        trace = self.load(["--override", "workers=0"], "--workers", 2, "--start", "spawn", "--persistent")
        self.assertEqual(self.loader("num_workers"), "0")
        self.assertEqual(len({span.pid for span in trace.of("fetch", "wait")}), 1)

    def test_an_override_that_is_wrong_is_refused(self):
        outcome = run(record(self.path("o.penstock"), train(self.data), "--override", "wrkers=2"))
        self.assertEqual(outcome.status, 2, repr(outcome))
        self.assertIn("wrkers=2", outcome.stderr)

    def test_facts_describe_the_machine(self):
        self.load([])
        for key in ("command", "cpu.cores", "memory.total", "shm.size"):
            self.assertTrue(self.trace.fact(key), key)
        for name in ("python", "torch", "numpy"):
            self.assertTrue(self.trace.fact("version." + name), name)
        self.assertEqual(self.loader("kind"), "pytorch")
        self.assertEqual(self.loader("dataset_len"), str(PICTURES))

    def test_first_batch_tells_its_types(self):
        self.load([], "--workers", 2, "--start", "fork", "--epochs", 2)
        types = dict(entry.split(":") for entry in self.loader("batch_types").split())
        self.assertIn("float32", types)
        self.assertEqual(int(types["float32"]) % (BATCH * 3 * 4), 0, types)
        self.assertGreaterEqual(int(self.loader("batch_tensors")), 1)
        self.assertGreater(int(self.trace.fact("limit.open_files")), 0)
        self.assertIn(self.trace.fact("torch.sharing_strategy"), ("file_descriptor", "file_system"))


if __name__ == "__main__":
    sys.exit(support.main())
