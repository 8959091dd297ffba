// The real store's answers in the words that the model gives.
#pragma once

#include "repository_support.hpp"
#include "store_model.hpp"

namespace wallock::test {

inline Nanos nanos(Instant instant) { return instant.time_since_epoch().count(); }

template <class T>
std::string refused(const Result<T>& result) {
  return std::string(to_string(result.error().code()));
}

inline ModelLease modelled(const Lease& lease, int resource, int holder, int instance) {
  return {resource, lease.token().value(),     holder,
          instance, nanos(lease.granted_at()), nanos(lease.expires_at())};
}

inline Batch real(const StoreModel::Batch& batch) {
  std::vector<ActionRequest> actions;
  for (const auto& action : batch) {
    actions.push_back(ActionRequest::create(action.is_sent ? sent(action.id, action.payload)
                                                           : recorded(action.id, action.payload))
                          .value());
  }
  return actions;
}

inline std::string words(const Committed& done) {
  std::string words = done.replayed() ? "replayed" : "new";
  for (const ActionResult& result : done.results()) {
    words += " " + std::to_string(result.position()) + "/" +
             std::to_string(result.token().value()) + "/" + std::string(to_string(result.state()));
  }
  return words;
}

inline std::string words(const std::vector<Delivery>& claimed) {
  std::string words;
  for (const Delivery& delivery : claimed) {
    words += delivery.action_id().str() + " " + std::to_string(delivery.position()) + " " +
             std::to_string(delivery.claim_token().value()) + " #" +
             std::to_string(delivery.attempt()) + "; ";
  }
  return words;
}

inline std::string words(const BreakerStatus& shown) {
  return std::string(to_string(shown.state())) + " " + std::to_string(shown.timeouts()) + " " +
         std::to_string(shown.failed_probes()) + (shown.forced() ? " forced" : "");
}

}  // namespace wallock::test
