#include "rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "statistics.hpp"

namespace wallock::bench {
namespace {

std::string number(double value) {
  std::array<char, 64> text{};
  const double size = std::fabs(value);
  const bool whole = value == std::floor(value) && size < 1e6;
  std::snprintf(text.data(), text.size(),
                whole || size >= 1000 ? "%.0f"
                : size < 1            ? "%.3g"
                                      : "%.2f",
                value);
  return text.data();
}

// Enough of JSON for what is written here: no control characters occur.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string exact(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string json_of(const Row& row) {
  std::string text = "{\"name\": " + quoted(row.name) + ", \"value\": " + exact(row.value) +
                     ", \"unit\": " + quoted(row.unit);
  if (row.ratio) text += ", \"ratio\": " + exact(*row.ratio);
  if (row.rounds) {
    text += ", \"rounds\": [" + exact(row.rounds->first) + ", " + exact(row.rounds->second) + "]";
  }
  if (!row.note.empty()) text += ", \"note\": " + quoted(row.note);
  return text + "}";
}

}  // namespace

void print(const Machine& machine, const std::vector<Row>& rows) {
  for (const auto& [key, value] : machine)
    std::printf("%-21s %s\n", key.c_str(), value.c_str());
  std::printf("\n%-44s %10s  %-8s %7s  %-19s\n", "name", "value", "unit", "ratio", "rounds");
  for (const Row& row : rows) {
    const std::string spread =
        row.rounds ? number(row.rounds->first) + " to " + number(row.rounds->second) : "";
    std::printf("%-44s %10s  %-8s %7s  %-19s %s\n", row.name.c_str(), number(row.value).c_str(),
                row.unit.c_str(), row.ratio ? number(*row.ratio).c_str() : "", spread.c_str(),
                row.note.c_str());
  }
}

void write_json(const std::string& path, const Machine& machine, const std::vector<Row>& rows) {
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(EXIT_FAILURE);
  }
  std::fputs("{\"machine\": {\n", file);
  for (std::size_t i = 0; i < machine.size(); ++i) {
    std::fprintf(file, "  %s: %s%s\n", quoted(machine[i].first).c_str(),
                 quoted(machine[i].second).c_str(), i + 1 < machine.size() ? "," : "");
  }
  std::fputs(" },\n \"rows\": [\n", file);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::fprintf(file, "  %s%s\n", json_of(rows[i]).c_str(), i + 1 < rows.size() ? "," : "");
  std::fputs(" ]}\n", file);
  std::fclose(file);
}

Row row_of_rounds(std::string name, const std::vector<double>& rounds, std::string unit,
                  std::optional<double> ratio) {
  const auto [least, greatest] = std::minmax_element(rounds.begin(), rounds.end());
  return {.name = std::move(name),
          .value = median(rounds),
          .unit = std::move(unit),
          .ratio = ratio,
          .rounds = rounds.empty() ? std::nullopt : std::optional(std::pair(*least, *greatest))};
}

}  // namespace wallock::bench
