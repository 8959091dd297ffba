#!/usr/bin/env python3
"""Instructions per operation: from callgrind's profiles to a file, and one file against another.

    instructions.py collect --out FILE NAME=PROFILE:OPERATIONS...
    instructions.py compare OLD NEW     fails if an operation got more than 3 % dearer

Instructions do not depend on load or on the disk, so a regression shows without a clock. They do
depend on compiler and libraries: files of other versions are compared with a warning.
"""

import argparse
import collections
import ctypes.util
import json
import os
import subprocess
import sys

from callgrind import read

TOLERANCE = 0.03
PARTS = ("sqlite", "hashing", "wallock", "other")


def part_of(function):
    """Whose code a function is; None for the C and C++ libraries, which work for their callers."""
    library, name = function
    library = os.path.basename(library)
    if library.startswith("libsqlite3"):
        return "sqlite"
    if library.startswith("libcrypto"):
        return "hashing"
    if library.startswith("wallock_"):
        if name.startswith("SQLite::"):
            return "sqlite"
        return "hashing" if "Sha256" in name else "wallock"
    return None


def library_shares(own, edges):
    """Of each library function's cost with all that it calls: how much stays in the libraries. The
    rest goes back to code with a part, through a callback or a linkage stub."""
    cost = collections.Counter({f: c for f, c in own.items() if part_of(f) is None})
    for (caller, _), edge in edges.items():
        if part_of(caller) is None:
            cost[caller] += edge
    shares = {function: 1.0 for function in cost}
    for _ in range(8):  # libraries call each other some levels deep
        stays = collections.Counter({f: c for f, c in own.items() if f in cost})
        for (caller, callee), edge in edges.items():
            if caller in cost and part_of(callee) is None:
                stays[caller] += edge * shares.get(callee, 1.0)
        shares = {function: stays[function] / cost[function] for function in cost if cost[function]}
    return shares


def parts(profile):
    """Instructions by part; what a library does for a caller counts as the caller's."""
    own, _, edges = read(profile)
    shares = library_shares(own, edges)
    sums = dict.fromkeys(PARTS, 0)
    for function, cost in own.items():
        part = part_of(function)
        if part:
            sums[part] += cost
    for (caller, callee), cost in edges.items():
        part = part_of(caller)
        if part and part_of(callee) is None:
            sums[part] += cost * shares.get(callee, 1.0)
    total = sum(own.values())
    sums["other"] = total - sum(sums[part] for part in PARTS[:3])
    return total, sums


def versions():
    sqlite = subprocess.run(
        [sys.executable, "-c", "import sqlite3; print(sqlite3.sqlite_version)"],
        capture_output=True, text=True, check=True).stdout.strip()
    compiler = subprocess.run([os.environ.get("CXX", "c++"), "--version"], capture_output=True,
                              text=True, check=True).stdout.split("\n")[0]
    machine = os.uname().machine
    return {"compiler": compiler, "sqlite": sqlite, "machine": machine,
            "openssl": ctypes.util.find_library("crypto")}


def collect(arguments):
    operations = {}
    for argument in arguments.profiles:
        name, profile = argument.split("=", 1)
        profile, operations_run = profile.rsplit(":", 1)
        total, sums = parts(profile)
        if total == 0:
            print(f"instructions.py: nothing was counted for {name}", file=sys.stderr)
            return 1
        operations[name] = {"total": round(total / int(operations_run)),
                            **{part: round(cost / int(operations_run))
                               for part, cost in sums.items()}}
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump({"versions": versions(), "operations": operations}, file, indent=1)
        file.write("\n")
    return 0


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def compare(arguments):
    old, new = load(arguments.old), load(arguments.new)
    for key, value in old["versions"].items():
        if new["versions"].get(key) != value:
            print(f"warning: {key} was {value}, is {new['versions'].get(key)}")
    dearer = 0
    print(f"{'operation':26} {'before':>9} {'now':>9} {'change':>8}")
    for name in sorted(old["operations"].keys() | new["operations"].keys()):
        before = old["operations"].get(name, {}).get("total")
        now = new["operations"].get(name, {}).get("total")
        if before is None or now is None:
            print(f"{name:26} {before or '-':>9} {now or '-':>9}  {'new' if now else 'GONE'}")
            dearer += now is None
            continue
        change = now / before - 1
        worse = change > TOLERANCE
        dearer += worse
        print(f"{name:26} {before:9} {now:9} {100 * change:+7.1f} %{'  DEARER' if worse else ''}")
    return 1 if dearer else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("--out", required=True)
    collecting.add_argument("profiles", nargs="+", metavar="NAME=PROFILE:OPERATIONS")
    comparing = commands.add_parser("compare")
    comparing.add_argument("old")
    comparing.add_argument("new")
    arguments = parser.parse_args()
    return collect(arguments) if arguments.command == "collect" else compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
