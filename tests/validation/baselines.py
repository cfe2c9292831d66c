# SPDX-License-Identifier: Apache-2.0
"""What other tools would predict from the same trace, which number of workers they would suggest, and what they
would name as the bottleneck. Pure functions.

`Facts` come from the recorded run: the seconds that a worker takes for a batch, the CPU seconds of a batch, and the
number of cores. Predicted rates are in batches per second. `workers` is the number of workers, `queue` the number of
batches for which the queue has room, `step` the seconds of a step.
"""
import collections

Facts = collections.namedtuple("Facts", "service cpu cores")


def bottleneck_law(facts, workers, step):
    """The slowest of workers, cores and training loop sets the rate (operational analysis; Plumber, cedar). Without
    workers the loop makes a batch and does its step one after the other."""
    if workers == 0:
        return 1 / (facts.service + step)
    limits = [workers / facts.service]
    if facts.cpu > 0:
        limits.append(facts.cores / facts.cpu)
    if step > 0:
        limits.append(1 / step)
    return min(limits)


def tfdata_formula(facts, workers, queue, step):
    """The time of a batch is a step plus the wait for an M/M/1/K queue (tensorflow/core/framework/model.cc).

    With r = step / producer, where `producer` is the time in which the workers together make a batch, the queue is
    empty with probability (1 - r) / (1 - r^(queue + 1)); the wait is this probability times `producer`."""
    if workers == 0:
        return 1 / (facts.service + step)
    producer = max(facts.service / workers, facts.cpu / facts.cores)
    if step == 0:
        return 1 / producer
    ratio = step / producer
    if abs(ratio - 1) < 1e-9:
        empty = 1 / (queue + 1)
    elif ratio > 1:  # both sides of the fraction are divided by ratio^(queue + 1), which may overflow
        power = ratio ** -(queue + 1)
        empty = (ratio - 1) * power / (1 - power)
    else:
        empty = (1 - ratio) / (1 - ratio ** (queue + 1))
    return 1 / (step + empty * producer)


def nearest(wanted, offered):
    """The number in `offered` that is nearest to `wanted`; the smaller one if two are equally near."""
    return min(offered, key=lambda count: (abs(count - wanted), count))


# Rules that use no measurement: {name: function from cores to workers}.
STATIC_RULES = {
    "workers = cores": lambda cores: cores,
    "workers = cores - 1 (Lightning)": lambda cores: max(1, cores - 1),
    "4 workers per GPU (tutorial)": lambda cores: 4,
}


def five_percent_rule(wait_fraction):
    """What kineto's tensorboard plugin would blame: the workers, if more than 5 % of the step is in the loader."""
    return "workers" if wait_fraction > 0.05 else "none"
