// Waiting on a word of memory that several processes share.
#pragma once

#include <atomic>
#include <cstdint>

#include "wallock/time.hpp"

namespace wallock::host {

// A word that changes when there is news. Lives in shared memory: must stay lock-free.
using SharedWord = std::atomic<std::uint32_t>;
static_assert(SharedWord::is_always_lock_free);

// Blocks while `word` has the value `seen`, at most `patience` of real time. May also return early
// (a signal, a wake meant for somebody else): the caller looks at the word, and at what it is
// about, again. Linux: futex(2), not private, so that it works between processes on any mapping of
// one file. Elsewhere: short naps.
void wait_while(const SharedWord& word, std::uint32_t seen, Duration patience) noexcept;

// The same for two words, until one of them has another value than was seen. False at once if the
// system cannot wait for two (before Linux 5.16, and in some sandboxes).
[[nodiscard]] bool wait_while_both(const SharedWord& one, std::uint32_t one_seen,
                                   const SharedWord& other, std::uint32_t other_seen,
                                   Duration patience) noexcept;

// Wakes at most `count` of those that wait on `word`. A system call: not for nothing.
void wake(SharedWord& word, int count) noexcept;

}  // namespace wallock::host
