// The lease rules: who may acquire, renew, commit and release. docs/leases.md tells them in prose.
#pragma once

#include "wallock/rules/acquire.hpp"
#include "wallock/rules/breaker_rules.hpp"
#include "wallock/rules/commit.hpp"
#include "wallock/rules/release.hpp"
#include "wallock/rules/renew.hpp"
