# SPDX-License-Identifier: Apache-2.0
"""penstock share: a bundle's trace has the same report as the run itself. An anonymous bundle has the same numbers and
none of the names."""
import json
import os
import signal
import socket
import subprocess
import tarfile
import time
import zipfile

import support
from support import PYTHON, environment, program, record, require, run, target

FILES = {"trace.penstock", "report.html", "report.json", "report.txt", "environment.json"}
# Names that only this run has. Program, pictures and trace are in the folder PERSON/PROJECT. DATASET and FUNCTION are in
# the program SOURCE, which runs long enough for the agent to follow some samples call by call. ADDRESS is in its
# arguments.
PERSON, PROJECT, DATASET, FUNCTION = "annabel", "acmeproject", "AcmeTabbies", "load_tabby"
ADDRESS = "10.87.65.43"
# Arguments of the program SOURCE. In each, a name stands beside text that an anonymous bundle keeps: code, JSON,
# addresses, beginnings of known names.
WORDS = (
    "--cfg={\"user\":\"%s\",\"url\":\"https://%s/k\"}" % (PERSON, PROJECT),
    "{\"user\":\"%s\",\"url\":\"https://h/k\"}" % PERSON,
    "import %s; %s.load('s3://bucket/x')" % (PROJECT, PROJECT),
    "/opt/%s/.cache/s3://b/k" % PERSON,
    "/usr/local/lib/%s.so" % PROJECT,
    "--master_addr=" + ADDRESS,
    ADDRESS + ":29400",
    "cuda_" + PERSON,
    "hopper_" + PROJECT,
    "datasets." + PROJECT,
    "<%s>" % PERSON,
)
SOURCE = '''
import sys
from torch.utils.data import DataLoader, Dataset
from PIL import Image
import glob, os
import numpy, torch

class AcmeTabbies(Dataset):
    def __init__(self, folder):
        self.paths = sorted(glob.glob(os.path.join(folder, "*.jpg")))
    def __len__(self):
        return len(self.paths)
    def load_tabby(self, index):
        secretsum = 0
        for pawprint in range(300):
            secretsum += pawprint * index
        return Image.open(self.paths[index]).convert("RGB").resize((64, 64)), secretsum
    def __getitem__(self, index):
        picture, secretsum = self.load_tabby(index)
        return torch.from_numpy(numpy.array(picture)), secretsum

if __name__ == "__main__":
    loader = DataLoader(AcmeTabbies(sys.argv[2]), batch_size=8, num_workers=2, persistent_workers=True)
    for epoch in range(60):
        for batch, sums in loader:
            batch.float().mean()
'''


