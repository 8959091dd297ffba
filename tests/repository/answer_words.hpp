// A store's answers in the words that StoreModel gives.
#pragma once

#include <string>
#include <vector>

#include "model_values.hpp"
#include "wallock/breaker.hpp"
#include "wallock/committed.hpp"
#include "wallock/delivery.hpp"

namespace wallock::test {

[[nodiscard]] inline Nanos nanos(Instant instant) { return instant.time_since_epoch().count(); }

[[nodiscard]] inline std::string words(const Committed& done) {
  std::string words = done.replayed() ? "replayed" : "new";
  for (const ActionResult& result : done.results()) {
    words += " " + std::to_string(result.position()) + "/" +
             std::to_string(result.token().value()) + "/" + std::string(to_string(result.state()));
  }
  return words;
}

[[nodiscard]] inline std::string words(const std::vector<Delivery>& claimed) {
  std::string words;
  for (const Delivery& delivery : claimed) {
    words += delivery.action_id().str() + " " + std::to_string(delivery.position()) + " " +
             std::to_string(delivery.claim_token().value()) + " #" +
             std::to_string(delivery.attempt()) + "; ";
  }
  return words;
}

[[nodiscard]] inline std::string words(const BreakerStatus& shown) {
  return std::string(to_string(shown.state())) + " " + std::to_string(shown.timeouts()) + " " +
         std::to_string(shown.failed_probes()) + (shown.forced() ? " forced" : "");
}

}  // namespace wallock::test
