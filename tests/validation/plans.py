# SPDX-License-Identifier: Apache-2.0
"""Compares plans with grids of real runs. Measures the gains of the plan's first step and of the whole plan, and those
of the best single change and the best combination of changes. All changes need no edit.

  plans.py --bin DIR --out DIR [--only NAME]... [--rounds N] [--again] CASES.json
  plans.py --bin DIR --out DIR [--only NAME]... [--rounds N] [--again] --faults DIR [--severity N]

CASES.json: {NAME: [COMMAND...]}, programs that run for some seconds. --faults takes the faults of faults.py instead; DIR
has their pictures, or gets them. Each program is recorded once; `penstock plan --outside` makes the plan. An arm is a
setting for `penstock record --override`. All arms run once, in an order that changes from round to round. Then N more
rounds run the program as it is, both arms of the plan and the four fastest others. Rates come from the reports on
these runs; they are steady rates or rates of the whole run, like those of the plan. Needs a quiet machine. Results are
kept in OUT/plans.json; --again makes the plans and the table anew and measures nothing. Exit status: 0 all measured,
1 a program failed.
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import fault_cell_knobs
import fault_runs
import faults
import runs

PLAIN = ""  # the program as it is
FASTEST = 4


def setting_of(steps):
    """The --override for the plan's steps; None if one of the steps cannot be made from outside."""
    words = {}
    for step in steps:
        if step["id"] == "num_workers":
            words["workers"] = step["value"]
        elif step["id"] == "prefetch_factor":
            words["prefetch"] = step["value"]
        elif step["id"] == "persistent_workers":
            words["persistent"] = "1"
        elif step["id"] == "malloc":
            words.update({"pillow_blocks": "16"} if "PILLOW" in step["change"] else {"malloc": "keep"})
        else:
            return None
    return ",".join(f"{name}={value}" for name, value in sorted(words.items()))


def arms_of(report):
    """All settings that are measured: each change alone, and all combinations of workers, memory and threads."""
    loader = report["loader"]
    workers = sorted({0, 1, 2, 4} - {loader["num_workers"]})
    counts = [""] + [f"workers={count}" for count in workers]
    epochs = len(loader.get("epochs", [])) if isinstance(loader.get("epochs"), list) else loader.get("epochs", 1)
    stay = ["", "persistent=1"] if epochs and epochs > 1 and not loader.get("persistent_workers") else [""]
    found = set()
    for words in itertools.product(counts, stay, ["", "malloc=keep"], ["", "threads=1"]):
        found.add(",".join(sorted(filter(None, words))))
    if loader["num_workers"]:
        found.add("prefetch=8")
    return sorted(found - {PLAIN})


@contextlib.contextmanager
def fault_cases(folder, severity):
    """Yields {name: command} for the faults of that severity, three times as long as in faults.py. Their storage runs
    while the context is open."""
    sys.path.insert(0, os.path.join(os.path.dirname(runs.HERE), "integration"))
    import support

    server = fault_runs.Server(fault_runs.make_pictures(folder, support.make_pictures))
    cases = {}
    try:
        for scenario in faults.scenarios():
            if scenario.severity != severity:
                continue
            whole = {**fault_cell_knobs.DEFAULTS, **scenario.knobs}
            longer = "epochs" if whole["epochs"] > 1 else "batches"
            command = [runs.PYTHON, "-B", fault_runs.CELL, server.knobs({**scenario.knobs, longer: 3 * whole[longer]}, 1)]
            if scenario.knobs.get("cores"):
                cores = sorted(os.sched_getaffinity(0))[:scenario.knobs["cores"]]
                command = ["taskset", "-c", ",".join(map(str, cores)), *command]
            cases[scenario.name] = command
        yield cases
    finally:
        server.stop()


def single(arm):
    """Whether the arm is one change."""
    return arm != PLAIN and "," not in arm


