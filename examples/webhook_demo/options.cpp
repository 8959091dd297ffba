#include "options.hpp"

#include <charconv>
#include <random>
#include <stdexcept>
#include <string_view>

namespace demo {

namespace {

template <class Number>
Number parse_number(std::string_view option, std::string_view text, Number least, Number most) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most) {
    throw std::runtime_error(std::string(option) + ": " + std::to_string(least) + " to " +
                             std::to_string(most) + " is needed, not \"" + std::string(text) +
                             "\"");
  }
  return number;
}

// Takes the option's value; true if the option has one.
bool read_valued(Options& options, std::string_view option, std::string_view value) {
  if (option == "--workers") {
    options.workers = parse_number(option, value, 2, 64);
  } else if (option == "--seed") {
    options.seed = parse_number(option, value, std::uint64_t{0}, ~std::uint64_t{0});
  } else if (option == "--data") {
    options.data = value;
  } else if (option == "--worker") {
    options.worker_name = value;
  } else if (option == "--database") {
    options.database = value;
  } else {
    return false;
  }
  return true;
}

bool read_flag(Options& options, std::string_view option) {
  if (option == "--without-fence") {
    options.fenced = false;
  } else if (option == "--keep") {
    options.keep = true;
  } else if (option == "--help") {
    options.help = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Options parse_options(std::span<char* const> arguments) {
  Options options;
  options.seed = std::random_device{}();
  options.data = WALLOCK_DEMO_DATA;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    if (read_flag(options, option)) continue;
    if (i + 1 == arguments.size() || !read_valued(options, option, arguments[i + 1])) {
      throw std::runtime_error(std::string(option) + ": unknown option, or its value is missing");
    }
    ++i;
  }
  return options;
}

std::string usage() {
  return "wallock_demo [options]\n"
         "  Worker processes consume GitHub webhooks on one store, are killed and paused in\n"
         "  mid-work, and the table at the end says what became of every payload.\n\n"
         "  --workers N       worker processes at a time, 2 to 64 (default 4)\n"
         "  --seed N          choices of the run (default: random; it is printed)\n"
         "  --without-fence   the same run with a lock that has a ttl and nothing else: workers\n"
         "                    write on their own, and updates get lost\n"
         "  --data FILE       the payloads, one JSON object a line: {event, index, body}\n"
         "  --keep            leave the database behind\n"
         "  --help            this text\n\n"
         "  The database lies in a new folder below $TMPDIR, or else beside this program.\n\n"
         "  Exit code: 0 every promise was kept; 1 something was lost, doubled or accepted stale\n"
         "  (so it ends with --without-fence); 2 the run failed, or a promised fault did not "
         "occur.\n";
}

}  // namespace demo
