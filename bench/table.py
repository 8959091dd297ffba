#!/usr/bin/env python3
"""Makes one table of what the benchmark programs wrote: name, value, unit, baseline, ratio, target.

    table.py [--all-rows | --markdown] [--json FILE] RESULT.json...
"""

import argparse
import json
import re
import sys

# (row, of which figure, at most, why); the figure is "value" or "ratio". bench/README.md has them
# in words. Nothing here makes a run fail.
TARGETS = (
    (r"/acquire/p99$", "value", 1800.0),
    (r"(every_answer)/acquire_release/(mean|p50)$", "ratio", 1.15),
    (r"(commits|relaxed)/acquire_release/(mean|p50)$", "ratio", 1.6),
    (r"(every_answer|commits)/commit_1/(mean|p50)$", "ratio", 1.3),
    (r"commits/cycle/flushes$", "value", 1.0),
)
TIMES = ("p50", "p99", "mean", "cpu")
MAIN_COUNTS = ("statements", "flushes", "writes", "bytes")
OTHER_COUNTS = ("triggers", "checkpoint_flushes", "checkpoint_writes", "checkpoint_bytes")
MACHINE = ("processor", "cores", "load", "kernel", "file_system", "flush", "sqlite",
           "baseline_synchronous", "rounds")
# Amortised: shown of the whole cycle at least, since its target speaks of them.
ALWAYS = re.compile(r"/cycle/checkpoint_flushes$")


def machine_of(results):
    """What the programs say of the machine; where they differ, first and last."""
    machine = {}
    for key in MACHINE:
        said = [result["context"].get(key, "unknown") for result in results]
        machine[key] = said[0] if len(set(said)) == 1 else f"{said[0]} to {said[-1]}"
    return machine


def target_of(name, row):
    for pattern, figure, most in TARGETS:
        if re.search(pattern, name) and row[figure] is not None:
            met = row[figure] <= most
            if name.endswith("/flushes"):
                met = met and row["min"] == row["max"] == most
            return {"of": figure, "at_most": most, "met": met}
    return None


def rows_of(benchmark):
    """One row per figure of a benchmark; its name is level/operation/figure."""
    level = benchmark["name"].split("/")[1]
    names = [key for key in benchmark if re.fullmatch(r"\w+/\w+", key)]
    for key in sorted(names, key=order):
        figure = key.split("/")[1]
        theirs = benchmark.get(key + "/baseline")
        row = {"name": f"{level}/{key}", "value": benchmark[key],
               "unit": "us" if figure in TIMES else "bytes/op" if "bytes" in figure else "per op",
               "baseline": theirs}
        if figure in TIMES:
            row["ratio"] = benchmark[key + "/ratio"]
            row["ratio_of_rounds"] = [benchmark[key + "/ratio_min"], benchmark[key + "/ratio_max"]]
        else:
            row["ratio"] = benchmark[key] / theirs if theirs else None
            row["min"], row["max"] = benchmark[key + "/min"], benchmark[key + "/max"]
        row["target"] = target_of(row["name"], row)
        yield row


def order(key):
    operation, figure = key.split("/")
    return operation, (*TIMES, *MAIN_COUNTS, *OTHER_COUNTS).index(figure)


def number(value):
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 1 else \
        f"{value:.2f}"


def words(target):
    if target is None:
        return ""
    sign = "<=" if target["at_most"] != 1.0 else "="
    return f"{'met' if target['met'] else 'MISSED'} ({target['of']} {sign} {target['at_most']:g})"


def print_table(rows):
    head = ("name", "value", "unit", "baseline", "ratio", "rounds", "target")
    lines = [head]
    for row in rows:
        spread = row.get("ratio_of_rounds")
        lines.append((row["name"], number(row["value"]), row["unit"], number(row["baseline"]),
                      number(row["ratio"]),
                      f"{spread[0]:.2f}-{spread[1]:.2f}" if spread else "", words(row["target"])))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        cells = [cell.rjust(width) if 0 < i < 5 and i != 2 else cell.ljust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def print_markdown(machine, rows):
    """The table of bench/README.md: one line per level and operation."""
    for key, value in machine.items():
        print(f"- {key}: {value}")
    print("\n| level | operation | p50 us | p99 us | mean us | baseline p50, mean | ratio p50"
          " | mean | cpu | statements | flushes | log bytes | targets |")
    print("|---|---|" + "---:|" * 10 + "---|")
    by_operation = {}
    for row in rows:
        level, operation, figure = row["name"].split("/")
        by_operation.setdefault((level, operation), {})[figure] = row
    for (level, operation), figure in by_operation.items():
        marks = [f"{name} {words(row['target'])}" for name, row in figure.items() if row["target"]]
        cells = [number(figure["p50"]["value"]), number(figure["p99"]["value"]),
                 number(figure["mean"]["value"]),
                 f"{number(figure['p50']['baseline'])}, {number(figure['mean']['baseline'])}",
                 number(figure["p50"]["ratio"]), number(figure["mean"]["ratio"]),
                 number(figure["cpu"]["ratio"]),
                 *(pair(figure[name]) for name in ("statements", "flushes", "bytes"))]
        print(f"| {level} | {operation} | " + " | ".join(cells) + f" | {'; '.join(marks)} |")


def pair(row):
    return f"{number(row['value'])} / {number(row['baseline'])}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all-rows", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("results", nargs="+")
    arguments = parser.parse_args()
    results = []
    for path in arguments.results:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.strip():  # a program that the filter left nothing to do writes nothing
            results.append(json.loads(text))
    if not results:
        print("table.py: nothing was measured", file=sys.stderr)
        return 1
    machine = machine_of(results)
    rows = [row for result in results for benchmark in result["benchmarks"]
            for row in rows_of(benchmark)]
    if arguments.markdown:
        print_markdown(machine, rows)
    else:
        for key, value in machine.items():
            print(f"{key:21} {value}")
        print()
        print_table([row for row in rows
                     if arguments.all_rows or ALWAYS.search(row["name"])
                     or row["name"].split("/")[-1] not in OTHER_COUNTS])
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine, "rows": rows}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
