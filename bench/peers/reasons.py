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
    ("one key", "redis always"): "The waiter asks a server that runs already; here it is woken, "
                                 "and then takes the turnstile, a transaction and a flush of its "
                                 "own.",
    ("one key", "redis always polling"): "Its waiters ask every millisecond, so that on average "
                                         "one has just come.",
    ("one key", "postgres row"): "The waiter's backend is woken inside the server and flushes "
                                 "once; here a turn, a transaction and a flush follow the "
                                 "wake-up.",
    ("enqueue 1", "redis always"): "An entry appended to a list in memory and to a log; wallock "
                                   "writes a row, its record, an index entry and an outbox row, "
                                   "five pages in all, and two SHA-256.",
    ("enqueue 1", "postgres row"): "Two rows in one log record; wallock writes a record, an index "
                                   "entry and an outbox row more, each on a page of its own.",
    ("claim 1", "redis always"): "Two log entries in memory; wallock writes a record for the claim "
                                 "and one for the settlement.",
    ("claim 1", "postgres row"): "Two updates of one row; wallock writes a record for the claim "
                                 "and one for the settlement.",
    ("claim 100", "postgres row"): "One statement for the batch on rows without hashes or "
                                   "records; wallock writes a record for each claim and each "
                                   "settlement, and keeps three indexes of its outbox.",
    ("claim 100", "redis always"): "One XREADGROUP and one XACK in memory; wallock writes a record "
                                   "for each claim and each settlement, and keeps three indexes "
                                   "of its outbox.",
    ("claim 100", "sqlite FULL"): "The same transaction without records, hashes and order.",
}


TAIL = "Only the tail of this run: at p50 wallock is ahead of it."
UNKNOWN = "Not explained yet."


def reason(case, peer):
    """A sentence; says so where nobody has written one."""
    return BY_CASE.get((case, peer)) or BY_PEER.get(peer) or UNKNOWN
