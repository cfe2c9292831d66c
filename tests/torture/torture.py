# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios in turn and prints a line for each. With --full, also writes tests/RELIABILITY.md.

torture.py [--quick | --full] [--only NAME]... [--fuzz-seconds N] [--fuzz-build DIR] [--note TEXT]
"""
import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "integration")]
import document  # noqa: E402
import fuzzing  # noqa: E402
import harness  # noqa: E402
import hostile  # noqa: E402
import scenarios  # noqa: E402
import support  # noqa: E402


class Outcome:
    """The outcome of a scenario: "passed", "failed" or "skipped", the reason, and the figures of its runs."""

    def __init__(self, name, what):
        self.name, self.what = name, what
        self.state, self.why = "passed", ""
        self.figures, self.notes = [], []
        self.seconds = 0.0

    def line(self):
        """Returns a line for the terminal."""
        text = "%-8s %-28s %6.1f s" % (self.state, self.name, self.seconds)
        if self.why:
            return "%s  %s" % (text, self.why)
        parts = [document.shown(self)]
        parts += self.notes + [note for figures in self.figures for note in figures.notes]
        return "%s  %s" % (text, ", ".join(filter(None, parts)))


def name_of(function):
    return function.__name__.replace("_", "-")


def play(function, quick, extra):
    outcome = Outcome(name_of(function), function.__doc__.split("\n")[0])
    begin = time.monotonic()
    run = harness.Run(quick)
    run.extra = extra
    run.notes = outcome.notes
    try:
        function(run)
    except harness.Skip as skip:
        outcome.state, outcome.why = "skipped", str(skip)
    except harness.Failure as failure:
        outcome.state, outcome.why = "failed", str(failure)
    finally:
        run.close()
    outcome.figures = run.figures
    outcome.seconds = time.monotonic() - begin
    return outcome


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="some seconds for each scenario (default)")
    form.add_argument("--full", action="store_true", help="in earnest, and write tests/RELIABILITY.md of all that was")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this scenario")
    parser.add_argument("--fuzz-seconds", type=int, default=600, metavar="N", help="for each target (600)")
    parser.add_argument("--fuzz-build", metavar="DIR", default="build/asan", help="where the targets are")
    parser.add_argument("--note", default="", metavar="TEXT", help="a sentence for the document")
    parser.add_argument("--list", action="store_true", help="the names of all scenarios")
    return parser.parse_args()


def main():
    options = arguments()
    table = scenarios.SCENARIOS + hostile.SCENARIOS + fuzzing.SCENARIOS
    if options.list:
        for function in table:
            print("%-28s %s" % (name_of(function), function.__doc__.split("\n")[0]))
        return 0
    unknown = set(options.only or ()) - {name_of(function) for function in table}
    if unknown:
        print("torture: no scenario is called %s: see --list" % ", ".join(sorted(unknown)), file=sys.stderr)
        return 2
    if not support.AGENT or not harness.VICTIMS:
        print("torture: run scripts/torture.sh, which says where the programs are", file=sys.stderr)
        return 2
    outcomes = []
    for function in table:
        if options.only and name_of(function) not in options.only:
            continue
        outcomes.append(play(function, not options.full, options))
        if options.full:
            document.keep(outcomes[-1], options)
        print(outcomes[-1].line(), flush=True)
    if options.full:
        print("wrote %s" % document.write([name_of(function) for function in table]))
    counts = {state: sum(o.state == state for o in outcomes) for state in ("passed", "skipped", "failed")}
    print("%(passed)d passed, %(skipped)d skipped, %(failed)d failed" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
