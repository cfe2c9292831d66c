# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch runs, one for each way of loading: the trace must tell all that happened.

It must have the spans of every sample, every step of each batch's way from the worker to the training loop, and every
byte that was read.
"""
import collections
import os
import re
import sys

import support
from support import Case, require, train, under_agent
from tracefile import ERROR, MAPPED, Trace

PICTURES = 48


class Matrix(Case):
    pictures = (PICTURES, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-export")
        super().setUpClass()
        cls.total = sum(os.path.getsize(path) for path in cls.paths)

    def load(self, mode, *options):
        """Runs train.py and checks what must hold for any way of loading."""
        command = train(self.data, *options)
        said = {word: value for word, value in zip(command, command[1:]) if word.startswith("--")}
        self.workers = int(said.get("--workers", 0))
        self.epochs = int(said.get("--epochs", 1))
        self.batch = int(said.get("--batch", 8)) or 1
        output = self.path("o.penstock")
        outcome = under_agent(mode, output, command)
        self.assertEnded(outcome)
        self.trace = Trace(output)
        self.check_batches(outcome.stdout)
        self.check_cpu()
        self.check_samples(said.get("--decoder", "pil"), "--threads" in command)
        self.check_bytes(said.get("--decoder", "pil"))
        self.check_kernel(mode)
        return self.trace

    def check_batches(self, stdout):
        trace = self.trace
        sizes = [len(text.split(",")) for text in re.findall(r"order \[([^]]*)\]", stdout)]
        self.assertEqual(sizes, [PICTURES] * self.epochs)
        delivered = trace.event_keys("batch_delivered")
        generations = collections.Counter(generation for generation, _ in delivered)
        self.assertEqual(len(generations), self.epochs, generations)
        if self.style != "iterable":
            each = PICTURES // self.batch
            want = {(g, b): 1 for g in generations for b in range(each)}
            self.assertEqual(dict(delivered), want)
        else:
            self.assertEqual(set(delivered.values()), {1})
        same = {"wait", "fetch"} | ({"put", "get"} if self.workers else set())
        for stage in sorted(same):
            found = trace.keys(stage)
            if stage == "put":
                # A worker that is told to end does not wait for its feeder thread. The loop may receive the last batch
                # before that thread's put has returned; then the put has no span.
                found |= collections.Counter(dict.fromkeys(self.last_of_workers(delivered), 1))
            self.assertEqual(found, delivered, "spans of stage " + stage)
        if self.workers:
            for event in ("batch_put", "batch_got"):
                self.assertEqual(trace.event_keys(event), delivered, "events " + event)
            sent = trace.event_keys("index_sent")
            self.assertLessEqual(set(delivered), set(sent))
            self.check_order(delivered)
        consumers = {span.pid for span in trace.of("wait", "get", "step")}
        self.assertEqual(len(consumers), 1)
        workers = {span.pid for span in trace.of("fetch")}
        if self.workers:
            self.assertFalse(consumers & workers)
            self.assertGreaterEqual(len(workers), self.workers)
        else:
            self.assertEqual(consumers, workers)

    def last_of_workers(self, delivered):
        """The last batches of each epoch, as many as there are workers."""
        last = []
        for generation in {generation for generation, _ in delivered}:
            batches = sorted(batch for own, batch in delivered if own == generation)
            last += [(generation, batch) for batch in batches[-self.workers:]]
        return last

    def check_order(self, batches):
        """Checks that a batch is sent, fetched, put, got and delivered in this order on one clock."""
        times = {name: {(e["generation"], e["batch"]): e["at_ns"] for e in self.trace.events_of(name)}
                 for name in ("index_sent", "batch_put", "batch_got", "batch_delivered")}
        for span in self.trace.of("fetch"):
            if span.batch < 0:
                continue
            steps = [times["index_sent"][span.key], span.start, span.end, times["batch_put"][span.key],
                     times["batch_got"][span.key], times["batch_delivered"][span.key]]
            slack = 100_000  # in ns: the clocks of two cores may differ by so much
            for before, after in zip(steps, steps[1:]):
                self.assertLessEqual(before, after + slack, (span, steps))
        self.assertEqual(set(times["batch_put"]), set(batches))

    def check_cpu(self):
        """Checks the CPU time of the training process, which the events of next() carry: it never falls, and it grows
        by no more than all cores can give."""
        events = sorted(self.trace.events_of("next_entered") + self.trace.events_of("batch_delivered"),
                        key=lambda event: event["at_ns"])
        values = [event["value"] for event in events]
        self.assertGreater(values[0], 0)
        self.assertEqual(values, sorted(values))
        passed = events[-1]["at_ns"] - events[0]["at_ns"]
        self.assertLess(values[-1] - values[0], (os.cpu_count() + 0.5) * passed)

    def check_samples(self, decoder, threads):
        trace = self.trace
        samples = trace.of("sample")
        per_epoch = collections.defaultdict(collections.Counter)
        for span in samples:
            per_epoch[span.generation][span.sample] += 1
        want = collections.Counter(range(PICTURES))
        self.assertEqual(len(per_epoch), self.epochs)
        for generation, counts in per_epoch.items():
            self.assertEqual(counts, want, "samples of generation %d" % generation)
        stages = ("augment",) if threads else ("read", "decode", "augment")
        inside = trace.children(stages)
        fetches = {span.key: span for span in trace.of("fetch") if span.batch >= 0}
        for sample in samples:
            for stage in stages:
                mine = [span for span in inside[id(sample)] if span.stage == stage]
                self.assertTrue(mine, "no %s inside %r" % (stage, sample))
                for span in mine:
                    self.assertEqual((span.sample, span.key), (sample.sample, sample.key), span)
                    self.assertFalse(span.flags & ERROR, span)
            fetch = fetches[sample.key]
            self.assertTrue(fetch.holds(sample), (fetch, sample))
            if not threads:
                files = {s.object for s in inside[id(sample)] if s.stage == "read"}
                self.assertEqual(files, {self.paths[sample.sample]}, sample)

    def check_bytes(self, decoder):
        reads = [span for span in self.trace.of("read") if span.object.startswith(self.data + "/")]
        got = sum(span.bytes for span in reads)
        want = self.total * self.epochs
        self.assertLess(abs(got - want), 0.02 * want, "read spans hold %d of %d bytes" % (got, want))
        mapped = any(span.flags & MAPPED for span in reads)
        self.assertEqual(mapped, decoder == "torchvision")  # torchvision.io maps its files

    def check_kernel(self, mode):
        """Compares the bytes that the hooks saw with the kernel's count, if the trace has that count for a process.

        The two may differ by 16 KiB: hooks do not see the dynamic loader's reads (832 bytes for each library).
        """
        known = 0
        for process in self.trace.processes:
            hooked, kernel = process["bytes_hooked"], process["bytes_kernel"]
            if kernel:
                known += 1
                difference = "hooked %d, kernel %d, %s %d of %r" % (
                    hooked, kernel, process["role"], process["pid"], process["command"][:3])
                self.assertLess(abs(hooked - kernel), 0.02 * kernel + 16384, difference)
        if mode == "record":
            self.assertGreater(known, 0)
        dataset = sum(process["bytes_dataset"] + process["bytes_mapped"] for process in self.trace.processes)
        self.assertGreaterEqual(dataset, 0.98 * self.total * self.epochs)
        self.assertEqual(sum(process["dropped"] for process in self.trace.processes), 0)


def _case(mode, *options):
    def test(self):
        self.style = "iterable" if "iterable" in options else "map"
        self.assertTrue(self.load(mode, *options).spans)

    return test


CASES = {
    "inline_map_pil": (),
    "inline_map_torchvision": ("--decoder", "torchvision"),
    "inline_map_cv2": ("--decoder", "cv2"),
    "inline_iterable_pil": ("--style", "iterable"),
    "inline_unbatched": ("--batch", 0, "--decoder", "cv2"),
    "inline_two_epochs": ("--epochs", 2, "--decoder", "torchvision"),
    "fork_map_pil": ("--workers", 2, "--start", "fork"),
    "fork_map_torchvision": ("--workers", 2, "--start", "fork", "--decoder", "torchvision"),
    "fork_map_cv2": ("--workers", 2, "--start", "fork", "--decoder", "cv2"),
    "fork_iterable_cv2": ("--workers", 2, "--start", "fork", "--style", "iterable", "--decoder", "cv2"),
    "fork_iterable_unbatched": ("--workers", 2, "--start", "fork", "--style", "iterable", "--batch", 0),
    "fork_unbatched": ("--workers", 2, "--start", "fork", "--batch", 0),
    "fork_persistent": ("--workers", 2, "--start", "fork", "--persistent", "--epochs", 2),
    "fork_iterable_persistent": ("--workers", 2, "--start", "fork", "--style", "iterable", "--persistent",
                                 "--epochs", 2),
    "fork_two_epochs": ("--workers", 2, "--start", "fork", "--epochs", 2),
    "fork_pinned": ("--workers", 2, "--start", "fork", "--pin"),
    "fork_thread_pool": ("--workers", 2, "--start", "fork", "--threads"),
    "spawn_map_pil": ("--workers", 2, "--start", "spawn"),
    "spawn_map_cv2": ("--workers", 2, "--start", "spawn", "--decoder", "cv2"),
    "spawn_iterable_torchvision": ("--workers", 2, "--start", "spawn", "--style", "iterable", "--decoder",
                                   "torchvision"),
    "spawn_persistent": ("--workers", 2, "--start", "spawn", "--persistent", "--epochs", 2),
    "forkserver_map_pil": ("--workers", 2, "--start", "forkserver"),
    "forkserver_iterable_cv2": ("--workers", 2, "--start", "forkserver", "--style", "iterable", "--decoder",
                                "cv2"),
    "forkserver_torchvision": ("--workers", 2, "--start", "forkserver", "--decoder", "torchvision"),
}
# These cases also run with the collector. They cover each way of starting processes and each decoder.
RECORDED = ("inline_map_pil", "fork_map_pil", "fork_persistent", "fork_iterable_cv2", "spawn_map_cv2",
            "forkserver_torchvision")  # fmt: skip


class BareMatrix(Matrix):
    """Under the agent alone."""


class RecordedMatrix(Matrix):
    """With the collector."""

    @classmethod
    def setUpClass(cls):
        require("penstock-record")
        super().setUpClass()


class Native(Matrix):
    """A program with libjpeg in three threads; no Python, no loader."""

    def check(self, mode):
        output = self.path("o.penstock")
        outcome = under_agent(mode, output, [support.JPEG_THREADS, self.data, "3"])
        self.assertEnded(outcome)
        self.assertRegex(outcome.stdout, r"^%d files " % (3 * PICTURES))
        trace = Trace(output)
        reads = collections.defaultdict(list)
        for span in trace.of("read"):
            if span.object.startswith(self.data + "/"):
                reads[span.object].append(span)
        self.assertEqual(set(reads), set(self.paths))
        for path, spans in reads.items():
            self.assertEqual(sum(span.bytes for span in spans), 3 * os.path.getsize(path), path)
        decodes = trace.of("decode")
        self.assertEqual(len(decodes), 3 * PICTURES)
        self.assertEqual(len({span.tid for span in decodes}), 3)
        for span in decodes:
            self.assertIn("jpeg", span.name)
            self.assertFalse(span.flags & ERROR, span)
        return trace

    def test_bare(self):
        self.assertEqual(len(self.check("bare").processes), 1)

    def test_recorded(self):
        require("penstock-record")
        self.assertEqual(len(self.check("record").processes), 1)


for _name, _options in CASES.items():
    setattr(BareMatrix, "test_" + _name, _case("bare", *_options))
for _name in RECORDED:
    setattr(RecordedMatrix, "test_" + _name, _case("record", *CASES[_name]))

if __name__ == "__main__":
    del Matrix
    sys.exit(support.main())
