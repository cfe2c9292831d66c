# SPDX-License-Identifier: Apache-2.0
"""A trace as Python objects, read through `penstock-export --to jsonl`."""
import collections
import json
import os
import subprocess

from support import program

MAPPED, NETWORK, ERROR, UNFINISHED = 4, 8, 16, 64


class Span:
    __slots__ = ("stage", "name", "object", "pid", "tid", "start", "end", "sample", "batch", "generation",
                 "bytes", "cpu", "flags")  # fmt: skip

    def __init__(self, record):
        self.stage = record["stage"]
        self.name = record.get("name", "")
        self.object = record.get("object", "")
        self.pid = record["pid"]
        self.tid = record["tid"]
        self.start = record["start_ns"]
        self.end = self.start + record["duration_ns"]
        self.sample = record.get("sample", -1)
        self.batch = record.get("batch", -1)
        self.generation = record.get("generation", 0)
        self.bytes = record.get("bytes", 0)
        self.cpu = record.get("cpu_ns")
        self.flags = record.get("flags", 0)

    @property
    def key(self):
        """The batch's key, the same in the worker and in the training process."""
        return (self.generation, self.batch)

    @property
    def finished(self):
        return not self.flags & UNFINISHED

    def holds(self, other):
        return self.tid == other.tid and self.pid == other.pid and (
            self.start <= other.start and other.end <= self.end)

    def __repr__(self):
        return "%s %s pid %d tid %d [%d, %d] sample %d batch %r flags %d %s" % (
            self.stage, self.name, self.pid, self.tid, self.start, self.end, self.sample, self.key,
            self.flags, self.object)  # fmt: skip


class Trace:
    def __init__(self, path):
        self.path = path
        self.spans, self.events, self.processes, self.counters = [], [], [], []
        self.facts, self.losses = {}, {}
        self.unit_rows, self.call_rows = [], []
        lines = path + ".jsonl"
        done = subprocess.run([program("penstock-export"), path, "--to", "jsonl", "-o", lines],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode != 0:
            size = os.path.getsize(path) if os.path.exists(path) else "no file"
            raise AssertionError("penstock-export %s (%s): status %d: %s" % (
                path, size, done.returncode, done.stderr))
        with open(lines, encoding="utf-8") as file:
            for line in file:
                self._add(json.loads(line))
        os.unlink(lines)
        self.by_stage = collections.defaultdict(list)
        for span in self.spans:
            self.by_stage[span.stage].append(span)

    def _add(self, record):
        kind = record["type"]
        if kind == "span":
            self.spans.append(Span(record))
        elif kind == "event":
            self.events.append(record)
        elif kind == "process":
            self.processes.append(record)
        elif kind == "counter":
            self.counters.append(record)
        elif kind == "unit":
            self.unit_rows.append(record)
        elif kind == "followed_call":
            self.call_rows.append(record)
        elif kind == "losses":
            self.losses = record
        elif kind == "fact":
            self.facts[record["key"]] = record["value"]

    def units(self):
        """Followed units, each with its `calls`."""
        calls = collections.defaultdict(list)
        for call in self.call_rows:
            calls[call["pid"], call["tid"], call["unit_at_ns"]].append(call)
        return [dict(unit, calls=calls[unit["pid"], unit["tid"], unit["at_ns"]]) for unit in self.unit_rows]

    def of(self, *stages):
        """Finished spans of these stages."""
        return [span for stage in stages for span in self.by_stage[stage] if span.finished]

    def fact(self, key):
        """The fact `key` of the run, or of the first process that has it."""
        facts = [self.facts, *(process.get("facts", {}) for process in self.processes)]
        return next((known[key] for known in facts if key in known), None)

    def events_of(self, name):
        return [event for event in self.events if event["event"] == name]

    def keys(self, *stages):
        """How many spans of these stages each batch has."""
        return collections.Counter(span.key for span in self.of(*stages) if span.batch >= 0)

    def event_keys(self, name):
        return collections.Counter((event["generation"], event["batch"]) for event in self.events_of(name))

    def children(self, stages):
        """{id(sample span): spans of `stages` inside it, of the same thread}."""
        inside = collections.defaultdict(list)
        threads = collections.defaultdict(list)
        for span in self.of(*stages):
            threads[span.pid, span.tid].append(span)
        for sample in self.of("sample"):
            inside[id(sample)] = [span for span in threads[sample.pid, sample.tid] if sample.holds(span)]
        return inside
