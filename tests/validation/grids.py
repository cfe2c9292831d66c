# SPDX-License-Identifier: Apache-2.0
"""The cells of sections (a), (d) and (e) of analyzer/VALIDATION.md, and the scores of predictions.

A family is one kind of work; its cells differ only in workers, prefetch, step and batch. Some cells are the family's
sources: these are recorded, and all cells are predicted from each source in turn. Scores come from stored measurements,
so no program is started here.
"""
import collections

import baselines
import figures
from runs import Cell, DataLoader, ReferenceLoader, cores

Family = collections.namedtuple("Family", "section name loader cells sources")

NO_WORK = ["--without", "read,decode,augment"]
REPEATS = {"a": 3, "d": 3, "e": 2}  # section -> measurements of each cell


def product(workers, prefetch, steps):
    return [Cell(w, p, s) for w in workers for p in prefetch for s in steps]


def loader_families(full):
    """(d): stage costs that sleep, use CPU time (burn), or both. A sample takes 5 ms on average, so a thread needs
    40 ms for a batch of 8. Samples that only burn take 2 ms."""
    kinds = [
        ("sleeping, constant", [*NO_WORK, "--read-latency", "5ms"]),
        ("sleeping, exponential", [*NO_WORK, "--read-latency", "5ms~exponential"]),
        ("sleeping, lognormal", [*NO_WORK, "--read-latency", "5ms~lognormal:1"]),
        ("burning, lognormal", ["--without", "read,augment", "--decode-cost", "2ms~lognormal:0.5"]),
        ("sleeping and burning", ["--without", "augment", "--read-latency", "4ms~exponential",
                                  "--decode-cost", "1ms~lognormal:0.5"]),
    ]  # fmt: skip
    if full:
        cells = product((1, 2, 4, 8), (1, 2, 4, 16), (0, 6, 12))
        sources = [Cell(1, 4, 6), Cell(2, 4, 12), Cell(4, 16, 0)]
    else:
        kinds = [kinds[2], kinds[4]]
        cells = product((1, 4), (2, 4), (0, 12))
        sources = [Cell(1, 4, 0)]
    return [Family("d", name, ReferenceLoader(costs), cells, sources) for name, costs in kinds]


def dataloader_families(full, pictures):
    """(a): samples that sleep 5 ms on average, 20 ms for a batch of 4, in four distributions; and JPEG decoding, also
    without workers."""
    if full:
        cells = product((1, 2, 4), (1, 2, 4), (0, 6, 12))
        sources = [Cell(1, 2, 6), Cell(2, 2, 12), Cell(4, 4, 0)]
        names = ("constant", "exponential", "lognormal", "bimodal")
        decode = product((0,), (2,), (0, 30)) + product((1, 2, 3, 4, 8), (2,), (0, 30))
        decode_sources = [Cell(1, 2, 0), Cell(2, 2, 30)]
    else:
        cells, sources, names = product((1, 4), (2,), (0, 12)), [Cell(1, 2, 0)], ("lognormal",)
        decode, decode_sources = product((1, 2), (2,), (0,)), [Cell(1, 2, 0)]
    families = [Family("a", "sleeping, " + name, DataLoader(name), cells, sources) for name in names]
    families.append(Family("a", "JPEG decode", DataLoader(jpeg=pictures, batch=16, batches=60), decode, decode_sources))
    return families


# work -> (samples, samples in a batch, step in ms). A run without workers takes some six seconds. A step takes about
# the time in which two workers together make one batch.
REAL_WORKS = {"pillow-jpeg": (1280, 16, 35), "pillow-large": (256, 4, 50), "pillow-png": (768, 16, 60),
              "pillow-webp": (1280, 16, 35), "opencv": (1600, 16, 25), "torchvision": (1280, 16, 35),
              "arrays": (2560, 16, 20), "tokens": (3840, 16, 12)}  # fmt: skip


