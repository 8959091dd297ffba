#include <chrono>
#include <optional>
#include <vector>

#include "peers.hpp"
#include "support/sides.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::bench {
namespace {

constexpr auto wait = std::chrono::seconds(30);
constexpr auto long_ttl = std::chrono::hours(1);
constexpr const char* destination = "webhooks";

class WallockLeases final : public LeaseClient {
 public:
  WallockLeases(const std::string& path, Durability durability)
      : coordinator_(must(Coordinator::open(path, {.durability = durability}))) {}

  void acquire(const std::string& key) override {
    lease_ = must(coordinator_.acquire(key, {.wait = wait}));
  }
  void release() override { must(coordinator_.release(*lease_)); }

 private:
  Coordinator coordinator_;
  std::optional<Lease> lease_;
};

void insert_business_row(Transaction& transaction, std::uint64_t number) {
  SQLite::Statement insert(database(transaction),
                           "INSERT INTO business (number, cents) VALUES (?1, 995)");
  insert.bind(1, static_cast<std::int64_t>(number));
  insert.exec();
}

// Commits under one lease that is kept from commit to commit.
class WallockOutbox final : public OutboxClient {
 public:
  WallockOutbox(const std::string& path, Durability durability)
      : path_(path), coordinator_(must(Coordinator::open(path, {.durability = durability}))) {
    create_business_table();
  }

  void enqueue(std::size_t messages) override {
    const std::uint64_t row = next_row_++;
    const auto work = [row](Transaction& transaction) { insert_business_row(transaction, row); };
    if (!lease_) lease_ = must(coordinator_.acquire("outbox-" + run_, {.ttl = long_ttl}));
    const Committed done =
        must(coordinator_.commit(*lease_, batch(messages), work, {.after = AfterCommit::keep}));
    lease_ = done.lease();
  }

  // Each on a resource of its own, or they would have to be delivered one after the other.
  void fill(std::size_t messages) override {
    Coordinator unflushed = must(Coordinator::open(path_, {.durability = Durability::relaxed}));
    for (std::size_t i = 0; i < messages; ++i)
      must(unflushed.execute("queue-" + std::to_string(next_resource_++), batch(1)));
  }

  void claim(std::size_t messages) override {
    claimed_ = must(coordinator_.claim(
        {.destination = destination, .limit = static_cast<std::uint32_t>(messages)}));
    if (claimed_.size() != messages) give_up("wallock", "too few deliveries");
  }

  void acknowledge() override {
    std::vector<Settlement> settlements;
    for (Delivery& delivery : claimed_)
      settlements.push_back({std::move(delivery), DeliveryOutcome::delivered()});
    for (const Result<Settled>& settled : must(coordinator_.settle_all(settlements)))
      must(settled);
  }

 private:
  void create_business_table() {
    const Lease lease = must(coordinator_.acquire("schema"));
    std::uint64_t last = 0;
    const auto work = [&last](Transaction& transaction) {
      SQLite::Database& db = database(transaction);
      db.exec("CREATE TABLE IF NOT EXISTS business (number INTEGER PRIMARY KEY, cents INTEGER)");
      last = static_cast<std::uint64_t>(
          db.execAndGet("SELECT coalesce(max(number), 0) FROM business").getInt64());
    };
    must(coordinator_.commit(lease, ActionFields{.id = "schema-" + to_string(lease.token())}, work,
                             {.after = AfterCommit::release}));
    // What an earlier client of this store put in is not put in again.
    run_ = to_string(lease.token());
    next_row_ = last + 1;
  }

  [[nodiscard]] Batch batch(std::size_t messages) {
    std::vector<ActionRequest> actions;
    for (std::size_t i = 0; i < messages; ++i)
      actions.push_back(must(ActionRequest::create(
          {.id = "payment-" + run_ + "-" + std::to_string(1'000'000 + next_id_++),
           .destination = destination,
           .payload = payload_})));
    return actions;
  }

  std::string path_;
  Coordinator coordinator_;
  std::string run_;
  std::string payload_ = message_payload();
  std::optional<Lease> lease_;
  std::vector<Delivery> claimed_;
  std::uint64_t next_row_ = 1, next_id_ = 0, next_resource_ = 0;
};

Peer wallock_peer(const Places& places, Durability level, const std::string& durability) {
  const std::string prefix = places.folder + "/wallock-" + std::string(to_string(level)) + "-";
  return {.name = "wallock " + std::string(to_string(level)),
          .durable = level == Durability::every_answer,
          .durability = durability,
          .waiting = "acquire with wait",
          .lease =
              [=](const std::string& space, const std::string&, Company) {
                return std::make_unique<WallockLeases>(prefix + space + ".db", level);
              },
          .outbox =
              [=](const std::string& space) {
                return std::make_unique<WallockOutbox>(prefix + space + ".db", level);
              }};
}

}  // namespace

std::vector<Peer> wallock_peers(const Places& places) {
  return {wallock_peer(places, Durability::every_answer, "every answer is flushed"),
          wallock_peer(places, Durability::commits,
                       "commits and settlements are flushed; grants, claims and releases ride with "
                       "the next flush; tokens never go back")};
}

}  // namespace wallock::bench
