// The real store's answers in the words that the model gives.
#pragma once

#include "answer_words.hpp"
#include "repository_support.hpp"
#include "store_model.hpp"

namespace wallock::test {

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

}  // namespace wallock::test