def numbers(value, path=""):
    """Every number of a JSON value, with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, path + "." + key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, path + "[%d]" % index)
    elif isinstance(value, (int, float)):
        yield path, value


class Share(support.Case):
    pictures = (48, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export", "penstock")
        super().setUpClass()
        cls.home = os.path.join(cls.base, "home", PERSON, PROJECT)
        os.makedirs(cls.home)
        cls.folder = os.path.join(cls.home, "tabbies")
        os.rename(cls.data, cls.folder)
        cls.script = os.path.join(cls.home, "train_tabbies.py")
        with open(cls.script, "w") as file:
            file.write(SOURCE)
        cls.trace = os.path.join(cls.home, "tabby run.penstock")
        command = [PYTHON, cls.script, "--data", cls.folder, "--user", PERSON, *WORDS]
        done = run(record(cls.trace, command), environment())
        assert done.status == 0, repr(done)
        cls.words = [PERSON, PROJECT, DATASET, FUNCTION, ADDRESS, "tabb", "pawprint", "secretsum", "picture0"]
        # Only the last part of the path cls.base is looked for. The parts before it come from TMPDIR, and may be words
        # that every report has. A host name without a digit may be such a word too, so it is not looked for.
        cls.words.append(os.path.basename(cls.base))
        host = socket.gethostname()
        if len(host) > 4 and any(sign.isdigit() for sign in host):
            cls.words.append(host)

    def penstock(self, *words):
        return subprocess.run([program("penstock"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", env=environment(), check=False)  # fmt: skip

    def share(self, name, *options):
        output = self.path(name)
        done = self.penstock("share", self.trace, "-o", output, *options)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual([name], os.listdir(self.work))
        return output, done.stdout

    def report(self, trace):
        done = self.penstock("report", trace, "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def unpack(self, output):
        opener = zipfile.ZipFile if output.endswith(".zip") else tarfile.open
        with opener(output) as archive:
            archive.extractall(self.work)
        (folder,) = [name for name in os.listdir(self.work) if os.path.isdir(self.path(name))]
        self.assertEqual(FILES, set(os.listdir(self.path(folder))))
        return self.path(folder)

    def test_a_bundle_contains_the_trace_and_gives_the_same_report(self):
        output, said = self.share("b.tar.gz")
        for name in FILES:
            self.assertIn(name, said)
        self.assertIn("--anonymous", said)
        self.assertEqual(0o600, os.stat(output).st_mode & 0o777)
        folder = self.unpack(output)
        again, first = self.report(os.path.join(folder, "trace.penstock")), self.report(self.trace)
        again["trace"] = first["trace"]
        again = json.loads(json.dumps(again).replace("trace.penstock", "x"))
        self.assertEqual(list(numbers(first)), list(numbers(again)))
        self.assertEqual(first["verdict"]["summary"], again["verdict"]["summary"])
        self.assertEqual(first["command"], again["command"])
        with open(os.path.join(folder, "environment.json")) as file:
            facts = json.load(file)
        self.assertEqual("penstock.environment/1", facts["schema"])
        self.assertEqual(os.uname().release, facts["recorded"]["kernel"])
        for key in ("version.python", "version.torch", "cpu.cores"):
            self.assertIn(key, facts["recorded"])
        self.assertIn("distribution", facts["this_machine"])
        self.assertNotIn(socket.gethostname(), [*facts["recorded"].values(), *facts["this_machine"].values()])

    def test_an_anonymous_bundle_has_the_numbers_and_none_of_the_names(self):
        output, said = self.share("b.zip", "--anonymous")
        self.assertRegex(said, r"replaced by stand-ins, in \d+ places: \d+ files, \d+ folders")
        folder = self.unpack(output)
        trace = os.path.join(folder, "trace.penstock")
        first, again = self.report(self.trace), self.report(trace)
        self.assertEqual(list(numbers(first)), list(numbers(again)))
        self.assertEqual(first["verdict"]["bottleneck"], again["verdict"]["bottleneck"])
        self.assertEqual([one["id"] for one in first["findings"]], [one["id"] for one in again["findings"]])
        with open(os.path.join(folder, "report.json")) as file:
            self.assertEqual(list(numbers(first)), list(numbers(json.load(file))))
        lines = subprocess.run([program("penstock-export"), trace, "--to", "jsonl"], stdout=subprocess.PIPE, check=True)
        for kept in (b".jpg", b"PIL.convert", b"__getitem__", b"numpy"):
            self.assertTrue(kept in lines.stdout, kept)
        for name in sorted(FILES):
            with open(os.path.join(folder, name), "rb") as file:
                self.clean(name, file.read())
        self.clean("trace.penstock as JSON lines", lines.stdout)
        facts = [json.loads(line) for line in lines.stdout.splitlines() if b'"type":"fact"' in line]
        (host,) = [one["value"] for one in facts if one["key"] == "host"]
        self.assertRegex(host, r"^host\d+$")
        with open(output, "rb") as file:
            self.assertNotIn(PERSON.encode(), file.read())

    def clean(self, name, text):
        for word in self.words:
            at = text.lower().find(word.lower().encode())
            self.assertEqual(-1, at, "%s names %s: ...%s..." % (name, word, text[max(0, at - 80):at + 80]))

    def test_a_terminated_share_leaves_nothing(self):
        for _ in range(20):
            share = subprocess.Popen([program("penstock"), "share", self.trace, "-o", self.path("b.zip")],
                                     stdout=subprocess.DEVNULL, env=environment())  # fmt: skip
            while share.poll() is None and not os.listdir(self.work):
                time.sleep(0.001)
            share.send_signal(signal.SIGTERM)
            self.assertIn(share.wait(support.TIMEOUT), (0, -signal.SIGTERM))
            if not os.path.exists(self.path("b.zip")):
                break
            with zipfile.ZipFile(self.path("b.zip")) as archive:  # it was in place before the signal came
                self.assertIsNone(archive.testzip())
            os.unlink(self.path("b.zip"))
        self.assertEqual(-signal.SIGTERM, share.returncode)
        self.assertEqual([], os.listdir(self.work))

    def test_a_share_that_fails_prints_one_line_and_leaves_no_file(self):
        output, _ = self.share("b.zip")
        with open(output, "rb") as file:
            before = file.read()
        for words, status, says in (
            ((self.trace, "-o", output), 2, "--force"),
            ((self.trace, "-o", self.path("b.rar")), 2, ".zip or .tar.gz"),
            ((self.trace, "-o", self.path("none/b.zip")), 3, "cannot be written"),
            ((self.path("none.penstock"), "-o", self.path("c.zip")), 4, "none.penstock"),
            ((target("train.py"), "-o", self.path("c.zip")), 4, "train.py"),
            ((), 2, "trace"),
        ):
            done = self.penstock("share", *words)
            self.assertEqual(status, done.returncode, (words, done))
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual(["b.zip"], os.listdir(self.work))
        with open(output, "rb") as file:
            self.assertEqual(before, file.read())
        self.share("b.zip", "--force")


if __name__ == "__main__":
    support.main()
