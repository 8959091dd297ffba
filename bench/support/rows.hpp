// Rows: what a program measured, printed as a table and written as JSON with the machine.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wallock::bench {

// One figure. The name is operation/condition/figure.
struct Row {
  std::string name;
  double value = 0;
  std::string unit;
  // The value divided by that of the smallest condition (one thread, one process), where it has
  // one.
  std::optional<double> ratio = {};
  // The least and the greatest value of the rounds that `value` is the median of.
  std::optional<std::pair<double, double>> rounds = {};
  std::string note = {};
};

using Machine = std::vector<std::pair<std::string, std::string>>;

void print(const Machine& machine, const std::vector<Row>& rows);
// {"machine": {...}, "rows": [{"name", "value", "unit", "ratio", "rounds", "note"}]}, as table.py
// writes it for the other programs. Nothing if the path is empty; ends the program if it cannot.
void write_json(const std::string& path, const Machine& machine, const std::vector<Row>& rows);

// A row whose value is the median of the rounds' values.
[[nodiscard]] Row row_of_rounds(std::string name, const std::vector<double>& rounds,
                                std::string unit, std::optional<double> ratio = {});

}  // namespace wallock::bench
