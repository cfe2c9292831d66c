# SPDX-License-Identifier: Apache-2.0
"""The trace that the reference loader writes itself and the agent's recording of the run must say the same."""
import collections
import json
import os
import signal
import subprocess
import time

import support
from support import Case, bare, environment, program, record, require, run
from tracefile import Trace

PICTURES = 48
BATCH = 8
EPOCHS = 2
# Stages whose spans do not depend on how fast the threads are, unlike the waits of workers (idle).
FIXED_STAGES = ("sample", "read", "decode", "augment", "wait", "step", "startup")


def load(data, *options, workers=2, epochs=EPOCHS):
    return [program("penstock-load"), data, "--workers", str(workers), "--batch", str(BATCH),
            "--epochs", str(epochs), "--ops", "random_resized_crop=64,flip,normalize", "--seed", "3",
            "--json", *options]  # fmt: skip


def parents(trace):
    """[(span, (stage, name) of the span around it)] of all finished spans; ("", "") if none is around it."""
    threads = collections.defaultdict(list)
    for span in trace.spans:
        if span.finished:
            threads[span.pid, span.tid].append(span)
    found = []
    for spans in threads.values():
        spans.sort(key=lambda span: (span.start, -span.end))
        around = []
        for span in spans:
            while around and not around[-1].holds(span):
                around.pop()
            parent = (around[-1].stage, around[-1].name) if around else ("", "")
            found.append((span, parent))
            around.append(span)
    return found


def span_counts(trace, stages=None):
    """How many spans there are with equal contents. Times and threads do not count as contents."""
    return collections.Counter(
        (span.stage, span.name, span.sample, span.key, span.object, span.bytes, span.cpu is not None, parent)
        for span, parent in parents(trace) if stages is None or span.stage in stages)  # fmt: skip


def event_counts(trace, leave_out=()):
    return collections.Counter(
        (event["event"], event.get("generation"), event.get("batch"), event.get("value"))
        for event in trace.events if event["event"] not in leave_out)  # fmt: skip


def loader_facts(trace):
    return [{key: value for key, value in process.get("facts", {}).items() if key.startswith(("loader.", "epoch."))}
            for process in trace.processes if process.get("facts")]  # fmt: skip


