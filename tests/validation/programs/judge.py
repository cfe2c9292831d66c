# SPDX-License-Identifier: Apache-2.0
"""Compares verdict and predictions of a recorded program with the program's own rates. Pure functions;
judge_test.py has known answers.

`kept` is the stored result of a program (see run.py): "said": the program's own figures of the recorded run; "rates":
{arm: [the program's figures of each run]}; "report": the JSON of penstock report; "workers" and "free": {key: a
configuration of penstock whatif, or a text that says why there is none}.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fault_scores  # noqa: E402
import faults  # noqa: E402
import figures  # noqa: E402

FAR = 0.25  # a prediction with a larger error is wrong, unless its interval contains the measured rate


def arms(case):
    """[(name, workers, factors that are free)] of all arms; the first is the program as recorded."""
    counts = sorted(set(case.counts) | {case.workers}, key=lambda count: (count != case.workers, count))
    return ([(str(count), count, ()) for count in counts] +
            [("no " + what, case.workers, (what,)) for what in case.free])


def rate_of(kept, arm):
    """The rate of an arm's fastest run, since other work on a machine makes runs slower, never faster. None if not
    measured."""
    runs = kept.get("rates", {}).get(arm)
    return max(run["rate"] for run in runs) if runs else None


def gains_of(case, kept):
    """{label: measured speedup - 1} of the factors that were made free, with the labels of faults.py."""
    base = rate_of(kept, str(case.workers))
    found = {}
    for what in case.free:
        rate = rate_of(kept, "no " + what)
        if base and rate:
            found[what] = rate / base - 1
    return found


def verdict_of(case, kept):
    """("right" | "wrong" | "not known" | "not tested", named label): how the interventions judge the verdict.

    If no intervention frees the named factor, the verdict is "wrong" if a freed factor gains clearly more than
    the report claims for the named one, else "not tested"."""
    verdict = kept["report"]["verdict"]
    named = faults.OF_VERDICT.get(verdict["bottleneck"], "none")
    gains = gains_of(case, kept)
    if verdict.get("needs") and named == "none":
        return "not known", named
    if named != "none" and named not in gains:
        claimed = {gain["factor"]: gain["speedup_if_free"] for gain in verdict["gains"]}.get(verdict["bottleneck"], 1)
        return ("wrong" if max(gains.values(), default=0) > 1.25 * claimed - 1 else "not tested"), named
    return ("right" if fault_scores.is_right(named, gains) else "wrong"), named


def predictions(case, kept):
    """[(arm, predicted rate, low, high, measured rate)]; the prediction is None if whatif refused it."""
    found = []
    wanted = [(str(count), kept["workers"].get(str(count)), str(count)) for count in case.counts]
    wanted += [("no " + what, kept["free"].get(what), "no " + what) for what in case.free if what != "step" or case.plain]
    for arm, said, key in wanted:
        rate = rate_of(kept, key)
        if rate is None or said is None:
            continue
        if isinstance(said, str):
            found.append((arm, None, None, None, rate))
        else:
            found.append((arm, said["samples_per_s"], said["low"], said["high"], rate))
    return found


def is_far(predicted, low, high, measured):
    return predicted is not None and abs(predicted / measured - 1) > FAR and not low <= measured <= high


def counted(kept):
    """The recorded run's steady rate as the report gives it, over the rate that the program measured."""
    return kept["report"]["throughput"]["samples_per_s"] / kept["said"]["rate"]


def lines(case, kept):
    """Lines for the terminal about one program."""
    found = [f"{case.name}: {case.title}"]
    if "failed" in kept:
        return found + ["    FAILED " + kept["failed"]]
    if "report" not in kept:
        return found + ["    not run"]
    report = kept["report"]
    right, _ = verdict_of(case, kept)
    found.append(f"    {report['verdict']['summary']}  [{right}]")
    found.append(f"    counted {counted(kept):.2f} of the program's {kept['said']['rate']:.0f} samples/s while recorded; "
                 f"alone {rate_of(kept, str(case.workers)) or 0:.0f}")  # fmt: skip
    gains = gains_of(case, kept)
    found.append("    measured gains: " + ", ".join(f"{what} {gain:+.0%}" for what, gain in gains.items()))
    claimed = {gain["factor"]: gain["speedup_if_free"] - 1 for gain in report["verdict"]["gains"]}
    found.append("    claimed gains:  " + ", ".join(f"{what} {gain:+.0%}" for what, gain in claimed.items()))
    for arm, predicted, low, high, rate in predictions(case, kept):
        if predicted is None:
            found.append(f"    {arm:<12} measured {rate:8.1f}   refused")
            continue
        mark = "  FAR" if is_far(predicted, low, high, rate) else ""
        found.append(f"    {arm:<12} measured {rate:8.1f}   predicted {predicted:8.1f} ({low:.0f}..{high:.0f}) "
                     f"{predicted / rate - 1:+.0%}{mark}")  # fmt: skip
    suggestion = report["suggestion"]
    if suggestion["changes"]:
        found.append(f"    suggested: {suggestion['code']}  {suggestion['predicted']['speedup']:.2f}x")
    found += [f"    {finding['severity']}: {finding['id']}: {finding['title']}" for finding in report["findings"]]
    return found


def table(pairs):
    """Lines of the table of all programs, and the summary below it."""
    found = ["| program | samples/s | verdict | by intervention | gains if free | predicted / measured | counted |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    errors, held, verdicts, far, refused = [], [], [], 0, 0
    for case, kept in pairs:
        if "report" not in kept or not kept.get("rates"):
            found.append(f"| {case.name} | {'failed' if 'failed' in kept else 'not run'} | | | | | |")
            continue
        right, named = verdict_of(case, kept)
        verdicts.append(right)
        cells = []
        for arm, predicted, low, high, rate in predictions(case, kept):
            if predicted is None:
                refused += 1
                cells.append(f"{arm}: refused / {rate:.0f}")
                continue
            error = predicted / rate - 1
            errors.append(error)
            held.append(((low, high), rate))
            far += is_far(predicted, low, high, rate)
            mark = "**" if is_far(predicted, low, high, rate) else ""
            cells.append(f"{arm}: {mark}{predicted:.0f} / {rate:.0f} ({error:+.0%}){mark}")
        gains = ", ".join(f"{what} {gain:+.0%}" for what, gain in gains_of(case, kept).items())
        base = rate_of(kept, str(case.workers))
        found.append(f"| {case.name}, {case.workers} workers | {base or 0:.0f} | {named} | {right} | {gains} | "
                     f"{'; '.join(cells)} | {counted(kept):.2f} |")  # fmt: skip
    total = figures.summarise(errors)
    if total:
        found.append("")
        found.append(f"Verdicts: {verdicts.count('right')} of {len(verdicts)} right, {verdicts.count('wrong')} wrong, "
                     f"{verdicts.count('not known')} not known, {verdicts.count('not tested')} not tested.")  # fmt: skip
        found.append(f"Predictions: {total.count}, mean absolute error {total.mean_absolute:.1%}, 95th percentile "
                     f"{total.p95_absolute:.1%}, bias {total.bias:+.1%}; intervals hold "
                     f"{figures.coverage(*zip(*held)):.0%}; {far} far off; {refused} refused.")  # fmt: skip
    return found
