# SPDX-License-Identifier: Apache-2.0
"""Checks the functions and lines that a report names against what the programs gain without them.

    run.py --bin DIR --out DIR [--only CASE]... [--record SECONDS] [--compare SECONDS] PYTHON...

Each PYTHON has torch, NumPy, Pillow, pandas and OpenCV. Records each program of programs.py once with each of them,
and measures the same program with and without the hot line, in turn. Prints a table and writes OUT/lines.json. A line
is found if the report's largest function of the samples, load() left out, is the function of the case, and the largest
line of this function is the line of the case. A found line is right if its share is within 5 points of the measured
time of the line. Needs a quiet machine. Exit status: 0 if, with each Python, at least 11 of 12 lines are found and
right and no healthy program is blamed, otherwise 1; 2 usage.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases  # noqa: E402

POINTS = 0.05
LEAST = 11


def output_of(words, environment=()):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PENSTOCK", "LD_PRELOAD"))}
    kept.update(environment, PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kept)
    if ended.returncode != 0:
        raise RuntimeError("%s: status %d\n%s" % (words, ended.returncode, ended.stderr[-2000:]))
    return ended.stdout


def gained(rates):
    """Returns the fraction of a sample's time that is saved without the line, from the medians of all windows, and the
    quartiles of this fraction over pairs of neighbouring windows, which show the noise."""
    pairs = [1 - slow / fast for slow, fast in zip(rates["with"], rates["without"])]
    low, _, high = statistics.quantiles(pairs, n=4)
    return 1 - statistics.median(rates["with"]) / statistics.median(rates["without"]), low, high


def measure(options, python, case):
    trace = options.out / ("%s.penstock" % case)
    output_of([options.bin / "penstock", "record", "--force", "-o", trace, "--", python, "-B", cases.PROGRAM, case, "record",
               str(options.record)])  # fmt: skip
    report = json.loads(output_of([options.bin / "penstock", "report", "--json", trace]))
    rates = json.loads(output_of([python, "-B", cases.PROGRAM, case, "compare", str(options.compare)]))
    functions = [row for row in report["functions"] if row["stage"] == "sample"]
    return {"functions": functions, "sampling": report["function_sampling"], "rates": rates,
            "findings": [row["id"] for row in report["findings"]]}  # fmt: skip


def name_of(function):
    """Returns the function's own name. Before Python 3.12 a comprehension is a function; it gets the name of the
    function that contains it."""
    name = function["name"]
    while name.endswith(">"):
        name = name.rpartition(".<locals>.")[0] or function["name"].strip("<>")
    return name.split(".")[-1]


def judged(function, line, measured):
    """The row of one program: what the report says, what was measured, and whether both agree."""
    took, low, high = gained(measured["rates"])
    row = {"took": took, "low": low, "high": high, "named": "", "line": 0, "share": 0.0}
    others = [found for found in measured["functions"] if name_of(found) != "load"]
    if others:
        top = max(others, key=lambda found: found["share"])
        row.update(named=name_of(top), share=top["share"])
        if top["lines"]:
            row["line"] = max(top["lines"], key=lambda found: found["share"])["line"]
    if function is None:
        blamed = {"hot-python-loop", "slow-call"} & set(measured["findings"])
        row.update(found=not blamed, right=not blamed, named=", ".join(sorted(blamed)))
        return row
    row["found"] = row["named"] == function and row["line"] == line
    row["right"] = row["found"] and abs(row["share"] - took) <= POINTS
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append")
    parser.add_argument("--record", type=float, default=12, metavar="SECONDS")
    parser.add_argument("--compare", type=float, default=8, metavar="SECONDS")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept, failed = {}, False
    for python in options.pythons:
        version = output_of([python, "-c", "import platform; print(platform.python_version())"]).strip()
        print("\nPython %s\n\n| program | named | share | what the line took | |\n|---|---|---:|---:|---|" % version, flush=True)
        good = 0
        for case, (function, line) in cases.places().items():
            if options.only and case not in options.only:
                continue
            measured = measure(options, python, case)
            row = judged(function, line, measured)
            kept.setdefault(version, {})[case] = {**row, **measured}
            verdict = "right" if row["right"] else "not the share" if row["found"] else "wrong"
            place = "%s, line %d" % (row["named"], row["line"]) if row["line"] else row["named"] or "nothing"
            print("| %s | %s | %.0f %% | %.0f %% (%.0f to %.0f) | %s |" % (
                case, place, 100 * row["share"], 100 * row["took"], 100 * row["low"], 100 * row["high"], verdict),
                flush=True)  # fmt: skip
            good += row["right"] and function is not None
            failed = failed or (function is None and not row["right"])
        failed = failed or (not options.only and good < LEAST)
        (options.out / "lines.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
