// The log of one worker: a line before and a line after each call.
#include <sstream>
#include <utility>

#include "history.hpp"

namespace wallock::test {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }
std::string from_dash(std::string text) { return text == "-" ? std::string() : text; }

// An answer belongs to the attempt before it; everything else begins one.
void take(Attempt attempt, std::vector<Attempt>& attempts) {
  if (attempt.answer == Attempt::Answer::none) {
    attempts.push_back(std::move(attempt));
  } else if (!attempts.empty() && attempts.back().worker == attempt.worker &&
             attempts.back().answer == Attempt::Answer::none) {
    attempts.back() = std::move(attempt);
  }
}

}  // namespace

std::string log_line(const Attempt& attempt) {
  std::ostringstream line;
  line << static_cast<int>(attempt.kind) << ' ' << or_dash(attempt.resource) << ' '
       << or_dash(attempt.action) << ' ' << attempt.token << ' ' << or_dash(attempt.holder) << ' '
       << attempt.instance << ' ' << attempt.value << ' ' << attempt.begun << ' '
       << attempt.answered << ' ' << static_cast<int>(attempt.answer) << ' ' << attempt.granted
       << ' ' << attempt.position << ' ' << or_dash(attempt.error) << '\n';
  return line.str();
}

void read_log(const std::string& worker, std::string_view text, std::vector<Attempt>& attempts) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;
    std::istringstream line{std::string(text.substr(0, end))};
    text.remove_prefix(end + 1);
    Attempt attempt{.worker = worker};
    int kind = 0;
    int answer = 0;
    line >> kind >> attempt.resource >> attempt.action >> attempt.token >> attempt.holder >>
        attempt.instance >> attempt.value >> attempt.begun >> attempt.answered >> answer >>
        attempt.granted >> attempt.position >> attempt.error;
    attempt.kind = static_cast<Attempt::Kind>(kind);
    attempt.answer = static_cast<Attempt::Answer>(answer);
    attempt.action = from_dash(std::move(attempt.action));
    attempt.holder = from_dash(std::move(attempt.holder));
    attempt.error = from_dash(std::move(attempt.error));
    take(std::move(attempt), attempts);
  }
}

}  // namespace wallock::test
