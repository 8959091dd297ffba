-- Schema version 1. Every bound that a rule keeps is kept here again, so that a wrong program, or a
-- right one with a wrong rule, is refused by the file itself.
--
-- Times named *_at, due and born are nanoseconds on the boot clock of the epoch they were written
-- in; recorded_at is microseconds of wall time, for people. Tokens are FencingToken::value().

-- One row: who this store is, and the epoch that its tokens are issued in.
CREATE TABLE wallock_meta (
  id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL CHECK (schema_version >= 1),
  min_reader     INTEGER NOT NULL CHECK (min_reader >= 1),
  min_writer     INTEGER NOT NULL CHECK (min_writer >= 1),
  store_id       BLOB    NOT NULL CHECK (length(store_id) = 16),
  epoch          INTEGER NOT NULL CHECK (epoch BETWEEN 0 AND 1048575),
  boot_id        TEXT    NOT NULL
) STRICT;

CREATE TRIGGER wallock_meta_epoch_never_falls
BEFORE UPDATE ON wallock_meta WHEN NEW.epoch < OLD.epoch
BEGIN
  SELECT RAISE(ABORT, 'wallock: the epoch never falls');
END;

-- No CHECK lists more than two values after IN: for three or more SQLite builds a table in memory,
-- for each row that is written. Ranges cost nothing.
--
-- Of this row and of those below: INSERT OR REPLACE deletes a row without firing its delete trigger
-- unless the connection has recursive triggers, as the library's have; so what may not be replaced
-- is refused on insert. (Not so in the ledger, where every record would pay for it: the hashes
-- tell there.)
CREATE TRIGGER wallock_meta_is_one
BEFORE INSERT ON wallock_meta WHEN EXISTS (SELECT 1 FROM wallock_meta)
BEGIN
  SELECT RAISE(ABORT, 'wallock: a store has one identity');
END;

CREATE TRIGGER wallock_meta_stays
BEFORE DELETE ON wallock_meta
BEGIN
  SELECT RAISE(ABORT, 'wallock: a store has one identity');
END;

