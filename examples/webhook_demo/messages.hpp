// What a worker tells its parent: one line per step, written to its standard output, which is a
// pipe. The parent uses them to choose the moment of a fault; the checks at the end do not use
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace demo {

enum class Step : std::uint8_t {
  waiting,     // asks for the repository
  working,     // was granted it, has read the repository's state, and works on the next one
  committing,  // is about to write
  committed,   // has written
  replayed,    // repeated a commit and was answered with the first receipt
  refused,     // was refused: the token is stale
  released,    // the round is over
};

inline constexpr std::array<std::string_view, 7> step_names{
    "waiting", "working", "committing", "committed", "replayed", "refused", "released"};

struct Message {
  Step step = Step::released;
  std::uint64_t token = 0;  // 0 while waiting
  std::string repository;
};

// Writes the message as one line to standard output, in one piece. Throws std::system_error.
void announce(const Message& message);

// Reads a line without its end. Empty if it is none of ours.
[[nodiscard]] std::optional<Message> parse_message(std::string_view line);

}  // namespace demo
