// From SQLite's result codes to the library's typed errors.
#pragma once

#include "wallock/error.hpp"

namespace wallock::sqlite {

// The error for an extended result code that is neither OK, ROW nor DONE. facts().native holds it.
// SQLite's own message is left out on purpose: it can quote SQL text or values (INV-09).
[[nodiscard]] Error sql_error(int result_code);

}  // namespace wallock::sqlite
