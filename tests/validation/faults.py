# SPDX-License-Identifier: Apache-2.0
"""The faults F0 to F22 and the healthy controls, each with the fixes that are tried on it.

A scenario is a run of fault_cell.py in which some knobs differ from their defaults. A fix sets some knobs
back, or further away. A report names a fix if it names the fix's label. Only measurements say which fix is
the true one; this file does not. Pure functions.
"""
import collections

import fault_cell_knobs

# name: such as "F5"; severity: 1 to 3; title: the fault in words; fixes: [Fix]; healthy: whether the
# scenario is a control.
Scenario = collections.namedtuple("Scenario", "name severity title knobs fixes healthy")
Fix = collections.namedtuple("Fix", "label what knobs")

# A sample waits 0.8 ms for the storage and costs 1.6 ms of CPU, half of it decoding. Two workers then need
# some 11 ms for a batch, a little less than the step.
BASE = {"pictures": "medium", "size": 224, "read_ms": 0.8, "step_ms": 12.0}
# Workers only wait for files, so four workers run on few cores too.
WAITING = {**BASE, "workers": 4, "decode": "done", "augment": "done"}

NO_READ = {"read": "memory", "read_ms": 0.0, "bandwidth_mb": 0.0, "lock": False, "cold": False}
LABELS = ("read", "decode", "augment", "collate", "transfer", "startup", "prefetch", "workers", "threads", "cores",
          "step", "none")  # fmt: skip

KNOWN = 0.04  # the largest accepted standard error of the mean of an arm's runs, as a fraction of the mean

# Faults that a plain machine without special permission cannot have: they are not imitated.
NOT_RUN = (
    ("F15", "a cgroup CPU quota needs permission to write below /sys/fs/cgroup; F14 limits the cores by affinity"),
    ("F18 on a device", "pageable copies need a GPU; what runs as F18 is a copy by the consumer, part of its step"),
    ("in_order=False", "PyTorch 1.13 has no such argument: for F10, F11 and F19 it is no fix that could be applied"),
)  # fmt: skip


def fixes_of(knobs, others=()):
    """The fixes that are tried on a scenario: the common ones, one for each knob that is not at its default, and
    `others`."""
    whole = {**fault_cell_knobs.DEFAULTS, **knobs}
    workers = whole["workers"]
    found = [Fix("workers", "%d workers" % max(2, 2 * workers), {"workers": max(2, 2 * workers)})]
    if workers:
        found.append(Fix("prefetch", "prefetch 8", {"prefetch": 8}))
        found.append(Fix("startup", "workers are there", {"warm": True, "persistent": True}))
    found.append(Fix("step", "no step", {"step_ms": 0.0, "copy_mb": 0.0}))
    found.append(Fix("read", "files in memory", NO_READ))
    if whole["decode"] != "done":
        found.append(Fix("decode", "decoded already", {"decode": "done"}))
    if whole["augment"] != "done":
        # Only the work is saved: samples keep their size.
        floats = whole["augment"] in ("float", "threads")
        found.append(Fix("augment", "augmented already", {"augment": "done", **({"floats": True} if floats else {})}))
    for label, what, knob, value in (
        ("collate", "plain collate", "collate_ms", 0.0), ("transfer", "no arrays beside", "extra_mb", 0.0),
        ("prefetch", "even samples", "spread", "constant"), ("prefetch", "no slow worker", "slow_worker_ms", 0.0),
        ("read", "no lock", "lock", False), ("threads", "one thread", "threads", 1), ("cores", "all cores", "cores", 0),
    ):  # fmt: skip
        if whole[knob] != value:
            found.append(Fix(label, what, {knob: value}))
    if whole["epochs"] > 1 and workers and not whole["persistent"]:
        found.append(Fix("startup", "workers stay", {"persistent": True}))
    return found + list(others)


def make(name, title, base, severities, others=(), healthy=False):
    found = []
    for severity, changes in enumerate(severities, 1):
        knobs = {**base, **changes}
        found.append(Scenario(name, severity, title, knobs, fixes_of(knobs, others), healthy))
    return found


