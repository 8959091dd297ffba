"""The mutants: one guard broken in each. (name, file, text as it is, text as broken, test folder)

The text must stand in the file exactly once: `run.py --check` tells when the code has moved on. A
mutant belongs to the folder of tests/ that has to notice it.
"""

RULES = "include/wallock/rules/"
STORE = "src/sqlite/"

MUTANTS = [
    # The fence.
    ("commit accepts the fence itself", RULES + "commit.hpp",
     "command.token <= highest", "command.token < highest", "rules"),
    ("commit ignores the fence", RULES + "commit.hpp",
     "if (command.token <= highest) {", "if (false) {", "rules"),
    ("commit ignores the breaker", RULES + "commit.hpp",
     "if (auto closed = check_closed(state, command.resource, at); !closed) {",
     "if (auto closed = Status(); !closed) {", "rules"),
    ("an unissued token is known", RULES + "state.hpp",
     "if (token > state.issued) {", "if (false) {", "rules"),
    ("an earlier epoch is not fenced", RULES + "state.hpp",
     "std::max(state.max_fence, first ? first->predecessor() : FencingToken())",
     "(static_cast<void>(first), state.max_fence)", "rules"),
    ("a grant does not fence its predecessor", RULES + "fencing.hpp",
     "std::max(state.max_fence, token.predecessor())", "state.max_fence", "rules"),
    ("a commit does not spend its token", RULES + "fencing.hpp",
     "std::max(state.max_fence, token);", "state.max_fence;", "rules"),
    ("a release does not fence", RULES + "fencing.hpp",
     "std::max(state.max_fence, state.issued);", "state.max_fence;", "rules"),
    ("a token may go back", RULES + "fencing.hpp",
     "*token <= std::max(state.issued, state.max_fence)", "false", "rules"),
    # Leases and time.
    ("a lease of an earlier epoch lives", RULES + "state.hpp",
     "state.issued.epoch() == at.epoch && ", "", "rules"),
    ("a lease lives at its end", RULES + "state.hpp",
     "at.now < state.tenure->expires_at", "at.now <= state.tenure->expires_at", "rules"),
    ("renew revives", RULES + "renew.hpp",
     "if (!is_live(state, at)) return refuse(Errc::lease_expired);", "", "rules"),
    ("another instance renews", RULES + "renew.hpp",
     " && state.tenure->instance == instance", "", "rules"),
    # The breaker.
    ("a missing breaker row reads as closed", STORE + "resource_store.cpp",
     "found.state.breaker.reset();", "", "repository"),
    ("an illegal breaker row is believed", STORE + "resource_store.cpp",
     "return is_legal(row) ? std::optional(std::move(row)) : std::nullopt;",
     "return std::optional(std::move(row));", "repository"),
    # The store.
    ("deferred instead of immediate", STORE + "session.hpp",
     '"BEGIN IMMEDIATE"', '"BEGIN DEFERRED"', "repository"),
    ("no flush", STORE + "writer.cpp",
     "return flush == Flush::durable;", "return false;", "repository"),
    ("work is not confined", STORE + "writer.cpp",
     "connection.confine(true);", "", "repository"),
    ("work may commit", STORE + "writer.cpp",
     "connection.allow_commit(false);", "", "repository"),
    ("a commit without its release record", STORE + "session.hpp",
     "for (const LedgerEntry& entry : change.entries) {",
     "for (const LedgerEntry& entry : {}) {", "repository"),
    ("a fence may fall in the file", STORE + "resource_store.hpp",
     'granted_at = ?6, expires_at = ?7, request = ?8, metadata = ?9 "\n'
     '      "WHERE resource = ?1 AND max_fence <= ?2 AND issued <= ?3"};',
     'granted_at = ?6, expires_at = ?7, request = ?8, metadata = ?9 "\n'
     '      "WHERE resource = ?1"};', "repository"),
    ("remembered rows outlive other writers", STORE + "ledger_store.cpp",
     "++generation_;", "", "repository"),
    ("the schema lets stale actions in", "src/sql/0001_initial.sql",
     "AND e.token > r.max_fence", "", "repository"),
    ("the schema lets actions in while the breaker is open", "src/sql/0001_initial.sql",
     " AND b.state = 0);", ");", "repository"),
    ("the epoch is not raised after a restart", STORE + "schema.cpp",
     'if (clock.boot_id().value_or("") == meta->boot_id) return {};', "return {};", "repository"),
]
