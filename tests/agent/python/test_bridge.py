# SPDX-License-Identifier: Apache-2.0
"""Tests the real bridge.py without the agent's library and with one that lacks a function. Tests wire.py's numbers."""
import glob
import os
import re
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, harness.AGENT)
HEADERS = glob.glob(os.path.join(harness.HERE, "..", "..", "..", "traces", "wire*.h"))


class BridgeTest(unittest.TestCase):
    def run_import(self, before="", **variables):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK")}
        environment.update(variables, PYTHONPATH="", PYTHONDONTWRITEBYTECODE="1")
        code = (
            "import sys; sys.path.insert(0, %r)\n%s\n"
            "try:\n import penstock_hooks.bridge\n"
            "except ImportError: print('ImportError')\n" % (harness.AGENT, before)
        )
        result = subprocess.run([harness.PYTHON, "-c", code], env=environment, capture_output=True, text=True)
        return result.stdout + result.stderr

    def test_no_agent_is_an_import_error(self):
        self.assertEqual(self.run_import(), "ImportError\n")
        self.assertEqual(self.run_import(PENSTOCK_AGENT="/nonexistent.so"), "ImportError\n")
        self.assertEqual(self.run_import(PENSTOCK_AGENT="libm.so.6"), "ImportError\n")

    def test_an_agent_that_does_not_know_this_python_is_an_import_error(self):
        agent = "import ctypes, unittest.mock as m; ctypes.PyDLL = m.Mock(); f = ctypes.PyDLL.return_value"
        before = agent + ".penstock_python_bridge; f.return_value = None"
        self.assertEqual(self.run_import(before, PENSTOCK_AGENT="x"), "ImportError\n")

    def test_numbers_are_those_of_the_format(self):
        from penstock_hooks import wire

        text = ""
        for header in HEADERS:
            with open(header) as file:
                text += file.read()
        numbers = {name: int(value) for name, value in re.findall(r"\bk([A-Z]\w+) = (\d+)\b", text)}
        checked = 0
        for name, value in vars(wire).items():
            if name[0] == "_":
                continue
            camel = "".join(part.capitalize() for part in name.split("_"))
            wanted = numbers.get({"Consumer": "RoleConsumer", "Worker": "RoleWorker"}.get(camel, camel))
            self.assertEqual(value, wanted, name)
            checked += 1
        self.assertGreater(checked, 25)


if __name__ == "__main__":
    unittest.main()
