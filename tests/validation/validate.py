# SPDX-License-Identifier: Apache-2.0
"""Makes the missing runs, predicts all of them anew from the stored traces, writes analyzer/VALIDATION.md.

Can be resumed: the state is the folder of --state. It has a line of results.jsonl for each measured run, and a
trace for each recorded run. Both are kept until --fresh. Predictions are not kept, so a changed analyzer is
judged by the same measurements. A new state begins as a copy of measured/, so a fresh checkout can be resumed
too; --keep writes measured/.
"""
import argparse
import collections
import contextlib
import datetime
import json
import os
import random
import shutil
import sys
import time

import curves
import fault_runs
import fault_scores
import fault_tables
import faults
import figures
import grids
import runs
import tables

ROOT = os.path.dirname(os.path.dirname(runs.HERE))
MEASURED = os.path.join(runs.HERE, "measured")
MIXED = 0.05  # a section warns if the speeds of its machines differ by this fraction or more


class Store:
    """Measured runs by key, each appended to a file as soon as it is known."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "traces"), exist_ok=True)
        self.path = os.path.join(folder, "results.jsonl")
        self.runs = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    try:
                        one = json.loads(line)
                    except ValueError:
                        continue  # an interrupted write: the run is measured again
                    self.runs[one["key"]] = one
        self.machines_path = os.path.join(folder, "machines.json")
        self.machines = {}  # the machines that measured runs: {runs.MACHINE: {"date", "cores", "cpu"}}
        if os.path.exists(self.machines_path):
            with open(self.machines_path, encoding="utf-8") as file:
                self.machines = json.load(file)

    def add(self, key, measured):
        self.runs[key] = {"key": key, "machine": runs.MACHINE, **measured}
        self.describe_machine()
        with open(self.path, "a+b") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # an interrupted write: begins a new line
                    file.write(b"\n")
            file.write(json.dumps(self.runs[key]).encode() + b"\n")

    def describe_machine(self):
        now = {"date": datetime.date.today().isoformat(), "cores": runs.cores(), "cpu": cpu_name()}
        if self.machines.get(runs.MACHINE) != now:
            self.machines[runs.MACHINE] = now
            with open(self.machines_path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.machines, file, indent=1, sort_keys=True)
                file.write("\n")
            os.replace(self.machines_path + ".new", self.machines_path)

    def machine_of(self, found):
        """The machine that measured most of the runs `found`."""
        names = collections.Counter(one.get("machine", "") for one in found)
        name = names.most_common(1)[0][0] if names else ""
        return self.machines.get(name, {"date": "an unknown day", "cores": runs.cores(), "cpu": "unknown processor"})

    def trace(self, family, source):
        return os.path.join(self.folder, "traces", key_of(family, source).replace("/", "-").replace(" ", "_")
                            + ".penstock")  # fmt: skip


def key_of(family, cell, repeat=None):
    key = "%s/%s/w%d p%d s%g" % (family.section, family.name.replace(",", ""), *cell[:3])
    if cell.batch:
        key += " b%d" % cell.batch
    return key if repeat is None else "%s/%d" % (key, repeat)


def seed_of(repeat):
    return 100 + repeat  # recordings have seed 1, so no measured run has a recording's order


def plan(families):
    """[(family, cell, repeat or None for a recording)]: recordings first, then the first repeat of all cells,
    then the second of all, and so on."""
    shuffled = random.Random(5)
    planned = [(family, source, None) for family in families for source in family.sources]
    for repeat in range(max(grids.REPEATS.values())):
        layer = [(family, cell, repeat) for family in families if repeat < grids.REPEATS[family.section]
                 for cell in family.cells]  # fmt: skip
        shuffled.shuffle(layer)
        planned += layer
    return planned


def work(planned, store, deadline):
    """Makes the runs that are not stored yet, until the deadline. Returns how many runs failed."""
    failed = 0
    for number, (family, cell, repeat) in enumerate(planned, 1):
        key = key_of(family, cell, repeat)
        trace = store.trace(family, cell)
        if key in store.runs if repeat is not None else os.path.exists(trace):
            continue
        if time.monotonic() >= deadline:
            break
        try:
            if repeat is None:
                family.loader.record(cell, 1, trace + ".new")
                os.rename(trace + ".new", trace)
                print("validate: %d/%d recorded %s" % (number, len(planned), key), flush=True)
            else:
                store.add(key, family.loader.measure(cell, seed_of(repeat)))
                print("validate: %d/%d %s: %.1f/s" % (number, len(planned), key, store.runs[key]["rate"]), flush=True)
        except runs.Failed as error:
            failed += 1
            print("validate: %s: %s" % (key, error), file=sys.stderr, flush=True)
    return failed


def measured_in(store, family, field="rate"):
    found = collections.defaultdict(list)
    for cell in family.cells:
        for repeat in range(grids.REPEATS[family.section]):
            one = store.runs.get(key_of(family, cell, repeat))
            if one is not None and field in one:
                found[cell].append(one[field])
    return dict(found)


def score(families, store):
    scores = grids.Scores()
    for family in families:
        measured = measured_in(store, family)
        scores.repeats += measured.values()
        whole = measured_in(store, family, "whole")
        waits = {cell: figures.mean(values) for cell, values in measured_in(store, family, "wait").items()}
        for source in family.sources:
            trace = store.trace(family, source)
            if not measured or not os.path.exists(trace):
                continue
            predicted = runs.predict(trace, source, family.cells)
            if not predicted:
                continue
            facts, recorded, _wait = runs.facts(trace, family.loader.batch)
            others = grids.baseline_rates(family.loader, facts, recorded, source, family.cells)
            # Predicted rates of whole runs are compared with measured rates of whole runs, if there are any.
            told_whole = any(one.whole for one in predicted.values()) and whole.keys() >= predicted.keys()
            scores.add(family, source, predicted, others, waits, whole if told_whole else measured)
    return scores


def score_faults(scenarios, store, effort):
    """Scores of section (b) from the stored runs."""
    scores = fault_scores.Scores()
    known = fault_runs.reports(store, scenarios)
    for scenario in scenarios:
        report = known.get(scenario[:2])
        others, predicted = {}, {}
        if report is not None:
            others = fault_runs.baseline_claims(report, scenario.knobs)
            predicted = fault_runs.whatif_gains(fault_runs.trace_of(store, scenario), report, scenario)
        all_runs = {name: fault_runs.runs_of(store, knobs) for name, knobs in fault_runs.arms(scenario, report).items()}
        scores.count(all_runs, lambda found: fault_runs.settled(found, effort.repeats))
        scores.add(scenario, report, fault_runs.measured(store, scenario, report), others, predicted)
    return scores


def begin_state(state):
    """Copies measured/ to an empty state."""
    if os.path.isdir(MEASURED) and not os.path.exists(state):
        os.makedirs(os.path.dirname(state), exist_ok=True)
        shutil.copytree(MEASURED, state + ".new", ignore=shutil.ignore_patterns("*.md"))
        os.rename(state + ".new", state)


def keep(state):
    """Copies the state to measured/."""
    os.makedirs(os.path.join(MEASURED, "traces"), exist_ok=True)
    for name in ["results.jsonl", "machines.json", *(os.path.join("traces", one) for one in os.listdir(os.path.join(state, "traces")))]:
        if name.endswith((".jsonl", ".json", ".penstock")):
            shutil.copyfile(os.path.join(state, name), os.path.join(MEASURED, name))


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def about(machine, loads, reasons):
    """A section's conditions. `machine`: from Store.machine_of(); `reasons`: why its figures are not final."""
    # Runs with 8 busy threads are a load themselves, so only the lower quartile of the loads shows other programs.
    if loads and figures.quantile(loads, 0.25) > runs.cores():
        reasons = [*reasons, "The machine was busy with other work: its load average was above %.1f in three of four "
                   "runs, with %d cores." % (figures.quantile(loads, 0.25), runs.cores())]  # fmt: skip
    return {**machine, "loads": loads, "provisional": reasons}


