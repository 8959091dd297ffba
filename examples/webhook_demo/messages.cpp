#include "messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace demo {

void announce(const Message& message) {
  std::string line(step_names[static_cast<std::size_t>(message.step)]);
  line += " " + std::to_string(message.token) + " " + message.repository + "\n";
  // Shorter than PIPE_BUF, so it is written whole or not at all.
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::system_error(errno, std::generic_category(), "telling the parent");
  }
}

std::optional<Message> parse_message(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;

  const auto* const name = std::find(step_names.begin(), step_names.end(), line.substr(0, first));
  if (name == step_names.end()) return std::nullopt;
  Message message{.step = static_cast<Step>(name - step_names.begin()),
                  .repository = std::string(line.substr(second + 1))};
  const char* const end = line.data() + second;
  const auto number = std::from_chars(line.data() + first + 1, end, message.token);
  if (number.ec != std::errc{} || number.ptr != end) return std::nullopt;
  return message;
}

}  // namespace demo
