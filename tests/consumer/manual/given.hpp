// What the blocks of docs/manual.md take as given. Declared only: they are compiled, not run.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "wallock/lease_guard.hpp"
#include "wallock/sqlite.hpp"
#include "wallock/wallock.hpp"

using namespace std::chrono_literals;

extern wallock::Result<wallock::Coordinator> coordinator;
extern wallock::Result<wallock::Lease> lease;
extern wallock::Work work;
extern std::string log_of_the_build;
extern std::string item;

struct Http {
  void header(const char* name, const std::string& value);
};
extern Http http;

bool more_work();
std::string next_id();
std::string next();
bool send(std::string_view payload, const wallock::ActionId& id);
