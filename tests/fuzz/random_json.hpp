// random_json: documents that keep their contract, most of them.
#pragma once

#include <random>
#include <string>

#include "fuzz/reference_contract.hpp"

namespace wallock::fuzz {

// Required members and some of the others, in one of their orders, with values from the edges of
// what they may be and from between, each written in one of its ways. The same from the same seed
// on every platform.
[[nodiscard]] std::string random_json(const Contract& contract, std::mt19937_64& engine);

}  // namespace wallock::fuzz
