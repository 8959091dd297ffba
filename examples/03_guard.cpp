// A guard keeps a lease alive in the background, commits as often as it likes, and tells its
// worker when the lease is lost.
#include <future>

#include "example.hpp"

using example::must;
using example::show;
using wallock::Coordinator;

int main() {
  auto worker = must(Coordinator::open("guard.db", {.holder = "worker"}), "open");
  auto operators = must(Coordinator::open("guard.db", {.holder = "operator"}), "open");

  std::promise<wallock::LossReason> news;
  auto told = news.get_future();
  auto guard = must(worker.guard("import/customers", {.ttl = std::chrono::seconds(10)},
                                 {.on_lost = [&news](auto reason) { news.set_value(reason); }}),
                    "guard");
  // Long work polls this token, or hands it to whatever can be stopped.
  const std::stop_token lost = guard.lost();
  show(guard.valid() && !lost.stop_requested(), "the guard holds the lease");

  // Each commit spends its token; keep, the guard's default, brings the next one along.
  const auto first = guard.token();
  must(guard.commit({{.id = "customers-page-1"}}), "commit");
  const auto second = guard.token();
  must(guard.commit({{.id = "customers-page-2"}}), "commit");
  show(first < second && second < guard.token(), "two commits, each under a token of its own");

  must(operators.revoke("import/customers", guard.token(), "nightly import was stopped"), "revoke");
  const auto refused = guard.commit({{.id = "customers-page-3"}});
  show(example::refused_as(refused, wallock::Errc::stale_token),
       "after an operator revoked the lease the third commit is refused: stale_token");
  show(lost.stop_requested() && !guard.valid(),
       "lost() has fired: " + std::string(to_string(guard.reason())));

  // on_lost is called by another thread, a moment after lost() fired, and not at all once the guard
  // was released: whoever counts on it waits.
  show(told.wait_for(std::chrono::seconds(10)) == std::future_status::ready &&
           told.get() == guard.reason(),
       "on_lost was called, with the same reason");

  show(must(guard.release(), "release") == wallock::ReleaseEffect::already_ended,
       "there is nothing left to release");
}
