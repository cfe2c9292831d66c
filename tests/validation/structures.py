# SPDX-License-Identifier: Apache-2.0
"""Compares predictions for the loops of structure_cell.py with the edits that they predict: other numbers of workers,
decoded pictures and no step.

  structures.py --bin DIR --out DIR --pictures DIR [--python FILE] [--only KIND]... [--seconds S] [--rounds N] [--again]

Each loop is recorded once, with one worker and with two. The edits run without the agent, in turns, N rounds of them.
The predicted speed-up is compared with the ratio of the medians of the loop's own rates. If an epoch ends within the
run, these rates leave out the time between two epochs. Needs a quiet machine. Results are kept in OUT/structures.json;
--again makes the predictions anew and measures nothing. Exit status: 0 all measured, 1 a program failed.
"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys

import figures
import structure_cell

CELL = pathlib.Path(__file__).resolve().parent / "structure_cell.py"
BASES = (1, 2)  # workers of the recorded runs
EDITS = {"0 workers": {"workers": 0}, "1 worker": {"workers": 1}, "2 workers": {"workers": 2},
         "4 workers": {"workers": 4}, "no decode": {"decode": 0}, "no step": {"step": 0}}  # fmt: skip
NO_LOADER = ("queue_processes", "queue_threads", "futures")


class Runner:
    def __init__(self, options):
        self.options = options
        self.penstock = str(pathlib.Path(options.bin) / "penstock")

    def run(self, command):
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    def ask(self, *arguments):
        """Returns (answer, ""), or (None, why there is no answer)."""
        done = self.run([self.penstock, *arguments, "--json"])
        if done.returncode == 0:
            return json.loads(done.stdout), ""
        if done.returncode == 4:
            return None, done.stderr.strip().removeprefix("penstock: ")
        raise RuntimeError(f"penstock {' '.join(arguments)}: {done.stderr.strip()[-300:]}")

    def command(self, kind, knobs):
        knobs = {"folder": self.options.pictures, "seconds": self.options.seconds, **knobs}
        return [self.options.python, str(CELL), kind, json.dumps(knobs)]

    def rates(self, kind, knobs):
        """Returns (rate of the whole run, steady rate), in samples/s."""
        done = self.run(self.command(kind, knobs))
        if done.returncode:
            raise RuntimeError(f"{kind} {knobs}: status {done.returncode}: {done.stderr.strip()[-300:]}")
        return [float(word) for word in done.stdout.split()[:2]]

    def record(self, kind, knobs, trace):
        done = self.run([self.penstock, "record", "--quiet", "--force", "-o", str(trace), "--",
                         *self.command(kind, knobs)])  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{kind}: status {done.returncode}: {done.stderr.strip()[-300:]}")


def predict(runner, kind, base, trace):
    """Returns the report's rate and verdict, and {edit: [speed-up, low, high], or a text that says why not}."""
    report, _ = runner.ask("report", str(trace))
    rates = report["throughput"]
    rate = rates["whole_run_samples_per_s"] if rates["base"] == "whole_run" else rates["samples_per_s"]
    told = {"rate": rate, "whole": rates["base"] == "whole_run", "verdict": report["verdict"]["bottleneck"],
            "summary": report["verdict"]["summary"]}  # fmt: skip
    gains = {gain["factor"]: gain["speedup_if_free"] for gain in report["verdict"].get("gains", [])}
    found = {}
    if kind in NO_LOADER:
        for edit, factor in (("no decode", "decode"), ("no step", "compute")):
            found[edit] = [gains[factor], None, None] if factor in gains else "not known"
        return told, found
    now, why = runner.ask("whatif", str(trace), "--workers", str(base))
    arguments = {"no decode": ["--without", "decode"], "no step": ["--step-ms", "0"]}
    for edit, knobs in EDITS.items():
        if knobs.get("workers") == base:
            continue
        if now is None:
            found[edit] = why
            continue
        more = arguments.get(edit, ["--workers", str(knobs.get("workers", base))])
        if edit in arguments:
            more = [*more, "--workers", str(base)]
        answer, why = runner.ask("whatif", str(trace), *more)
        if answer is None:
            found[edit] = why
            continue
        rate = now["configurations"][0]["samples_per_s"]
        one = answer["configurations"][0]
        found[edit] = [one["samples_per_s"] / rate, one["low"] / rate, one["high"] / rate]
    return told, found


