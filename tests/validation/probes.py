# SPDX-License-Identifier: Apache-2.0
"""Compares the gains that `penstock record --probe` measures inside a run with the gains of edits in separate runs.

  probes.py --bin DIR --out DIR --pictures DIR [--window 1500ms] [--rounds N] [--only NAME]... [--again]

The program is probe_cell.py. By default it does each part of its work twice. One run with --probe says what the run
gains if a part takes half its time. Then the program runs with this part done half as often, and as it is, N times each
in random order. A gain is a ratio of rates; the two gains are compared by their difference in points. Needs a quiet
machine. Results are kept in OUT/probes.json; --again makes the table anew and measures nothing. Exit status: 0 all
measured, 1 a program failed.
"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys

CELL = pathlib.Path(__file__).resolve().parent / "probe_cell.py"
CASES = {
    "decode holds the loop back, one worker": {"workers": 1, "augment": 1, "width": 4},
    "augment holds the loop back, one worker": {"workers": 1, "decode": 2, "augment": 4, "width": 4},
    "step and worker near each other": {"workers": 1, "width": 96},
    "the step holds the loop back": {"workers": 1, "width": 192, "decode": 2, "augment": 2},
    "no workers": {"workers": 0, "width": 32},
    "two workers on two cores": {"workers": 2, "width": 16},
}
FACTORS = {"decode": "decode", "augment": "augment", "collate": "collate", "compute": "step"}  # factor: knob


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def measure(options, name, kept):
    out, binaries = pathlib.Path(options.out), pathlib.Path(options.bin)
    knobs = {"folder": options.pictures, **CASES[name]}
    trace = out / (name + ".penstock")
    if not trace.exists():
        seconds = 70 * float(options.window.removesuffix("ms")) / 1e3  # 61 windows, and the time before the first
        run([binaries / "penstock", "record", "--quiet", "--force", "-o", out / "new.penstock", "--probe",
             "--probe-window", options.window, "--", sys.executable, "-B", CELL,
             json.dumps({**knobs, "seconds": seconds})])  # fmt: skip
        (out / "new.penstock").rename(trace)
    kept["probe"] = json.loads(run([binaries / "penstock", "report", trace, "--json"]))["probe"]
    if options.again:
        return
    full = {"decode": 2, "augment": 2, "collate": 2, "step": 2, **CASES[name]}
    arms = {"": {}}
    arms.update({factor: {knob: full[knob] // 2} for factor, knob in FACTORS.items() if full[knob] > 1})
    rates = kept.setdefault("rates", {})
    while len(rates.get("", [])) < options.rounds:
        order = list(arms)
        random.shuffle(order)
        for arm in order:
            told = run([sys.executable, "-B", CELL, json.dumps({**knobs, **arms[arm]})])
            rates.setdefault(arm, []).append(float(told))


def rows(name, kept):
    """Yields (line of the table, difference in points or None if the gain is not known)."""
    found = {factor["factor"]: factor for factor in kept["probe"]["factors"]}
    plain = statistics.median(kept["rates"][""])
    for factor in FACTORS:
        if factor not in kept["rates"]:
            continue
        gain = statistics.median(kept["rates"][factor]) / plain
        probe = found.get(factor, {})
        if "measured" not in probe:
            why = probe.get("unknown") or kept["probe"].get("missing") or "no such work"
            yield f"| {name} | {factor} | not known: {why} | {gain:.2f} | |", None
            continue
        apart = (probe["measured"] - gain) * 100
        told = f"{probe['measured']:.2f} ({probe['low']:.2f} to {probe['high']:.2f})"
        yield f"| {name} | {factor} | {told} | {gain:.2f} | {apart:+.0f} |", apart


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--pictures", required=True)
    parser.add_argument("--window", default="1500ms")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "probes.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    failed = 0
    for name in CASES:
        if options.only and name not in options.only:
            continue
        try:
            measure(options, name, results.setdefault(name, {}))
        except (RuntimeError, KeyError) as error:
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
            failed += 1
        path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print("| program | a part in half its time | measured in the run | by an edit | points apart |")
    print("|---|---|---|---:|---:|")
    apart = []
    for name, kept in results.items():
        if kept.get("rates") and kept.get("probe"):
            for text, difference in rows(name, kept):
                print(text)
                apart.append(difference)
    known = [abs(one) for one in apart if one is not None]
    if known:
        print(f"\nKnown {len(known)} of {len(apart)}; {sum(one <= 5 for one in known)} within 5 points, "
              f"{statistics.mean(known):.1f} points apart on average, at most {max(known):.1f}.")  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
