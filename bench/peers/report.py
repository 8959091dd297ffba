#!/usr/bin/env python3
"""Puts measured figures into docs/performance.md and draws its plots.

    report.py [--results FOLDER] [--docs FOLDER]

FOLDER holds what performance.sh wrote: peers.json and, if they ran, where.json,
group_commit.json, group_commit_1ms.json, processes.json, processes_1ms.json and waiting.json.
Each part of the document between "<!-- begin NAME -->" and "<!-- end NAME -->" is written anew;
the rest is left alone.
"""

import argparse
import os
import re
import sys

import plots
import tables
from results import OURS, Comparison, load

ON_THIS_DISK = ("peers", "where", "group_commit", "processes", "waiting")
ON_A_SLOW_DISK = ("group_commit_1ms", "processes_1ms")
BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLOTTED_LEASES = (("pair", "p50", "Uncontended acquire and release, p50, us (less is better)",
                   True),
                  ("one key", "handover p50",
                   "8 processes on one key: release to the next holder, p50, us (less is better)",
                   True),
                  ("own keys", "pairs", "8 processes on 8 keys: pairs per second (more is better)",
                   False))
PLOTTED_OUTBOX = (("enqueue 1", "p50", "A business row and 1 message, p50, us", True),
                  ("enqueue 100", "p50", "A business row and 100 messages, p50, us", True),
                  ("claim 1", "p50", "Claim and acknowledge 1, p50, us", True),
                  ("claim 100", "p50", "Claim and acknowledge 100, p50, us", True))


def panels(comparison, plotted):
    for case, figure, title, less in plotted:
        bars = [(peer, value, peer in OURS or comparison.durable(peer))
                for peer, value in comparison.measured(case, figure)]
        yield title, sorted(bars, key=lambda bar: bar[1], reverse=not less)


def parts_of(results):
    """Generated parts by name, of what there is."""
    comparison = Comparison(results["peers"])
    parts = {
        "machine": tables.machine([results[name] for name in ON_THIS_DISK if results[name]]),
        "peers": tables.peers(comparison),
        "leases": tables.leases(comparison),
        "outbox": tables.outbox(comparison),
        "behind": tables.behind(comparison),
    }
    if results["where"]:
        parts["where"] = tables.where(results["where"], results["instructions"])
    for name in ("group_commit", "processes", *ON_A_SLOW_DISK):
        if results[name]:
            parts[name] = tables.scaling(results[name])
    if results["waiting"]:
        parts["waiting"] = tables.waiting(results["waiting"])
    return {name: list(lines) for name, lines in parts.items()}


def replace(document, name, lines):
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.DOTALL)
    block = "\n".join([begin, "", *lines, "", end])
    document, times = pattern.subn(lambda _: block, document)
    if times != 1:
        raise SystemExit(f"report.py: {begin} stands {times} times in performance.md")
    return document


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=os.path.join(BENCH, "results"))
    parser.add_argument("--docs", default=os.path.join(os.path.dirname(BENCH), "docs"))
    arguments = parser.parse_args()
    results = {name: load(arguments.results, name) for name in ON_THIS_DISK + ON_A_SLOW_DISK}
    results["instructions"] = load(BENCH, "instructions")
    if not results["peers"]:
        print(f"report.py: no peers.json in {arguments.results}", file=sys.stderr)
        return 1
    path = os.path.join(arguments.docs, "performance.md")
    with open(path, encoding="utf-8") as file:
        document = file.read()
    for name, lines in parts_of(results).items():
        document = replace(document, name, lines)
    comparison = Comparison(results["peers"])
    write(path, document)
    write(os.path.join(arguments.docs, "performance-leases.svg"),
          plots.chart(panels(comparison, PLOTTED_LEASES)))
    write(os.path.join(arguments.docs, "performance-outbox.svg"),
          plots.chart(panels(comparison, PLOTTED_OUTBOX)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