def values(knob, *found):
    return [{knob: value} for value in found]


def scenarios():
    """All scenarios, with three severities each; a run takes about 2 s."""
    short = {**BASE, "batches": 64}
    few = (Fix("workers", "2 workers", {"workers": 2}),)
    found = []

    def add(*arguments, **more):
        found.extend(make(*arguments, **more))

    add("F0", "nothing: the step takes a little longer than the data", BASE, values("step_ms", 15.0, 18.0, 24.0),
        healthy=True)  # fmt: skip
    add("H1", "nothing: a light loader before a long step", {**BASE, "augment": "done"},
        values("step_ms", 15.0, 20.0, 30.0), healthy=True)  # fmt: skip
    add("H2", "nothing: waiting reads that four workers hide, two epochs", {**WAITING, "batches": 64, "epochs": 2,
        "persistent": True}, [{"read_ms": 2.0}, {"read_ms": 3.0}, {"read_ms": 3.0, "step_ms": 16.0}],
        healthy=True)  # fmt: skip
    add("F1", "the step three times as long and more", {**BASE, "batches": 48}, values("step_ms", 36.0, 48.0, 72.0))
    add("F2", "no workers", {**BASE, "workers": 0}, values("step_ms", 8.0, 12.0, 16.0))
    add("F3", "one worker, a core is free", {**BASE, "workers": 1}, values("step_ms", 12.0, 9.0, 6.0))
    add("F4", "more workers than cores", {**BASE, "read": "file", "read_ms": 0.0, "step_ms": 3.0},
        values("workers", 4, 8, 12), few)  # fmt: skip
    add("F5", "files come slowly (MB/s of all readers together)", short, values("bandwidth_mb", 12.0, 8.0, 4.0))
    add("F6", "every open waits", {**BASE, "batches": 48}, values("read_ms", 5.0, 10.0, 20.0))
    add("F7", "larger pictures", short, values("pictures", "large", "huge", "giant"))
    add("F8", "an expensive transform", {**short, "augment": "blur"}, values("blur", 5, 9, 15))
    add("F9", "a slow collate", short, values("collate_ms", 20.0, 40.0, 80.0))
    add("F10", "prefetch 1, and one sample in twelve is slow", {**WAITING, "spread": "jitter", "prefetch": 1,
        "step_ms": 10.0, "batches": 160}, values("read_ms", 2.5, 3.5, 4.5))  # fmt: skip
    add("F11", "one sample in forty is very slow", {**WAITING, "spread": "tail", "step_ms": 10.0, "batches": 160},
        values("read_ms", 2.0, 3.0, 4.0))  # fmt: skip
    add("F12", "lists of arrays beside each batch", {**short, "step_ms": 4.0}, values("extra_mb", 20.0, 40.0, 80.0))
    add("F13", "each worker computes with many threads", {**short, "augment": "threads", "blur": 9, "step_ms": 6.0},
        values("threads", 4, 8, 16))  # fmt: skip
    add("F14", "all processes on one core", {**BASE, "read_ms": 0.2, "cores": 1},
        [{"step_ms": 8.0}, {"step_ms": 3.0}, {"step_ms": 3.0, "workers": 4}])  # fmt: skip
    add("F16", "workers start anew in each short epoch", {**BASE, "batches": 12, "epochs": 8, "step_ms": 10.0},
        values("init_ms", 100.0, 200.0, 400.0))  # fmt: skip
    add("F17", "reads hold a lock in turn", {**short, "lock": True}, values("read_ms", 2.0, 4.0, 8.0))
    add("F18", "the consumer copies each batch", {**short, "step_ms": 2.0}, values("copy_mb", 100.0, 200.0, 300.0))
    add("F19", "one of four workers is slow", {**WAITING, "read_ms": 2.0, "step_ms": 5.0},
        values("slow_worker_ms", 4.0, 8.0, 16.0))  # fmt: skip
    add("F20", "normalised as float32 by the workers", {**short, "augment": "float", "step_ms": 4.0},
        values("size", 224, 320, 448), (Fix("augment", "uint8 instead", {"augment": "crop"}),))  # fmt: skip
    add("F21", "the first epoch reads from the disk", {**BASE, "read": "file", "cold": True, "batches": 6, "epochs": 8,
        "persistent": True, "step_ms": 4.0}, values("pictures", "medium", "large", "huge"))  # fmt: skip
    add("F22a", "slow files and a slow collate", short, [{"bandwidth_mb": 12.0, "collate_ms": 20.0},
        {"bandwidth_mb": 8.0, "collate_ms": 30.0}, {"bandwidth_mb": 6.0, "collate_ms": 80.0}])  # fmt: skip
    add("F22b", "larger pictures, prefetch 1 and one slow sample in twelve", {**short, "spread": "jitter", "prefetch": 1},
        [{"pictures": "large", "read_ms": 3.0}, {"pictures": "huge", "read_ms": 3.0},
         {"pictures": "giant", "read_ms": 4.0}])  # fmt: skip
    return found


