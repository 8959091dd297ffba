// The breaker's rules: what a report, a probe or an operator does to the row, and what the row
// means at a moment. docs/breaker.md tells them in prose.
#pragma once

#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/force.hpp"
#include "wallock/rules/recovery.hpp"
#include "wallock/rules/report.hpp"
