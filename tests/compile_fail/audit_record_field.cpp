// INV-02: a ledger record never changes; the entry it was made from is a value of one's own.
#include "wallock/audit.hpp"

std::string detail(wallock::AuditRecord& record) {
#ifdef WALLOCK_MISUSE
  record.entry().detail = "other";
  return record.entry().detail;
#else
  wallock::LedgerEntry entry = record.entry();
  entry.detail = "other";
  return entry.detail;
#endif
}
