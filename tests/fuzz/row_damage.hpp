// row_damage: an SQL statement, chosen by an input, that changes a row as no program would.
#pragma once

#include <random>
#include <string>

#include "fuzz/target.hpp"

namespace wallock::fuzz {

// An UPDATE, a DELETE or an INSERT of a copy on one of wallock's tables, a DROP of a trigger or an
// index, or a change of the schema table. It may be one that SQLite refuses.
[[nodiscard]] std::string row_damage(Input& input);

// Bytes that row_damage() reads as one statement and no more: mostly one that changes a column of
// the rows that decide over commits, to one of the values that are most unlike the others.
[[nodiscard]] std::string random_row_damage(std::mt19937_64& engine);

}  // namespace wallock::fuzz
