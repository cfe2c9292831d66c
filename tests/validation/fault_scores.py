# SPDX-License-Identifier: Apache-2.0
"""Scores: which methods named the fix that gains most, how far our claimed gain is from the measured one, and how much
slower the suggestion is than the best setting.

A label is the part that a fix changes ("read", "workers"). Its gain is the measured gain of its best fix. The true
label of a scenario is the one with the largest gain, "none" if that is less than 5 %.
"""
import collections

import faults
import figures

OURS = "penstock"

# The judgement of one scenario. truth: the true label; gains: {label: gain}; ranked: the labels that we named, in
# order; right: whether the first of them is right; among: whether one of the first two is right; claimed, real: the
# claimed and the measured gain of the first; wait, confidence, replay: from the report.
Judged = collections.namedtuple("Judged", "scenario truth gains ranked right among claimed real wait confidence replay")


def gains_of(scenario, rates):
    """{label: largest measured gain of its fixes}; {} if the scenario itself is not measured."""
    found = {}
    if "base" not in rates:
        return found
    for fix in scenario.fixes:
        if fix.what in rates:
            gain = rates[fix.what] / rates["base"] - 1
            found[fix.label] = max(found.get(fix.label, gain), gain)
    return found


def is_right(named, gains):
    """As figures.named_right(), with one exception. If nothing in the data path gains, "step" and "none" are both
    right, since both say that the data path is not to blame."""
    data = {label: gain for label, gain in gains.items() if label != "step"}
    if figures.name_of(data) == "none":
        return named in ("step", "none")
    return figures.named_right(named, gains)


def is_alarm(named, gains):
    """Whether something in the data path is named although nothing there gains."""
    data = {label: gain for label, gain in gains.items() if label != "step"}
    return figures.name_of(data) == "none" and named not in ("step", "none")


