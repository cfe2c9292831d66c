# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios of faults.py: records each once, measures each fix, and asks the analyzer and the baselines.

Measured runs come from one server that has PyTorch imported; each recorded run is a program of its own, as a
user's is. fault_scores.py scores them.
"""
import collections
import contextlib
import json
import os
import random
import subprocess
import sys
import time

import baselines
import fault_cell_knobs
import faults
import figures
import runs

CELL = os.path.join(runs.HERE, "fault_cell.py")
SIZES = {"medium": ((400, 300), (300, 400), (360, 320)), "large": ((560, 420), (420, 560), (500, 450)),
         "huge": ((800, 600), (600, 800), (700, 650)), "giant": ((1200, 900), (900, 1200), (1050, 950))}  # fmt: skip
MOST = 16  # most runs of one arm
STRAYS = 0.1  # a recording's rate may differ by this fraction from the mean of the runs without the agent

# The least and the largest number of runs of each arm.
Effort = collections.namedtuple("Effort", "repeats attempts")
QUICK, FULL = Effort(1, 1), Effort(3, MOST)


def make_pictures(folder, make_one):
    """Makes the missing folders of pictures below `folder`. Calls make_one(folder, count, sizes, quality=) for each."""
    for name, sizes in SIZES.items():
        made = os.path.join(folder, name)
        if not os.path.isdir(made):
            make_one(made + ".new", 48, sizes, quality=92)
            os.rename(made + ".new", made)
    return folder


def key_of(knobs, repeat):
    """Key of a measured run: its knobs that differ from the defaults. Scenarios with equal knobs share runs."""
    turned = {name: value for name, value in knobs.items() if value != fault_cell_knobs.DEFAULTS[name]}
    return "b/%s/%d" % (json.dumps(turned, sort_keys=True), repeat)


def trace_of(store, scenario):
    return os.path.join(store.folder, "traces", "b-%s-%d.penstock" % (scenario.name, scenario.severity))


class Server:
    """A running fault_cell.py --serve and its storage. The server is started for the first run, and again if a run
    has ended it."""

    def __init__(self, pictures):
        self.pictures, self.process = pictures, None
        self.storage = subprocess.Popen([runs.PYTHON, "-B", os.path.join(runs.HERE, "fault_storage.py"), pictures],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        self.port = int(self.storage.stdout.readline())

    def knobs(self, knobs, seed):
        return json.dumps({**knobs, "pictures": os.path.join(self.pictures, knobs["pictures"]), "seed": seed,
                           "port": self.port})  # fmt: skip

    def measure(self, knobs, seed):
        if self.process is None:
            self.process = subprocess.Popen([runs.PYTHON, "-B", CELL, "--serve"], env=runs.environment(), text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            self.process.stdin.write(self.knobs(knobs, seed) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        except (OSError, ValueError) as error:
            self.close()
            raise runs.Failed("no answer: %s" % error) from error
        if "error" in answer:
            raise runs.Failed(answer["error"])
        return answer

    def record(self, knobs, trace):
        cores = sorted(os.sched_getaffinity(0))[:knobs.get("cores") or None]
        command = ["taskset", "-c", ",".join(map(str, cores))] if knobs.get("cores") else []
        runs.output_of([runs.program("penstock-record"), "--quiet", "--force", "-o", trace + ".new", "--", *command,
                        runs.PYTHON, "-B", CELL, self.knobs(knobs, 1)])  # fmt: skip
        os.rename(trace + ".new", trace)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            with contextlib.suppress(OSError):  # the server may not have read its last line
                self.process.stdin.close()
            self.process = None

    def stop(self):
        self.close()
        self.storage.kill()
        self.storage.wait()
        self.storage.stdin.close()
        self.storage.stdout.close()


def report_of(trace):
    return json.loads(runs.output_of([runs.program("penstock"), "report", trace, "--json"]))


def suggested(report, knobs):
    """The knobs of the scenario with the report's suggestion applied."""
    loader = report["suggestion"]["loader"]
    workers = loader["num_workers"]
    return {**knobs, "workers": workers, "prefetch": loader["prefetch_factor"] if workers else 2,
            "persistent": bool(workers and loader["persistent_workers"])}  # fmt: skip


