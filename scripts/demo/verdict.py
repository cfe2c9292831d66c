#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the verdict of reports (NAME=FILE.json, schema penstock.report/1), a few lines each.

Fails if a report names no bottleneck or holds no samples, since a demo that prints nonsense must not
pass.
"""

import json
import sys

# Stages in which the workers or the training process work on the data. The other stages are waits, or contain
# these stages.
WORK = ("read", "decode", "augment", "collate", "put", "get", "pin", "h2d")


def lines(name, report):
    verdict, throughput = report["verdict"], report["throughput"]
    stages = [stage for stage in report["stages"] if stage["name"] in WORK and stage["count"] > 0]
    if not stages or throughput["samples_per_s"] <= 0:
        raise ValueError("the report holds no samples")
    stages.sort(key=lambda stage: -stage["wall_s"])
    total = sum(stage["wall_s"] for stage in stages)
    shares = ", ".join(f"{stage['name']} {stage['wall_s'] / total:.0%}" for stage in stages[:3])
    coverage = report["coverage"]["fraction"]
    dropped = report["losses"]["dropped_events"]
    whole = throughput["base"] == "whole_run"  # the base of the verdict's rates
    rate = throughput["whole_run_samples_per_s" if whole else "samples_per_s"]
    yield (f"{name}: bottleneck {verdict['bottleneck']}, {rate:.0f} samples/s{' of the whole run' if whole else ''}, "
           f"the step waits for data {verdict['wait_fraction']:.0%} of the time")
    yield f"  the work on the data: {shares}; read bytes seen {coverage:.1%}, events lost {dropped}"
    if verdict.get("summary"):
        yield f"  {verdict['summary']}"


def main(arguments):
    if not arguments:
        print("usage: verdict.py NAME=REPORT.json...", file=sys.stderr)
        return 2
    for argument in arguments:
        name, _, path = argument.partition("=")
        try:
            with open(path, encoding="utf-8") as file:
                text = list(lines(name, json.load(file)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"verdict: {path}: not a usable report: {type(error).__name__}: {error}", file=sys.stderr)
            return 4
        print("\n".join(text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
