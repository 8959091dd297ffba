#include "supervisor.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <utility>

namespace demo {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds run_limit{120};
constexpr std::chrono::seconds pause_limit{5};
constexpr int poll_ms = 50;

constexpr std::uint64_t longest_jitter_us = 800;

std::string name_of(std::size_t number) { return "worker-" + std::to_string(number); }

}  // namespace

struct Supervisor::Worker {
  std::string name;
  ChildProcess process;
  std::deque<Message> unread;  // received, not yet handled
  Message last;
  bool killed = false;
  bool ended = false;
};

// A worker that stands still, or that was woken up and has not yet said how its commit ended.
struct Supervisor::Pause {
  Worker* worker;
  Fault fault;
  SteadyClock::time_point since;
  bool resumed = false;
};

Supervisor::Supervisor(const Options& options, std::string database, std::size_t payloads,
                       wallock::Coordinator& coordinator)
    : options_(options),
      database_(std::move(database)),
      payloads_(payloads),
      coordinator_(coordinator),
      random_(options.seed),
      plan_(plan_faults(random_)),
      planned_(plan_.size()) {}

Supervisor::~Supervisor() = default;

RunRecord Supervisor::run() {
  const auto deadline = SteadyClock::now() + run_limit;
  for (int i = 0; i < options_.workers; ++i)
    start_worker();
  const auto has_ended = [](const auto& worker) { return worker->ended; };
  while (!std::all_of(workers_.begin(), workers_.end(), has_ended)) {
    if (SteadyClock::now() > deadline) throw std::runtime_error("the run does not come to an end");
    wait_for_output();
    // By index: a kill adds the worker that takes the dead one's place.
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = *workers_[i];
      if (!worker.ended) receive(worker);
      while (!worker.unread.empty()) {
        const Message message = std::move(worker.unread.front());
        worker.unread.pop_front();
        worker.last = message;
        handle(worker, message);
      }
      if (!worker.ended && worker.process.at_end()) reap(worker);
    }
    end_overlong_pause();
  }
  return record_;
}

void Supervisor::start_worker() {
  const std::string name = name_of(++record_.started);
  std::vector<std::string> arguments{"--worker",   name,
                                     "--database", database_,
                                     "--seed",     std::to_string(options_.seed + record_.started)};
  if (!options_.fenced) arguments.emplace_back("--without-fence");
  workers_.push_back(std::unique_ptr<Worker>(
      new Worker{.name = name, .process = ChildProcess(arguments), .unread = {}, .last = {}}));
}

