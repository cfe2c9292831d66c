# SPDX-License-Identifier: Apache-2.0
"""The statistics of analyzer/VALIDATION.md: pure functions of plain numbers. figures_test.py has known answers.

An error is predicted / measured - 1, a fraction: +0.1 is a prediction that promises 10 % too much.
"""
import collections
import math
import statistics

Errors = collections.namedtuple("Errors", "count mean_absolute median_absolute p95_absolute worst bias")


def quantile(values, p):
    """The quantile by linear interpolation (Hyndman and Fan, type 7). Requires: one value or more, p in [0, 1]."""
    ordered = sorted(values)
    place = p * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def relative_error(predicted, measured):
    return predicted / measured - 1


def summarise(errors):
    """Summary of a list of relative errors; bias is their mean with the sign. None for an empty list."""
    if not errors:
        return None
    sizes = [abs(error) for error in errors]
    return Errors(len(sizes), mean(sizes), quantile(sizes, 0.5), quantile(sizes, 0.95), max(sizes), mean(errors))


def coverage(intervals, values):
    """Share of values inside their interval (low, high), ends included. None for no values."""
    inside = [low <= value <= high for (low, high), value in zip(intervals, values)]
    return sum(inside) / len(inside) if inside else None


def wilson(hits, count, z=1.96):
    """Wilson's interval of a share, 95 % by default; (0, 1) for no trials."""
    if count == 0:
        return 0.0, 1.0
    share, square = hits / count, z * z
    centre = (share + square / (2 * count)) / (1 + square / count)
    half = z * math.sqrt(share * (1 - share) / count + square / (4 * count * count)) / (1 + square / count)
    return max(0.0, centre - half), min(1.0, centre + half)


def repeat_noise(groups):
    """Coefficient of variation of repeats, pooled over `groups`: the root of the mean square of (value
    - mean) / mean, with n - 1 for each group. None unless some group has two values."""
    squares, degrees = 0.0, 0
    for group in groups:
        if len(group) < 2:
            continue
        middle = mean(group)
        squares += math.fsum((value / middle - 1) ** 2 for value in group)
        degrees += len(group) - 1
    return math.sqrt(squares / degrees) if degrees else None


def standard_error(values):
    """Standard error of the mean, as a fraction of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    return statistics.stdev(values) / math.sqrt(len(values)) / mean(values)


def speed_difference(things):
    """The largest difference in speed, as a fraction, between one machine and the others. A machine is compared with
    the others on each thing that both measured, and the differences are averaged over all these things. `things`:
    [[(machine, rate)]]. None if no two machines measured the same thing."""
    logs = collections.defaultdict(list)
    for runs in things:
        for machine in {machine for machine, _rate in runs}:
            own = [rate for one, rate in runs if one == machine]
            others = [rate for one, rate in runs if one != machine]
            if others:
                logs[machine].append(math.log(mean(own) / mean(others)))
    return max(math.exp(abs(mean(found))) - 1 for found in logs.values()) if logs else None


def regret(chosen, rates):
    """The fraction of the best rate that a choice loses: 1 - its rate / the best one. `rates`: {choice: rate}."""
    return 1 - rates[chosen] / max(rates.values())


def honest_regret(chosen, runs):
    """The regret if one half of the runs finds the best choice and the other half measures its rate. The halves
    then change places, and the result is the mean of both.

    The best of several noisy rates is also the luckiest one, so regret() is not 0 even if all
    choices are equal. `runs`: {choice: [measured rate]}. None if a choice has only one run."""
    if min(map(len, runs.values())) < 2:
        return None
    first = {choice: mean(found[0::2]) for choice, found in runs.items()}
    second = {choice: mean(found[1::2]) for choice, found in runs.items()}
    return mean(1 - judged[chosen] / judged[max(found, key=found.get)] for found, judged in
                ((first, second), (second, first)))  # fmt: skip


def cheapest(rates, cost, within=0.02):
    """The cheapest choice with a rate at most `within` below the best; among equally cheap ones, the fastest."""
    best = max(rates.values())
    good = [choice for choice, rate in rates.items() if rate >= (1 - within) * best]
    return min(good, key=lambda choice: (cost(choice), -rates[choice]))


def name_of(gains, least=0.05):
    """The factor that gains most, "none" if no gain reaches `least`. `gains`: {factor: speedup - 1}."""
    if not gains:
        return "none"
    factor = max(gains, key=gains.get)
    return factor if gains[factor] >= least else "none"


def named_right(named, gains, least=0.05, tie=0.2):
    """Whether `named` is the factor that gains most by measured `gains`, or gains almost as much (within `tie`)."""
    truth = name_of(gains, least)
    if truth == "none" or named == "none":
        return named == truth
    return gains.get(named, 0) >= max(least, (1 - tie) * gains[truth])


def discordant(predicted, measured, margin):
    """Finds the pairs of choices that `predicted` orders in another way than `measured`, among the pairs
    whose measured rates differ by `margin`.

    Both are {choice: rate}. Returns (wrong pairs, number of pairs that differ by the margin)."""
    choices = sorted(set(predicted) & set(measured))
    wrong, count = [], 0
    for index, one in enumerate(choices):
        for other in choices[index + 1:]:
            slow, fast = sorted((one, other), key=measured.get)
            if measured[fast] < (1 + margin) * measured[slow]:
                continue
            count += 1
            if predicted[fast] < predicted[slow]:
                wrong.append((slow, fast))
    return wrong, count
