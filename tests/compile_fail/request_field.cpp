// INV-02: a request never changes; another one is made from other fields.
#include "wallock/action.hpp"

int main() {
  wallock::ActionRequest action = wallock::ActionRequest::create({.id = "pay-17"}).value();
#ifdef WALLOCK_MISUSE
  action.payload() = "other";
#else
  action = wallock::ActionRequest::create({.id = "pay-17", .payload = "other"}).value();
#endif
  return action.payload().empty() ? 1 : 0;
}
