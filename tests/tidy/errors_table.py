#!/usr/bin/env python3
"""Checks that docs/errors.md has exactly one row for each enumerator of Errc.

A row is `| `name` | number | class | what to do |`; the number is the enumerator's, and its
hundreds give the class. --self-test shows that the check can fail.
"""

import os
import re
import sys

import selftest

CLASSES = {1: "transient", 2: "deterministic", 3: "business", 4: "security"}


def enumerators(header):
    """name -> number, as C++ counts them."""
    body = re.search(r"enum class Errc\b[^{]*\{(.*?)\};", header, re.DOTALL)
    if not body:
        return {}
    result, following = {}, 0
    code = re.sub(r"//[^\n]*", "", body.group(1))
    for name, number in re.findall(r"(\w+)\s*(?:=\s*(\d+))?\s*(?:,|$)", code.strip()):
        following = int(number) if number else following
        result[name] = following
        following += 1
    return result


def check(table, header):
    codes, seen, messages = enumerators(header), set(), []
    if not codes:
        return ["1: found no enumerators in error.hpp"]
    for line_number, line in enumerate(table.split("\n"), 1):
        match = re.match(r"\|\s*`(\w+)`\s*\|\s*(\d+)\s*\|\s*(\w+)\s*\|\s*(\S.*)\|\s*$", line)
        if not match:
            if re.match(r"\|\s*`\w+`\s*\|", line):
                messages.append(f"{line_number}: not like | `name` | number | class | what to do |")
            continue
        name, number, its_class = match.group(1), int(match.group(2)), match.group(3)
        if name not in codes:
            messages.append(f"{line_number}: {name}: there is no such error code")
            continue
        if name in seen:
            messages.append(f"{line_number}: {name}: a second row")
        if number != codes[name]:
            messages.append(f"{line_number}: {name}: is {codes[name]}, not {number}")
        if its_class != CLASSES.get(codes[name] // 100):
            messages.append(f"{line_number}: {name}: {its_class} is not its class")
        seen.add(name)
    return messages + [f"1: {name}: no row" for name in codes if name not in seen]


def self_test():
    header = ("enum class Errc : std::uint16_t {\n"
              "  // c\n  busy = 100,  // d = 7,\n  io,\n  held = 300,\n};")
    rows = ["| `busy` | 100 | transient | wait |", "| `io` | 101 | transient | look |",
            "| `held` | 300 | business | go |"]
    full = "\n".join(rows)
    cases = {
        "row missing": ("\n".join(rows[:2]), full),
        "unknown code": (full + "\n| `gone` | 102 | transient | x |", full + "\n| gone | 102 |"),
        "second row": (full + "\n" + rows[0], full),
        "wrong number": (full.replace("101", "102"), full),
        "wrong class": (full.replace("business", "security"), full),
        "nothing to do": (full.replace("| wait |", "|  |"), full),
    }
    return selftest.run(cases, lambda name, table: check(table, header))


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(root, "include", "wallock", "error.hpp"), encoding="utf-8") as file:
        header = file.read()
    with open(os.path.join(root, "docs", "errors.md"), encoding="utf-8") as file:
        messages = check(file.read(), header)
    for message in messages:
        print(f"docs/errors.md:{message}")
    print(f"errors: {len(enumerators(header))} codes, {len(messages)} violations")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
