#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The documents and the programs agree: a rule makes every finding that a document names, every rule is documented, the
programs have every option that a document shows, and every link leads to a file."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "analyzer/guides").glob("*.md"))
DOCUMENTS = [ROOT / "README.md", *GUIDES]

ID = re.compile(r'finding\.id = "([^"]+)"')
NAMED = re.compile(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`")  # in code, words joined by hyphens
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
# Names that are written in the same way but are no findings: those of programs and libraries.
OTHERS = re.compile(r"penstock-[a-z]+|libturbojpeg-\w+")


def rules():
    """{file: ids of the findings that it makes}."""
    return {path: ID.findall(path.read_text(encoding="utf-8")) for path in (ROOT / "analyzer/advice").glob("*.cc")}


def ids():
    return {one for found in rules().values() for one in found}


def named(text):
    return {word for word in NAMED.findall(text) if not OTHERS.fullmatch(word)}


class Findings(unittest.TestCase):
    def test_there_are_rules_and_guides(self):
        self.assertGreaterEqual(len(ids()), 38)
        self.assertGreaterEqual(len(GUIDES), 5)

    def test_every_rule_has_one_id_of_its_own_file(self):
        for path, found in rules().items():
            self.assertLessEqual(len(found), 1, path)
            if found:
                self.assertEqual(path.stem.replace("_", "-"), found[0])

    def test_the_table_of_rules_is_whole(self):
        table = (ROOT / "analyzer/advice/rule_list.h").read_text(encoding="utf-8")
        rows = {(one.replace("-", "_"), "".join(part.capitalize() for part in one.split("-"))) for one in ids()}
        self.assertEqual(rows, set(re.findall(r"^  X\((\w+), (\w+)\)", table, re.M)))

    def test_documents_name_only_findings_that_exist(self):
        known = ids()
        for path in DOCUMENTS:
            self.assertEqual(named(path.read_text(encoding="utf-8")) - known, set(), path)

    def test_every_finding_is_documented(self):
        table = (ROOT / "analyzer/guides/findings.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `([^`]+)` \|", table, re.M)
        self.assertEqual(sorted(rows), sorted(ids()))

    def test_a_rule_names_its_own_needs(self):
        for path in rules():
            for one in re.findall(r'\bNeeds\(\s*"([^"]+)"', path.read_text(encoding="utf-8")):
                self.assertEqual(path.stem.replace("_", "-"), one)

    def test_every_finding_has_its_words_in_both_languages(self):
        text = (ROOT / "analyzer/words/rule_names.h").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r'Message\{"([^"]+)"', text)), sorted(ids()))

    def test_links_lead_somewhere(self):
        for path in DOCUMENTS:
            for link in LINK.findall(path.read_text(encoding="utf-8")):
                if "://" not in link:
                    self.assertTrue((path.parent / link).exists(), "%s: %s" % (path, link))

    def test_every_guide_is_linked_from_the_readme_and_installed(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        install = (ROOT / "cmake/PenstockInstall.cmake").read_text(encoding="utf-8")
        self.assertIn("analyzer/guides", install)
        for guide in GUIDES:
            self.assertIn("analyzer/guides/" + guide.name, readme)

    def test_options_that_documents_give_to_penstock_exist(self):
        sources = "\n".join(path.read_text(encoding="utf-8")
                            for folder in ("agent", "analyzer", "benchmarks", "gui", "loader", "traces")
                            for path in (ROOT / folder).rglob("*") if path.suffix in (".cc", ".h", ".py"))  # fmt: skip
        known = set(re.findall(r"--[a-z][a-z-]+", sources))
        for path in DOCUMENTS:
            text = path.read_text(encoding="utf-8")
            for command in re.findall(r"(?:^|`)\s*((?:penstock|whatif|record|tune|report)\b[^`\n]*)", text, re.M):
                own = command.split(" -- ")[0].split("#")[0]
                for option in re.findall(r"(?<=\s)(--[a-z][a-z-]+)", own):
                    self.assertIn(option, known, "%s: %s" % (path, command))


class Checks(unittest.TestCase):
    """The helpers above find wrong names."""

    def test_a_name_that_is_no_finding_is_seen(self):
        self.assertEqual(named("see `too-few-workers`, `no-such-thing` and `penstock-record`"),
                         {"too-few-workers", "no-such-thing"})  # fmt: skip
        self.assertNotIn("no-such-thing", ids())


if __name__ == "__main__":
    unittest.main(verbosity=1)
