// What a fault is called in the words of a failed test.
#include "fault_vfs.hpp"

namespace wallock::test {

std::string_view to_string(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::io_error:
      return "io_error";
    case Fault::Kind::full:
      return "full";
    case Fault::Kind::short_read:
      return "short_read";
    case Fault::Kind::busy:
      return "busy";
  }
  return "fault";
}

std::string to_string(const Fault& fault) {
  return std::string(to_string(fault.kind)) + " at call " + std::to_string(fault.at) +
         (fault.for_ever ? " and ever after" : "") +
         (fault.then ? " and at call " + std::to_string(*fault.then) : "");
}

}  // namespace wallock::test