class Scores:
    """Filled one scenario at a time. Keeps a Judged for each of our verdicts, and only the outcomes of the other
    methods."""

    def __init__(self):
        self.judged = []
        self.named = collections.defaultdict(list)  # method -> [(severity, healthy, right, alarm, gain, best gain)]
        self.confusion = collections.Counter()  # (truth, what we named)
        self.gain_errors = []  # (1 + claimed) / (1 + measured) - 1 of the label that we named
        self.whatif = collections.defaultdict(list)  # Fix.what -> the same error of each prediction by whatif
        self.signs = []  # for each prediction by whatif: whether it and the measurement agree about a gain of 5 %
        self.regrets = collections.defaultdict(list)  # method -> (regret, honest regret or None)
        self.repeats = []
        self.missing = []
        self.planned = self.measured = self.unsettled = 0  # arms
        self.loads = []
        self.arms = []  # lists of runs

    def count(self, arms, settled):
        """`arms`: {arm: [run]} of one scenario; settled(runs): whether their mean is known well enough."""
        for found in arms.values():
            self.planned += 1
            self.measured += 1 if found else 0
            self.unsettled += 1 if found and not settled(found) else 0
            self.loads += [one["load"] for one in found]
            self.arms.append(found)

    def add(self, scenario, report, repeats, others, predicted):
        """`repeats`: {arm: [rate]}; `others`: {method: {label: claim}}; `predicted`: {fix: gain} of whatif."""
        rates = {arm: figures.mean(values) for arm, values in repeats.items()}
        gains = gains_of(scenario, rates)
        wanted = {fix.what for fix in scenario.fixes} | {"base"}
        if report is None or not wanted <= set(rates):
            self.missing.append("%s/%d" % scenario[:2])
            return
        self.repeats += repeats.values()
        self.add_names(scenario, report, gains, others)
        for fix in scenario.fixes:
            if fix.what in predicted:
                real = rates[fix.what] / rates["base"] - 1
                self.whatif[fix.what.split(" ", 1)[1] if fix.label == "workers" else fix.what].append(
                    (1 + predicted[fix.what]) / (1 + real) - 1)
                self.signs.append((predicted[fix.what] >= 0.05) == (real >= 0.05))
        self.add_regrets(scenario, repeats)

    def add_names(self, scenario, report, gains, others):
        claims = faults.claims_of(report)
        ranked = faults.ranking(report)
        truth = figures.name_of(gains)
        named = ranked[0]
        real = gains.get(named)
        right = is_right(named, gains)
        among = right or any(is_right(label, gains) for label in ranked[:2])
        verdict = report["verdict"]
        self.judged.append(Judged(scenario, truth, gains, ranked, right, among, claims.get(named), real,
                                  verdict["wait_fraction"], verdict["confidence"], report["replay"]["error"]))  # fmt: skip
        self.confusion[truth, named] += 1
        if named != "none" and real is not None and claims[named] > 0:
            self.gain_errors.append((1 + claims[named]) / (1 + real) - 1)
        best = max([0.0, *gains.values()])
        for method, claimed in [(OURS, None), *others.items()]:
            label = named if claimed is None else figures.name_of(claimed)
            self.named[method].append((scenario.severity, scenario.healthy, is_right(label, gains),
                                       is_alarm(label, gains), max(0.0, gains.get(label, 0.0)), best))  # fmt: skip

    def add_regrets(self, scenario, repeats):
        """Adds the regret of the suggestion and of changing nothing. They are compared with each other and with the
        fixes that change only workers, prefetch and persistent."""
        settings = {"base", "suggested", *(fix.what for fix in scenario.fixes
                                           if set(fix.knobs) <= {"workers", "prefetch", "persistent"})}  # fmt: skip
        known = {arm: rates for arm, rates in repeats.items() if arm in settings}
        if "suggested" not in known or len(known) <= 2:
            return
        means = {arm: figures.mean(rates) for arm, rates in known.items()}
        for method, chosen in ((OURS, "suggested"), ("as it is", "base")):
            self.regrets[method].append((figures.regret(chosen, means), figures.honest_regret(chosen, known)))

    def regret(self, method):
        """(mean regret, mean honest regret); the second is None if no scenario has two runs of each arm."""
        naive, honest = zip(*self.regrets[method])
        honest = [one for one in honest if one is not None]
        return figures.mean(naive), figures.mean(honest) if honest else None

    def judged_regret(self, method):
        """The regret that is compared with REGRET_GOAL: the honest regret, or the plain one if there is none."""
        naive, honest = self.regret(method)
        return naive if honest is None else honest

    def shares(self, method, severity=None):
        """(number named right, number in all) of the faults, healthy controls left out."""
        hits = [right for level, healthy, right, *_ in self.named[method]
                if not healthy and severity in (None, level)]  # fmt: skip
        return sum(hits), len(hits)

    def alarms(self, method):
        """(number of alarms, number in all) of the healthy controls."""
        found = [alarm for _level, healthy, _right, alarm, *_ in self.named[method] if healthy]
        return sum(found), len(found)

    def expected_gain(self, method):
        """The gain of fixing the named parts, as a share of the best fixes' gains, summed over all faults."""
        pairs = [(claimed, best) for _level, healthy, _right, _alarm, claimed, best in self.named[method]
                 if not healthy]  # fmt: skip
        whole = sum(best for _claimed, best in pairs)
        return sum(claimed for claimed, _best in pairs) / whole if whole > 0 else None


def macro_f1(judged):
    """Macro F1: the mean over the true labels L of 2 * (right cases of L) / (cases whose truth is L + cases named L).
    If another label was named but counts as right (a tie), the case counts as if the truth had been named."""
    truths = collections.Counter(one.truth for one in judged)
    named = collections.Counter(one.truth if one.right else one.ranked[0] for one in judged)
    right = collections.Counter(one.truth for one in judged if one.right)
    scores = [2 * right[label] / (truths[label] + named[label]) for label in truths]
    return figures.mean(scores) if scores else None
