"""What the benchmark programs wrote, and which of it wallock is measured by."""

import json
import os

OURS = ("wallock every_answer", "wallock commits")
# Case, figure, heading, whether less is better. Those of LEASES are compared with all peers, those
# of OUTBOX with the durable ones.
LEASES = (
    ("pair", "p50", "pair p50 us", True),
    ("pair", "p99", "pair p99 us", True),
    ("one key", "handover p50", "hand-over p50 us", True),
    ("one key", "handover p99", "hand-over p99 us", True),
    ("one key", "pairs", "one key pairs/s", False),
    ("own keys", "pairs", "8 keys pairs/s", False),
)
OUTBOX = (
    ("enqueue 1", "p50", "enqueue 1 p50 us", True),
    ("enqueue 1", "p99", "enqueue 1 p99 us", True),
    ("enqueue 100", "p50", "enqueue 100 p50 us", True),
    ("claim 1", "p50", "claim+ack 1 p50 us", True),
    ("claim 1", "p99", "claim+ack 1 p99 us", True),
    ("claim 100", "p50", "claim+ack 100 p50 us", True),
)


def load(folder, name):
    """A result file, or None where that program did not run."""
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Comparison:
    """The result of the peers' program."""

    def __init__(self, result):
        self.machine = result["machine"]
        self.values, self.spreads, self.peers = {}, {}, []
        for row in result["rows"]:
            case, figure, peer = row["name"].split("/")
            self.values[case, figure, peer] = row["value"]
            self.spreads[case, figure, peer] = row.get("rounds")
        for key, words in self.machine.items():
            if key.startswith("peer "):
                self.peers.append((key[len("peer "):], words))

    def durable(self, peer):
        """Flushed before every answer, as the program says of the peer."""
        return dict(self.peers).get(peer, "").startswith("durable")

    def skipped(self):
        return [peer for peer, words in self.peers if words == "skipped"]

    def value(self, case, figure, peer):
        return self.values.get((case, figure, peer))

    def measured(self, case, figure):
        """Pairs of peer and value, in the program's order."""
        return [(peer, self.values[case, figure, peer]) for peer, _ in self.peers
                if (case, figure, peer) in self.values]

    def ahead(self, ours, rows, against_all):
        """Quadruples: row, our value, peer, its value, of each peer that is ahead of us."""
        for row in rows:
            case, figure, _, less = row
            mine = self.value(case, figure, ours)
            if mine is None:
                continue
            for peer, value in self.measured(case, figure):
                if peer in OURS or not (against_all or self.durable(peer)):
                    continue
                if value < mine if less else value > mine:
                    yield row, mine, peer, value