def arms(scenario, report):
    """{name: knobs} of all arms that are measured: the scenario, each fix, and the report's suggestion."""
    found = {"base": scenario.knobs}
    for fix in scenario.fixes:
        found[fix.what] = {**scenario.knobs, **fix.knobs}
    if report is not None:
        found["suggested"] = suggested(report, scenario.knobs)
    return found


def reports(store, scenarios):
    """{(name, severity): report} of the scenarios that are recorded."""
    found = {}
    for scenario in scenarios:
        trace = trace_of(store, scenario)
        if os.path.exists(trace):
            try:
                found[scenario[:2]] = report_of(trace)
            except runs.Failed as error:
                print("validate: %s: %s" % (os.path.basename(trace), error), file=sys.stderr, flush=True)
    return found


class Work:
    """Records and measures scenarios until the deadline; counts failures."""

    def __init__(self, scenarios, store, pictures, deadline):
        self.scenarios, self.store, self.deadline, self.failed = scenarios, store, deadline, 0
        self.server, self.shuffled = Server(pictures), random.Random(6)

    def late(self):
        return time.monotonic() >= self.deadline

    def attempt(self, what, action, *arguments):
        """Returns the result of action(), or True if the result is false; None if action() failed."""
        try:
            return action(*arguments) or True
        except runs.Failed as error:
            self.failed += 1
            print("validate: %s: %s" % (what, error), file=sys.stderr, flush=True)
            return None

    def record(self, scenario, again=False):
        key, trace = "b-trace/%s/%d" % scenario[:2], trace_of(self.store, scenario)
        count = self.store.runs.get(key, {"recordings": 0})["recordings"]
        if self.late() or (os.path.exists(trace) and not again):
            return
        if self.attempt(key, self.server.record, scenario.knobs, trace):
            self.store.add(key, {"recordings": count + 1})
            print("validate: recorded %s/%d%s" % (*scenario[:2], " again" if again else ""), flush=True)

    def record_again(self, scenario, attempts):
        """Records a scenario again if its recording was much slower or faster than the runs without the agent, since
        something else on the machine must have disturbed it."""
        count = self.store.runs.get("b-trace/%s/%d" % scenario[:2], {"recordings": attempts})["recordings"]
        found, trace = runs_of(self.store, scenario.knobs), trace_of(self.store, scenario)
        if not found or count >= attempts or not os.path.exists(trace):
            return
        report = self.attempt(trace, report_of, trace)
        usual = figures.mean(one["rate"] for one in found)
        if report and abs(report["throughput"]["whole_run_samples_per_s"] / usual - 1) > STRAYS:
            self.record(scenario, again=True)

    def measure(self, scenario, effort, attempt):
        known = reports(self.store, [scenario])
        order = list(arms(scenario, known.get(scenario[:2])).items())
        self.shuffled.shuffle(order)
        for name, knobs in order:
            key = key_of(knobs, attempt)
            if key in self.store.runs or settled(runs_of(self.store, knobs), effort.repeats) or self.late():
                continue
            answer = self.attempt(key, self.server.measure, knobs, 100 + attempt)
            if answer:
                self.store.add(key, answer)
                print("validate: %d %s/%d %s: %.1f/s" % (attempt, *scenario[:2], name, answer["rate"]), flush=True)


def work(scenarios, store, pictures, effort, deadline):
    """Makes the recordings and runs that are not stored yet, until the deadline. Returns how many runs failed.

    Every arm runs once, then again until its mean is known well enough. A scenario's arms follow each other in random
    order, so if the machine is slow for a minute, it slows down all arms that are compared."""
    worker = Work(scenarios, store, pictures, deadline)
    try:
        for scenario in scenarios:
            worker.record(scenario)
        for attempt in range(effort.attempts):
            for scenario in worker.shuffled.sample(scenarios, len(scenarios)):
                worker.measure(scenario, effort, attempt)
                worker.record_again(scenario, effort.attempts)
    finally:
        worker.server.stop()
    return worker.failed


def runs_of(store, knobs):
    keys = (key_of(knobs, attempt) for attempt in range(MOST))
    return [store.runs[key] for key in keys if key in store.runs]


