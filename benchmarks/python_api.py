#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the Python package: the loader against the command, a mark without the agent, the columns of a long trace.

  benchmarks/python_api.py loader --data build/bench/sets/imagenet --pairs 20
  benchmarks/python_api.py mark
  benchmarks/python_api.py trace --trace build/bench/long.penstock --rounds 10

loader  images/s through penstock.Loader and of `penstock load` with the same options, on the same files. The two run
        in pairs of processes, in random order. Every clock starts with the first batch and stops with the last of the
        run. The ratio within a pair counts; its median comes with the interval of the sign test (paired_runs.py).
        Before anything is timed, an epoch must have the same number of samples in both; tests/python/loader_test.py
        compares the bytes.
mark    nanoseconds of `with penstock.mark()`, of a decorated function, of step() and of batch(), without the agent:
        the time of a function with the call, minus the time of an empty function, as the least and the median of
        many repeats.
trace   seconds and memory of penstock.open() and spans() of a packed trace, in a process of its own each time:
        all columns, and two of them. Peak memory is the process's own, less what it had before it opened the trace.
        The figures count only if there are as many rows as the trace has spans.

Without --data and --trace they are made in build/bench by penstock-load make-set and make_long_trace.
"""
import argparse
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import time
import timeit

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
import paired_runs  # noqa: E402

OF_COMMAND = re.compile(r'"steady_samples_per_s": ?([0-9.eE+]+)')
PRINTED = re.compile(paired_runs.THROUGHPUT, re.M)
COLUMNS = ("start_ns", "duration_ns")


def child(options, *words):
    """A command line that runs this file again, with the package of this tree and the programs of --build."""
    return ["env", "PENSTOCK_BUILD=%s" % options.build, "PYTHONPATH=%s" % (ROOT / "python"), options.python, "-B",
            str(pathlib.Path(__file__).resolve()), *map(str, words)]  # fmt: skip


def shell(words):
    import shlex

    return " ".join(shlex.quote(str(word)) for word in words)


def run(words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, check=False)  # fmt: skip
    if done.returncode != 0:
        sys.exit("python_api: %s: status %d\n%s" % (shell(words), done.returncode, done.stderr[-2000:]))
    return done.stdout


def spread(values, digits):
    return "%.*f (%.*f to %.*f)" % (
        digits, statistics.median(values), digits, min(values), digits, max(values))  # fmt: skip


# The loader.


def loader_child(options):
    import penstock

    loader = penstock.Loader(options.data, batch=options.batch, workers=options.workers, ops=options.ops,
                             output=options.output, arrays=options.arrays)  # fmt: skip
    begin, samples, epoch = None, 0, 0
    while begin is None or time.monotonic() - begin < options.seconds:
        loader.set_epoch(epoch)
        for _, labels in loader:
            now = time.monotonic()
            if begin is None:
                begin = now
                continue
            samples += len(labels)
            if now - begin >= options.seconds:
                break
        epoch += 1
    print("arrays: %s" % loader.arrays)
    print("throughput: %.3f samples/s" % (samples / (now - begin)))
    sys.stdout.flush()


def epoch_child(options):
    import penstock

    loader = penstock.Loader(options.data, batch=options.batch, workers=options.workers, ops=options.ops,
                             output=options.output, arrays=options.arrays)  # fmt: skip
    print(sum(len(labels) for _, labels in loader))


def measure_loader(options):
    data = options.data
    load = options.build / "bin/penstock-load"
    if data is None:
        data = options.build.parent / "bench/sets/imagenet"
        data.parent.mkdir(parents=True, exist_ok=True)
        run([load, "make-set", data, "--kind", "imagenet"])
    same = ["--batch", options.batch, "--workers", options.workers, "--ops", options.ops, "--output", options.output]
    arrays = ["--arrays", options.arrays] if options.arrays else []
    ours = child(options, "loader-child", "--data", data, "--seconds", options.seconds, *same, *arrays)
    command = [load, data, *same, "--layout", "chw", "--for", "%gs" % options.seconds, "--json"]
    epoch = json.loads(run([load, data, *same, "--layout", "chw", "--digest", "--json"]))["digest"][0]["samples"]
    got = int(run(child(options, "epoch-child", "--data", data, *same, *arrays)))
    if epoch != got:
        sys.exit("python_api: an epoch has %d samples in Python and %d in the command" % (got, epoch))
    rng, rounds = random.Random(0), []
    for number in range(-options.warmup, options.pairs):
        row = {}
        for name, words, pattern in rng.sample([("command", command, OF_COMMAND), ("python", ours, PRINTED)], 2):
            row[name], _ = paired_runs.run_once(shell(words), pattern, number, 600, False)
        print("%s: command %.0f, python %.0f images/s, ratio %.4f" % (
            "warm-up" if number < 0 else "pair %3d" % (number + 1), row["command"], row["python"],
            row["python"] / row["command"]), file=sys.stderr, flush=True)  # fmt: skip
        if number >= 0:
            rounds.append(row)
    ratios = [row["python"] / row["command"] for row in rounds]
    low, high, coverage = paired_runs.sign_interval(ratios)
    print("loader: %d pairs of %g s, batch %d, %d workers, %s, %s" % (
        len(rounds), options.seconds, options.batch, options.workers, options.ops, options.output))  # fmt: skip
    for name in ("command", "python"):
        print("loader: %-7s %s images/s" % (name, spread([row[name] for row in rounds], 0)))
    print("loader: python is %.4f x the command (%.4f to %.4f, %.1f %%)" % (
        statistics.median(ratios), low, high, 100 * coverage))  # fmt: skip
    return {"rounds": rounds, "ratio": statistics.median(ratios), "low": low, "high": high, "coverage": coverage}


# Marks.


def mark_child(options):
    import penstock
    from penstock import marks

    if marks._bridge is not None:
        sys.exit("python_api: an agent is in this process")
    mark, step, batch = penstock.mark, penstock.step, penstock.batch

    def empty():
        pass

    @mark("work")
    def decorated():
        pass

    def with_mark():
        with mark("work"):
            pass

    def with_step():
        with step():
            pass

    def with_batch():
        batch(1)

    number = 2000
    names = {"empty": empty, "mark": with_mark, "decorated": decorated, "step": with_step, "batch": with_batch}
    times = {name: [] for name in names}
    for _ in range(options.repeats):  # in turn, so that drifts affect all functions alike
        for name, function in names.items():
            times[name].append(timeit.timeit(function, number=number) / number * 1e9)
    print(json.dumps(times))


def measure_mark(options):
    times = json.loads(run(child(options, "mark-child", "--repeats", options.repeats)))
    empty = times.pop("empty")
    result = {name: {"least": min(values) - min(empty), "median": statistics.median(values) - statistics.median(empty)}
              for name, values in times.items()}  # fmt: skip
    for name, found in result.items():
        print("mark: %-9s %5.1f ns more than an empty function, medians %5.1f (%d repeats of 2000)" % (
            name, found["least"], found["median"], len(empty)))  # fmt: skip
    return result


# The columns of a trace.


def trace_child(options):
    import numpy  # noqa: F401, so that its import is not measured
    import penstock

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worked = time.process_time()
    begin = time.monotonic()
    trace = penstock.open(options.trace)
    opened = time.monotonic()
    spans = trace.spans(columns=COLUMNS if options.columns == "two" else None)
    end = time.monotonic()
    cpu = time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if len(spans) != trace.span_count:
        sys.exit("python_api: %d rows of %d spans" % (len(spans), trace.span_count))
    size = sum(spans.codes(name).nbytes for name in spans.columns)
    print(json.dumps({"spans": len(spans), "open_s": opened - begin, "spans_s": end - opened, "cpu_s": cpu,
                      "columns_mb": size / 1e6, "peak_mb": (peak - before) * 1024 / 1e6}))  # fmt: skip


def measure_trace(options):
    path = options.trace
    if path is None:
        path = options.build.parent / "bench/long.penstock"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            run([options.build / "bin/make_long_trace", path, "--spans", options.spans])
    result = {}
    for columns in ("all", "two"):
        rows = []
        for number in range(-options.warmup, options.rounds):
            row = json.loads(run(child(options, "trace-child", "--trace", path, "--columns", columns)))
            if number >= 0:
                rows.append(row)
        print("trace: %d spans, %s columns, %d processes: open %s s, spans() %s s, "
              "CPU of both %s s, peak %s MB for columns of %.0f MB" % (
            rows[0]["spans"], columns, len(rows), spread([row["open_s"] for row in rows], 3),
            spread([row["spans_s"] for row in rows], 3),
            spread([row["cpu_s"] for row in rows], 3), spread([row["peak_mb"] for row in rows], 0),
            rows[0]["columns_mb"]))  # fmt: skip
        result[columns] = rows
    return result


MEASURES = {"loader": measure_loader, "mark": measure_mark, "trace": measure_trace}
CHILDREN = {"loader-child": loader_child, "epoch-child": epoch_child, "mark-child": mark_child,
            "trace-child": trace_child}  # fmt: skip


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("what", nargs="*", help="loader, mark and trace; all of them where none is named")
    add("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder (default build/release)")
    add("--python", default="/usr/bin/python3", help="interpreter that has NumPy, and PyTorch if tensors are meant")
    add("--data", type=pathlib.Path, help="loader: the pictures")
    add("--workers", type=int, default=len(os.sched_getaffinity(0)), help="loader: threads (default: cores)")
    add("--batch", type=int, default=64)
    add("--ops", default="random_resized_crop=224,flip,normalize")
    add("--output", default="f16", help="loader: u8, f16 or f32 (default f16)")
    add("--arrays", choices=("torch", "numpy", "memoryview"), help="loader: of what kind (default: as the package)")
    add("--pairs", type=int, default=20, help="loader: pairs of runs (default 20)")
    add("--seconds", type=float, default=5, help="loader: of each run, after its first batch (default 5)")
    add("--repeats", type=int, default=200, help="mark: repeats of 2000 calls (default 200)")
    add("--trace", type=pathlib.Path, help="trace: a packed trace")
    add("--spans", type=int, default=10_000_000, help="trace: of the one that is made (default 10 million)")
    add("--rounds", type=int, default=10, help="trace: processes (default 10)")
    add("--warmup", type=int, default=1, help="pairs and processes before, not counted (default 1)")
    add("--columns", choices=("all", "two"), default="all", help=argparse.SUPPRESS)
    add("--json", type=pathlib.Path, help="write everything measured to this file")
    options = parser.parse_args(arguments)
    for what in options.what:
        if what not in MEASURES and what not in CHILDREN:
            parser.error("there is no %s: there is loader, mark and trace" % what)
    if min(options.pairs, options.rounds, options.repeats) < 1 or options.seconds <= 0 or options.warmup < 0:
        parser.error("--pairs, --rounds, --repeats and --seconds must be positive")
    options.build = options.build.resolve()
    return options


def main(arguments):
    options = parse(arguments)
    if options.what and options.what[0] in CHILDREN:
        CHILDREN[options.what[0]](options)
        return 0
    about = paired_runs.machine()
    print("%s, %d cores, load %.1f" % (about["cpu"], about["cores"], about["load_before"]), flush=True)
    if about["load_before"] > 0.5 * about["cores"]:
        print("note: the load is %.1f before the first run" % about["load_before"], file=sys.stderr)
    result = {"machine": about}
    try:
        for what in options.what or MEASURES:
            result[what] = MEASURES[what](options)
    except paired_runs.RunFailed as error:
        print("python_api: %s" % error, file=sys.stderr)
        return 3
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
