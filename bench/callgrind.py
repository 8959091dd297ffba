#!/usr/bin/env python3
"""Sums a callgrind profile up: instructions per operation by library and by function.

    callgrind.py [--operations N] [--top N] FILE

The format is described in Valgrind's manual, "Callgrind Format Specification".
"""

import argparse
import collections
import re

NAMED = re.compile(r"(fl|fi|fe|fn|ob|cfn|cfi|cfl|cob)=(?:\((\d+)\))?\s*(.*)")
COST = re.compile(r"[+*-]?(?:0x)?[0-9a-fA-F]*\*? (\d+)")


def own_name(library):
    """Ours is everything that is linked into the program itself."""
    name = library.rsplit("/", 1)[-1]
    return "wallock (and SQLiteCpp)" if name.startswith("wallock_bench") else name


def read(path):
    """Instructions by (library, function): its own, and those with all that it calls; and by
    (caller, callee): those of the callee, with all that it calls, when that caller calls it."""
    names = collections.defaultdict(dict)
    own, inclusive, edges = (collections.Counter() for _ in range(3))
    library = function = callee_library = callee = ""
    calling = False

    def resolve(kind, number, text):
        table = names["ob" if "ob" in kind else "fn" if "fn" in kind else "fl"]
        if number is None:
            return text
        if text:
            table[number] = text
        return table.get(number, "?")

    with open(path, encoding="utf-8") as file:
        for line in file:
            named = NAMED.match(line)
            if named:
                kind, number, text = named.groups()
                value = resolve(kind, number, text.strip())
                if kind == "ob":
                    library = value
                elif kind == "fn":
                    function, callee_library = value, library
                elif kind == "cob":
                    callee_library = value
                elif kind == "cfn":
                    callee = value
            elif line.startswith("calls="):
                calling = True
            else:
                cost = COST.match(line)
                if not cost:
                    continue
                instructions = int(cost.group(1))
                inclusive[library, function] += instructions
                if calling:
                    edges[(library, function), (callee_library, callee)] += instructions
                    if (callee_library, callee) == (library, function):
                        inclusive[library, function] -= instructions  # it calls itself
                    calling, callee_library = False, library
                else:
                    own[library, function] += instructions
    return own, inclusive, edges


def print_functions(title, costs, operations, total, top):
    print(f"\n{title}")
    for (library, function), cost in costs.most_common(top):
        print(f"{cost / operations:12.0f} {100 * cost / total:6.1f} %  "
              f"{own_name(library):24.24}  {function[:110]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=1)
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("file")
    arguments = parser.parse_args()
    own, inclusive, _ = read(arguments.file)
    total = sum(own.values())
    libraries = collections.Counter()
    for (library, _), cost in own.items():
        libraries[own_name(library)] += cost
    print(f"\n{total / arguments.operations:.0f} instructions per operation, by library")
    for library, cost in libraries.most_common():
        print(f"{cost / arguments.operations:12.0f} {100 * cost / total:6.1f} %  {library}")
    print_functions("with everything that it calls", inclusive, arguments.operations, total,
                    arguments.top)
    print_functions("of its own", own, arguments.operations, total, arguments.top)


if __name__ == "__main__":
    main()
