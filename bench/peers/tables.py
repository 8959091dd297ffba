"""The generated parts of docs/performance.md, each a list of lines."""

from reasons import TAIL, reason
from results import LEASES, OURS, OUTBOX


def number(value):
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(head, rows, words=False):
    """Figures stand to the right, words to the left."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + ("---|" if words else "---:|") * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def machine(results):
    """What all figures depend on; where the programs saw different things, each of them."""
    seen = {}
    for result in results:
        for key, value in result["machine"].items():
            if not key.startswith("peer ") and key not in ("level", "baseline_synchronous", "turn",
                                                           "rounds"):
                seen.setdefault(key, []).append(value)
    for key, values in seen.items():
        yield f"- {key.replace('_', ' ')}: {'; '.join(dict.fromkeys(values))}"


def peers(comparison):
    def rows():
        for name, words in comparison.peers:
            promise, _, waiting = words.partition("; waits: ")
            durable, _, promise = promise.partition("; ")
            yield name, durable if waiting else "", promise if waiting else words, waiting
    head = ("peer", "every answer", "in a power cut", "waits for a lease by")
    yield from table(head, rows(), words=True)


def compared(comparison, columns):
    def rows():
        for peer, _ in comparison.peers:
            cells = [number(comparison.value(case, figure, peer)) for case, figure, *_ in columns]
            if set(cells) != {"–"}:
                bold = "**" if peer in OURS else ""
                yield (bold + peer + bold, *cells)
    yield from table(("", *(heading for _, _, heading, _ in columns)), rows())


def leases(comparison):
    columns = list(LEASES) + [("one key", "fairness", "Jain's index, one key", False),
                              ("own keys", "longest pair", "8 keys longest pair us", True)]
    yield from compared(comparison, columns)


def outbox(comparison):
    yield from compared(comparison, OUTBOX)


def behind(comparison):
    """One line per row that is not ahead, with the reasons."""
    wanted = (("wallock commits", LEASES, True), ("wallock commits", OUTBOX, False),
              ("wallock every_answer", LEASES, False), ("wallock every_answer", OUTBOX, False))
    lines, reasons = [], {}
    for ours, rows, against_all in wanted:
        ahead = list(comparison.ahead(ours, rows, against_all))
        at_median = {(row[0], peer) for row, _, peer, _ in ahead if row[1].endswith("p50")}
        for row in rows:
            others = [(peer, value) for other, _, peer, value in ahead if other == row]
            if not others:
                continue
            case, figure, heading, _ = row
            words = []
            for peer, value in others:
                is_tail = figure.endswith("p99") and (case, peer) not in at_median
                why = TAIL if is_tail else reason(case, peer)
                mark = reasons.setdefault(why, len(reasons) + 1)
                words.append(f"{peer} {number(value)} ({mark})")
            mine = number(comparison.value(case, figure, ours))
            lines.append(f"- {ours}, {heading}: {mine}, behind {', '.join(words)}")
    rows = 2 * (len(LEASES) + len(OUTBOX))
    yield f"Of {rows} rows (two levels each), {rows - len(lines)} are ahead of every peer that " \
          "they are measured by; these are not:"
    yield ""
    yield from lines
    yield ""
    yield from (f"{mark}. {why}" for why, mark in reasons.items())
    for peer in comparison.skipped():
        yield f"- {peer} was not measured: it was not installed."


def where(times, instructions):
    """Microseconds of one operation, with SQLite and our code told apart by instructions."""
    values = {row["name"]: row["value"] for row in times["rows"]}
    counted = instructions["operations"] if instructions else {}

    def rows():
        for level in ("every_answer", "relaxed"):
            for name, counted_name in (("acquire", "acquire"), ("commit", "commit_1"),
                                       ("claim", "claim"), ("release", "release"),
                                       ("settle", "settle")):
                prefix = f"{name}/{level}/"
                total, flush, files, hashing, rest = (
                    values[prefix + part] for part in ("total", "flush", "files", "hashing",
                                                       "rest"))
                counts = counted.get(f"{counted_name}/{level}")
                ours = None
                if counts:
                    ours = rest * counts["wallock"] / (counts["wallock"] + counts["sqlite"])
                yield (name, "FULL" if level == "every_answer" else "NORMAL", number(total),
                       number(flush), number(files), number(hashing),
                       number(rest - ours if counts else None), number(ours),
                       number(counts["total"] if counts else None))
    yield from table(("operation", "synchronous", "us", "flush", "file calls", "hashing",
                      "SQLite's code", "our code", "instructions"), rows())


def scaling(result):
    """Threads of one process, or processes: operations per second and what else was measured."""
    rows = {}
    for row in result["rows"]:
        operation, condition, figure = row["name"].split("/")
        rows.setdefault((operation, condition), {})[figure] = row
    figures = [figure for figure in next(iter(rows.values())) if figure != "operations"]
    yield from table(
        ("operation", "", "operations/s", "ratio", *(f.replace("_", " ") for f in figures)),
        ((operation, condition, number(row["operations"]["value"]),
          number(row["operations"].get("ratio")),
          *(number(row[figure]["value"]) for figure in figures))
         for (operation, condition), row in rows.items()))


def waiting(result):
    yield from table(("", "value", "unit", ""),
                     ((row["name"], number(row["value"]), row["unit"], row.get("note", ""))
                      for row in result["rows"]))