def real_families(full, folder):
    """(e): real decoding and transforms; workers, depth, step and batch differ."""
    families = []
    for work, (samples, batch, step) in REAL_WORKS.items():
        cells = product((0, 1, 2, 4, 8), (2,), (0, step))
        cells += [Cell(1, 4, 0), Cell(2, 4, step), Cell(2, 2, 0, 2 * batch), Cell(1, 2, step, batch // 2)]
        sources = [Cell(0, 2, 0), Cell(1, 2, 0), Cell(2, 2, step)]
        if not full:
            cells, sources = product((1, 2), (2,), (0,)), sources[1:2]
        loader = DataLoader(work=work, folder=folder, batch=batch, batches=samples // batch)
        families.append(Family("e", work, loader, cells, sources))
    return families if full else families[:2]


def baseline_rates(loader, facts, recorded, source, cells):
    """Returns {method: {cell: samples per second}}. The rates of a method named "scaled" are multiplied by a constant,
    so that the rate of the source is the recorded one.

    Cells with a batch size of their own are left out: the formulas know nothing of batch sizes."""
    rates = {}
    cells = [cell for cell in cells if not cell.batch]
    for name, formula in (("bottleneck law", lambda c: baselines.bottleneck_law(facts, c.workers, c.step * 1e-3)),
                          ("tf.data's formula", lambda c: baselines.tfdata_formula(
                              facts, c.workers, loader.queue(c), c.step * 1e-3))):  # fmt: skip
        own = {cell: loader.batch * formula(cell) for cell in cells}
        scale = recorded / (loader.batch * formula(source))
        rates[name] = own
        rates[name + ", scaled"] = {cell: rate * scale for cell, rate in own.items()}
    return rates


def interventions(cell, cells):
    """Returns {factor: the cell that differs in this factor alone}. That cell has the next larger number of workers,
    the next larger depth of prefetch, or no step."""
    found = {}
    for factor, others in (("workers", [c for c in cells if c.workers > cell.workers and c[1:] == cell[1:]]),
                           ("prefetch", [c for c in cells if c.prefetch > cell.prefetch
                                         and c._replace(prefetch=cell.prefetch) == cell]),
                           ("step", [c for c in cells if c.step == 0 < cell.step
                                     and c._replace(step=cell.step) == cell])):  # fmt: skip
        if others:
            found[factor] = min(others)
    return found


def gains(rates, cell, cells):
    return {factor: rates[changed] / rates[cell] - 1 for factor, changed in interventions(cell, cells).items()
            if changed in rates and cell in rates}  # fmt: skip


class Scores:
    """Errors, coverage, naming and regret of every method over all families; filled one source at a time."""

    def __init__(self):
        self.errors = collections.defaultdict(list)  # method -> relative errors
        self.by_family = collections.defaultdict(list)  # family name -> our errors
        self.by_change = collections.defaultdict(list)  # what differs from the source -> our errors
        self.intervals, self.values = [], []
        self.named = collections.defaultdict(list)  # method or rule -> [whether it named the right factor]
        self.confusion = collections.Counter()  # (truth, named by Penstock)
        self.regrets = collections.defaultdict(list)  # method or rule -> figures.regret() of its choices
        self.gain_errors = []  # claimed - measured gain of the factor that Penstock named
        self.repeats = []  # [rates of one cell], by validate.score()
        self.ratios = []  # errors of predicted speed-ups over the source

    def add(self, family, source, predicted, others, waits, measured):
        """`measured`: {cell: [rate of each repeat]}; `others`: baseline_rates(); `waits`: {cell: fraction}."""
        truth = {cell: figures.mean(rates) for cell, rates in measured.items()}
        methods = {"penstock": {cell: one.rate for cell, one in predicted.items()}, **others}
        for method, rates in methods.items():
            for cell in truth:
                if cell in rates and cell != source:
                    self.errors[method].append(figures.relative_error(rates[cell], truth[cell]))
        for cell, one in predicted.items():
            if cell not in truth or cell == source:
                continue
            error = figures.relative_error(one.rate, truth[cell])
            self.by_family[family.name].append(error)
            self.by_change[change_of(source, cell)].append(error)
            if source in predicted and source in truth:
                self.ratios.append(figures.relative_error(one.rate / predicted[source].rate, truth[cell] / truth[source]))
            for rate in measured[cell]:
                self.intervals.append((one.low, one.high))
                self.values.append(rate)
        self.add_names(family, methods, waits, truth)
        self.add_choices(family, methods, truth)

    def add_names(self, family, methods, waits, truth):
        for cell in truth:
            real = gains(truth, cell, family.cells)
            if len(real) < len(interventions(cell, family.cells)) or not real:
                continue  # not all cells are measured yet
            for method, rates in methods.items():
                claimed = gains(rates, cell, family.cells)
                if len(claimed) < len(real):
                    continue
                named = figures.name_of(claimed)
                self.named[method].append(figures.named_right(named, real))
                if method == "penstock":
                    self.confusion[figures.name_of(real), named] += 1
                    if named != "none":
                        self.gain_errors.append(claimed[named] - real[named])
            if cell in waits:
                self.named["5 % rule"].append(figures.named_right(baselines.five_percent_rule(waits[cell]), real))

    def add_choices(self, family, methods, truth):
        for step in sorted({cell.step for cell in truth}):
            rates = {cell: rate for cell, rate in truth.items() if cell.step == step and not cell.batch}
            offered = sorted({cell.workers for cell in family.cells})
            if set(rates) != {cell for cell in family.cells if cell.step == step and not cell.batch} or len(rates) < 2:
                continue
            for method, claimed in methods.items():
                if all(cell in claimed for cell in rates):
                    chosen = figures.cheapest({cell: claimed[cell] for cell in rates},
                                              lambda cell: (cell.workers, cell.prefetch))  # fmt: skip
                    self.regrets[method].append(figures.regret(chosen, rates))
            for rule, wanted in baselines.STATIC_RULES.items():
                workers = baselines.nearest(wanted(cores()), offered)
                chosen = Cell(workers, family.loader.default_prefetch, step)
                if chosen in rates:
                    self.regrets[rule].append(figures.regret(chosen, rates))


def change_of(source, cell):
    parts = [name for name, one, other in zip(Cell._fields, source, cell) if one != other]
    return " and ".join(parts)
