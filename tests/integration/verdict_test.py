# SPDX-License-Identifier: Apache-2.0
"""Runs with one known bottleneck, recorded and reported: the verdict must name it."""
import json
import os
import socket
import sys
import threading
import time

import support
from support import PYTHON, Case, environment, make_pictures, program, record, require, run, target


class Server:
    """Imitates slow storage behind a network: sends a file some time after its number was asked for."""

    def __init__(self, paths, delay):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.contents = []
        for path in paths:
            with open(path, "rb") as file:
                self.contents.append(file.read())
        self.delay = delay
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection:
            number = int(connection.makefile("rb").readline())
            time.sleep(self.delay)
            connection.sendall(self.contents[number])


class Verdict(Case):
    pictures = (16, ((160, 120),))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()

    def verdict(self, kind, data, *arguments):
        output = self.path("o.penstock")
        command = [PYTHON, target("bottleneck.py"), kind, data, *map(str, arguments)]
        self.assertEnded(run(record(output, command), environment()))
        outcome = run([program("penstock"), "report", output, "--json"])
        self.assertEnded(outcome)
        report = json.loads(outcome.stdout)
        self.assertEqual(report["schema"], "penstock.report/1")
        self.assertEqual(report["losses"]["dropped_events"], 0)
        self.assertEqual(report["loader"]["num_workers"], 2)
        self.report = report
        verdict = report["verdict"]
        print("    %s: %s, wait %.2f, confidence %.2f, gains %s, replay error %.3f" % (
            kind, verdict["bottleneck"], verdict["wait_fraction"], verdict["confidence"],
            [(gain["factor"], round(gain["speedup_if_free"], 2)) for gain in verdict["gains"][:3]],
            report["replay"]["error"]), flush=True)
        text = run([program("penstock"), "report", output])
        self.assertEnded(text)
        self.assertIn(verdict["bottleneck"] if verdict["bottleneck"] != "none" else "", text.stdout)
        return verdict["bottleneck"]

    def test_decode(self):
        large = os.path.join(self.base, "large")
        make_pictures(large, 6, ((1800, 1400),), quality=95)
        self.assertEqual(self.verdict("decode", large, 120), "decode")

    def test_augment(self):
        middle = os.path.join(self.base, "middle")
        make_pictures(middle, 8, ((320, 240),))
        self.assertEqual(self.verdict("augment", middle, 160), "augment")

    def test_collate(self):
        self.assertEqual(self.verdict("collate", self.data, 240), "collate")

    def test_read(self):
        server = Server(self.paths, 0.03)
        try:
            self.assertEqual(self.verdict("read", self.data, 240, server.port), "read")
        finally:
            server.socket.close()

    def test_compute(self):
        self.assertIn(self.verdict("compute", self.data, 240), ("compute", "none"))

    def test_startup(self):
        self.assertEqual(self.verdict("startup", self.data, 16), "startup")
        self.assertIn("workers-restart-each-epoch", [finding["id"] for finding in self.report["findings"]])


if __name__ == "__main__":
    sys.exit(support.main())
