// row_damage: an SQL statement, chosen by an input, that changes a row as no program would.
#pragma once

#include <string>

#include "fuzz/target.hpp"

namespace wallock::fuzz {

// An UPDATE, a DELETE or an INSERT of a copy on one of wallock's tables, a DROP of a trigger or an
// index, or a change of the schema table. It may be one that SQLite refuses.
[[nodiscard]] std::string row_damage(Input& input);

}  // namespace wallock::fuzz
