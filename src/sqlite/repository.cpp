#include "sqlite/repository.hpp"

#include <sqlite3.h>

#include "sqlite/wal_reset_bug.hpp"

namespace wallock::sqlite {

Repository::Repository(std::string path, std::unique_ptr<Session> session,
                       std::unique_ptr<Reader> reader, Neighbours neighbours,
                       std::unique_ptr<Flusher> flusher, const Options& options,
                       std::shared_ptr<const Clock> clock)
    : open_path_(path),
      operation_timeout_(options.operation_timeout),
      breaker_policy_(options.breaker),
      delivery_policy_(options.delivery),
      // Without a boot id nothing tells a restart, so nothing may be lost by one.
      durability_(options.durability == Durability::commits && !clock->boot_id()
                      ? Durability::every_answer
                      : options.durability),
      clock_(std::move(clock)),
      neighbours_(std::move(neighbours)),
      writer_(std::move(path), std::move(session), durability_, clock_,
              {.turnstile = neighbours_.turnstile(),
               .flush_line = neighbours_.flush_line(),
               .flushes_apart = options.share_flushes && neighbours_.sidecar() != nullptr,
               .waiting = neighbours_.waiting_line(),
               .flusher = std::move(flusher)}),
      reader_(std::move(reader)),
      random_(std::random_device{}()) {}

Result<BreakerStatus> Repository::breaker(const ResourceName& resource) {
  return once_visible(reader_->breaker(resource, breaker_policy_));
}

Result<std::vector<LeaseInfo>> Repository::leases(std::size_t limit) {
  return once_visible(reader_->leases(limit));
}

Result<std::vector<AuditRecord>> Repository::audit(const AuditRange& range) {
  return once_visible(reader_->audit(range));
}

Result<TreeHead> Repository::root() { return once_visible(reader_->root()); }

Result<VerifyReport> Repository::verify(const std::optional<TreeHead>& trusted) {
  return once_visible(reader_->verify(trusted));
}

Result<Health> Repository::health() {
  auto health = reader_->health();
  if (!health) return health;
  health->sqlite_version = sqlite3_libversion();
  health->sqlite_has_wal_reset_bug = has_wal_reset_bug(sqlite3_libversion_number());
  health->durability = durability_;
  health->has_boot_id = clock_->boot_id().has_value();
  health->wal_frames = writer_.wal_frames();
  health->checkpoints = writer_.checkpoints();
  health->shares_flushes = writer_.shares_flushes();
  health->has_sidecar = neighbours_.sidecar() != nullptr;
  if (const auto* sidecar = neighbours_.sidecar()) {
    health->openings = sidecar->membership().count();
    health->waiting_in_line = sidecar->line().count();
  }
  health->transactions = writer_.transactions();
  health->operations = writer_.operations();
  health->waiting_operations = writer_.waiting();
  return health;
}

Result<std::uint64_t> Repository::change_counter() { return reader_->change_counter(); }

}  // namespace wallock::sqlite