class Runner:
    def __init__(self, options):
        self.options = options
        self.penstock = pathlib.Path(options.bin) / "penstock"

    def ask(self, *arguments):
        done = subprocess.run([self.penstock, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"penstock {' '.join(arguments)}: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout)

    def record(self, command, arm, trace):
        override = ["--override", arm] if arm else []
        done = subprocess.run([self.penstock, "record", "--quiet", "--force", "-o", trace, *override, "--", *command],
                              capture_output=True, text=True, check=False)  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{arm}: status {done.returncode}: {done.stderr.strip()[-500:]}")

    def rate(self, command, arm, base, trace):
        self.record(command, arm, trace)
        told = self.ask("report", str(trace), "--json")["throughput"]
        return told["whole_run_samples_per_s" if base == "whole_run" else "samples_per_s"]


def measure(runner, name, command, kept):
    out = pathlib.Path(runner.options.out)
    trace = out / (name + ".penstock")
    if not trace.exists():
        runner.record(command, PLAIN, trace)
    kept["plan"] = plan = runner.ask("plan", str(trace), "--outside", "--json")
    report = runner.ask("report", str(trace), "--json")
    first, whole = setting_of(plan["steps"][:1]), setting_of(plan["steps"])
    kept["first"], kept["whole"] = first, whole
    if runner.options.again:
        return
    rates = kept.setdefault("rates", {})
    arms = [PLAIN, *arms_of(report)] + [arm for arm in (first, whole) if arm]
    arms = list(dict.fromkeys(arms))
    scratch = out / "arm.penstock"

    def run(chosen):
        random.shuffle(chosen)
        for arm in chosen:
            rates.setdefault(arm, []).append(runner.rate(command, arm, plan["base"], scratch))

    run([arm for arm in arms if arm not in rates])
    for _ in range(runner.options.rounds):
        others = sorted((arm for arm in rates if arm not in (PLAIN, first, whole)), key=lambda a: -max(rates[a]))
        run(list(dict.fromkeys([PLAIN, first or PLAIN, whole or PLAIN, *others[:FASTEST]])))
    scratch.unlink(missing_ok=True)


def row(name, kept):
    """One line of the table, and its figures: (share of the best single gain, of the best gain, errors of the plan)."""
    rates = {arm: statistics.median(values) for arm, values in kept["rates"].items()}
    base = rates[PLAIN]
    gain = {arm: rate / base for arm, rate in rates.items()}
    known = {arm: value for arm, value in gain.items() if len(kept["rates"][arm]) > 1}
    best_single = max((arm for arm in known if single(arm)), key=known.get, default=PLAIN)
    best = max(known, key=known.get)
    steps = kept["plan"]["steps"]

    def share(arm, of):
        reached, wanted = gain.get(arm or PLAIN, 1), gain[of]
        return reached / wanted  # the rate that is reached, over the best one

    promised = [step["samples_per_s"] / kept["plan"]["now"]["samples_per_s"] for step in steps]
    errors = []
    for arm, value in ((kept["first"], promised[:1]), (kept["whole"], promised[-1:])):
        if value and arm in gain and (not errors or kept["first"] != kept["whole"]):
            errors.append(value[0] / gain[arm] - 1)
    told = ", then ".join(f"{step['id']} {step['value']}".strip() for step in steps) or "nothing"
    text = (f"| {name} | {told} | {promised[-1] if promised else 1:.2f} | {gain.get(kept['first'] or PLAIN, 1):.2f} | "
            f"{best_single or 'as it is'} {gain[best_single]:.2f} | {gain.get(kept['whole'] or PLAIN, 1):.2f} | "
            f"{best or 'as it is'} {gain[best]:.2f} |")  # fmt: skip
    return text, share(kept["first"], best_single), share(kept["whole"], best), errors


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--faults", metavar="DIR")
    parser.add_argument("--severity", type=int, default=2)
    parser.add_argument("cases", nargs="?")
    options = parser.parse_args()
    if bool(options.cases) == bool(options.faults):
        parser.error("either CASES.json or --faults")
    if options.faults:
        with fault_cases(options.faults, options.severity) as cases:
            return measure_all(options, cases)
    return measure_all(options, json.loads(pathlib.Path(options.cases).read_text(encoding="utf-8")))


def measure_all(options, cases):
    """Measures the cases and prints the table. Returns the exit status."""
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(options.out) / "plans.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    runner = Runner(options)
    failed = 0
    for name, command in cases.items():
        if options.only and name not in options.only:
            continue
        try:
            measure(runner, name, command, results.setdefault(name, {}))
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            failed += 1
        path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print("| program | plan | promised | its first step gains | best single change | whole plan gains | best combination |")
    print("|---|---|---|---|---|---|---|")
    firsts, wholes, errors = [], [], []
    for name, kept in results.items():
        if kept.get("rates"):
            text, first, whole, more = row(name, kept)
            print(text)
            firsts.append(first)
            wholes.append(whole)
            errors += more
    if firsts:
        print(f"\nRate reached, of the best: by the first step {statistics.mean(firsts):.1%} (least {min(firsts):.1%}), "
              f"by the whole plan {statistics.mean(wholes):.1%} (least {min(wholes):.1%}). Predicted gains are off by "
              f"{statistics.mean(map(abs, errors)) if errors else 0:.1%} on average, {len(errors)} predictions.")  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
