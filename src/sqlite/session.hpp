// Session: a write connection with everything that lives and dies with it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sqlite/action_store.hpp"
#include "sqlite/connection.hpp"
#include "sqlite/ledger_store.hpp"
#include "sqlite/outbox_store.hpp"
#include "sqlite/resource_store.hpp"
#include "sqlite/statement.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::sqlite {

// The connection comes first, so that every statement is finalized before it closes.
struct Session {
  Session(std::unique_ptr<Connection> opened, ledger::Sha256 hasher)
      : connection(std::move(opened)), ledger(std::move(hasher)) {}

  std::unique_ptr<Connection> connection;
  Statement begin{"BEGIN IMMEDIATE"};
  Statement commit{"COMMIT"};
  Statement rollback{"ROLLBACK"};
  Statement savepoint{"SAVEPOINT wallock_job"};
  Statement rollback_to{"ROLLBACK TO wallock_job"};
  Statement release{"RELEASE wallock_job"};
  LedgerStore ledger;
  ResourceStore resources;
  ActionStore actions;
  OutboxStore outbox;
};

// An open transaction and the moment it was begun at: read after the write lock was had.
class WriteTransaction {
 public:
  // The names of what it frees go to `freed`.
  WriteTransaction(Session& session, Instant now, WallTime wall,
                   std::vector<ResourceName>& freed) noexcept
      : session_(session), now_(now), wall_(wall), freed_(freed) {}

  [[nodiscard]] sqlite3* db() const noexcept { return session_.connection->handle(); }
  [[nodiscard]] Session& session() const noexcept { return session_; }
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] WallTime wall() const noexcept { return wall_; }
  // Work of the application ran in it.
  void set_worked() noexcept { worked_ = true; }
  [[nodiscard]] bool has_worked() const noexcept { return worked_; }
  // Once it is committed the resource may be free: whoever waits for it is called.
  void frees(const ResourceName& resource) const { freed_.push_back(resource); }
  // For the rules. The position moves on with every record appended.
  [[nodiscard]] rules::Moment moment() const noexcept {
    return {.now = now_, .epoch = session_.ledger.epoch(), .position = session_.ledger.position()};
  }

  [[nodiscard]] Result<StoredResource> load(const ResourceName& resource) const {
    return session_.resources.load(db(), resource, session_.ledger.generation());
  }
  // For a transaction that loads several.
  [[nodiscard]] Status read_ahead(std::span<const ResourceName* const> resources) const {
    return session_.resources.read_ahead(db(), resources, session_.ledger.generation());
  }
  [[nodiscard]] Result<std::uint64_t> append(const LedgerEntry& entry) const {
    return session_.ledger.append(db(), wall_, entry);
  }
  // Stores a resource without the records of its change, which the caller appends.
  [[nodiscard]] Status store(const ResourceName& resource, const StoredResource& before,
                             const rules::ResourceState& next,
                             const std::string* metadata = nullptr) const {
    session_.ledger.touch();
    return session_.resources.store(db(), resource, before, next, metadata);
  }
  // Stores a rule's change: the row first, then its records.
  [[nodiscard]] Status apply(const ResourceName& resource, const StoredResource& before,
                             const rules::Change& change,
                             const std::string* metadata = nullptr) const {
    if (auto ok = store(resource, before, change.next, metadata); !ok) return ok;
    return append_all(change.entries);
  }
  // The same for a commit, which spends its token.
  [[nodiscard]] Status spend(FencingToken token, const ResourceName& resource,
                             const StoredResource& before, const rules::Change& change) const {
    session_.ledger.touch();
    if (auto ok = session_.resources.spend(db(), token, resource, before, change.next); !ok) {
      return ok;
    }
    return append_all(change.entries);
  }

 private:
  [[nodiscard]] Status append_all(const std::vector<LedgerEntry>& entries) const {
    for (const LedgerEntry& entry : entries) {
      if (auto position = append(entry); !position) return fail(position.error());
    }
    return {};
  }

  Session& session_;
  Instant now_;
  WallTime wall_;
  std::vector<ResourceName>& freed_;
  bool worked_ = false;
};

}  // namespace wallock::sqlite
