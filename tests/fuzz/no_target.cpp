// For fuzz_corpus, which only packs and unpacks: the driver without a target.
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }
