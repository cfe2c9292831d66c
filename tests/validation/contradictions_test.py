# SPDX-License-Identifier: Apache-2.0
"""No report contradicts itself: verdict, findings and suggestion of every trace in the tree.

Each promised gain must be a gain even at the low end of its interval. The factor in the headline is the one that
gains most, and the step is not named if something in the data path gains more. All rates have one base.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import unittest

import runs

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = sorted(path for folder in (ROOT / "tests/validation/measured", ROOT / "traces/samples")
                for path in folder.rglob("*") if path.suffix in (".penstock", ".recording"))  # fmt: skip
PREFETCH_SHARE = 0.6  # docs/diagnosis.md 3.9: `prefetch` is named if it saves this share of the largest factor's time
# Findings about the step, not about the data path.
OF_STEP = {"compute-bound", "kernel-launch-bound", "trainer-starved", "preprocessing-on-busy-gpu", "rank-imbalance"}


def certain(promise):
    """Whether the promise is a gain even at the low end of its interval."""
    return promise["speedup"] * promise["low"] > promise["samples_per_s"]


def saved(speedup):
    return 1 - 1 / speedup


def near(one, other, within=1e-6):
    return abs(one - other) <= within * max(abs(one), abs(other))


def two_bases(report):
    """Yields each rate or gain that does not fit the recorded rate or the ceiling."""
    verdict, throughput, plan = report["verdict"], report["throughput"], report["plan"]
    base = throughput["whole_run_samples_per_s" if throughput["base"] == "whole_run" else "samples_per_s"]
    if verdict["needs"] or not base:
        return
    ceiling = verdict["samples_per_s_if_data_free"]
    if not near(ceiling, base * verdict["speedup_if_data_free"]):
        yield f"data for free gains {verdict['speedup_if_data_free']:.3f}x, but {base:.6g} becomes {ceiling:.6g}"
    told = [(one["option"], one["predicted"]) for one in report["changes"]] + [
        (one["id"], one["predicted"]) for one in report["findings"] if one.get("predicted")]  # fmt: skip
    if report["suggestion"]["changes"]:
        told.append(("the suggestion", report["suggestion"]["predicted"]))
    told += [(f"the plan's {one['id']}", one) for one in plan["steps"]]
    for name, one in told:
        if not near(one["samples_per_s"], base * one["speedup"]):
            yield f"{name} gains {one['speedup']:.3f}x, but {base:.6g} becomes {one['samples_per_s']:.6g}"
    for gain in verdict["gains"]:
        of_step = gain["factor"] in ("compute", "h2d", "startup")
        if not of_step and gain["speedup_if_free"] > verdict["speedup_if_data_free"] * (1 + 1e-9):
            yield f"{gain['factor']} gains {gain['speedup_if_free']:.3f}x, more than all data"
    if plan["missing"]:
        return
    if not near(plan["now"]["samples_per_s"], base):
        yield f"the plan begins at {plan['now']['samples_per_s']:.6g}, not at {base:.6g}"
    end = plan["ceiling_samples_per_s"]
    if end and (end < ceiling if plan["ceiling_with_other_copies"] else not near(end, ceiling)):
        yield f"the plan ends at {end:.6g}, not at {ceiling:.6g}"
    before = 1.0
    for one in plan["steps"]:
        if not near(one["gain"], one["speedup"] / before):
            yield f"the plan's {one['id']} gains {one['gain']:.3f}x of {before:.3f}x, not {one['speedup']:.3f}x"
        if end and one["samples_per_s"] > end * 1.001:
            yield f"the plan's {one['id']} reaches {one['samples_per_s']:.6g}, beyond {end:.6g}"
        before = one["speedup"]


def contradictions(report):
    """Yields each claim of the report that another claim or its own interval contradicts."""
    verdict, suggestion = report["verdict"], report["suggestion"]
    yield from two_bases(report)
    gains = {gain["factor"]: gain["speedup_if_free"] for gain in verdict["gains"]}
    promised = [(finding["id"], finding["predicted"]) for finding in report["findings"] if finding.get("predicted")]
    for name, promise in promised:
        if not certain(promise) and not promise.get("at_most"):
            yield f"{name} promises {promise['speedup']:.3f}x, which its interval does not hold"
    if suggestion["changes"] and not certain(suggestion["predicted"]):
        yield f"the suggestion promises {suggestion['predicted']['speedup']:.3f}x, which its interval does not hold"
    if suggestion["changes"] and (suggestion["missing"] or verdict["needs"]):
        yield "something is suggested though nothing can be predicted"
    named = verdict["bottleneck"]
    if named == "none" or named not in gains or verdict["needs"]:
        return
    # Without workers, step and stages take turns. The step is then named only if it gains more than the whole data
    # path. So a stage may be named although the step gains more than this stage.
    rivals = {factor: gain for factor, gain in gains.items() if factor != "compute" or report["loader"]["num_workers"]}
    most = max(rivals.values(), default=1.0)
    if named == "prefetch":
        if saved(gains[named]) < PREFETCH_SHARE * saved(most) - 1e-9:
            yield f"the queues are named, which save too little: {gains}"
    elif named != "compute" and gains[named] < most - 1e-9:
        yield f"{named} is named, which does not gain most: {gains}"
    if named == "compute":
        for name, promise in [*promised, *([("the suggestion", suggestion["predicted"])] if suggestion["changes"] else [])]:
            if name not in OF_STEP and report["loader"]["num_workers"] and promise["speedup"] > gains[named]:
                yield f"the step is named ({gains[named]:.2f}x), and {name} gains {promise['speedup']:.2f}x"


class Contradictions(unittest.TestCase):
    def test_no_trace_in_the_tree_has_one(self):
        program = runs.program("penstock")
        if not os.access(program, os.X_OK):
            self.skipTest("penstock is not built")
        self.assertGreater(len(TRACES), 100)

        def ask(trace):
            done = subprocess.run([program, "report", str(trace), "--json"], capture_output=True, check=True)
            return [f"{trace.name}: {one}" for one in contradictions(json.loads(done.stdout))]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = [one for several in pool.map(ask, TRACES) for one in several]
        self.assertEqual([], found)

    def test_the_check_finds_them(self):
        promise = {"speedup": 1.25, "samples_per_s": 100.0, "low": 90.0, "high": 110.0}
        step = {"id": "num_workers", "speedup": 2.0, "gain": 2.0, "samples_per_s": 160.0}
        sound = {
            "verdict": {"bottleneck": "decode", "needs": "", "gains": [
                {"factor": "decode", "speedup_if_free": 2.0}, {"factor": "compute", "speedup_if_free": 1.2}],
                "speedup_if_data_free": 2.5, "samples_per_s_if_data_free": 200.0},
            "throughput": {"base": "steady", "samples_per_s": 80.0, "whole_run_samples_per_s": 70.0},
            "plan": {"missing": "", "now": {"samples_per_s": 80.0}, "steps": [step], "ceiling_samples_per_s": 200.0,
                     "ceiling_with_other_copies": False},
            "changes": [{"option": "--pack", "predicted": promise}],
            "suggestion": {"changes": True, "missing": "", "predicted": promise},
            "findings": [{"id": "slow-decoder", "predicted": promise}],
            "loader": {"num_workers": 2}}  # fmt: skip
        self.assertEqual([], list(contradictions(sound)))
        changes = (
            lambda report: report["findings"][0]["predicted"].update(speedup=1.1),
            lambda report: report["suggestion"].update(missing="not enough: needs more"),
            lambda report: report["verdict"]["gains"][0].update(speedup_if_free=1.1),
            lambda report: report["verdict"].update(bottleneck="compute"),
            lambda report: report["verdict"].update(samples_per_s_if_data_free=210.0),
            lambda report: report["verdict"]["gains"][0].update(speedup_if_free=2.6),
            lambda report: report["throughput"].update(base="whole_run"),
            lambda report: report["changes"][0]["predicted"].update(samples_per_s=101.0),
            lambda report: report["plan"]["now"].update(samples_per_s=81.0),
            lambda report: report["plan"].update(ceiling_samples_per_s=190.0),
            lambda report: report["plan"]["steps"][0].update(gain=1.9),
            lambda report: report["plan"]["steps"][0].update(samples_per_s=240.0, speedup=3.0, gain=3.0),
        )
        for change in changes:
            report = json.loads(json.dumps(sound))
            change(report)
            self.assertNotEqual([], list(contradictions(report)))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
