#include "sqlite/job_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace wallock::sqlite {
namespace {

Phase phase_of(const host::SharedWord& word) noexcept {
  return static_cast<Phase>(word.load(std::memory_order_acquire));
}

}  // namespace

void JobQueue::set(Job& job, Phase phase) noexcept {
  job.phase_.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
}

// The job stays while it is told: the caller holds a reference.
void JobQueue::tell(Job& job, Phase phase) noexcept {
  set(job, phase);
  host::wake(job.phase_, 1);
}

void JobQueue::push(JobList& list, std::shared_ptr<Job> job) noexcept {
  Job* const added = job.get();
  (list.empty() ? list.first_ : list.last_->next_) = std::move(job);
  list.last_ = added;
  ++list.size_;
}

std::shared_ptr<Job> JobQueue::pop(JobList& list) noexcept {
  if (list.empty()) return nullptr;
  std::shared_ptr<Job> job = std::move(list.first_);
  list.first_ = std::move(job->next_);
  if (list.empty()) list.last_ = nullptr;
  --list.size_;
  return job;
}

void JobQueue::unlink(Job& job) noexcept {
  JobList kept;
  while (auto next = pop(waiting_)) {
    if (next.get() != &job) push(kept, std::move(next));
  }
  waiting_ = std::move(kept);
}

void JobQueue::enter(const std::shared_ptr<Job>& job) noexcept {
  const std::lock_guard lock(mutex_);
  if (led_) {
    push(waiting_, job);
  } else {
    led_ = true;
    set(*job, Phase::leading);
  }
}

std::optional<JobQueue::Call> JobQueue::call_of(Phase phase) const noexcept {
  switch (phase) {
    case Phase::leading:
      return Call::lead;
    case Phase::carrying:
      return Call::carry_on;
    case Phase::done:
      return Call::done;
    default:
      return std::nullopt;
  }
}

// What is left of the time is waited for in real time: the clock may be one that stands still.
JobQueue::Call JobQueue::await(Job& job, Instant deadline) noexcept {
  using Steady = std::chrono::steady_clock;
  constexpr Duration longest = std::chrono::days(30);
  constexpr Duration look_again = std::chrono::milliseconds(5);
  std::optional<Steady::time_point> end;
  for (;;) {
    const Phase phase = phase_of(job.phase_);
    if (const auto call = call_of(phase)) return *call;
    const auto now = Steady::now();
    if (!end) {
      const Duration left = saturating_sub(deadline, clock_.now());
      end = now + std::clamp(left, Duration::zero(), longest);
    }
    if (now >= *end) {
      if (const auto call = give_up(job)) return *call;
    }
    const Duration left = now < *end ? Duration(*end - now) : look_again;
    host::wait_while(job.phase_, static_cast<std::uint32_t>(phase), left);
  }
}

std::optional<JobQueue::Call> JobQueue::give_up(Job& job) noexcept {
  const std::lock_guard lock(mutex_);
  const Phase phase = phase_of(job.phase_);
  if (phase == Phase::waiting) {
    unlink(job);
    return Call::too_late;
  }
  if (phase == Phase::executed && working_) {
    set(job, Phase::left);
    return Call::leave;
  }
  return call_of(phase);
}

std::shared_ptr<Job> JobQueue::take(bool flushed) noexcept {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  if (!flushed && waiting_.front()->demands().flush == Flush::durable) return nullptr;
  std::shared_ptr<Job> job = pop(waiting_);
  if (job->demands().has_work) {
    tell(*job, Phase::carrying);
  } else {
    set(*job, Phase::running);
  }
  return job;
}

std::size_t JobQueue::waiting() const noexcept {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

bool JobQueue::wants_flush() noexcept {
  const std::lock_guard lock(mutex_);
  for (const Job* job = waiting_.front().get(); job != nullptr; job = job->next_.get()) {
    if (job->demands().flush == Flush::durable) return true;
  }
  return false;
}

void JobQueue::keep(JobList& list, std::shared_ptr<Job> job) noexcept {
  set(*job, Phase::executed);
  push(list, std::move(job));
}

std::shared_ptr<Job> JobQueue::take_again(JobList& list) noexcept {
  const std::lock_guard lock(mutex_);
  while (auto job = pop(list)) {
    if (phase_of(job->phase_) != Phase::left) {
      set(*job, Phase::running);
      return job;
    }
  }
  return nullptr;
}

void JobQueue::finish(Job& job) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (phase_of(job.phase_) == Phase::left) return;
    set(job, Phase::done);
  }
  if (!job.is_own()) host::wake(job.phase_, 1);
}

void JobQueue::hand_over() noexcept {
  const std::lock_guard lock(mutex_);
  const auto next = pop(waiting_);
  led_ = next != nullptr;
  if (next) tell(*next, Phase::leading);
}

}  // namespace wallock::sqlite
