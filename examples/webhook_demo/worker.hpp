// A worker process: takes webhooks off the work list, one at a time, until none is left.
#pragma once

#include "options.hpp"

namespace demo {

// Runs until the work list is empty. Throws std::runtime_error on an error that is no part of the
// demonstration.
void run_worker(const Options& options);

}  // namespace demo
