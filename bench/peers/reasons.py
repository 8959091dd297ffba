"""Why a peer is ahead of wallock in a row, in words: checked by hand against the profile."""

BY_PEER = {
    "flock": "One system call in the kernel's memory: no token, no ttl, nothing written, nothing "
             "to find after a crash.",
    "postgres advisory": "A lock in the server's memory: no token, no ttl, nothing written.",
    "postgres row async": "Another process flushes its writes some time later; a power cut "
                          "takes back tokens that were given out.",
    "postgres transaction": "One flush for both halves of the pair, since the token is durable "
                            "at the release only; there is no ttl.",
    "redis everysec": "A hash table in a process's memory, written behind by another thread; a "
                      "power cut takes back a second, tokens with it.",
    "redis everysec polling": "The same, asked every millisecond by every waiter.",
    "sqlite NORMAL": "The same file format without ledger, hashes, checks or fences: the least "
                     "that SQLite must do.",
    "sqlite FULL": "The same flushes without ledger, hashes, checks or fences: the least that "
                   "SQLite must do.",
}
BY_CASE = {
    ("own keys", "postgres row"): "The flushes of many connections are one flush there (group "
                                  "commit in the server).",
    ("own keys", "redis always"): "All clients that wrote in one turn of its event loop share one "
                                  "flush.",
    ("enqueue 100", "postgres row"): "Rows without hashes or records: wallock's ledger takes two "
                                     "SHA-256 and a row of its own per message.",
    ("enqueue 100", "redis always"): "Entries appended to a list in memory and to a log; wallock "
                                     "writes a row, its record, its index entry and two SHA-256 "
                                     "per message.",
    ("claim 100", "postgres row"): "One statement acknowledges the whole batch; settle() takes one "
                                   "delivery at a time, each with its flush.",
    ("claim 100", "redis always"): "One XACK acknowledges the whole batch; settle() takes one "
                                   "delivery at a time, each with its flush.",
    ("claim 100", "sqlite FULL"): "One transaction acknowledges the whole batch; settle() takes "
                                  "one delivery at a time, each with its flush.",
}


TAIL = "Only the tail of this run: at p50 wallock is ahead of it."
UNKNOWN = "Not explained yet."


def reason(case, peer):
    """A sentence; says so where nobody has written one."""
    return BY_CASE.get((case, peer)) or BY_PEER.get(peer) or UNKNOWN
