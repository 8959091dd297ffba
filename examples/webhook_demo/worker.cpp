#include "worker.hpp"

#include <functional>
#include <stdexcept>
#include <thread>

#include "application.hpp"
#include "messages.hpp"
#include "wallock/sqlite.hpp"
#include "wallock/wallock.hpp"

namespace demo {

namespace {

constexpr int max_repeats = 5;
constexpr std::uint64_t replay_one_in = 5;

// Long enough that a signal of the parent's lands in it.
std::chrono::milliseconds work_time(const Webhook& webhook) {
  return std::chrono::milliseconds(8 + webhook.body.size() % 8);
}

[[noreturn]] void stop(const char* what, const wallock::Error& error) {
  throw std::runtime_error(std::string(what) + ": " + to_string(error));
}

class Worker {
 public:
  Worker(const Options& options, wallock::Coordinator coordinator)
      : options_(options),
        coordinator_(std::move(coordinator)),
        application_(options.database),
        random_(options.seed) {}

  // One webhook. False if none is left.
  bool round() {
    const auto candidate = application_.pick(random_);
    if (!candidate) return false;
    announce({.step = Step::waiting, .repository = candidate->repository});

    const auto lease =
        coordinator_.acquire(candidate->repository, {.ttl = lease_ttl, .wait = acquire_wait});
    if (!lease) {
      // The others have had it all the time, or the disk is busy: choose again.
      const bool ordinary = lease.error().code() == wallock::Errc::lease_held ||
                            lease.error().error_class() == wallock::ErrorClass::transient;
      if (!ordinary) stop("acquire", lease.error());
      return true;
    }
    work_under(*lease);
    return true;
  }

 private:
  void work_under(const wallock::Lease& lease) {
    const std::string& repository = lease.resource().str();
    // While this worker waited, others went on: choose and read only now.
    const auto webhook = application_.pick(repository, random_);
    if (!webhook) return release(lease);
    const RepositoryState before = application_.read(repository);

    tell(Step::working, lease);
    const Update update{.effect = {.webhook = webhook->id,
                                   .repository = repository,
                                   .token = lease.token().value(),
                                   .worker = options_.worker_name},
                        .state = apply(before, *webhook)};
    std::this_thread::sleep_for(work_time(*webhook));

    tell(Step::committing, lease);
    options_.fenced ? commit(lease, *webhook, update) : write_without_fence(lease, update);
  }

  // What the library is for: the tables change if and only if the token may still write.
  void commit(const wallock::Lease& lease, const Webhook& webhook, const Update& update) {
    const wallock::Batch action(wallock::ActionFields{.id = webhook.id, .payload = webhook.body});
    const wallock::Work work = [&update](wallock::Transaction& transaction) {
      Application::write(wallock::database(transaction), update);
    };
    const bool release_in_commit = random_() % 2 == 0;
    const wallock::CommitOptions options{
        .after = release_in_commit ? wallock::AfterCommit::release : wallock::AfterCommit::nothing};

    const auto committed = repeat_transient(lease, action, work, options);
    if (!committed) {
      if (committed.error().code() != wallock::Errc::stale_token) stop("commit", committed.error());
      // Somebody else has the repository by now. What was computed here is worth nothing: drop it.
      tell(Step::refused, lease);
      return;
    }
    tell(committed->replayed() ? Step::replayed : Step::committed, lease);
    if (random_() % replay_one_in == 0) replay(lease, action, *committed);
    if (!release_in_commit) return release(lease);
    tell(Step::released, lease);
  }

  // An error of the transient class says: repeat. The action ids make that safe.
  wallock::Result<wallock::Committed> repeat_transient(const wallock::Lease& lease,
                                                       const wallock::Batch& action,
                                                       const wallock::Work& work,
                                                       const wallock::CommitOptions& options) {
    auto committed = coordinator_.commit(lease, action, work, options);
    for (int i = 0; i < max_repeats && !committed &&
                    committed.error().error_class() == wallock::ErrorClass::transient;
         ++i) {
      committed = coordinator_.commit(lease, action, work, options);
    }
    return committed;
  }

  // As a client does whose answer got lost: the same commit once more, after its token is spent.
  void replay(const wallock::Lease& lease, const wallock::Batch& action,
              const wallock::Committed& first) {
    const wallock::Work must_not_run = [] { throw std::logic_error("a replay ran its work"); };
    const auto again = repeat_transient(lease, action, must_not_run, {});
    if (!again) stop("replay", again.error());
    if (!again->replayed() || again->results() != first.results()) {
      throw std::runtime_error("replay: the answer is not the first receipt");
    }
    tell(Step::replayed, lease);
  }

  // What people do with a lock that has a ttl: it was mine when I looked, so I write.
  void write_without_fence(const wallock::Lease& lease, const Update& update) {
    application_.write_unguarded(update);
    tell(Step::committed, lease);
    release(lease);
  }

  void release(const wallock::Lease& lease) {
    const auto released = coordinator_.release(lease);
    // If it cannot be released now, its end comes with the ttl.
    if (!released && released.error().error_class() != wallock::ErrorClass::transient) {
      stop("release", released.error());
    }
    tell(Step::released, lease);
  }

  static void tell(Step step, const wallock::Lease& lease) {
    announce({.step = step, .token = lease.token().value(), .repository = lease.resource().str()});
  }

  Options options_;
  wallock::Coordinator coordinator_;
  Application application_;
  Random random_;
};

}  // namespace

void run_worker(const Options& options) {
  auto coordinator = wallock::Coordinator::open(options.database, {.holder = options.worker_name});
  if (!coordinator) stop("open", coordinator.error());
  Worker worker(options, *std::move(coordinator));
  while (worker.round()) {
  }
}

}  // namespace demo
