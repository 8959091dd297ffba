// Streams any wallock value that has a to_string, without pulling <iostream> into the headers.
#pragma once

#include <iosfwd>
#include <string>

namespace wallock {

// Writes to_string(value). Found by argument-dependent lookup, so it serves wallock's types only.
template <class Traits, class T>
  requires requires(const T& value) { std::string(to_string(value)); }
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const T& value) {
  const std::string text(to_string(value));
  return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace wallock
