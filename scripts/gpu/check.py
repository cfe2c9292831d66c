#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the claims of scripts/gpu_check.sh about recorded runs, with a subcommand for each claim.

Each subcommand prints lines that begin with ok, FAILED or note, and ends with status 1 if a claim failed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

SHARE_GOAL = 0.7  # share of the memory's bandwidth that each fused kernel must reach
COST_GOAL = 0.03  # share of a run's speed that recording at the level cupti may take
BUSY_GOAL = 0.02  # largest difference between kernel-busy and torch.profiler's figure
FUSED = ("convert_to_f16_chw", "crop_resize_flip_normalize_f16", "crop_resize_flip_u8_hwc")


def say(good, text):
    print(("ok      " if good else "FAILED  ") + text)
    return 0 if good else 1


def union(intervals):
    """Returns the length of the union of the intervals (start, end)."""
    total, end = 0, None
    for start, stop in sorted(intervals):
        if end is None or start > end:
            total += stop - start
            end = stop
        elif stop > end:
            total += stop - end
            end = stop
    return total


def spans(path, stages):
    """Returns (stage, name, start, end) for each span of these stages in a JSON-lines export."""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "span" and record["stage"] in stages:
                start = record["start_ns"]
                found.append((record["stage"], record["name"], start, start + record["duration_ns"]))
    return found


def bandwidth(args):
    """Each fused kernel reached SHARE_GOAL of the memory's bandwidth when cuda_augment_bench measured it."""
    with open(args.result, encoding="utf-8") as file:
        rows = json.load(file)["benchmarks"]
    status = 0
    for name in sorted(set(FUSED) - {row["name"].split("/")[0] for row in rows}):
        status |= say(False, f"kernel {name}: not measured")
    for row in rows:
        name = row["name"].split("/")[0]
        if row.get("error_occurred"):
            status |= say(False, f"kernel {name}: {row.get('error_message')}")
            continue
        share = row.get("share_of_peak")
        rate = f"{row['bytes_per_s'] * 1e-9:.0f} GB/s, {row['ms_per_megapixel']:.4f} ms a megapixel"
        if share is None:
            print(f"note    kernel {name}: {rate}; the peak of this memory is not known")
        elif name in FUSED:
            status |= say(share >= SHARE_GOAL, f"kernel {name}: {rate}, {share:.0%} of the peak")
        else:
            print(f"note    kernel {name}: {rate}, {share:.0%} of the peak")
    return status


def digests(args):
    """Two runs of penstock-load delivered the same bytes, as their reports say."""
    made = []
    for path in (args.first, args.second):
        with open(path, encoding="utf-8") as file:
            made.append([d["ordered"] for d in json.load(file)["digest"]])
    return say(bool(made[0]) and made[0] == made[1], f"{args.what}: the same bytes as the CPU")


def decoded(args):
    """nvJPEG decoded pictures in a run with decode on the device, or the device has no JPEG engine."""
    log = pathlib.Path(args.log).read_text(encoding="utf-8").strip().splitlines()
    if args.status != 0:
        why = log[-1] if log else f"status {args.status}"
        # Some devices have no JPEG engines.
        missing = "nvJPEG is unavailable" in why or "has no hardware decoding" in why
        if missing:
            print(f"note    nvJPEG, {args.decoder}: {why}")
            return 0
        return say(False, f"nvJPEG, {args.decoder}: {why}")
    with open(args.report, encoding="utf-8") as file:
        report = json.load(file)
    device = report["device"]
    return say(device["decoded"] > 0 and report["placement"]["jpeg_backend"] == args.decoder,
               f"nvJPEG, {args.decoder}: {device['decoded']} pictures by "
               f"{report['placement']['jpeg_backend'] or 'nothing'}, {device['decoded_on_cpu']} left to the CPU, "
               f"{report['samples_per_s']:.0f} samples/s with decode and augment on the GPU")


