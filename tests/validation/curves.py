# SPDX-License-Identifier: Apache-2.0
"""Public throughput curves of 11 decoders on 5 machines: each decoder is predicted from the others.

The law has two constants per machine: the time that the handover of an image costs its worker, and the
highest rate at which the training loop takes images. They are fitted to the curves of the OTHER decoders
of that machine. Of the predicted decoder only the rate without a loader is used. The law holds because the
loop's ceiling hardly depends on the decoder, and because workers and loop work at the same time.
"""
import json
import os

import figures

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "imread_curves.json")
WORKERS = (2, 4, 8)
SHARPNESS = 8  # sharpness of the smooth minimum; 5 to 12 fit about as well
GOAL = 0.08


def load(path=DATA):
    """{machine: {decoder: (rate without a loader, {workers: rate})}}"""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    machines = {}
    for machine, decoder, alone, curve, _batch in rows:
        machines.setdefault(machine, {})[decoder] = (alone, {int(count): rate for count, rate in curve.items()})
    return machines


def law(alone, workers, handover, ceiling):
    """Returns images per second. `handover` is in seconds for an image, `alone` and `ceiling` in images per second."""
    supply = workers / (1 / alone + handover)
    return (supply ** -SHARPNESS + ceiling ** -SHARPNESS) ** (-1 / SHARPNESS)


def misfit(curves, handover, ceiling):
    return figures.mean(abs(figures.relative_error(law(alone, count, handover, ceiling), curve[count]))
                        for alone, curve in curves for count in WORKERS)  # fmt: skip


def fit(curves):
    """Returns the (handover, ceiling) with the least mean absolute error. Takes the best of a grid, and improves it
    by smaller and smaller steps."""
    fastest = max(curve[count] for _alone, curve in curves for count in WORKERS)
    handovers = [0.05e-3 * step for step in range(21)]
    ceilings = [fastest * (0.5 + 0.05 * step) for step in range(31)]
    best = min((misfit(curves, h, c), h, c) for h in handovers for c in ceilings)
    width, height = 0.05e-3, fastest * 0.05
    for _ in range(8):
        width, height = width / 2, height / 2
        around = [(best[1] + i * width, best[2] + j * height) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        best = min(best, *((misfit(curves, h, c), h, c) for h, c in around if h >= 0 and c > 0))
    return best[1:]


def scaled_like_others(alone, others, workers):
    """Predicts without the law: the decoder's rate times the other decoders' mean speed-up with `count` workers."""
    return alone * figures.mean(curve[workers] / rate for rate, curve in others)


def leave_one_out(machines):
    """{method: {(machine, decoder, workers): relative error}}."""
    methods = {"two constants": {}, "workers x rate": {}, "speed-up of the others": {}}
    for machine, decoders in machines.items():
        for decoder, (alone, curve) in decoders.items():
            others = [decoders[name] for name in decoders if name != decoder]
            handover, ceiling = fit(others)
            for count in WORKERS:
                key, measured = (machine, decoder, count), curve[count]
                methods["two constants"][key] = figures.relative_error(law(alone, count, handover, ceiling), measured)
                methods["workers x rate"][key] = figures.relative_error(alone * count, measured)
                methods["speed-up of the others"][key] = figures.relative_error(
                    scaled_like_others(alone, others, count), measured)  # fmt: skip
    return methods
