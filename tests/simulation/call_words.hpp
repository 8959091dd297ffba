// A store's answers in the words that the model gives.
#pragma once

#include <string>
#include <vector>

#include "repository/answer_words.hpp"
#include "repository/store_model.hpp"
#include "wallock/lease_repository.hpp"
#include "world.hpp"

namespace wallock::test {

template <class T, class Words>
[[nodiscard]] Said said(const Result<T>& answer, Words&& words) {
  if (answer) return {.words = words(*answer)};
  return {.words = std::string(to_string(answer.error().code())), .error = answer.error().code()};
}
template <class T>
[[nodiscard]] Said said_effect(const Result<T>& answer) {
  return said(answer, [](const T& effect) { return std::string(to_string(effect)); });
}
[[nodiscard]] inline Said said_done(const Status& answer) {
  if (answer) return {.words = "ok"};
  return {.words = std::string(to_string(answer.error().code())), .error = answer.error().code()};
}

// When a lease was granted is left out of the model's words: the call says when it asked.
[[nodiscard]] inline std::string plain(std::string words) {
  for (auto at = words.find(" from "); at != std::string::npos; at = words.find(" from ")) {
    words.erase(at, words.find(' ', at + 6) - at);
  }
  return words;
}
[[nodiscard]] inline std::string words_of(const Lease& lease) {
  return "lease " + std::to_string(lease.token().value()) + " until " +
         std::to_string(nanos(lease.expires_at()));
}
[[nodiscard]] inline std::string words_of(const Committed& done) {
  return words(done) + (done.lease() ? " " + words_of(*done.lease()) : "");
}

[[nodiscard]] inline std::vector<ActionRequest> requests_of(const StoreModel::Batch& batch) {
  std::vector<ActionRequest> actions;
  for (const StoreModel::Action& action : batch) {
    ActionFields fields{.id = action.id, .payload = action.payload};
    if (action.is_sent) fields.destination = Given<Destination>("bank");
    actions.push_back(ActionRequest::create(std::move(fields)).value());
  }
  return actions;
}

[[nodiscard]] inline ResourceName name_of(int r) {
  return ResourceName::parse("r" + std::to_string(r)).value();
}
[[nodiscard]] inline HolderId holder_of(int h) {
  return HolderId::parse("h" + std::to_string(h)).value();
}
[[nodiscard]] inline InstanceId instance_of(int process) {
  return InstanceId{static_cast<std::uint64_t>(process)};
}

}  // namespace wallock::test
