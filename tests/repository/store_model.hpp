// A store as one with a perfect memory would keep it: maps, no fences, no SQL, none of the rules'
// code. Every operation answers with the words that the real store's answer is put into.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model_values.hpp"

namespace wallock::test {

class StoreModel {
 public:
  static constexpr Nanos second = ModelBreaker::second;
  static constexpr unsigned max_attempts = 4;
  static constexpr Nanos max_age = 600 * second;

  Nanos now = 0;
  std::uint64_t epoch = 1;
  std::uint64_t size = 1;                                  // of the ledger: the genesis record
  std::map<std::uint64_t, ModelDelivery> deliveries = {};  // by position
  std::uint64_t dead = 0;
  std::set<int> gone = {};  // instances that died: what they had is free for whoever asks

  using Action = ModelAction;
  using Batch = std::vector<Action>;
  enum class After { nothing, keep, release };
  enum class Outcome { success, timeout, failure, cancelled };
  enum class Settle { delivered, retry, reject };

  std::string acquire(int r, int holder, int instance, Nanos ttl, const std::string& request) {
    Resource& resource = resources_[r];
    if (!closed(resource)) return "breaker_open";
    if (!request.empty() && events_.contains(request)) {
      return repeated(resource, events_[request], r, holder, instance, request);
    }
    if (auto refused = held(resource, holder, instance); !refused.empty()) return refused;
    return lease_words(grant(r, holder, instance, ttl, request));
  }

  std::string renew(const ModelLease& lease, Nanos ttl) {
    Resource& resource = resources_[lease.resource];
    if (!has(resource, lease)) return "lease_lost";
    if (!lives(resource)) return "lease_expired";
    resource.expires_at = now + ttl;
    ++size;
    return lease_words({lease.resource, lease.token, lease.holder, lease.instance, now, now + ttl});
  }

  std::string release(const ModelLease& lease) {
    Resource& resource = resources_[lease.resource];
    if (!has(resource, lease)) return "already_ended";
    const bool alive = lives(resource);
    end(resource);
    ++size;
    return alive ? "released" : "expired";
  }

  std::string revoke(int r, std::uint64_t token) {
    Resource& resource = resources_[r];
    if (!resource.tenure || resource.latest != token) return "lease_lost";
    end(resource);
    ++size;
    return "ok";
  }

  std::string commit(const ModelLease& lease, const Batch& batch, After after) {
    Resource& resource = resources_[lease.resource];
    if (auto said = replay(lease.resource, batch); !said.empty()) {
      const bool kept = after == After::keep && said.starts_with("replayed");
      return said + (kept ? still_kept(resource, lease, batch) : "");
    }
    if (!closed(resource)) return "breaker_open";
    if (!may_write(resource, lease.token)) return "stale_token";
    resource.spent = true;
    std::string words = "new" + record(lease.resource, lease.token, batch);
    if (after == After::release) {
      end(resource);
      ++size;
    } else if (after == After::keep) {
      words += " " + lease_words(grant(lease.resource, lease.holder, lease.instance,
                                       lease.expires_at - lease.granted_at, ""));
    }
    return words;
  }

  std::string execute(int r, int holder, int instance, const Batch& batch) {
    if (auto said = replay(r, batch); !said.empty()) return said;
    Resource& resource = resources_[r];
    if (!closed(resource)) return "breaker_open";
    if (auto refused = held(resource, holder, instance); !refused.empty()) return refused;
    const auto token = grant(r, holder, instance, second, "").token;
    std::string words = "new" + record(r, token, batch);
    end(resource);
    ++size;
    return words;
  }

  std::string report(const ModelLease& lease, Outcome outcome) {
    Resource& resource = resources_[lease.resource];
    if (!closed(resource) || !may_write(resource, lease.token)) return ++size, "late";
    if (outcome == Outcome::success) {
      if (std::exchange(resource.breaker.timeouts, 0) == 0) return "none";
      return ++size, "cleared";
    }
    if (outcome != Outcome::timeout) return "none";
    ++size;
    if (++resource.breaker.timeouts < ModelBreaker::trip_after) return "counted";
    end(resource);
    resource.breaker.open(now, epoch);
    return "tripped";
  }

  std::string begin_recovery(int r, Nanos ttl, int instance = 0) {
    Resource& resource = resources_[r];
    if (resource.breaker.closed()) return "breaker_not_open";
    if (resource.breaker.forced) return "breaker_open";
    ModelBreaker lapsed = resource.breaker;
    if (gone.contains(resource.instance)) lapsed.cut_probe_short(now);
    if (lapsed.probed(now, epoch)) return "lease_held";
    const bool fell = lapsed.settle(now, epoch);
    if (now < lapsed.due(epoch)) return "recovery_not_due";
    size += fell ? 1 : 0;
    resource.latest = token_at(size++);
    resource.instance = instance;
    resource.breaker = lapsed;
    resource.breaker.probe(now + ttl, epoch);
    return "probe " + std::to_string(resource.latest) + " until " + std::to_string(now + ttl);
  }

