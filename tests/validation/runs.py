# SPDX-License-Identifier: Apache-2.0
"""Records, measures and predicts one cell.

PENSTOCK_BIN names the folder of the programs, as for the integration tests. Rates are samples per
second in the steady state. A measured run is never traced, and a recorded run never counts as measured.
"""
import collections
import json
import os
import subprocess
import sys

import baselines

BIN = os.environ.get("PENSTOCK_BIN", "")
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
TIMEOUT = 300

def machine():
    """A name for this machine until it reboots. Another machine has another name."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


MACHINE = machine()

# workers; prefetch as the loader counts it (PyTorch: batches per worker, penstock-load: batches);
# step in ms; batch: samples in a batch (0: the family's number).
Cell = collections.namedtuple("Cell", "workers prefetch step batch", defaults=(0,))
# `whole`: of the whole run, start-up included, instead of the steady part
Predicted = collections.namedtuple("Predicted", "rate low high whole", defaults=(False,))


class Failed(Exception):
    """A program failed; the text says which and why."""


def program(name):
    return os.path.join(BIN, name)


def cores():
    return len(os.sched_getaffinity(0))


def environment():
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK") and key != "LD_PRELOAD"}
    kept.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    kept.pop("PYTHONPATH", None)
    return kept


def output_of(command):
    try:
        done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    if done.returncode != 0:
        raise Failed("status %d: %s\n%s" % (done.returncode, " ".join(command),
                                            done.stderr.decode("utf-8", "replace").strip()))  # fmt: skip
    return done.stdout.decode()


def last_object(text):
    return json.loads(text.strip().splitlines()[-1])


class ReferenceLoader:
    """penstock-load with stage costs instead of files; `costs` are its options.

    Each sample has a fixed cost and a run takes every sample once, so the seed changes only the order. If costs
    were drawn anew for each run, their mean would vary by 3.7 % (1,280 lognormal draws of sigma 1), and no trace
    of another run could predict this."""

    batch = 8
    default_prefetch = 4

    def __init__(self, costs, batches=160):
        self.costs, self.batches = costs, batches

    def command(self, cell, seed):
        step = ["--step-ms", str(cell.step)] if cell.step else []
        return [program("penstock-load"), "synthetic:%d" % (self.batch * self.batches), "--workers", str(cell.workers),
                "--prefetch", str(cell.prefetch), "--batch", str(self.batch), "--batches", str(self.batches),
                "--seed", str(seed), "--cost-seed", "11", "--ops", "crop=16", "--json", *self.costs, *step]  # fmt: skip

    def measure(self, cell, seed):
        done = last_object(output_of(self.command(cell, seed)))
        return {"rate": done["steady_samples_per_s"], "wait": done["wait"]["fraction"], "load": os.getloadavg()[0]}

    def record(self, cell, seed, trace):
        output_of([*self.command(cell, seed), "--trace", trace])

    @staticmethod
    def queue(cell):
        return cell.prefetch


class DataLoader:
    """torch.utils.data.DataLoader. Samples sleep for `mean_ms` on average with the distribution `services`, or decode
    the pictures of the folder `jpeg`, or do `work` of real_work.py on the files below `folder`."""

    batch = 4
    default_prefetch = 2

    def __init__(self, services="constant", jpeg=None, batch=4, batches=160, mean_ms=5, work=None, folder=None):
        self.batch, self.batches = batch, batches
        self.source = ["--services", services, "--mean-ms", str(mean_ms)]
        if jpeg:
            self.source = ["--jpeg", jpeg]
        if work:
            self.source = ["--work", work, "--files", folder]

    def command(self, cell, seed):
        return [PYTHON, "-B", os.path.join(HERE, "dataloader_cell.py"), *self.source, "--workers", str(cell.workers),
                "--prefetch", str(cell.prefetch), "--batch", str(cell.batch or self.batch),
                "--batches", str(self.batch * self.batches // (cell.batch or self.batch) + 2 * self.queue(cell)),
                "--seed", str(seed), "--step-ms", str(cell.step)]  # fmt: skip

    def measure(self, cell, seed):
        return last_object(output_of(self.command(cell, seed)))

    def record(self, cell, seed, trace):
        output_of([program("penstock-record"), "--quiet", "--force", "-o", trace, "--", *self.command(cell, seed)])

    @staticmethod
    def queue(cell):
        return cell.prefetch * max(1, cell.workers)


def step_beside(trace, source):
    """Returns the part of a recorded step, in ms, in which the loop did not sleep. In this time it frees a batch."""
    report = json.loads(output_of([program("penstock"), "report", trace, "--json"]))
    for stage in report["stages"]:
        if stage["name"] == "step" and stage["count"]:
            return max(0.0, 1e3 * stage["wall_s"] / stage["count"] - source.step)
    return 0.0


def predict(trace, source, cells):
    """{cell: Predicted} by penstock whatif from one trace; {} and a note if it says "not enough".

    The program's step sleeps for the same time whatever the batch size. So whatif is given the step if step or batch
    differ from the source's. It is also told that the step uses a core only in the part without sleep."""
    found = {}
    beside = step_beside(trace, source)
    for step, batch in sorted({(cell.step, cell.batch) for cell in cells}):
        asked = [cell for cell in cells if (cell.step, cell.batch) == (step, batch)]
        command = [program("penstock"), "whatif", trace, "--json",
                   "--workers", ",".join(str(n) for n in sorted({cell.workers for cell in asked})),
                   "--prefetch", ",".join(str(n) for n in sorted({cell.prefetch for cell in asked}))]  # fmt: skip
        if step != source.step or batch != source.batch:
            command += ["--step-ms", "%.3f" % (step + beside)]
            if step + beside > 0:
                command += ["--step-cores", "%.4f" % (beside / (step + beside))]
        if batch != source.batch:
            command += ["--batch", str(batch)]
        try:
            answer = json.loads(output_of(command))
        except Failed as error:
            print("validate: no prediction from %s: %s" % (os.path.basename(trace), error), file=sys.stderr)
            continue
        for one in answer["configurations"]:
            cell = Cell(one["num_workers"], one["prefetch_factor"], step, batch)
            if cell in asked:
                found[cell] = Predicted(one["samples_per_s"], one["low"], one["high"], answer["base"] == "whole_run")
    return found


def facts(trace, batch):
    """Returns (Facts for the baselines, recorded rate, share of the loop's time that is waiting) by penstock report."""
    report = json.loads(output_of([program("penstock"), "report", trace, "--json"]))
    stages = {stage["name"]: stage for stage in report["stages"]}

    def per_batch(name, field, times):
        stage = stages.get(name)
        return times * stage[field] / stage["count"] if stage and stage["count"] else 0.0

    service = per_batch("sample", "wall_s", batch) + per_batch("collate", "wall_s", 1)
    cpu = per_batch("sample", "cpu_s", batch) + per_batch("collate", "cpu_s", 1)
    return (baselines.Facts(service, cpu, cores()), report["throughput"]["samples_per_s"],
            report["verdict"]["wait_fraction"])  # fmt: skip
