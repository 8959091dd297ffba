#!/usr/bin/env python3
"""Reports the coverage of the parts that decide, and fails below their thresholds.

    coverage.py FOLDER    holds for each program what llvm-cov export wrote (tests/coverage.sh):
                          NAME.lcov and NAME.text

A branch is one of the two ways of one condition. What several programs or instantiations of a
template reach counts together. An assertion, which must never be false, has no branches here; nor
has the way past all cases of a switch without a default, which names each value of its enum.
"""
import collections
import functools
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Name, what its files begin with, and the least that is asked for, in percent: lines, branches.
PARTS = [
    ("rules", "include/wallock/rules/", 100, 95),
    ("ledger", ("include/wallock/ledger/", "src/ledger/"), 100, 95),
    ("repository", "src/sqlite/", 100, 95),
]


def own_name(path):
    return os.path.relpath(os.path.realpath(path), ROOT)


@functools.cache
def text_of(name):
    return list(enumerate((ROOT / name).read_text().splitlines(), 1))


def assertions(name):
    return {number for number, line in text_of(name)
            if "assert(" in line or re.match(r"\s*switch \(", line)}


def comment_lines(name):
    """Lines without code: behind a return, llvm-cov takes them for code that never ran."""
    return {number for number, line in text_of(name) if re.match(r"\s*(//|$)", line)}


def read_lines(path, files):
    """Adds, for each file, how often each of its lines ran."""
    lines, comments = {}, set()
    for row in path.read_text().splitlines():
        key, _, value = row.partition(":")
        if key == "SF":
            name = own_name(value)
            lines, comments = files.setdefault(name, {}), comment_lines(name)
        elif key == "DA":
            number, count = (int(n) for n in value.split(",")[:2])
            if number not in comments:
                lines[number] = lines.get(number, 0) + count


def read_branches(path, files):
    """Adds, for each file, how often each condition was true and false, by its place."""
    for unit in json.loads(path.read_text())["data"]:
        for file in unit["files"]:
            name = own_name(file["filename"])
            conditions, asserting = files[name], assertions(name)
            for line, column, _, _, true, false, *_ in file["branches"]:
                if line in asserting:
                    continue
                before = conditions.get((line, column), (0, 0))
                conditions[line, column] = (before[0] + true, before[1] + false)


def share(reached, total):
    return 100 * reached / total if total else 100  # float-ok: a percentage for people to read


def missing_lines(lines):
    return [f"{line}" for line, count in sorted(lines.items()) if count == 0]


def missing_branches(conditions):
    return [f"{line}:{column} never {'true' if way == 0 else 'false'}"
            for (line, column), counts in sorted(conditions.items())
            for way in (0, 1) if counts[way] == 0]


def report(name, prefix, least_lines, least_branches, lines, branches):
    """Prints the part's figures and what is missing; True if it has what is asked for."""
    files = sorted(file for file in lines if file.startswith(prefix))
    line_count = sum(len(lines[file]) for file in files)
    way_count = sum(2 * len(branches[file]) for file in files)
    no_lines = {file: missing_lines(lines[file]) for file in files}
    no_ways = {file: missing_branches(branches[file]) for file in files}
    reached_lines = share(line_count - sum(map(len, no_lines.values())), line_count)
    reached_ways = share(way_count - sum(map(len, no_ways.values())), way_count)
    for file in files:
        for line in no_lines[file]:
            print(f"{file}:{line}: never ran")
        for way in no_ways[file]:
            print(f"{file}:{way}")
    good = bool(files) and reached_lines >= least_lines and reached_ways >= least_branches
    print(f"{name}: {len(files)} files, {line_count} lines {reached_lines:.2f} % (of "
          f"{least_lines} asked for), {way_count} branches {reached_ways:.2f} % (of "
          f"{least_branches}): {'good' if good else 'TOO LITTLE'}")
    return good


def main():
    folder, lines, branches = pathlib.Path(sys.argv[1]), {}, collections.defaultdict(dict)
    for path in sorted(folder.glob("*.lcov")):
        read_lines(path, lines)
        read_branches(path.with_suffix(".text"), branches)
    good = [report(*part, lines, branches) for part in PARTS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
