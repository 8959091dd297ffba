#!/usr/bin/env python3
"""Checks the style that docs/CONTRIBUTING.md describes, in about a second.

    tidy.py [--root DIR]    prints file:line: message for each violation; fails if there is one
    tidy.py --self-test     shows that each check reports a violation and spares its legal twin
"""

import os
import re
import sys

import layers
import planted
import selftest
from source import Source

MAX_LINES = 400
MAX_FUNCTION = 70
MAX_COLUMNS = 100
FOLDERS = ("include", "src", "tests", "bench", "examples", "docs")
ENDINGS = (".hpp", ".cpp", ".sql", ".cmake", ".sh", ".md", ".py", "CMakeLists.txt")

# Which code may not say what, and why. The pattern is matched on code without comments and strings.
PRODUCT = re.compile(r"^(include|src)/")
EVERYWHERE = re.compile(r"")
BANNED = (
    (EVERYWHERE, None, r"\busing\s+namespace\s+std\s*;", "using namespace std"),
    (EVERYWHERE, None, r"\b(getHeaderInfo|isUnencrypted)\b",
     "opens and closes the database file, which drops SQLite's locks"),
    (EVERYWHERE, None, r"\bSQLite::Savepoint\b", "leaves the transaction open in SQLiteCpp 3.2.1"),
    (EVERYWHERE, "src/host/", r"\bsystem_clock::now\b",
     "the clock is injected; only src/host reads it"),
    (PRODUCT, "src/host/", r"\bthis_thread::sleep_(for|until)\b",
     "waiting goes through the clock; only src/host sleeps"),
)
FLOATS = re.compile(r"\b(float|double|sto[df]|stold|strto[df]|strtold|atof|getDouble|\w+_double)\b")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def check_layers(source):
    yield from layers.violations(source)


def check_file_length(source):
    if source.is_cpp and len(source.lines) > MAX_LINES:
        yield MAX_LINES + 1, f"{len(source.lines)} lines; a file has at most {MAX_LINES}"


def check_function_length(source):
    if not source.is_cpp:
        return
    for name, line, length in source.functions():
        if length > MAX_FUNCTION and not source.is_excused(line, "length"):
            yield line, f"{name} has {length} lines; a function has at most {MAX_FUNCTION}"


def check_line_length(source):
    if source.path.endswith(".md"):
        return
    for number, line in enumerate(source.lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns; a line has at most {MAX_COLUMNS}"


def check_banned(source):
    if not source.is_cpp:
        return
    for where, spared, pattern, why in BANNED:
        if not where.match(source.path) or (spared and source.path.startswith(spared)):
            continue
        for number, line in source.code_lines():
            match = re.search(pattern, line)
            if match:
                yield number, f"banned: {match.group(0)} ({why})"


def check_floats(source):
    if not source.is_cpp or not PRODUCT.match(source.path):
        return
    for number, line in source.code_lines():
        match = FLOATS.search(line)
        if match and not source.is_excused(number, "float"):
            yield number, f"{match.group(0)}: no critical figure is a float (// float-ok: reason)"


def check_white_space(source):
    for number, line in enumerate(source.lines, 1):
        if line != line.rstrip():
            yield number, "trailing white space"
        if "\t" in line:
            yield number, "tab"


def check_unfinished(source):
    for number, line in enumerate(source.lines, 1):
        match = UNFINISHED.search(line)
        if match:
            yield number, f"{match.group(0)}: finish it or open an issue"


def check_header_start(source):
    if not source.is_header:
        return
    if not source.lines or not re.match(r"// \S.{15,}", source.lines[0]):
        yield 1, "a header starts with a comment that says what it is"
    if "#pragma once" not in source.lines:
        yield 1, "a header has #pragma once"


CHECKS = {
    "layers": check_layers,
    "file_length": check_file_length,
    "function_length": check_function_length,
    "line_length": check_line_length,
    "banned": check_banned,
    "floats": check_floats,
    "white_space": check_white_space,
    "unfinished": check_unfinished,
    "header_start": check_header_start,
}


def sources(root):
    for folder in FOLDERS:
        for where, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(ENDINGS):
                    path = os.path.join(where, name)
                    with open(path, encoding="utf-8") as file:
                        yield Source(os.path.relpath(path, root).replace(os.sep, "/"), file.read())


def self_test():
    unplanted = set(CHECKS) - {name.split(":")[0] for name in planted.CASES}
    if unplanted:
        print(f"self-test: no planted violation for {sorted(unplanted)}")
        return 1

    def run_check(name, case):
        return list(CHECKS[name.split(":")[0]](Source(*case)))

    return selftest.run(planted.CASES, run_check)


def main():
    if "--self-test" in sys.argv:
        return self_test()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    if "--root" in sys.argv:
        root = sys.argv[sys.argv.index("--root") + 1]
    files, violations = 0, 0
    for source in sources(root):
        files += 1
        for check in CHECKS.values():
            for line, message in check(source):
                print(f"{source.path}:{line}: {message}")
                violations += 1
    print(f"tidy: {files} files, {violations} violations")
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main())
