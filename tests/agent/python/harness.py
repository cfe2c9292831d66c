# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program with a copy of the hooks in agent/python, whose bridge writes to files."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.abspath(os.path.join(HERE, "..", "..", "..", "agent", "python"))
PYTHON = os.environ.get("PENSTOCK_TEST_PYTHON", sys.executable)


class Run:
    """What a program printed and recorded."""

    def __init__(self, result, records):
        self.status = result.returncode
        self.out = result.stdout
        self.err = result.stderr
        self.records = records

    def spans(self, stage, **wanted):
        return [r for r in self.of("span", **wanted) if r["stage"] == stage]

    def events(self, event, **wanted):
        return [r for r in self.of("event", **wanted) if r["event"] == event]

    def of(self, kind, **wanted):
        return [
            r
            for r in self.records
            if r["kind"] == kind and all(r[key] == value for key, value in wanted.items())
        ]

    def facts(self):
        return {r["key"]: r["value"] for r in self.of("fact")}


def install(directory):
    """Copies the hooks to directory/hooks with the fake bridge, and returns this folder."""
    target = os.path.join(directory, "hooks")
    shutil.copytree(AGENT, target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(os.path.join(HERE, "fake_bridge.py"), os.path.join(target, "penstock_hooks", "bridge.py"))
    return target


def run(code, env=None, python=None, hooks=True, path=(), args=(), flags=()):
    """Runs `code` as a script. PYTHONPATH has the folder of the hooks, then those in `path`."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        script = os.path.join(directory, "program.py")
        with open(script, "w") as file:
            file.write(textwrap.dedent(code))
        variables = {
            key: value for key, value in os.environ.items() if not key.startswith(("PENSTOCK", "PYTHON"))
        }
        entries = list(path)
        if hooks:
            entries.insert(0, install(directory))
            variables["PENSTOCK_AGENT"] = "/nonexistent/libpenstock_agent.so"
            variables["PENSTOCK_LOG"] = os.path.join(directory, "log")
        if entries:
            variables["PYTHONPATH"] = os.pathsep.join(entries)
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        variables["OMP_NUM_THREADS"] = "1"
        variables.update(env or {})
        result = subprocess.run(
            [python or PYTHON, *flags, script, *args],
            env=variables, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=120,
        )  # fmt: skip
        records = []
        for name in sorted(glob.glob(os.path.join(directory, "log.*"))):
            with open(name) as file:
                records += [json.loads(line) for line in file]
        records.sort(key=lambda r: r.get("start", 0))
        return Run(result, records)
