// For work that only touches this database: acquire, commit and release in one transaction. And
// what makes repeating safe: a replay answers the first receipt and does not run the work again.
#include "example.hpp"
#include "wallock/sqlite.hpp"

using example::must;
using example::show;
using wallock::Coordinator;
using wallock::Transaction;

int main() {
  auto coordinator = must(Coordinator::open("execute.db"), "open");

  int runs = 0;
  const auto book = [&runs](Transaction& transaction) {
    ++runs;
    SQLite::Database& database = wallock::database(transaction);
    database.exec("CREATE TABLE IF NOT EXISTS seat (row INTEGER, taken_under INTEGER)");
    SQLite::Statement insert(database, "INSERT INTO seat VALUES (12, ?)");
    insert.bind(1, static_cast<std::int64_t>(transaction.token().value()));
    insert.exec();
  };

  const wallock::ActionFields booking{.id = "booking-4711", .payload = "row 12"};
  const auto first = must(coordinator.execute("flight/LH100", booking, book), "execute");
  show(!first.replayed() && runs == 1, "booked: " + to_string(first.results().front()));
  show(must(coordinator.leases(), "leases").empty(), "and the resource is free again");

  // The answer got lost on its way, so the client asks once more.
  const auto again = must(coordinator.execute("flight/LH100", booking, book), "repeat");
  show(again.replayed() && runs == 1 && again.results() == first.results(),
       "repeated: the first receipt, and no second booking");

  const wallock::ActionFields other{.id = "booking-4711", .payload = "row 13"};
  show(example::refused_as(coordinator.execute("flight/LH100", other, book),
                           wallock::Errc::action_conflict),
       "the same id with other content: action_conflict");

  const auto failing = coordinator.execute("flight/LH100", {{.id = "booking-4712"}}, [] {
    return wallock::Status(fail(wallock::work_error(7)));
  });
  show(example::refused_as(failing, wallock::Errc::work_failed) &&
           failing.error().facts().native == 7,
       "work that returns an error rolls everything back: work_failed, with its own number");
}
