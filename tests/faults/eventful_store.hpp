// EventfulStore: a small store in whose ledger every kind of record stands, and a way to seal it
// anew after somebody rewrote records, as a forger would.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "temp_store.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::test {

// Closed, so that its file is quiet; made once, and copied.
class EventfulStore {
 public:
  EventfulStore();

  [[nodiscard]] std::string path() const { return folder_.file("store.db"); }

  // Changes the file behind the library's back: without triggers, checks and the unique index.
  void spoil(const std::string& sql) const;
  // Computes every hash anew, so that only what the records tell can give the change away.
  void reseal() const;

  // The names of the invariants that do not hold, each once, in the order found; "" if all hold.
  [[nodiscard]] std::string broken() const;

 private:
  TempFolder folder_;
};

}  // namespace wallock::test