QUICK_FORM = "The quick form: a few cells only."


def mixed(things):
    """A warning if machines of different speeds measured `things`, a list of runs for each thing."""
    found = figures.speed_difference([(one.get("machine", ""), one["rate"]) for one in runs_found] for runs_found in things)
    if found is None or found <= MIXED:
        return []
    return ["Machines whose speeds differ by %.0f %% are mixed; `scripts/validate.sh --fresh` measures all of it on one."
            % (100 * found)]  # fmt: skip


def grid_text(section, families, store, quick):
    """Section (a), (d) or (e) from the stored runs; None if there are none."""
    repeats = range(grids.REPEATS[section])
    keys = [[key_of(f, cell, repeat) for repeat in repeats] for f in families for cell in f.cells]
    cells = [[store.runs[key] for key in repeats if key in store.runs] for repeats in keys]
    found = [one for cell in cells for one in cell]
    planned = len(repeats) * len(keys)
    if not found:
        return None
    reasons = [QUICK_FORM] if quick else []
    reasons += mixed(cells)
    if len(found) < planned:
        reasons.append("%d of %d runs are measured." % (len(found), planned))
    text = tables.grid_section(section, score(families, store), (len(found), planned))
    return tables.titled(text, about(store.machine_of(found), [one["load"] for one in found], reasons))


