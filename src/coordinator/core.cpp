#include "coordinator/core.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "coordinator/checks.hpp"
#include "coordinator/news.hpp"

namespace wallock::detail {
namespace {

std::uint64_t number(InstanceId instance) noexcept { return static_cast<std::uint64_t>(instance); }

// Numbers the threads of the process in the order in which they first act.
std::uint64_t thread_ordinal() noexcept {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t ordinal = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return ordinal;
}

std::string hex(std::uint64_t value) {
  constexpr std::size_t digits = 16;
  constexpr std::string_view alphabet = "0123456789abcdef";
  std::string text(digits, '0');
  for (std::size_t i = digits; i > 0; value >>= 4) {
    text[--i] = alphabet[value & 0xf];
  }
  return text;
}

// Which of several names it was: a bad one is not shown.
Error nth_of_resources(const Error& error, std::size_t index) {
  ErrorFacts facts = error.facts();
  facts.field = "resources[" + std::to_string(index) + "]";
  return Error(error.code(), std::move(facts));
}

}  // namespace

CoordinatorCore::CoordinatorCore(std::unique_ptr<LeaseRepository> store,
                                 std::shared_ptr<host::Sidecar> sidecar, Options options,
                                 InstanceId instance)
    : options_(std::move(options)),
      instance_(instance),
      jitter_(number(instance)),
      sidecar_(std::move(sidecar)),
      store_(std::move(store)),
      heartbeats_(std::make_shared<Heartbeats>(*store_, options_.clock)) {}

CoordinatorCore::~CoordinatorCore() {
  if (!forked()) {
    heartbeats_->shutdown();
    return;
  }
  host::abandon(store_.release());
  // Its threads are not here to give their references back, so it stays even without this; a
  // service without threads has nothing to hurt.
  host::abandon(heartbeats_.get());
}

Instant CoordinatorCore::deadline() const {
  return saturating_add(now(), options_.operation_timeout);
}

Result<HolderId> CoordinatorCore::holder(const std::optional<Given<HolderId>>& given) const {
  if (given) return given->check();
  if (options_.holder) return options_.holder->check();
  return HolderId::parse(hex(number(instance_)) + "/" + std::to_string(thread_ordinal()));
}

Result<std::span<const ActionRequest>> CoordinatorCore::actions(const Batch& batch) const {
  auto checked = batch.check();
  if (!checked) return checked;
  if (auto ok = check_payloads(*checked, options_.max_payload); !ok) return fail(ok.error());
  return checked;
}

Result<AcquireRequest> CoordinatorCore::request(const Given<ResourceName>& resource,
                                                const AcquireOptions& options) const {
  auto name = resource.check();
  if (!name) return fail(name.error());
  if (auto ok = check_ttl(options.ttl); !ok) return fail(ok.error());
  if (auto ok = check_wait(options.wait); !ok) return fail(ok.error());
  if (auto ok = check_metadata(options.metadata); !ok) return fail(ok.error());
  auto who = holder(options.holder);
  if (!who) return fail(who.error());
  AcquireRequest request{.command = {.resource = *std::move(name),
                                     .holder = *std::move(who),
                                     .instance = instance_,
                                     .ttl = options.ttl},
                         .metadata = options.metadata,
                         .wait = options.wait};
  if (options.action_id) {
    auto id = options.action_id->check();
    if (!id) return fail(id.error());
    request.command.request = *std::move(id);
  }
  return request;
}

Result<Lease> CoordinatorCore::acquire(const AcquireRequest& request, const std::stop_token& stop) {
  rules::AcquireCommand command = request.command;
  return attempt({&request.command.resource, 1}, request.wait, stop, [&](Attempt now) {
    command.yields = now.yields;
    return store_->acquire(command, request.metadata, now.deadline);
  });
}

Result<std::vector<Lease>> CoordinatorCore::acquire_all(
    std::span<const Given<ResourceName>> resources, const AcquireOptions& options,
    const std::stop_token& stop) {
  if (auto ok = check_together(resources.size()); !ok) return fail(ok.error());
  if (options.action_id) return fail(invalid(Errc::invalid_option, "action_id"));
  std::vector<ResourceName> names;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    auto name = resources[i].check();
    if (!name) return fail(nth_of_resources(name.error(), i));
    names.push_back(*std::move(name));
  }
  // One order for all callers, so that the tokens of a batch follow the names.
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<rules::AcquireCommand> commands;
  for (const ResourceName& name : names) {
    auto one = request(name, options);
    if (!one) return fail(one.error());
    commands.push_back(std::move(one->command));
  }
  return attempt(names, options.wait, stop, [&](Attempt now) {
    for (auto& command : commands)
      command.yields = now.yields;
    return store_->acquire_all(commands, options.metadata, now.deadline);
  });
}

Result<std::vector<Delivery>> CoordinatorCore::claim(const ClaimRequest& request, Duration wait,
                                                     const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(Errc::cancelled);
  const Instant until = saturating_add(now(), wait);
  NewsOf news(sidecar(), *options_.clock, jitter_, request.destination, stop);
  for (;;) {
    news.mark();
    auto deliveries = store_->claim(request, deadline());
    if (!deliveries || !deliveries->empty()) return deliveries;
    if (now() >= until) return deliveries;
    news.await(until);
    if (stop.stop_requested()) return fail(Errc::cancelled);
  }
}

host::Sidecar* CoordinatorCore::sidecar() const noexcept {
  return options_.clock == system_clock() ? sidecar_.get() : nullptr;
}

}  // namespace wallock::detail
