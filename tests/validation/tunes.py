# SPDX-License-Identifier: Apache-2.0
"""Checks decisions of `penstock tune` by further pairs of runs.

  tunes.py --bin DIR --out DIR [--only NAME]... [--pairs N] [--again] CASES.json

CASES.json: {NAME: [COMMAND...]}, programs that run for some seconds. Each is tuned once. Then the setting that tune
took, or the fastest one that it tried, and the program as it is run N times each, in alternating order. If tune tried
nothing, one more worker and malloc's thresholds run, each N / 2 times. Rates have the base that tune used. A decision
is

  right      a setting was taken and the interval (95 percent) of its further pairs lies above 1; or none was taken and
             no setting gains 5 percent in its further pairs; or tune did not decide and the gain of the further pairs
             is less than 10 percent
  wrong      a setting was taken and gains nothing (the interval's upper end is below 1.02); or none was taken although
             one gains 5 percent (the lower end is above 1.05); or tune did not decide although one gains 20 percent
             (the lower end is above 1.2)
  open       in all other cases: the further pairs do not tell

Needs a quiet machine. Results are kept in OUT/tunes.json; --again makes the table anew and measures nothing. Exit
status: 0 all measured, 1 a program failed.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

QUANTILE = {5: 2.571, 9: 2.262, 10: 2.228, 19: 2.093, 20: 2.086}  # Student's t, 97.5 %, by degrees of freedom
OTHERS = ("workers+1", "malloc=keep")


def ask(options, *words):
    """What a command of penstock prints as JSON."""
    done = subprocess.run([pathlib.Path(options.bin) / "penstock", *words], capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise RuntimeError(f"penstock {' '.join(map(str, words))}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def rate(options, command, arm, base):
    """The rate of one run, in samples per second."""
    trace = pathlib.Path(options.out) / "arm.penstock"
    override = ["--override", arm] if arm else []
    done = subprocess.run([pathlib.Path(options.bin) / "penstock", "record", "--quiet", "--force", "-o", trace, *override,
                           "--", *command], capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{arm}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    told = ask(options, "report", trace, "--json")
    if arm == "":
        options.workers = (told.get("loader") or {}).get("num_workers", 0)
    return told["throughput"]["whole_run_samples_per_s" if base == "whole_run" else "samples_per_s"]


def challengers(options, command, tuned):
    """{setting: number of further pairs} for the settings that are compared with the program as it is."""
    if tuned["taken"]:
        return {tuned["settings"][tuned["taken"] - 1]["override"]: options.pairs}
    tried = [one for one in tuned["settings"] if "measured" in one]
    if tried:
        return {max(tried, key=lambda one: one["measured"]["estimate"])["override"]: options.pairs}
    rate(options, command, "", tuned["base"])  # for the number of workers
    return {other.replace("workers+1", f"workers={options.workers + 1}"): options.pairs // 2 for other in OTHERS}


def measure(options, command, kept):
    if "tuned" not in kept:
        start = time.monotonic()
        kept["tuned"] = ask(options, "tune", "--json", "--", *command)
        kept["seconds"] = time.monotonic() - start
    tuned = kept["tuned"]
    pairs = kept.setdefault("pairs", {})
    if pairs:
        return
    for arm, count in challengers(options, command, tuned).items():
        found = []
        for turn in range(count):
            order = ["", arm] if turn % 2 == 0 else [arm, ""]
            rates = {one: rate(options, command, one, tuned["base"]) for one in order}
            found.append([rates[""], rates[arm]])
        pairs[arm] = found


def gain(pairs):
    """(estimate, low, high) of the ratio of the rates, from the logarithms of the pairs."""
    logs = [math.log(other / plain) for plain, other in pairs]
    middle = statistics.mean(logs)
    half = QUANTILE[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def interval(estimate, low, high):
    return f"{estimate:.2f} ({low:.2f} to {high:.2f})"


def judge(tuned, gains):
    """Returns "right", "wrong" or "open"."""
    estimate, low, high = max(gains)
    if tuned["taken"]:
        return "right" if low > 1 else "wrong" if high < 1.02 else "open"
    if tuned["verdict"] == "not_decided":
        return "right" if estimate < 1.1 else "wrong" if low > 1.2 else "open"
    return "right" if estimate < 1.05 else "wrong" if low > 1.05 else "open"


def row(name, kept):
    """Returns a line of the table, the judgement, and the time that tune took in units of a median run."""
    tuned = kept["tuned"]
    gains = {arm: gain(found) for arm, found in kept["pairs"].items()}
    trial = statistics.median(one["seconds"] for one in tuned["runs"]) if tuned["runs"] else math.nan
    judged = judge(tuned, list(gains.values()))
    said = tuned["verdict"].replace("_", " ")
    if tuned["taken"]:
        taken = tuned["settings"][tuned["taken"] - 1]
        ratio = taken["measured"]
        said += f": {taken['override']}, {interval(ratio['estimate'], ratio['low'], ratio.get('high', math.inf))}"
    checked = "; ".join(f"{arm} {interval(*one)}" for arm, one in gains.items())
    times = kept["seconds"] / trial
    return f"| {name} | {said} | {checked} | {judged} | {kept['seconds']:.0f} s | {times:.1f} |", judged, times


def main():
    # argparse expands percent signs in the usage, so the docstring must have none.
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--pairs", type=int, choices=(20,), default=20)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("cases")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "tunes.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    failed = 0
    for name, command in json.loads(pathlib.Path(options.cases).read_text(encoding="utf-8")).items():
        if options.again or (options.only and name not in options.only):
            continue
        try:
            measure(options, command, results.setdefault(name, {}))
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            failed += 1
        path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    (out / "arm.penstock").unlink(missing_ok=True)
    print("| program | tune | further pairs | decision | time | of a trial |\n|---|---|---|---|---:|---:|")
    rows = [row(name, kept) for name, kept in results.items() if kept.get("pairs")]
    for text, _, _ in rows:
        print(text)
    if rows:
        counted = ", ".join(f"{word} {sum(one[1] == word for one in rows)}" for word in ("right", "wrong", "open"))
        known = [one[2] for one in rows if math.isfinite(one[2])]
        print(f"\nDecisions: {counted}. Median time: {statistics.median(known):.1f} trials.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