QUICK = (("F0", 3), ("F3", 3), ("F6", 2), ("F9", 3), ("F16", 3))


def chosen(full):
    return [one for one in scenarios() if full or (one.name, one.severity) in QUICK]


# The labels for the values of verdict.bottleneck and the ids of findings in a report.
OF_VERDICT = {"read": "read", "decode": "decode", "augment": "augment", "collate": "collate", "transfer": "transfer",
              "startup": "startup", "prefetch": "prefetch", "compute": "step", "h2d": "step"}  # fmt: skip
OF_FINDING = {
    "no-worker-processes": "workers", "too-few-workers": "workers", "too-many-workers": "workers",
    "prefetch-too-shallow": "prefetch", "stragglers": "prefetch", "slow-samples": "prefetch",
    "workers-restart-each-epoch": "startup", "slow-first-batch": "startup",
    "cpu-oversubscribed": "threads", "cpu-quota-or-affinity": "cores",
    "slow-storage": "read", "small-files": "read", "fits-in-ram": "read", "cold-cache": "read",
    "serialised-reads": "read",
    "slow-decoder": "decode", "decode-larger-than-needed": "decode", "move-decode-to-gpu": "decode",
    "move-augment-to-gpu": "augment", "normalize-on-cpu": "augment", "repeated-work": "augment",
    "collate-slow": "collate", "transfer-ceiling": "transfer", "wide-labels": "transfer",
}  # fmt: skip


def claims_of(report):
    """Returns {label: claimed speedup of the whole run - 1} for the verdict and the findings of a report. Claims are of
    the whole run, start-up included, since measurements are.

    If a label has several claims, the largest counts. A finding without a prediction claims 0. A finding for
    information makes no claim."""
    found = {}
    label = OF_VERDICT.get(report["verdict"]["bottleneck"])
    if label is not None:
        speedups = {gain["factor"]: gain["whole_run_speedup_if_free"] for gain in report["verdict"]["gains"]}
        found[label] = speedups.get(report["verdict"]["bottleneck"], 1.0) - 1
    for finding in report["findings"]:
        label = OF_FINDING.get(finding["id"])
        if label is None or finding["severity"] == "info":
            continue
        gain = finding.get("predicted", {}).get("whole_run_speedup", 1.0) - 1
        found[label] = max(found.get(label, 0.0), gain)
    return found


def ranking(report, least=0.05, tie=0.2):
    """The labels that a report names, in order of claimed gain. Labels without a prediction come last. ["none"] if
    the report names no label.

    A reader sees the verdict first, so the verdict comes first if its claim is within `tie` of the largest."""
    claims = claims_of(report)
    found = sorted((label for label, gain in claims.items() if gain >= least or gain == 0), key=lambda one: -claims[one])
    verdict = OF_VERDICT.get(report["verdict"]["bottleneck"])
    if verdict in found and claims[verdict] >= (1 - tie) * claims[found[0]]:
        found.insert(0, found.pop(found.index(verdict)))
    return found or ["none"]