-- Migrations that were applied, by the name of their file.
CREATE TABLE wallock_migrations (
  name       TEXT    NOT NULL PRIMARY KEY,
  applied_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per resource: its fence, its latest token, and the lease on it, if any. What was fenced
-- stays fenced: every UPDATE of the library has "max_fence <= new AND issued <= new" in its WHERE,
-- which costs a tenth of a trigger. Until something happens to its breaker, that is CLOSED and has
-- no row of its own: most resources never pay for one.
CREATE TABLE wallock_resources (
  resource    TEXT    NOT NULL PRIMARY KEY
                      CHECK (length(CAST(resource AS BLOB)) BETWEEN 1 AND 255),
  max_fence   INTEGER NOT NULL CHECK (max_fence >= 0),
  issued      INTEGER NOT NULL CHECK (issued >= max_fence),
  has_breaker INTEGER NOT NULL CHECK (has_breaker IN (0, 1)),  -- in wallock_breakers
  holder      TEXT,
  instance    INTEGER,
  granted_at  INTEGER,
  expires_at  INTEGER,
  request     TEXT,
  metadata    BLOB    CHECK (metadata IS NULL OR length(metadata) <= 4096),
  CHECK (holder IS NOT NULL OR (instance IS NULL AND granted_at IS NULL AND expires_at IS NULL
                                AND request IS NULL AND metadata IS NULL)),
  CHECK (holder IS NULL OR (instance IS NOT NULL AND granted_at IS NOT NULL
                            AND expires_at IS NOT NULL AND expires_at > granted_at
                            AND holder <> ''))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER wallock_resources_fence_never_replaced
BEFORE INSERT ON wallock_resources
WHEN EXISTS (SELECT 1 FROM wallock_resources
             WHERE resource = NEW.resource
               AND (max_fence > NEW.max_fence OR issued > NEW.issued))
BEGIN
  SELECT RAISE(ABORT, 'wallock: a fence never falls');
END;

-- Fires only for statements that name the column: granting, committing and releasing do not.
CREATE TRIGGER wallock_resources_breaker_stays
BEFORE UPDATE OF has_breaker ON wallock_resources WHEN NEW.has_breaker < OLD.has_breaker
BEGIN
  SELECT RAISE(ABORT, 'wallock: a breaker is not forgotten');
END;

CREATE TRIGGER wallock_resources_breaker_never_replaced
BEFORE INSERT ON wallock_resources
WHEN NEW.has_breaker = 0 AND EXISTS (SELECT 1 FROM wallock_resources
                                     WHERE resource = NEW.resource AND has_breaker = 1)
BEGIN
  SELECT RAISE(ABORT, 'wallock: a breaker is not forgotten');
END;

-- The row of each breaker that something happened to. One that is illegal, or missing where
-- has_breaker tells of it, never reads as closed (INV-05).
CREATE TABLE wallock_breakers (
  resource         TEXT    NOT NULL PRIMARY KEY
                           CHECK (length(CAST(resource AS BLOB)) BETWEEN 1 AND 255),
  state            INTEGER NOT NULL,  -- 0 CLOSED, 1 OPEN, 2 PROBING
  forced           INTEGER NOT NULL CHECK (forced IN (0, 1)),
  timeouts         INTEGER NOT NULL CHECK (timeouts >= 0),
  generation       INTEGER NOT NULL CHECK (generation >= 0),
  failed_probes    INTEGER NOT NULL CHECK (failed_probes >= 0),
  interval_ns      INTEGER NOT NULL CHECK (interval_ns >= 0),
  since_at         INTEGER NOT NULL,
  epoch            INTEGER NOT NULL CHECK (epoch BETWEEN 0 AND 1048575),
  probe_token      INTEGER CHECK (probe_token > 0),
  probe_holder     TEXT,
  probe_instance   INTEGER,
  probe_expires_at INTEGER,
  CHECK ((probe_token IS NULL) = (probe_holder IS NULL)
         AND (probe_token IS NULL) = (probe_instance IS NULL)
         AND (probe_token IS NULL) = (probe_expires_at IS NULL)),
  CHECK (CASE state
           WHEN 0 THEN forced = 0 AND probe_token IS NULL AND interval_ns = 0
                       AND failed_probes = 0
           WHEN 1 THEN probe_token IS NULL AND interval_ns > 0 AND generation > 0
           WHEN 2 THEN forced = 0 AND probe_token IS NOT NULL AND interval_ns > 0
                       AND generation > 0
           ELSE 0
         END)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER wallock_breakers_close_only_by_a_probe
BEFORE UPDATE ON wallock_breakers
WHEN NEW.generation < OLD.generation OR (OLD.state = 1 AND NEW.state = 0)
BEGIN
  SELECT RAISE(ABORT, 'wallock: a breaker closes only through a probe');
END;

CREATE TRIGGER wallock_breakers_replaced_only_by_a_probe
BEFORE INSERT ON wallock_breakers
WHEN NEW.state = 0 AND EXISTS (SELECT 1 FROM wallock_breakers
                               WHERE resource = NEW.resource AND state = 1)
BEGIN
  SELECT RAISE(ABORT, 'wallock: a breaker closes only through a probe');
END;

CREATE TRIGGER wallock_breakers_open_row_stays
BEFORE DELETE ON wallock_breakers WHEN OLD.state <> 0
BEGIN
  SELECT RAISE(ABORT, 'wallock: the row of an open breaker stays');
END;

-- A resource that somebody removes takes its breaker with it, unless that is open.
CREATE TRIGGER wallock_resources_removed_with_breaker
BEFORE DELETE ON wallock_resources
BEGIN
  DELETE FROM wallock_breakers WHERE resource = OLD.resource;
END;

-- The ledger: append-only, one row per state change, leaf n of the Merkle tree at position n.
-- `nodes` holds the hashes of the subtrees that the row completes, smallest first (docs/ledger.md).
CREATE TABLE wallock_lease_queue_events (
  position    INTEGER NOT NULL PRIMARY KEY CHECK (position BETWEEN 0 AND 8796093022207),
  kind        INTEGER NOT NULL,
  resource    TEXT    CHECK (resource IS NULL OR length(resource) BETWEEN 1 AND 255),
  action_id   TEXT    CHECK (action_id IS NULL
                             OR length(CAST(action_id AS BLOB)) BETWEEN 1 AND 255),
  token       INTEGER NOT NULL CHECK (token >= 0),
  state       INTEGER,
  subject     INTEGER CHECK (subject < position),
  until_at    INTEGER,
  score       INTEGER CHECK (score BETWEEN 0 AND 1000000),
  digest      BLOB    CHECK (digest IS NULL OR length(digest) = 32),
  actor       TEXT    CHECK (actor IS NULL OR length(actor) BETWEEN 1 AND 255),
  detail      TEXT    CHECK (detail IS NULL OR length(CAST(detail AS BLOB)) BETWEEN 1 AND 1024),
  recorded_at INTEGER NOT NULL,
  leaf_hash   BLOB    NOT NULL CHECK (length(leaf_hash) = 32),
  nodes       BLOB    CHECK (nodes IS NULL OR (nodes <> x'' AND length(nodes) % 32 = 0)),
  -- INV-06: the states that an action can be in after each kind of record.
  CHECK (state IS NOT NULL OR (subject IS NULL AND digest IS NULL AND score IS NULL
                               AND kind <> 20 AND kind < 40)),
  CHECK (state IS NULL
         OR (kind = 20 AND state IN (1, 3) AND resource IS NOT NULL AND action_id IS NOT NULL
             AND digest IS NOT NULL AND score IS NOT NULL)
         OR (kind = 40 AND state = 2 AND subject IS NOT NULL)
         OR (kind = 41 AND state = 3 AND subject IS NOT NULL)
         OR (kind = 42 AND state = 2 AND subject IS NOT NULL)
         OR (kind = 43 AND state = 4 AND subject IS NOT NULL))
) STRICT;

-- INV-04: at most one event per action id. Grants without one do not pay for it.
CREATE UNIQUE INDEX wallock_events_action_id
  ON wallock_lease_queue_events (action_id) WHERE action_id IS NOT NULL;

CREATE TRIGGER wallock_events_no_update
BEFORE UPDATE ON wallock_lease_queue_events
BEGIN
  SELECT RAISE(ABORT, 'wallock: the ledger is append-only');
END;

CREATE TRIGGER wallock_events_no_delete
BEFORE DELETE ON wallock_lease_queue_events
BEGIN
  SELECT RAISE(ABORT, 'wallock: the ledger is append-only');
END;

-- What an action carries. Apart from the ledger, so that it can be taken away later without
-- breaking a hash: the record holds only its salted digest. `fence` is the resource's as it was
-- when the action came under `token`: the governing equation once more, for each action (INV-01).
-- The statement that spends the token compares it with the resource's own row, and asks the breaker
-- (ResourceStore).
CREATE TABLE wallock_payloads (
  position      INTEGER NOT NULL PRIMARY KEY,
  token         INTEGER NOT NULL,
  fence         INTEGER NOT NULL CHECK (fence >= 0 AND fence < token),
  salt          BLOB    NOT NULL CHECK (length(salt) = 16),
  destination   TEXT    CHECK (length(CAST(destination AS BLOB)) BETWEEN 1 AND 255),
  amount_units  INTEGER,
  amount_places INTEGER CHECK (amount_places BETWEEN 0 AND 18),
  payload       BLOB    NOT NULL CHECK (length(payload) <= 16777216),
  CHECK ((amount_units IS NULL) = (amount_places IS NULL))
) STRICT;

-- The outbox: the mutable part of an action's way out. The row leaves when the way ends.
CREATE TABLE wallock_deliveries (
  position    INTEGER NOT NULL PRIMARY KEY,
  resource    TEXT    NOT NULL,
  destination TEXT    NOT NULL,
  state       INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),  -- ready, blocked, claimed
  held        INTEGER NOT NULL CHECK (held IN (0, 1)),         -- 1: claims do not look at it
  born        INTEGER NOT NULL,
  due         INTEGER NOT NULL,  -- not claimed before: of a claimed one, the end of its claim
  attempt     INTEGER NOT NULL CHECK (attempt >= 0),
  claim_token INTEGER NOT NULL CHECK (claim_token >= 0),
  CHECK (state <> 2 OR (claim_token > 0 AND attempt > 0))
) STRICT;

-- A claim looks only at rows it can take: none that wait for one before them or for their breaker.
-- (The position is in the index, as the rowid.)
CREATE INDEX wallock_deliveries_due
  ON wallock_deliveries (destination, due) WHERE state <> 1 AND held = 0;
-- Who is next in line for a resource.
CREATE INDEX wallock_deliveries_line ON wallock_deliveries (resource);

-- The first of a resource's line is held while the breaker is not CLOSED. A claim that meets one
-- which is not held sets it itself; what closes the breaker, by whatever hand, lets it go. `held`
-- only spares claims the look: what they take they check.
CREATE TRIGGER wallock_breakers_hold_deliveries
AFTER UPDATE ON wallock_breakers
BEGIN
  UPDATE wallock_deliveries SET held = (NEW.state <> 0)
  WHERE position = (SELECT min(position) FROM wallock_deliveries WHERE resource = NEW.resource)
    AND held <> (NEW.state <> 0);
END;

CREATE TRIGGER wallock_breakers_new_holds_deliveries
AFTER INSERT ON wallock_breakers
BEGIN
  UPDATE wallock_deliveries SET held = (NEW.state <> 0)
  WHERE position = (SELECT min(position) FROM wallock_deliveries WHERE resource = NEW.resource)
    AND held <> (NEW.state <> 0);
END;

-- A delivery leaves the outbox only with its last record, and is sealed only under its current
-- claim. (The record is the one just appended.) FAIL, not ABORT, for which SQLite would keep a
-- journal of every settlement: a refused row ends a longer statement, what left before it has left.
CREATE TRIGGER wallock_deliveries_leave_gate
BEFORE DELETE ON wallock_deliveries
WHEN (SELECT subject = OLD.position
             AND (kind = 43 OR (kind = 41 AND OLD.state = 2 AND token = OLD.claim_token))
      FROM wallock_lease_queue_events ORDER BY position DESC LIMIT 1) IS NOT 1
BEGIN
  SELECT RAISE(FAIL, 'wallock: left without its record or its claim');
END;

-- Deliveries that were given up, with their last state, for people to look at.
CREATE TABLE wallock_dead_letters (
  position    INTEGER NOT NULL PRIMARY KEY,
  resource    TEXT    NOT NULL,
  destination TEXT    NOT NULL,
  attempts    INTEGER NOT NULL CHECK (attempts >= 0),
  recorded_at INTEGER NOT NULL
) STRICT;