def measure(runner, kind, kept):
    out = pathlib.Path(runner.options.out)
    for base in BASES:
        trace = out / f"{kind}-{base}.penstock"
        if not trace.exists():
            runner.record(kind, {"workers": base}, trace)
        kept[f"told {base}"], kept[f"predicted {base}"] = predict(runner, kind, base, trace)
    if runner.options.again:
        return
    arms = [{"workers": base} for base in BASES] if kind in NO_LOADER else [{"workers": count} for count in (0, 1, 2, 4)]
    arms += [{"workers": base, **EDITS[edit]} for base in BASES for edit in ("no decode", "no step")]
    rates = kept.setdefault("rates", {})
    for _ in range(runner.options.rounds):
        random.shuffle(arms)
        for arm in arms:
            rates.setdefault(json.dumps(arm, sort_keys=True), []).append(runner.rates(kind, arm))


def rows(kind, kept):
    """Returns [(kind, base, edit, prediction or why there is none, measured)], and the errors of the reports' rates."""

    def rate(whole=False, **knobs):
        values = kept["rates"].get(json.dumps(knobs, sort_keys=True))
        return statistics.median(pair[0 if whole else 1] for pair in values) if values else None

    found, off = [], []
    for base in BASES:
        now = rate(workers=base)
        report = kept[f"told {base}"]
        off.append((kind, base, report["rate"] / rate(report["whole"], workers=base) - 1, report["summary"]))
        for edit, told in kept[f"predicted {base}"].items():
            then = rate(**{"workers": base, **EDITS[edit]})
            if then:
                found.append((kind, base, edit, told, then / now))
    return found, off


def table(results):
    found, off = [], []
    for kind, kept in results.items():
        if kept.get("rates"):
            more, rates = rows(kind, kept)
            found += more
            off += rates
    print("| loop | recorded with | edit | predicted | interval | measured | off |")
    print("|---|---|---|---|---|---|---|")
    errors, held, unknown = [], [], []
    for kind, base, edit, told, measured in found:
        if isinstance(told, str):
            unknown.append((kind, told))
            continue
        errors.append(told[0] / measured - 1)
        span = ""
        if told[1] is not None:
            held.append(told[1] <= measured <= told[2])
            span = f"{told[1]:.2f} to {told[2]:.2f}"
        print(f"| {kind} | {base} | {edit} | {told[0]:.2f} | {span} | {measured:.2f} | {errors[-1]:+.1%} |")
    print("\n| loop | workers | the report's rate is off by | its verdict |\n|---|---|---|---|")
    for kind, base, error, summary in off:
        print(f"| {kind} | {base} | {error:+.1%} | {summary} |")
    print("\nNot predicted: " + "; ".join(sorted({f"{kind}: {why}" for kind, why in unknown})))
    if errors:
        sizes = sorted(map(abs, errors))
        print(f"\n{len(errors)} predictions of {len(found)}: off by {figures.mean(sizes):.1%} on average, "
              f"95th percentile {sizes[int(0.95 * (len(sizes) - 1))]:.1%}, bias {figures.mean(errors):+.1%}, "
              f"intervals hold {figures.mean(held) if held else 0:.0%}.")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--pictures", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(options.out) / "structures.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    runner = Runner(options)
    failed = 0
    for kind in (function.__name__ for function in structure_cell.KINDS):
        if options.only and kind not in options.only:
            continue
        try:
            measure(runner, kind, results.setdefault(kind, {}))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{kind}: {error}", file=sys.stderr, flush=True)
            failed += 1
        path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    table(results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
