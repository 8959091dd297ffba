"""Which file may include which: the arrows of docs/architecture.md as a table."""

import re

# Public headers, lowest first; a header includes nothing above its own layer.
PUBLIC_LAYERS = (
    ("values", re.compile(r"^wallock/")),
    ("rules", re.compile(r"^wallock/rules/")),
    ("repository interface", re.compile(r"^wallock/lease_repository\.hpp$")),
    ("coordinator", re.compile(r"^wallock/(coordinator|lease_guard|relay)\.hpp$")),
    ("umbrella", re.compile(r"^wallock/wallock\.hpp$")),
    ("opt-in", re.compile(r"^wallock/(sqlite\.hpp|json\.hpp|json/)")),
)

# Which folders of src each folder of src may include, itself aside.
FLOORS = {
    "host": set(),
    "ledger": {"host"},
    "sqlite": {"host", "ledger", "sql"},
    "coordinator": {"host", "ledger", "sqlite", "sql"},
}

# Who may include what, by the included name and the including path; what for goes into the message.
# Tests and benchmarks may look behind the library, so they are in every list.
TESTS = r"|tests/|bench/"
RESTRICTED = (
    (re.compile(r"^sqlite3\.h$"), re.compile(r"src/sqlite/|include/wallock/sqlite\.hpp$" + TESTS),
     "SQLite is seen in src/sqlite and wallock/sqlite.hpp only"),
    (re.compile(r"^SQLiteCpp/"),
     re.compile(r"src/sqlite/|include/wallock/sqlite\.hpp$|examples/" + TESTS),
     "SQLiteCpp is seen in src/sqlite, wallock/sqlite.hpp and the examples only"),
    (re.compile(r"^openssl/"), re.compile(r"src/ledger/" + TESTS),
     "OpenSSL is seen in src/ledger only"),
    (re.compile(r"^nlohmann/"), re.compile(r"include/wallock/json(\.hpp$|/)|examples/" + TESTS),
     "nlohmann/json is seen in wallock/json.hpp only"),
    (re.compile(r"^(iostream|filesystem|fmt/.*)$"), re.compile(r"(?!include/)"),
     "public headers stay light"),
)


def public_layer(name):
    """The highest layer whose pattern matches the name."""
    return max(index for index, (_, pattern) in enumerate(PUBLIC_LAYERS) if pattern.match(name))


def violations(source):
    if not source.is_cpp:
        return
    for number, name in source.includes():
        for included, allowed, reason in RESTRICTED:
            if included.match(name) and not allowed.match(source.path):
                yield number, f"includes {name}: {reason}"
        if source.folder == "include":
            yield from public_violations(source.path, number, name)
        elif source.folder == "src":
            yield from private_violations(source.path, number, name)


def public_violations(path, number, name):
    own = path[len("include/"):]
    if name.startswith(tuple(floor + "/" for floor in (*FLOORS, "sql", "src"))) or ".." in name:
        yield number, f"includes {name}: a public header includes nothing from src"
    if not name.startswith("wallock/"):
        return
    theirs, ours = public_layer(name), public_layer(own)
    if theirs > ours:
        yield number, (f"includes {name}: {PUBLIC_LAYERS[ours][0]} must not know "
                       f"{PUBLIC_LAYERS[theirs][0]}")


def private_violations(path, number, name):
    floor = path.split("/")[1]
    if floor not in FLOORS:
        return
    target = name.split("/")[0]
    if target in FLOORS and target != floor and target not in FLOORS[floor]:
        yield number, f"includes {name}: src/{floor} must not know src/{target}"
    knows_coordinator = name.startswith("wallock/") and PUBLIC_LAYERS[public_layer(name)][0] in (
        "coordinator", "umbrella")
    if floor != "coordinator" and knows_coordinator:
        yield number, f"includes {name}: src/{floor} must not know the coordinator"