void Supervisor::wait_for_output() {
  std::vector<pollfd> waiting;
  for (const auto& worker : workers_) {
    if (!worker->ended) waiting.push_back({worker->process.output(), POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), poll_ms);
}

void Supervisor::receive(Worker& worker) {
  for (const std::string& line : worker.process.read_lines()) {
    auto message = parse_message(line);
    if (!message) throw std::runtime_error(worker.name + " said: " + line);
    worker.unread.push_back(*std::move(message));
  }
}

void Supervisor::reap(Worker& worker) {
  const int code = worker.process.wait();
  worker.ended = true;
  if (code != 0) {
    throw std::runtime_error(worker.name + " ended with code " + std::to_string(code));
  }
}

void Supervisor::handle(Worker& worker, const Message& message) {
  count(message);
  if (pause_) {
    follow_pause(worker, message);
  } else if (is_due(worker, message)) {
    strike(worker, message);
  }
}

void Supervisor::count(const Message& message) {
  record_.replays += message.step == Step::replayed ? 1 : 0;
  record_.refused += message.step == Step::refused ? 1 : 0;
  if (message.step != Step::committed) return;
  ++committed_;
  if (!record_.noted_head && committed_ >= payloads_ / 2) {
    // What an operator does now and then: note the root where a rewriter cannot reach it.
    const auto head = coordinator_.root();
    if (!head) throw std::runtime_error("root: " + to_string(head.error()));
    record_.noted_head = *head;
    fmt::print("noted the ledger's head: {}\n", to_string(*head));
  }
}

// Faults are spread over the first three quarters of the work, and strike a worker only in the very
// step they are meant for: it has said nothing since, and another worker waits for its place.
bool Supervisor::is_due(const Worker& worker, const Message& message) const {
  if (plan_.empty() || worker.ended || !worker.unread.empty()) return false;
  const std::size_t done = planned_ - plan_.size();
  if (committed_ < (done + 1) * payloads_ * 3 / 4 / (planned_ + 1)) return false;
  if (plan_.back() == FaultKind::kill_at_commit) return message.step == Step::committing;
  return message.step == Step::working && somebody_waits_for(message.repository);
}

bool Supervisor::somebody_waits_for(const std::string& repository) const {
  return std::any_of(workers_.begin(), workers_.end(), [&repository](const auto& worker) {
    return !worker->ended && worker->last.step == Step::waiting &&
           worker->last.repository == repository;
  });
}

void Supervisor::strike(Worker& worker, const Message& message) {
  Fault fault{.kind = plan_.back(),
              .worker = worker.name,
              .repository = message.repository,
              .token = message.token,
              .at = clock_->wall_now()};
  if (fault.kind == FaultKind::pause_at_work) {
    pause(worker, fault);
  } else if (kill(worker)) {
    landed(std::move(fault), "");
  } else {
    ++record_.missed;
  }
}

// True if the worker had not gone on before the signal came.
bool Supervisor::kill(Worker& worker) {
  // A commit takes a moment: hit it early or late, so that some land and some do not.
  if (worker.last.step == Step::committing)
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % longest_jitter_us));
  worker.process.kill();
  receive(worker);
  worker.ended = true;
  start_worker();
  return worker.unread.empty();
}

void Supervisor::pause(Worker& worker, const Fault& fault) {
  if (!worker.process.pause()) return;  // it ended; reap() says how
  receive(worker);
  if (!worker.unread.empty()) {
    worker.process.resume();
    ++record_.missed;
    return;
  }
  pause_ = std::make_unique<Pause>(Pause{&worker, fault, SteadyClock::now()});
}

// Others find the lease overdue, take the repository and write. Then the paused worker wakes up and
// goes on as if nothing had happened.
void Supervisor::follow_pause(const Worker& worker, const Message& message) {
  if (pause_->resumed) {
    const bool is_verdict = message.step == Step::refused || message.step == Step::committed ||
                            message.step == Step::replayed;
    if (&worker == pause_->worker && is_verdict) end_pause_verdict(message.step);
    return;
  }
  const bool is_successor =
      message.repository == pause_->fault.repository && message.token > pause_->fault.token;
  if (is_successor && message.step == Step::committed) {
    pause_->resumed = true;
    pause_->worker->process.resume();
  }
}

void Supervisor::end_pause_verdict(Step step) {
  Fault fault = std::move(pause_->fault);
  pause_.reset();
  switch (step) {
    case Step::refused:
      return landed(std::move(fault), "; another took over; its commit was refused");
    case Step::committed:
      ++record_.overruled;
      return landed(std::move(fault), "; another took over; it WROTE all the same");
    default:
      // It had chosen the very webhook that its successor applied, and was answered with that
      // receipt. True, but no refusal: pause somebody else.
      ++record_.missed;
  }
}

void Supervisor::end_overlong_pause() {
  if (!pause_ || pause_->resumed || SteadyClock::now() - pause_->since < pause_limit) return;
  pause_->worker->process.resume();
  pause_.reset();
  ++record_.missed;
}

void Supervisor::landed(Fault fault, const char* what_next) {
  fmt::print("{}{}\n", describe(fault), what_next);
  std::fflush(stdout);
  record_.faults.push_back(std::move(fault));
  plan_.pop_back();
}

}  // namespace demo
