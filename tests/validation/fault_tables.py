# SPDX-License-Identifier: Apache-2.0
"""Writes section (b) of analyzer/VALIDATION.md from its scores: every figure in it comes from here."""
import fault_scores
import faults
import figures
from fault_scores import OURS
from tables import GAIN_GOAL, NAMED_GOAL, REGRET_GOAL, goal, percent, table

TITLE = "## (b) Faults, with truth by intervention\n"
INTRODUCTION = """\
A scenario is a run of PyTorch's DataLoader over real JPEG files with one fault put in (two in F22), or with none. It is
recorded once. Each candidate fix is then applied to the same program and measured without the agent: the truth is the
fix with the largest measured gain, "none" below 5 %; what gains at least four fifths of the largest counts as right too.
Where nothing in the data path gains 5 %, "step" and "none" are both right: they say that the data are not to blame.
Named is, of the verdict and the findings of `penstock report`, what claims the largest gain, or the verdict if it is
within a fifth of that; findings that predict nothing come last, those for information are left out. Gains are of the
whole loop, start-up included.
"""
REGRETS = """\
Suggestion, measured; regret against the best measured of the scenario's own setting and its fixes of workers, depth and
start. The best is found by one half of each arm's runs and judged by the other, both ways: the best of several equal
arms by the same runs is the luckiest, and regret would be noise (the last column).
"""


def share(hits, count):
    low, high = figures.wilson(hits, count)
    return "%s (%d of %d, 95 %%: %s to %s)" % (percent(hits / count if count else None), hits, count, percent(low),
                                               percent(high))  # fmt: skip


def goals(scores):
    rows = []
    for severity in (1, 2, 3):
        hits, count = scores.shares(OURS, severity)
        if count:
            rows.append(goal("faults named right, severity %d" % severity, share(hits, count),
                             hits / count >= NAMED_GOAL, "at least 95 %"))  # fmt: skip
    alarms, count = scores.alarms(OURS)
    if count:
        rows.append(goal("healthy controls with an alarm", "%d of %d" % (alarms, count), alarms == 0, "none"))
    if scores.regrets[OURS]:
        lost = scores.judged_regret(OURS)
        rows.append(goal("regret of the suggestion", percent(lost), lost <= REGRET_GOAL, "at most 2 %"))
    if scores.gain_errors:
        off = figures.mean(abs(error) for error in scores.gain_errors)
        rows.append(goal("speed-up of what was named, off by", percent(off), off <= GAIN_GOAL, "at most 10 %"))
    others = [(hits / count, method) for method in scores.named if method != OURS
              for hits, count in [scores.shares(method)] if count]  # fmt: skip
    hits, count = scores.shares(OURS)
    if others and count:
        best, method = max(others)
        rows.append(goal("best baseline's share named right", "%s (%s)" % (percent(best), method), best < hits / count,
                         "behind"))  # fmt: skip
    return table(("goal", "found", "wanted", "reached"), rows)


def methods(scores):
    rows = []
    for method in scores.named:
        cells = []
        for severity in (1, 2, 3, None):
            hits, count = scores.shares(method, severity)
            cells.append("%d of %d" % (hits, count))
        alarms, controls = scores.alarms(method)
        rows.append((method, *cells, "%d of %d" % (alarms, controls), percent(scores.expected_gain(method), 0)))
    return table(("named right", "severity 1", "2", "3", "all faults", "alarms on controls", "gain had, of the best"),
                 rows)  # fmt: skip


def confusion(scores):
    used = {label for pair in scores.confusion for label in pair}
    names = [label for label in faults.LABELS if label in used]
    rows = [(truth, *(scores.confusion[truth, named] or "" for named in names)) for truth in names]
    return table(("largest measured gain \\ named", *names), rows)


def gain(value):
    return "-" if value is None else percent(value, 0, sign=True)


def each(scores):
    rows = []
    for one in scores.judged:
        order = sorted(one.gains, key=lambda label, gains=one.gains: -gains[label])
        measured = ", ".join("%s %s" % (label, gain(one.gains[label])) for label in order[:3])
        named = one.ranked[0]
        verdict = "yes" if one.right else ("second" if one.among else "no")
        rows.append(("%s/%d" % one.scenario[:2], one.scenario.title, measured, named, gain(one.claimed), gain(one.real),
                     percent(abs(one.replay), 0), verdict))  # fmt: skip
    return table(("", "what was done", "measured gains, the three largest", "named", "claims", "measured", "replay off",
                  "right"), rows)  # fmt: skip


def whatif(scores):
    rows = []
    for what, errors in sorted(scores.whatif.items()):
        found = figures.summarise(errors)
        rows.append((what, found.count, percent(found.mean_absolute), percent(found.median_absolute),
                     percent(found.worst), percent(found.bias, sign=True)))  # fmt: skip
    head = ("fix asked of `penstock whatif`", "predictions", "speed-up off by", "median", "worst", "bias")
    return table(head, rows)


def regrets(scores):
    rows = []
    for method, lost in scores.regrets.items():
        naive, honest = scores.regret(method)
        worst = max((one for _naive, one in lost if one is not None), default=None)
        rows.append((method, len(lost), percent(honest), percent(worst), percent(naive)))
    return table(("", "suggestions", "mean regret", "worst", "by the same runs"), rows)


def section(scores):
    parts = [TITLE, INTRODUCTION,
             "%d of %d planned arms measured, %d of them not to %s yet (standard error of an arm's mean, which is its "
             "rate). Repeat noise (standard deviation of one arm's runs): %s.\n" % (
                 scores.measured, scores.planned, scores.unsettled, percent(faults.KNOWN, 0),
                 percent(figures.repeat_noise(scores.repeats)))]  # fmt: skip
    if not scores.judged:
        parts.append("No scenario was recorded and measured yet.\n")
    else:
        top = sum(one.among for one in scores.judged if not one.scenario.healthy)
        count = sum(not one.scenario.healthy for one in scores.judged)
        parts += [goals(scores),
                  "Right among the first two named: %s. Macro-F1 over the true labels: %.2f.\n" % (
                      share(top, count), fault_scores.macro_f1(scores.judged)),
                  methods(scores), confusion(scores), each(scores)]  # fmt: skip
        if scores.whatif:
            parts += ["Every fix that `penstock whatif` can be asked for, from the same traces; it and the measurement "
                      "agree on whether 5 %% is gained in %s.\n" % percent(sum(scores.signs) / len(scores.signs)),
                      whatif(scores)]  # fmt: skip
        if scores.regrets[OURS]:
            parts += [REGRETS, regrets(scores)]
    if scores.missing:
        parts.append("Not judged, for lack of runs: %s.\n" % ", ".join(scores.missing))
    parts.append("Not made here: " + "; ".join("%s (%s)" % one for one in faults.NOT_RUN) + ".\n")
    return "\n".join(parts)