def placements(args):
    """A sweep over --gpu measured the placements that need only CUDA. Others, which need nvJPEG, may fail."""
    with open(args.result, encoding="utf-8") as file:
        cells = {cell["values"]["gpu"]: cell for cell in json.load(file)["cells"]}
    status = 0
    for name in ("none", "augment"):
        cell = cells.get(name, {})
        runs = cell.get("runs", [])
        text = f"{len(runs)} runs" if runs else cell.get("error", "no runs")
        status |= say(bool(runs), f"placement --gpu {name}: {text}")
    return status


def copies(args):
    """At least half of the copies in a trace are of the expected kind: pageable or pinned."""
    # Counts the copies on the device (H2D), not the calls that asked for them ("to:cuda").
    found = [name for _, name, _, _ in spans(args.trace, {"h2d"}) if name.startswith("H2D")]
    right = sum(args.kind in name for name in found)
    return say(found and right >= 0.5 * len(found),
               f"copies of {pathlib.Path(args.trace).stem}: {right} of {len(found)} are {args.kind}")


def verdict(args):
    """The bottleneck that the report names is one of `args.allowed`."""
    with open(args.report, encoding="utf-8") as file:
        got = json.load(file)["verdict"]["bottleneck"]
    return say(got in args.allowed.split(","), f"{args.what}: the report says {got}")


def busy(args):
    """Compares kernel-busy, from the first step after the warm-up to the last, with torch.profiler's figure for the
    same command."""
    with open(args.profiled, encoding="utf-8") as file:
        theirs = json.load(file)["kernel_busy"]
    steps = [s for s in spans(args.trace, {"step"})]
    steps = steps[args.warmup:]
    if not steps:
        return say(False, "kernel-busy: the trace has no steps")
    begin, end = steps[0][2], max(s[3] for s in steps)
    kernels = [(max(s[2], begin), min(s[3], end)) for s in spans(args.trace, {"kernel"})
               if s[3] > begin and s[2] < end]
    ours = union(kernels) / (end - begin)
    return say(abs(ours - theirs) <= BUSY_GOAL,
               f"kernel-busy: {ours:.1%} of the trace, {theirs:.1%} by torch.profiler")


def rate(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)["samples_per_s"]
    raise SystemExit(f"FAILED  {' '.join(command)}: status {done.returncode}: {done.stderr[-400:]}")


def cost(args):
    """Measures what each level costs. Runs the command without the agent and at each level, args.pairs times."""
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    levels = args.levels.split(",")
    ratios = {level: [] for level in levels}
    rate(command)  # warms up the page cache and the device's clocks
    for pair in range(args.pairs):
        plain = rate(command)
        for level in levels:
            recorded = rate([args.penstock, "record", "--gpu", level, "--force", "-o", args.trace, "--", *command])
            ratios[level].append(recorded / plain)
        # Printed at once, in case the check is ended before the last pair.
        print(f"        pair {pair + 1}: " + ", ".join(f"{level} {1 - ratios[level][-1]:+.2%}" for level in levels),
              flush=True)
    status = 0
    for level in levels:
        lost = 1 - statistics.median(ratios[level])
        text = f"level {level}: {lost:+.2%} of the speed of {args.of} ({args.pairs} pairs)"
        if level == "cupti" and not args.note:
            status |= say(lost <= COST_GOAL, text)
        else:
            print(f"note    {text}")
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True)

    def command(function, *names):
        sub = commands.add_parser(function.__name__)
        for name in names:
            sub.add_argument(name)
        sub.set_defaults(run=function)
        return sub

    command(bandwidth, "result")
    command(digests, "what", "first", "second")
    command(decoded, "decoder", "report", "log").add_argument("--status", type=int, default=0)
    command(placements, "result")
    command(copies, "trace", "kind")
    command(verdict, "what", "report", "allowed")
    command(busy, "trace", "profiled").add_argument("--warmup", type=int, default=5)
    sub = command(cost, "penstock", "trace")
    sub.add_argument("--levels", default="off,nvml,calls,cupti")
    sub.add_argument("--pairs", type=int, default=10)
    sub.add_argument("--of", default="the run", help="what is run, for the line that is printed")
    sub.add_argument("--note", action="store_true", help="no claim")
    sub.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
