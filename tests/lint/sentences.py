# SPDX-License-Identifier: Apache-2.0
"""The rules about sentences of the analyzer: they may be only in analyzer/words/, and no code may read their text."""
import re

from cxx_text import end_of_call, line_of, without_comments

# Where the analyzer may have sentences: in the table of words, and in the parts that are in English only (the command
# line and the doctor). All other code makes Statement objects.
ENGLISH_PAGES = re.compile(r"analyzer/(?:words/|main/|doctor/|report/fail_on\.(?:cc|h)$)")
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*')
WORDS = re.compile(r"\b[A-Za-z][a-z']+[,:;]? [a-z][a-z']*[,:;]? [a-z]{2,}")  # three in a row
FAILURE = re.compile(r"\b(?:Fail|PENSTOCK_CHECK|static_assert)\(")  # messages for the command line or for developers

# Ways to read a text. They must not be used on the results of Render() and English(), which may only be shown.
LOOKS = r"(?:find\w*|rfind|starts_with|ends_with|contains|compare|substr|front|back|remove_\w+|replace|erase)\("
RENDERED = re.compile(r"\b(?:English|Render)\(")
LOOKED_INTO = re.compile(r"\s*(?:[=!]=|\.%s|\[)" % LOOKS)
COMPARED = re.compile(r'[=!]= *"[^"\n]*[a-z] [a-z]|"[^"\n]*[a-z] [a-z][^"\n]*" *[=!]=|'
                      r'\.(?:find|rfind|starts_with|ends_with|contains|compare)\( *"[^"\n]*[a-z] [a-z]')
MESSAGE_TEXT = re.compile(r"(?:\.|->)(?:english|chinese)\b")


def rule_sentences(path, text, _exists):
    """The analyzer makes Statement objects. Their words are in analyzer/words/, in both languages."""
    if not path.startswith("analyzer/") or not path.endswith((".cc", ".h")) or ENGLISH_PAGES.match(path):
        return
    code = without_comments(text)
    failures = [(found.start(), end_of_call(code, found.end() - 1)) for found in FAILURE.finditer(code)]
    for found in LITERALS.finditer(code):
        said = "".join(one[1:-1] for one in LITERAL.findall(found.group(0)))
        if WORDS.search(said) and not any(begin < found.start() < end for begin, end in failures):
            yield line_of(code, found.start()), f"a sentence outside analyzer/words/: \"{said[:40]}\""


def rule_rendered(path, text, _exists):
    """No code compares a sentence or takes one apart. Code uses Statement::Is() and the statement's values instead."""
    if not path.startswith(("analyzer/", "gui/")) or path.startswith("analyzer/words/") or not path.endswith((".cc", ".h")):
        return
    code = without_comments(text)
    for found in COMPARED.finditer(code):
        yield line_of(code, found.start()), "compares a sentence"
    for found in MESSAGE_TEXT.finditer(code) if re.search(r"\bMessage\b", code) else ():
        yield line_of(code, found.start()), "reads a message's text: Render() is for that"
    for found in RENDERED.finditer(code):
        after = code[end_of_call(code, found.end() - 1):]
        if LOOKED_INTO.match(after) or re.search(r"[=!]= *$", code[:found.start()]):
            yield line_of(code, found.start()), "compares a rendered sentence, or takes it apart"
        named = re.search(r"(?:std::string|auto&?|std::string_view) (\w+)(?: = |\()(?:\w+::)*$", code[:found.start()])
        if not named or not after.lstrip(") ").startswith(";"):
            continue
        # The variable's scope, taken as the text up to the end of its function.
        scope = re.split(r"^}", after, maxsplit=1, flags=re.M)[0]
        used = re.search(r"(?<![\w.>])%s(?:\s*[=!]= |\.%s)|[=!]= %s\b" % (named.group(1), LOOKS, named.group(1)), scope)
        if used:
            line = line_of(code, len(code) - len(after) + used.start())
            yield line, f"compares {named.group(1)}, a rendered sentence, or takes it apart"
