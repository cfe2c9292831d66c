# SPDX-License-Identifier: Apache-2.0
"""Kills the process group at random moments, the collector, or both: every finished sample is in the trace.

The programs append a line to a log when a sample is finished, and each sample in the log must have a span in the
trace. The seed of the random moments is PENSTOCK_SEED, or comes from the clock; the test prints it.
"""
import collections
import concurrent.futures
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import support
from support import Case, bare, environment, program, record, require, train
from tracefile import Trace

SEED = int(os.environ.get("PENSTOCK_SEED", 0)) or time.time_ns() % 1_000_000
ROUNDS = 5  # kills of each kind of run


def finished_lines(path):
    """The words of the log's lines, without a last line that was cut."""
    try:
        with open(path, encoding="utf-8") as file:
            return [line.split() for line in file.read().split("\n")[:-1]]
    except FileNotFoundError:
        return []


def running(group):
    """Whether a process of this group is still alive; zombies do not count."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                state, _, pgrp = file.read().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == group and state not in "ZXx":
            return True
    return False


def children(parent):
    pids = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if name.isdigit() and int(fields[1]) == parent:
            pids.append(int(name))
    return pids


class Kill(Case):
    pictures = (64, ((1000, 750), (640, 480)))

    @classmethod
    def setUpClass(cls):
        require("penstock-export")
        super().setUpClass()
        print("    PENSTOCK_SEED=%d" % SEED, flush=True)

    def kill_after(self, command, env, log, delay):
        """Starts `command`, waits for its first finished sample and `delay` s more, then kills the whole group."""
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 30
        while not finished_lines(log):
            if process.poll() is not None or time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                self.fail("no sample was finished in 30 s, or the program ended: status %r" % process.returncode)
            time.sleep(0.01)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        self.assertEqual(process.wait(timeout=30), -signal.SIGKILL)
        while running(process.pid):
            self.assertLess(time.monotonic(), deadline + 10, "the group is still running")
            time.sleep(0.01)

    def trace_of(self, output):
        """Waits for the trace. A collector has a session of its own: it survives the kill and finishes the trace."""
        deadline = time.monotonic() + 20
        while not os.path.exists(output):
            self.assertLess(time.monotonic(), deadline, "no trace: %s" % os.listdir(self.work))
            time.sleep(0.02)
        return output

    def check_report(self, path):
        validated = support.run([program("penstock-validate"), path])
        self.assertIn(validated.status, (0, 1), repr(validated))
        if not os.access(program("penstock"), os.X_OK):
            return
        report = support.run([program("penstock"), "report", path, "--json"])
        self.assertEnded(report)
        self.assertEqual(json.loads(report.stdout)["schema"], "penstock.report/1")

    def check_rounds(self, mode, make, missing):
        """Starts a run and kills it, ROUNDS times. `make(log)` gives the command. `missing(lines, trace)` gives the
        finished samples without a span. In most rounds the kill must come while spans are open."""
        moments = random.Random(SEED + len(mode))
        in_flight = 0
        delays = [moments.uniform(0.0, 0.7) for _ in range(ROUNDS)]

        def places(number):
            return self.path("%s%d.penstock" % (mode, number)), self.path("log%d" % number)

        def one_round(number):
            output, log = places(number)
            command = make(log)
            if mode == "record":
                command, env = record(output, command), environment()
            else:
                env = bare(output)
            self.kill_after(command, env, log, delays[number])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:  # two rounds at once save time: PyTorch starts slowly
            list(pool.map(one_round, range(ROUNDS)))
        for number, delay in enumerate(delays):
            output, log = places(number)
            with self.subTest(mode=mode, number=number, delay=delay):
                path = self.trace_of(output)
                trace = Trace(path)
                lines = finished_lines(log)
                lost = missing(lines, trace)
                self.assertFalse(lost, "%d of %d finished samples have no span: %s" % (
                    len(lost), len(lines), lost[:10]))
                self.check_report(path)
                in_flight += any(not span.finished for span in trace.spans)
        self.assertGreaterEqual(in_flight, ROUNDS // 2 + 1, "rounds with unfinished spans")

    def missing_samples(self, lines, trace):
        """[(sample, epoch)] of the finished samples without a span. Checks that each sample's span contains a read
        and a decode span."""
        generations = sorted({span.generation for span in trace.by_stage["sample"]})
        want = collections.Counter((int(sample), int(epoch)) for sample, epoch in lines)
        have = collections.Counter((span.sample, generations.index(span.generation))
                                   for span in trace.of("sample"))
        inside = trace.children(("read", "decode"))
        for span in trace.of("sample"):
            stages = {child.stage for child in inside[id(span)]}
            self.assertEqual(stages, {"read", "decode"}, span)
        return sorted((want - have).elements())

    def training(self, workers, start="fork"):
        def make(log):
            return train(self.data, "--workers", workers, "--start", start, "--epochs", 50, "--log", log)

        return make

    def test_workers_under_the_agent_alone(self):
        self.check_rounds("bare", self.training(2), self.missing_samples)

    def test_workers_under_the_collector(self):
        require("penstock-record")
        self.check_rounds("record", self.training(2), self.missing_samples)

    def test_only_the_collector_is_killed(self):
        """The run ends as usual, and the recorder saves what the collector had not written."""
        require("penstock-record")
        output, log = self.path("alone.penstock"), self.path("log")
        command = train(self.data, "--workers", 2, "--start", "fork", "--epochs", 6, "--log", log)
        process = subprocess.Popen(record(output, command), env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        while not finished_lines(log) and process.poll() is None:
            time.sleep(0.01)
        killed = [pid for pid in children(process.pid) if os.getpgid(pid) != process.pid]
        self.assertEqual(len(killed), 1, "only the collector has a process group of its own")
        os.kill(killed[0], signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=40)
        self.assertEqual(process.returncode, 0, stderr)
        self.assertIn("done 48", stdout)
        trace = Trace(output)
        lost = self.missing_samples(finished_lines(log), trace)
        self.assertFalse(lost, "%d samples have no span" % len(lost))
        self.check_report(output)

    def test_all_are_killed_with_the_collector(self):
        """As when a container ends: the .part file and the ring in shared memory together hold the trace."""
        require("penstock-record")
        output, log = self.path("all.penstock"), self.path("log")
        command = train(self.data, "--workers", 2, "--start", "fork", "--epochs", 50, "--log", log)
        process = subprocess.Popen(record(output, command), env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        while len(finished_lines(log)) < 300 and process.poll() is None:
            time.sleep(0.01)
        collectors = [pid for pid in children(process.pid) if os.getpgid(pid) != process.pid]
        for pid in collectors:
            os.kill(pid, signal.SIGKILL)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        # The collector is in a group of its own, and holds the file open as long as it runs.
        while any(running(group) for group in (process.pid, *collectors)):
            time.sleep(0.01)
        left = [path for path in (output, output + ".part") if os.path.exists(path)]
        self.assertEqual(left, [output + ".part"])
        recovered = support.run([program("penstock-recover"), output])
        self.assertEqual(recovered.status, 0, repr(recovered))
        trace = Trace(output)
        lost = self.missing_samples(finished_lines(log), trace)
        self.assertFalse(lost, "%d samples have no span" % len(lost))
        self.check_report(output)

    def test_native_threads(self):
        def make(log):
            return [support.JPEG_THREADS, self.data, "100000", log]

        def missing(lines, trace):
            want = collections.Counter(path for path, _ in lines)
            have = collections.Counter(span.object for span in trace.of("read"))
            threads = collections.Counter(int(tid) for _, tid in lines)
            decodes = collections.Counter(span.tid for span in trace.of("decode"))
            return list((want - have).elements()) + list((threads - decodes).elements())

        self.check_rounds("bare", make, missing)


if __name__ == "__main__":
    sys.exit(support.main())
