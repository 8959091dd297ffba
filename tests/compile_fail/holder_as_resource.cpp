// A holder's id is not the name of a resource, however alike their texts are.
#include "wallock/name.hpp"

bool is_name(const wallock::Given<wallock::ResourceName>& name) { return name.check().has_value(); }

int main() {
  const wallock::HolderId holder = wallock::HolderId::parse("worker-1").value();
#ifdef WALLOCK_MISUSE
  return is_name(holder) ? 0 : 1;
#else
  return is_name(holder.str()) ? 0 : 1;
#endif
}