  std::string complete_recovery(int r, std::uint64_t token, bool recovered) {
    Resource& resource = resources_[r];
    if (!resource.breaker.probed(now, epoch) || resource.latest != token) return "probe_lost";
    ++size;
    if (recovered) {
      resource.breaker.recover();
    } else {
      resource.breaker.fall_back(now, epoch);
    }
    return "ok";
  }

  std::string force_open(int r) {
    Resource& resource = resources_[r];
    if (resource.breaker.forced) return "ok";
    if (resource.breaker.probed(now, epoch)) resource.breaker.cut_off(now, epoch);
    if (resource.breaker.settle(now, epoch)) ++size;
    if (resource.breaker.closed()) resource.breaker.open(now, epoch);
    resource.breaker.forced = true;
    end(resource);
    ++size;
    return "ok";
  }

  std::string clear_forced(int r) {
    if (std::exchange(resources_[r].breaker.forced, false)) ++size;
    return "ok";
  }

  std::string claim(unsigned limit, Nanos ttl) {
    std::vector<std::pair<Nanos, std::uint64_t>> due;
    std::map<int, bool> seen;  // only the first of a resource is in line
    for (const auto& [position, delivery] : deliveries) {
      if (std::exchange(seen[delivery.resource], true)) continue;
      if (!closed(resources_[delivery.resource])) continue;
      const Nanos since = delivery.claim != 0 ? delivery.claim_ends : delivery.due;
      if (since <= now) due.emplace_back(since, position);
    }
    std::sort(due.begin(), due.end());
    if (due.size() > limit) due.resize(limit);
    std::string words;
    for (const auto& [order, position] : due)
      words += claim_one(position, ttl);
    return words;
  }

  std::string settle(std::uint64_t position, std::uint64_t claim, Settle outcome, Nanos wait) {
    const auto at = deliveries.find(position);
    if (at == deliveries.end() || at->second.claim != claim) return "claim_lost";
    ++size;
    if (outcome == Settle::delivered) return deliveries.erase(at), "sealed";
    if (outcome == Settle::reject || exhausted(at->second)) {
      ++dead;
      return deliveries.erase(at), "dead";
    }
    at->second.claim = 0;
    at->second.due = now + wait;
    return "queued";
  }

  // What breaker() shows: the state, the counts, the force.
  std::string breaker(int r) {
    ModelBreaker shown = resources_[r].breaker;
    shown.settle(now, epoch);
    const char* words[] = {"CLOSED", "OPEN", "PROBING"};
    return std::string(words[static_cast<int>(shown.state)]) + " " +
           std::to_string(shown.timeouts) + " " + std::to_string(shown.failed) +
           (shown.forced ? " forced" : "");
  }

  std::string leases() {
    std::string words;
    for (const auto& [r, resource] : resources_) {
      if (lives(resource)) words += std::to_string(r) + ":" + std::to_string(resource.latest) + " ";
    }
    return words;
  }

  // What the store's tables hold: each row that says something, in words.
  std::string rows() const {
    std::string words = std::to_string(size) + " records in epoch " + std::to_string(epoch);
    for (const auto& [r, resource] : resources_) {
      if (resource.latest == 0) continue;
      words += "; r" + std::to_string(r) + " " + std::to_string(resource.latest);
      if (!resource.tenure) continue;
      words += " h" + std::to_string(resource.holder) + " " + std::to_string(resource.instance) +
               " until " + std::to_string(resource.expires_at);
    }
    for (const auto& [r, resource] : resources_) {
      const auto said = resource.breaker.row();
      if (said != "0 0 0 0") words += "; breaker r" + std::to_string(r) + " " + said;
    }
    for (const auto& [position, delivery] : deliveries) {
      words += "; delivery " + std::to_string(position) + " " + std::to_string(delivery.claim) +
               " " + std::to_string(delivery.attempts) + " " +
               std::to_string(delivery.claim != 0 ? delivery.claim_ends : delivery.due) + " born " +
               std::to_string(delivery.born);
    }
    return words + "; dead " + std::to_string(dead);
  }

  bool is_closed(int r) const {
    const auto at = resources_.find(r);
    return at == resources_.end() || closed(at->second);
  }
  // A lease that only its holder's death makes free.
  bool is_left_behind(int r) const {
    const auto at = resources_.find(r);
    return at != resources_.end() && lives(at->second) && gone.contains(at->second.instance);
  }

  void reboot(Nanos start) {
    now = start;
    ++epoch;
    ++size;
    for (auto& [position, delivery] : deliveries) {
      delivery.born = now;
      delivery.due = delivery.claim_ends = 0;
    }
  }

  static std::string lease_words(const ModelLease& lease) {
    return "lease " + std::to_string(lease.token) + " from " + std::to_string(lease.granted_at) +
           " until " + std::to_string(lease.expires_at);
  }

