// The table behind Errc: name, what happened, what to do next. Included by error.hpp.
#pragma once

#include "wallock/error.hpp"

namespace wallock {

// length-ok: one row per code
constexpr ErrcInfo describe(Errc code) noexcept {  // NOLINT(readability-function-size)
  switch (code) {
    case Errc::busy:
      return {"busy", "the store's write lock was not had before the deadline",
              "repeat the operation, after a pause; Options::operation_timeout sets the deadline"};
    case Errc::io_error:
      return {"io_error", "the operating system failed a read or write of the store",
              "repeat the operation; look at the disk if it persists"};
    case Errc::disk_full:
      return {"disk_full", "the disk has no room for the write",
              "free some room, then repeat the operation"};
    case Errc::outcome_unknown:
      return {"outcome_unknown", "the commit was neither confirmed nor undone",
              "repeat the operation with the same action ids: it answers what happened"};
    case Errc::store_unavailable:
      return {"store_unavailable", "the store cannot be opened or written",
              "check that the path exists and is writable, then repeat"};
    case Errc::validation_budget_exceeded:
      return {"validation_budget_exceeded", "the request was not validated within its time budget",
              "send it again, smaller, or raise JsonLimits::budget, to 15 ms at most"};
    case Errc::out_of_memory:
      return {"out_of_memory", "memory ran out; nothing was changed", "free memory, then repeat"};
    case Errc::no_thread:
      return {"no_thread", "the system gave no thread for heartbeats; no lease was taken",
              "end some threads or raise their limit (ulimit -u, pids.max), then repeat"};
    case Errc::invalid_name:
      return {"invalid_name", "a name is empty, too long, not UTF-8, or has a control byte",
              "give 1 to 255 bytes of UTF-8 without control bytes"};
    case Errc::invalid_duration:
      return {"invalid_duration", "a duration is outside its bounds",
              "give a duration within the bound shown"};
    case Errc::invalid_option:
      return {"invalid_option", "an option is outside its bounds", "fix the option named"};
    case Errc::invalid_score:
      return {"invalid_score", "a score is not a decimal between 0 and 1 with at most 6 places",
              "give a plain decimal such as 0.75"};
    case Errc::invalid_decimal:
      return {"invalid_decimal", "an amount is not a plain decimal that fits",
              "give digits with at most one point, no exponent, at most 18 places"};
    case Errc::invalid_digest:
      return {"invalid_digest", "a digest is not 64 characters of [a-f0-9]",
              "give a SHA-256 digest in lower-case hex"};
    case Errc::invalid_token:
      return {"invalid_token", "a fencing token does not fit 63 bits",
              "pass on the token exactly as it was granted"};
    case Errc::invalid_evidence:
      return {"invalid_evidence", "recovery evidence is empty or too long",
              "say in 1 to 1024 bytes of UTF-8 what was verified"};
    case Errc::too_large:
      return {"too_large", "a value is larger than its limit",
              "send less; max_payload (Options, JsonLimits) raises that of payloads, to 16 MiB at "
              "most, and nothing raises the others"};
    case Errc::batch_size:
      return {"batch_size", "a batch holds 1 to 1000 actions",
              "give at least one action; split a batch of more, no option raises the bound"};
    case Errc::duplicate_action:
      return {"duplicate_action", "the same action id stands twice in one batch",
              "give every action of a batch its own id"};
    case Errc::json_syntax:
      return {"json_syntax", "the text is not one JSON document", "send well-formed JSON"};
    case Errc::json_unknown_field:
      return {"json_unknown_field", "the document has a field that is not declared",
              "remove the field named"};
    case Errc::json_duplicate_field:
      return {"json_duplicate_field", "the document has a field twice", "send each field once"};
    case Errc::json_missing_field:
      return {"json_missing_field", "the document lacks a required field", "add the field named"};
    case Errc::json_wrong_type:
      return {"json_wrong_type", "a field has a value of another type",
              "send the declared type for the field named"};
    case Errc::json_float:
      return {"json_float", "a number is written as a float where an exact decimal is meant",
              "write the digits out, without an exponent"};
    case Errc::json_too_deep:
      return {"json_too_deep", "the document is nested deeper than the limit",
              "flatten it, or raise JsonLimits::max_depth, to 1000 at most"};
    case Errc::json_too_large:
      return {"json_too_large", "the document is larger than the limit",
              "send less, or raise JsonLimits::max_document, to 64 MiB at most"};
    case Errc::json_invalid_utf8:
      return {"json_invalid_utf8", "the document is not valid UTF-8", "send valid UTF-8"};
    case Errc::json_nul:
      return {"json_nul", "a text field holds a NUL", "send binary content as hex"};
    case Errc::forked_handle:
      return {"forked_handle", "the store was open in the parent of this process when it forked",
              "open the store after the fork only, or start the child with exec"};
    case Errc::unsupported_filesystem:
      return {"unsupported_filesystem", "the store lies on a network or cross-machine file system",
              "put the store on a local disk"};
    case Errc::schema_too_new:
      return {"schema_too_new", "the store was written by a newer version", "upgrade this program"};
    case Errc::not_a_store:
      return {"not_a_store", "the file is not a SQLite database",
              "check the path; the file was not touched"};
    case Errc::work_forbidden:
      return {
          "work_forbidden",
          "the work, or who kept its handle, touched transaction control, settings (PRAGMA), "
          "other databases (ATTACH, VACUUM) or the library's own tables",
          "use only your own tables, inside the work only; leave BEGIN, COMMIT and SAVEPOINT to "
          "the library, PRAGMA, ATTACH and VACUUM to a connection of your own"};
    case Errc::setting_refused:
      return {"setting_refused", "SQLite did not take a setting that safety depends on",
              "use a SQLite build that supports it"};
    case Errc::called_inside_work:
      return {"called_inside_work",
              "the store was called, or opened, from inside its own commit work",
              "do it before or after the commit"};
    case Errc::invalid_path:
      return {
          "invalid_path", "at the path, or beside it, is something that no store can use",
          "give the path of a regular file with one name, or of one that is not there yet; move "
          "away what stands in the place of a file beside it"};
    case Errc::foreign_key_refused:
      return {"foreign_key_refused",
              "a foreign key of the application's onto the library's tables refused a write",
              "drop that foreign key and keep names and ids as plain values; nothing was changed"};
    case Errc::lease_held:
      return {"lease_held", "another holder has the lease", "wait, or try again later"};
    case Errc::already_held:
      return {"already_held", "this holder has the lease already; leases are not re-entrant",
              "use the lease you have"};
    case Errc::stale_token:
      return {"stale_token", "the token is at or below the resource's fence",
              "drop the work; acquire again if it must be done"};
    case Errc::lease_expired:
      return {"lease_expired", "the lease has passed its end", "acquire again"};
    case Errc::lease_lost:
      return {"lease_lost", "the lease was released, revoked or superseded", "acquire again"};
    case Errc::breaker_open:
      return {"breaker_open", "the resource's breaker is not closed",
              "wait for recovery, or begin it"};
    case Errc::breaker_not_open:
      return {"breaker_not_open", "there is nothing to recover: the breaker is closed",
              "go on with ordinary work"};
    case Errc::recovery_not_due:
      return {"recovery_not_due", "the breaker may not be probed yet",
              "begin recovery at the time named"};
    case Errc::probe_lost:
      return {"probe_lost", "the probe is not the breaker's current one, or its time ran out",
              "begin recovery again"};
    case Errc::action_conflict:
      return {"action_conflict", "the action id is recorded with other content",
              "use a new id for new content"};
    case Errc::batch_partly_recorded:
      return {"batch_partly_recorded", "some actions of the batch are recorded and some are not",
              "repeat the batch as it was first sent, or send only the new actions"};
    case Errc::request_spent:
      return {"request_spent", "the lease that this acquire was granted has ended since",
              "acquire with a new action id"};
    case Errc::claim_lost:
      return {"claim_lost", "the claim token is no longer the delivery's current one",
              "drop the delivery; another claim has it"};
    case Errc::work_failed:
      return {"work_failed", "the work threw or returned an error; all was rolled back",
              "mend the work, then repeat"};
    case Errc::cancelled:
      return {"cancelled", "the caller asked to stop waiting", "nothing is left behind"};
    case Errc::breaker_illegal:
      return {"breaker_illegal", "the breaker row is missing or not legal; it reads as open",
              "inspect the store; force_open makes a legal row, then recover explicitly"};
    case Errc::unknown_token:
      return {"unknown_token", "the token was never issued for this resource",
              "find out where the token came from"};
    case Errc::ledger_damaged:
      return {"ledger_damaged", "a ledger record does not match its hash",
              "stop writing and compare with a trusted copy"};
    case Errc::invariant_violated:
      return {"invariant_violated", "the schema refused a write that breaks an invariant",
              "report it with the code; nothing was written"};
    case Errc::store_corrupt:
      return {"store_corrupt", "SQLite found the database file damaged",
              "stop, keep the files, restore a backup"};
    case Errc::store_replaced:
      return {"store_replaced", "the database file was moved, deleted or replaced while in use",
              "stop all users of the path, then open again"};
  }
  return {"unknown", "unknown error code", "report it"};
}

namespace detail {

// A limit as people write it: durations in the largest unit that leaves no remainder.
[[nodiscard]] inline std::string limit_text(std::int64_t limit, Unit unit) {
  if (unit == Unit::bytes) return std::to_string(limit) + " bytes";
  if (unit == Unit::none) return std::to_string(limit);
  struct Step {
    std::int64_t nanoseconds;
    std::string_view name;
  };
  constexpr Step steps[] = {{86'400'000'000'000, "d"}, {3'600'000'000'000, "h"},
                            {60'000'000'000, "min"},   {1'000'000'000, "s"},
                            {1'000'000, "ms"},         {1'000, "us"}};
  for (const Step& step : steps) {
    if (limit == 0 || limit % step.nanoseconds != 0) continue;
    return std::to_string(limit / step.nanoseconds).append(step.name);
  }
  return std::to_string(limit) + "ns";
}

[[nodiscard]] constexpr std::string_view limit_name(Bound bound) noexcept {
  switch (bound) {
    case Bound::at_least:
      return "at_least";
    case Bound::at_most:
      return "at_most";
    case Bound::plain:
      break;
  }
  return "limit";
}

}  // namespace detail

inline std::string to_string(const Error& error) {
  const ErrorFacts& facts = error.facts();
  std::string text(to_string(error.code()));
  text.append(" (").append(to_string(error.error_class())).append("): ");
  text.append(error.summary());
  std::string known;
  const auto add = [&known](std::string_view name, const std::string& value) {
    known.append(known.empty() ? " [" : " ").append(name).append("=").append(value);
  };
  if (!facts.field.empty()) add("field", facts.field);
  if (!facts.found.empty()) add("found", facts.found);
  if (!facts.action.empty()) add("action", facts.action);
  if (!facts.resource.empty()) add("resource", facts.resource);
  if (!facts.holder.empty()) add("holder", facts.holder);
  if (facts.token) add("token", to_string(*facts.token));
  if (facts.fence) add("fence", to_string(*facts.fence));
  if (facts.retry_at) {
    using std::chrono::ceil;
    using std::chrono::milliseconds;
    const auto after_boot = ceil<milliseconds>(facts.retry_at->time_since_epoch());
    add("retry_at", std::to_string(after_boot.count()) + "ms");
  }
  if (facts.limit) {
    add(detail::limit_name(facts.bound), detail::limit_text(*facts.limit, facts.unit));
  }
  if (facts.native != 0) add("native", std::to_string(facts.native));
  if (!known.empty()) text.append(known).append("]");
  return text.append("; ").append(error.advice());
}

}  // namespace wallock
