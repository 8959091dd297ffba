// The schema: creating a store, bringing an old one up to date, refusing a newer one.
#pragma once

#include <cstdint>
#include <string>

#include "sqlite/session.hpp"
#include "wallock/clock.hpp"

namespace wallock::sqlite {

inline constexpr std::uint32_t schema_version = 1;
// "WLCK": what `file` and other tools see in the header of a store of its own.
inline constexpr std::int32_t application_id = 0x574C434B;

// In one transaction, under the creation lock: creates the tables if the file has none, applies
// the migrations that it lacks, and raises the epoch if the machine was restarted since or
// `adopt_restored` says that the file is a backup put back. The file's application_id and
// user_version are set only while nobody uses them: wallock_meta has the authoritative version, so
// that an application can keep its own in a shared file.
//
// schema_too_new (deterministic), with the file untouched; errors of the store.
[[nodiscard]] Status prepare_schema(Session& session, const Clock& clock, bool adopt_restored);

}  // namespace wallock::sqlite