 private:
  using Resource = ModelResource;
  using Event = ModelEvent;

  std::uint64_t token_at(std::uint64_t position) const { return (epoch << 43) + position; }
  bool current_epoch(std::uint64_t token) const { return token >> 43 == epoch; }
  static bool closed(const Resource& resource) { return resource.breaker.closed(); }
  bool lives(const Resource& resource) const {
    return resource.tenure && current_epoch(resource.latest) && now < resource.expires_at;
  }
  static bool has(const Resource& resource, const ModelLease& lease) {
    return resource.tenure && resource.latest == lease.token && resource.instance == lease.instance;
  }
  bool may_write(const Resource& resource, std::uint64_t token) const {
    return resource.tenure && resource.latest == token && !resource.spent && current_epoch(token);
  }
  static void end(Resource& resource) { resource.tenure = false; }
  std::string held(const Resource& resource, int holder, int instance) const {
    if (!lives(resource) || gone.contains(resource.instance)) return "";
    const bool mine = resource.holder == holder && resource.instance == instance;
    return mine ? "already_held" : "lease_held";
  }

  ModelLease grant(int r, int holder, int instance, Nanos ttl, const std::string& request) {
    Resource& resource = resources_[r];
    resource.latest = token_at(size);
    resource.spent = false;
    resource.tenure = true;
    resource.holder = holder;
    resource.instance = instance;
    resource.granted_at = now;
    resource.expires_at = now + ttl;
    resource.request = request;
    if (!request.empty()) events_[request] = {r, resource.latest, size, holder};
    ++size;
    return {r, resource.latest, holder, instance, now, now + ttl};
  }

  std::string repeated(const Resource& resource, const Event& event, int r, int holder,
                       int instance, const std::string& request) const {
    if (event.action || event.resource != r || event.holder != holder) return "action_conflict";
    const bool same = lives(resource) && resource.latest == event.token &&
                      resource.request == request && resource.holder == holder &&
                      resource.instance == instance;
    if (!same) return "request_spent";
    return lease_words(
        {r, resource.latest, holder, instance, resource.granted_at, resource.expires_at});
  }

  // What the ledger says of a batch that is not all new; empty if it is.
  std::string replay(int r, const Batch& batch) const {
    std::string words = "replayed";
    std::size_t found = 0;
    for (const Action& action : batch) {
      const auto at = events_.find(action.id);
      if (at == events_.end()) continue;
      const Event& event = at->second;
      const bool same = event.action && event.resource == r &&
                        event.action->payload == action.payload &&
                        event.action->is_sent == action.is_sent;
      if (!same) return "action_conflict";
      words += result_words(event);
      ++found;
    }
    if (found == 0) return "";
    return found == batch.size() ? words : "batch_partly_recorded";
  }

  // The lease that a repeated commit kept the first time, if the holder still has it unspent: its
  // grant stands right behind the last action.
  std::string still_kept(const Resource& resource, const ModelLease& lease,
                         const Batch& batch) const {
    std::uint64_t last = 0;
    for (const Action& action : batch)
      last = std::max(last, events_.at(action.id).position);
    const bool mine = resource.holder == lease.holder && resource.instance == lease.instance;
    if (!mine || !lives(resource) || resource.spent || resource.latest != token_at(last + 1)) {
      return "";
    }
    return " " + lease_words({lease.resource, resource.latest, lease.holder, lease.instance,
                              resource.granted_at, resource.expires_at});
  }

  static std::string result_words(const Event& event) {
    return " " + std::to_string(event.position) + "/" + std::to_string(event.token) +
           (event.action->is_sent ? "/VALIDATED" : "/SEALED");
  }

  std::string record(int r, std::uint64_t token, const Batch& batch) {
    std::string words;
    for (const Action& action : batch) {
      const Event event{r, token, size, 0, action};
      if (action.is_sent)
        deliveries[size] = {.resource = r, .id = action.id, .born = now, .due = now};
      words += result_words(events_[action.id] = event);
      ++size;
    }
    return words;
  }

  std::string claim_one(std::uint64_t position, Nanos ttl) {
    ModelDelivery& delivery = deliveries[position];
    if (exhausted(delivery)) {
      deliveries.erase(position);
      ++dead;
      ++size;
      return "";
    }
    delivery.claim = token_at(size++);
    delivery.claim_ends = now + ttl;
    ++delivery.attempts;
    return delivery.id + " " + std::to_string(position) + " " + std::to_string(delivery.claim) +
           " #" + std::to_string(delivery.attempts) + "; ";
  }
  bool exhausted(const ModelDelivery& delivery) const {
    return delivery.attempts >= max_attempts || now - delivery.born > max_age;
  }

  std::map<int, Resource> resources_;
  std::map<std::string, Event> events_;
};

}  // namespace wallock::test
