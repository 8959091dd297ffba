#!/usr/bin/env python3
"""Checks docs/test-matrix.md against the tests, so that it cannot rot.

Each row `| INV-01 | what must hold | "Test case"; "another" |` names test cases that exist, and
each invariant from INV-01 to INV-10 has at least one. --self-test shows that the check can fail.
"""

import glob
import os
import re
import sys

import selftest

INVARIANTS = [f"INV-{number:02}" for number in range(1, 11)]
TEST_CASE = re.compile(
    r'\b(?:TEST_CASE|SCENARIO|TEMPLATE_TEST_CASE|TEST_CASE_METHOD\s*\(\s*\w+\s*,)\s*\(?\s*'
    r'((?:"(?:\\.|[^"\\])*"\s*)+)')
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')


def test_cases(sources):
    """The names of all test cases; adjacent string literals are one name, as in C++."""
    names = set()
    for text in sources:
        for match in TEST_CASE.finditer(text):
            name = "".join(STRING.findall(match.group(1)))
            names.add(name.replace('\\"', '"').replace("\\\\", "\\"))
    return names


def check(matrix, sources):
    known, tested, messages = test_cases(sources), set(), []
    for number, line in enumerate(matrix.split("\n"), 1):
        match = re.match(r"\|\s*(INV-\d+)\s*\|(.*)\|\s*$", line)
        if not match:
            continue
        invariant, cell = match.group(1), match.group(2).split("|")[-1]
        if invariant not in INVARIANTS:
            messages.append(f"{number}: {invariant}: there is no such invariant")
        for name in STRING.findall(cell):
            if name in known:
                tested.add(invariant)
            else:
                messages.append(f'{number}: {invariant}: there is no test case "{name}"')
    untested = [invariant for invariant in INVARIANTS if invariant not in tested]
    return messages + [f"1: {invariant}: no test case" for invariant in untested]


def self_test():
    source = ['TEST_CASE("a: b", "[x]") {}\nTEST_CASE(\n    "long "\n    "name") {}\n']
    rows = [f'| {invariant} | text | "a: b" |' for invariant in INVARIANTS]
    full = "\n".join(rows)
    cases = {
        "unknown test case": (full.replace('"a: b"', '"gone"', 1), full),
        "one of two gone": (full + '\n| INV-01 | text | "a: b"; "gone" |',
                            full + '\n| INV-01 | text | "a: b"; "long name" |'),
        "row without test": (full.replace('"a: b"', "", 1), full),
        "row missing": ("\n".join(rows[1:]), full),
        "unknown invariant": (full + '\n| INV-11 | text | "a: b" |', full),
    }
    return selftest.run(cases, lambda name, matrix: check(matrix, source))


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    sources = []
    for path in glob.glob(os.path.join(root, "tests", "**", "*.cpp"), recursive=True):
        with open(path, encoding="utf-8") as file:
            sources.append(file.read())
    with open(os.path.join(root, "docs", "test-matrix.md"), encoding="utf-8") as file:
        messages = check(file.read(), sources)
    for message in messages:
        print(f"docs/test-matrix.md:{message}")
    print(f"test matrix: {len(messages)} violations")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