def faults_text(scenarios, store, effort, quick):
    """Section (b) from the stored runs; None if there are none."""
    scores = score_faults(scenarios, store, effort)
    if not scores.measured:
        return None
    reasons = [QUICK_FORM] if quick else []
    reasons += mixed(scores.arms)
    if scores.missing:
        reasons.append("%d faults are not measured in full." % len(scores.missing))
    if scores.unsettled > 0.1 * scores.measured:
        reasons.append("%d of %d arms are not known to %g %%." % (scores.unsettled, scores.measured,
                       100 * faults.KNOWN))  # fmt: skip
    return tables.titled(fault_tables.section(scores), about(store.machine_of([one for arm in scores.arms for one in arm]), scores.loads, reasons))


def pictures(folder, make):
    """Folder of the JPEG files to decode, made once."""
    made = os.path.join(folder, "pictures")
    if not make or os.path.isdir(made):
        return made
    sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
    import support

    support.make_pictures(made + ".new", 48, ((500, 375), (375, 500), (640, 480), (500, 500)), quality=92)
    os.rename(made + ".new", made)
    return made


def real_files(folder, make):
    """Folder of the files of (e), made once."""
    made = os.path.join(folder, "real-files")
    if make and not os.path.isdir(made):
        sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
        import real_work
        import support

        shutil.rmtree(made + ".new", ignore_errors=True)
        real_work.make_files(made + ".new", support.make_pictures)
        os.rename(made + ".new", made)
    return made


def fault_pictures(folder):
    sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
    import support

    return fault_runs.make_pictures(os.path.join(folder, "fault-pictures"), support.make_pictures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few cells")
    parser.add_argument("--for", dest="seconds", type=float, default=float("inf"), help="start no run after SECONDS")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    parser.add_argument("--keep", action="store_true", help="put what is held into the tree, for later checkouts")
    parser.add_argument("--only", choices=("a", "b", "c", "d", "e"), action="append", help="measure that section (default: all)")
    parser.add_argument("--state", default=os.path.join(ROOT, "build", "validation"), help="where runs are kept")
    parser.add_argument("--output", default=os.path.join(ROOT, "analyzer", "VALIDATION.md"))
    options = parser.parse_args()
    wanted = options.only or ["a", "b", "c", "d", "e"]
    state = os.path.join(options.state, "quick" if options.quick else "full")
    if options.fresh:
        shutil.rmtree(state, ignore_errors=True)
    elif not options.quick:
        begin_state(state)
    families = grids.dataloader_families(not options.quick, pictures(options.state, make="a" in wanted))
    families += grids.loader_families(not options.quick)
    families += grids.real_families(not options.quick, real_files(options.state, make="e" in wanted))
    store = Store(state)
    planned = plan([family for family in families if family.section in wanted])
    deadline = time.monotonic() + options.seconds
    failed = work(planned, store, deadline)
    scenarios, effort = faults.chosen(not options.quick), fault_runs.QUICK if options.quick else fault_runs.FULL
    if "b" in wanted:
        failed += fault_runs.work(scenarios, store, fault_pictures(options.state), effort, deadline)
    before = ""
    with contextlib.suppress(OSError), open(options.output, encoding="utf-8") as file:
        before = file.read()
    sections = []
    for letter in ("a", "b", "c", "d", "e"):  # sections not measured now are written from stored runs
        if letter == "c":
            sections.append(tables.curves_section(curves.leave_one_out(curves.load()), curves.GOAL))
            continue
        if letter == "b":
            text = faults_text(scenarios, store, effort, options.quick)
        else:
            mine = [family for family in families if family.section == letter]
            text = grid_text(letter, mine, store, options.quick)
        sections.append(text or tables.carried(before, letter) or "## (%s) Not measured yet\n" % letter)
    with open(options.output + ".new", "w", encoding="utf-8") as file:
        file.write(tables.document(sections))
    os.replace(options.output + ".new", options.output)
    print("validate: wrote %s" % os.path.relpath(options.output))
    if options.keep and not options.quick:
        keep(state)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
