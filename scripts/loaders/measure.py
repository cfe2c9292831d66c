# SPDX-License-Identifier: Apache-2.0
"""Compares the recording of a program with the counts that the program printed.

Each cell of the table in README.md is "yes" if the following is recorded completely, "part" if the recording
differs from it, "no" if nothing is recorded, and "-" if the program does nothing of the kind:

  loop     a wait and a delivery for each batch that the loop got, in one epoch after another
  batches  spans with the number of each batch: its fetch, or its samples
  samples  a span for each sample
  read     the bytes that were read: at least 98 % and less than 150 % of those that the program counted
  decode   a span for each sample by the decoder's name
  augment  a span for each sample by the transform's name
"""

import collections
import json
import os
import subprocess

CELLS = ("loop", "batches", "samples", "read", "decode", "augment")


class Recording:
    """The spans and events of a trace, from `penstock export`."""

    def __init__(self, penstock, trace):
        lines = str(trace) + ".jsonl"
        subprocess.run([penstock, "export", str(trace), "--to", "jsonl", "-o", lines], check=True,
                       stdin=subprocess.DEVNULL)
        self.spans, self.events, self.facts, self.dropped = collections.defaultdict(list), [], {}, 0
        with open(lines, encoding="utf-8") as file:
            for record in map(json.loads, file):
                if record["type"] == "span":
                    self.spans[record["stage"]].append(record)
                elif record["type"] == "event":
                    self.events.append(record)
                elif record["type"] == "process":
                    self.facts.update(record.get("facts", {}))
                    self.dropped += record.get("dropped", 0)
        os.unlink(lines)

    def outermost(self, stage):
        """Spans of a stage that lie in no other span of that stage on their thread."""
        threads = collections.defaultdict(list)
        for span in self.spans[stage]:
            threads[span["pid"], span["tid"]].append(span)
        found = []
        for spans in threads.values():
            reach = -1
            for span in sorted(spans, key=lambda each: (each["start_ns"], -each["duration_ns"])):
                if span["start_ns"] >= reach:
                    found.append(span)
                    reach = span["start_ns"] + span["duration_ns"]
        return found

    def keys(self, spans):
        return collections.Counter((span.get("generation", 0), span["batch"]) for span in spans
                                   if span.get("batch", -1) >= 0)


def _share(count, wanted, ahead=0):
    if count == 0:
        return "no"
    return "yes" if wanted <= count <= wanted + ahead else "part"


def _covered(delivered, recording):
    """Returns the cell "batches": whether each delivered batch has a fetch or samples with its number."""
    made = recording.keys(recording.spans["fetch"]) or recording.keys(recording.spans["sample"])
    return _share(sum(key in made for key in delivered), len(delivered)) if delivered else "no"


def _bytes(recording, folders, wanted):
    """Returns the cell "read". Reads from files of the dataset count or, if there are any, the copies from mapped
    memory: they are read spans without a file."""
    read = copied = 0
    for span in recording.spans["read"]:
        name = span.get("object", "")
        if name.startswith(folders):
            read += span.get("bytes", 0)
        elif not name and span.get("name") != "socket":
            copied += span.get("bytes", 0)
    share = (copied or read) / wanted
    return "no" if share == 0 else "yes" if 0.98 <= share < 1.5 else "part"


def measure(recording, said, folders, decoder="", transform="", ahead=0):
    """Returns the cells of the table. `said`: the program's own counts; `folders`: the folders of its files;
    `ahead`: how many more samples than counted may be recorded, since the loader loads ahead."""
    events = [event for event in recording.events if event["event"] == "batch_delivered"]
    delivered = recording.keys(events)
    waits = recording.keys(recording.spans["wait"])
    once = delivered == waits and set(delivered.values()) <= {1}
    named = collections.Counter()
    for stage in ("decode", "augment"):
        named.update((stage, span.get("name", "")) for span in recording.spans[stage])
    for span in recording.spans["mark"]:
        name, picture, _ = span.get("name", "").partition(" process #")
        named["decode" if picture else "augment", name] += 1
    return {
        "loop": _share(len(events), said["batches"]) if once else "part",
        "batches": _covered(delivered, recording),
        "samples": _share(len(recording.outermost("sample")), said["samples"], ahead),
        "read": _bytes(recording, folders, said["bytes"]),
        "decode": _share(named["decode", decoder], said["samples"], ahead) if decoder else "-",
        "augment": _share(named["augment", transform], said["samples"], ahead) if transform else "-",
    }


def describe(recording):
    """Returns one line with the counts of each stage, to show what is missing."""
    parts = []
    for stage, spans in sorted(recording.spans.items()):
        names = collections.Counter(span.get("name", "") or "-" for span in spans).most_common(4)
        parts.append(f"{stage} {len(spans)} ({', '.join(f'{name} {count}' for name, count in names)})")
    return "; ".join(parts)