class Loader(Case):
    pictures = (PICTURES, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-load", "penstock-export")
        super().setUpClass()

    def own(self, *options, **setup):
        """The trace that the loader writes itself, with --trace, in a run without the agent."""
        output = self.path("own.penstock")
        outcome = run(load(self.data, *options, "--trace", output, **setup))
        self.assertEnded(outcome)
        return Trace(output)

    def assertComplete(self, trace):
        """Checks that each epoch has every batch once and every sample once, with a read and a decode span inside."""
        samples = collections.Counter((span.generation, span.sample) for span in trace.of("sample"))
        self.assertEqual(len(samples), PICTURES * EPOCHS)
        self.assertEqual(set(samples.values()), {1})
        inside = trace.children(("read", "decode"))
        for sample in trace.of("sample"):
            stages = sorted(span.stage for span in inside[id(sample)])
            self.assertEqual(stages, ["decode", "read"], repr(sample))
        delivered = trace.event_keys("batch_delivered")
        self.assertEqual(len(delivered), PICTURES // BATCH * EPOCHS)
        self.assertEqual(set(delivered.values()), {1})
        self.assertEqual(trace.keys("wait"), delivered)
        self.assertEqual(trace.event_keys("batch_put"), delivered)
        self.assertEqual(trace.losses.get("dropped_events", 0), 0)

    def test_both_traces_of_a_run_say_the_same(self):
        agent, own = self.path("agent.penstock"), self.path("own.penstock")
        self.assertEnded(run(load(self.data, "--trace", own), bare(agent)))
        agent, own = Trace(agent), Trace(own)
        self.assertComplete(own)
        self.assertEqual(span_counts(agent), span_counts(own))
        self.assertEqual(event_counts(agent), event_counts(own))
        self.assertEqual(loader_facts(agent), loader_facts(own))

    def test_both_traces_say_the_same_for_every_way_of_reading(self):
        ways = (("--io", "direct", "--read-ahead", "4"), ("--io", "uring", "--read-ahead", "4"), ("--io", "mmap"),
                ("--ram-cache", "64M"), ("--read-threads", "1", "--decode-threads", "1", "--augment-threads", "1"))
        for number, way in enumerate(ways):
            with self.subTest(way=way):
                agent, own = self.path("agent%d.penstock" % number), self.path("own%d.penstock" % number)
                outcome = run(load(self.data, *way, "--trace", own), bare(agent))
                if outcome.status == 3:  # this way of reading is not possible here
                    self.assertIn("penstock", outcome.stderr)
                    continue
                self.assertEnded(outcome)
                agent, own = Trace(agent), Trace(own)
                self.assertEqual(len(own.of("decode")), PICTURES * EPOCHS)
                self.assertEqual(span_counts(agent), span_counts(own))
                self.assertEqual(event_counts(agent), event_counts(own))

    def test_a_run_under_the_agent_and_one_without_it_say_the_same(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                own = self.own(workers=workers)
                agent = self.path("agent%d.penstock" % workers)
                self.assertEnded(run(load(self.data, workers=workers), bare(agent)))
                agent = Trace(agent)
                self.assertComplete(own)
                self.assertEqual(span_counts(agent, FIXED_STAGES), span_counts(own, FIXED_STAGES))
                varying = ("queue_depth", "major_faults")
                self.assertEqual(event_counts(agent, varying), event_counts(own, varying))
                self.assertEqual(loader_facts(agent), loader_facts(own))

    def test_a_run_with_a_collector_says_the_same(self):
        require("penstock-record")
        output = self.path("recorded.penstock")
        self.assertEnded(run(record(output, load(self.data))))
        recorded = Trace(output)
        self.assertComplete(recorded)
        self.assertEqual(span_counts(recorded, FIXED_STAGES), span_counts(self.own(), FIXED_STAGES))

    def test_the_agent_changes_no_output(self):
        alone = run(load(self.data))
        traced = run(load(self.data), bare(self.path("o.penstock")))
        self.assertEqual((alone.status, traced.status), (0, 0), repr(traced))
        alone, traced = json.loads(alone.stdout), json.loads(traced.stdout)
        self.assertEqual(alone["samples"], traced["samples"])
        self.assertEqual(alone["errors"], traced["errors"])

    def test_the_report_reads_the_loaders_own_trace(self):
        require("penstock")
        self.own()
        outcome = run([program("penstock"), "report", self.path("own.penstock"), "--json"])
        self.assertEnded(outcome)
        report = json.loads(outcome.stdout)
        self.assertEqual(report["loader"]["kind"], "penstock")
        self.assertEqual(report["loader"]["num_workers"], 2)
        self.assertEqual(report["loader"]["batch_size"], BATCH)
        stages = {stage["name"]: stage for stage in report["stages"]}
        self.assertEqual(stages["decode"]["count"], PICTURES * EPOCHS)
        self.assertEqual(report["losses"]["dropped_events"], 0)
        self.assertEqual(report["losses"]["damaged_bytes"], 0)

    def test_an_interrupted_run_keeps_its_trace(self):
        output = self.path("cut.penstock")
        command = load(self.data, "--trace", output, epochs=1000000)
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + support.TIMEOUT
            # When the unfinished trace has 10,000 bytes, the loader is in the middle of its work.
            while time.monotonic() < until and (
                    not os.path.exists(output + ".part") or os.path.getsize(output + ".part") < 10000):
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            status = process.wait(support.TIMEOUT)
        finally:
            process.kill()
            process.wait()
        self.assertIn(status, (130, -signal.SIGINT))
        trace = Trace(output)
        self.assertFalse(os.path.exists(output + ".part"))
        self.assertGreater(len(trace.of("sample")), 0)


if __name__ == "__main__":
    support.main()
