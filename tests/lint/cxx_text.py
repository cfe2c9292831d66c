# SPDX-License-Identifier: Apache-2.0
"""Helpers for the rules that read C++ text: its file suffixes, comments, line numbers and calls."""
import re

SOURCES, HEADERS = (".cc", ".c", ".cu", ".py", ".sh"), (".h", ".cuh")


def without_comments(text):
    """The C++ text with comments replaced by blanks. Strings are kept, and line numbers do not change."""
    def blank(match):
        kept = match.group(0)
        return kept if kept[0] in "\"'" else re.sub(r"[^\n]", " ", kept)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def end_of_call(text, begin):
    """The position after the parenthesis that closes the one at text[begin]; the end of the text if none does."""
    depth = 0
    for found in re.finditer(r'"(?:\\.|[^"\\\n])*"|[()]', text[begin:]):
        depth += {"(": 1, ")": -1}.get(found.group(0), 0)
        if depth == 0:
            return begin + found.end()
    return len(text)
