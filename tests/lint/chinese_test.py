#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Chinese texts: parentheses, commas, colons and their like must be full-width, as in Chinese typography, and
a space stands between Chinese and Latin. Code in a text (`torch.tensor()`) keeps its half-width punctuation."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = sorted([*(ROOT / "analyzer" / "words").glob("*.h"), *(ROOT / "gui" / "model" / "words").glob("*.h")])
HAN = "[\u3400-\u9fff]"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:[\s\\]*"((?:[^"\\\n]|\\.)*)")*')
PART = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Syntax of the tables: a condition "[name?", a value "{name:kind}", an escaped character.
CONDITION, VALUE, ESCAPED = re.compile(r"\[[a-z_]+\?"), re.compile(r"\{[^{}]*\}"), re.compile(r"\\\\?[\[\]{}\"]")
CALL = re.compile(r"[A-Za-z0-9_.\]]\([^()\u3400-\u9fff]*\)")  # code: no Chinese in its parentheses
CLOSE = re.compile(rf"{HAN} ?[,;:!?(]|[,;:!?)] ?{HAN}|\([^()]*{HAN}[^()]*\)")
# In a Chinese text, parentheses around a key or a unit must be full-width too: "隐藏 (Q)" is wrong.
# "21 ms的" is wrong. Where a value or a clause begins, the space comes when the text is rendered (statement.cc).
JOINED = re.compile(rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}")
APART = re.compile(r"(?:^|[\s\u3400-\u9fff])\([^()]*\)")


def literals(source):
    """(line, text) of each string literal. Adjacent literals are one text, as in C++."""
    code = re.sub(r"//[^\n]*", lambda match: " " * len(match.group()), source)
    for match in LITERAL.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, "".join(PART.findall(match.group()))


def half_width(text):
    """The first half-width punctuation in a Chinese text; "" if there is none."""
    if not re.search(HAN, text):
        return ""
    for syntax, instead in ((ESCAPED, ""), (CONDITION, "["), (VALUE, "0"), (CALL, "0")):
        text = syntax.sub(instead, text)
    found = CLOSE.search(text) or APART.search(text)
    return found.group() if found else ""


def unspaced(text):
    """The first place where Chinese touches Latin in the parts of a text between its values; "" if there is none."""
    for syntax, instead in ((ESCAPED, ""), (CONDITION, "["), (VALUE, "{}")):
        text = syntax.sub(instead, text)
    found = JOINED.search(text)
    return found.group() if found else ""


class ChineseTest(unittest.TestCase):
    def test_punctuation_is_full_width_and_latin_stands_apart(self):
        count, wrong = 0, []
        for table in TABLES:
            for line, text in literals(table.read_text(encoding="utf-8")):
                count += bool(re.search(HAN, text))
                if found := half_width(text) or unspaced(text):
                    wrong.append(f"{table.relative_to(ROOT)}:{line}: \"{found}\" in {text}")
        self.assertGreater(count, 1000, "the texts were not found")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_half_width_punctuation_is_found(self):
        for text in ("发现 (3)", "发现(3)", "隐藏 (Q)", "时间 ({unit:text})", "等待,读取", "等待: 读取", "完成!", "(等待) read",
                     "[late?晚|早], 然后"):  # fmt: skip
            self.assertNotEqual(half_width(text), "", text)

    def test_a_missing_space_is_found(self):
        for text in ("约 {cost:ms5g} ms的时间", "GPU上", "占 50 %的", "在CPU 上"):
            self.assertNotEqual(unspaced(text), "", text)
        for text in ("约 {cost:ms5g} ms 的时间", "{n:bytes}[a?的内存]", "受限于{factor:name}", "使用 CUDA。"):
            self.assertEqual(unspaced(text), "", text)

    def test_code_and_syntax_are_left_alone(self):
        for text in ("用 torch.tensor() 复制", "{n:count} 个[threads?线程|进程]", "发现（3）", "while waiting (3)", "隐藏（Q）",
                     "dict(x) 或 list(x)", "choice(n, k, replace=False) 或其他", "cp -r {root:text} 到别处",
                     "set_forkserver_preload(\\\\['torch', ...\\\\]) 只导入一次"):  # fmt: skip
            self.assertEqual(half_width(text), "", text)


if __name__ == "__main__":
    sys.exit(unittest.main())