def settled(found, repeats):
    """Whether there are `repeats` runs and the standard error of their mean is at most faults.KNOWN. If `repeats` is
    1, one run is enough."""
    rates = [one["rate"] for one in found]
    return len(rates) >= repeats and (repeats < 2 or figures.standard_error(rates) <= faults.KNOWN)


def measured(store, scenario, report):
    """{arm: [rate of each run]}; an arm without runs is left out."""
    found = {name: runs_of(store, knobs) for name, knobs in arms(scenario, report).items()}
    return {name: [one["rate"] for one in runs_found] for name, runs_found in found.items() if runs_found}


def baseline_claims(report, knobs):
    """Returns {method: {label: claimed gain}} of the baselines, from the same trace."""
    whole = {**fault_cell_knobs.DEFAULTS, **knobs}
    stages = {stage["name"]: stage for stage in report["stages"]}
    batch, workers, step = whole["batch"], whole["workers"], whole["step_ms"] * 1e-3

    def demand(field, without=()):
        total = 0.0
        for name, times in (("sample", batch), ("collate", 1)):
            stage = stages.get(name)
            if stage and stage["count"] and name not in without:
                total += times * stage[field] / stage["count"]
        count = stages["sample"]["count"] if stages.get("sample") else 0
        for name in ("read", "decode", "augment"):
            if name in without and name in stages and count:
                total -= batch * stages[name][field] / count
        return max(total, 1e-6 if field == "wall_s" else 0.0)

    def facts(without=()):
        return baselines.Facts(demand("wall_s", without), demand("cpu_s", without), whole["cores"] or runs.cores())

    def law(service, count, _queue, seconds):
        return baselines.bottleneck_law(service, count, seconds)

    def claims(formula):
        queue = whole["prefetch"] * max(1, workers)
        base = formula(facts(), workers, queue, step)
        found = {"workers": formula(facts(), max(2, 2 * workers), 2 * queue, step), "step": formula(facts(), workers,
                 queue, 0.0)}  # fmt: skip
        if workers:
            found["prefetch"] = formula(facts(), workers, 8 * max(1, workers), step)
        for name in ("read", "decode", "augment", "collate"):
            if name in stages:
                found[name] = formula(facts((name,)), workers, queue, step)
        return {label: rate / base - 1 for label, rate in found.items()}

    cores = runs.cores()
    few = workers < 2 <= cores - 1 or workers == 0
    return {"bottleneck law": claims(law), "tf.data's formula": claims(baselines.tfdata_formula),
            "5 % rule": {baselines.five_percent_rule(report["verdict"]["wait_fraction"]): 1.0},
            "workers = cores": {"workers" if workers != cores else "none": 1.0},
            "workers < cores - 1 (Lightning)": {"workers" if few else "none": 1.0}}  # fmt: skip


def whatif_gains(trace, report, scenario):
    """Returns {arm: gain that `penstock whatif` predicts}, for the fixes that whatif has options for. The predicted
    gain is of the steady part, or of the whole loop if start-up is a notable part of it. The measured gain is always of
    the whole loop."""
    whole = {**fault_cell_knobs.DEFAULTS, **scenario.knobs}
    found = {}
    for fix in scenario.fixes:
        options = options_of(fix)
        if options is None or report["replay"]["measured_samples_per_s"] <= 0:
            continue
        count = fix.knobs.get("workers", whole["workers"])
        command = [runs.program("penstock"), "whatif", trace, "--json", "--workers", str(count), *options]
        if fix.what != "prefetch 8" and count:
            command += ["--prefetch", str(whole["prefetch"])]
        try:
            answer = json.loads(runs.output_of(command))
        except runs.Failed as error:
            print("validate: no prediction of %s: %s" % (fix.what, error), file=sys.stderr, flush=True)
            continue
        speedups = [one["speedup"] for one in answer["configurations"]]
        if speedups:
            found[fix.what] = figures.mean(speedups) - 1
    return found


def options_of(fix):
    if fix.what.endswith(" workers"):
        return []
    return {"prefetch 8": ["--prefetch", "8"], "no step": ["--step-ms", "0"], "files in memory": ["--without", "read"],
            "decoded already": ["--without", "decode"], "augmented already": ["--without", "augment"],
            "plain collate": ["--without", "collate"], "no arrays beside": ["--without", "transfer"],
            }.get(fix.what)  # fmt: skip
