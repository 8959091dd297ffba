// The simulated machine's files for SQLite.
#pragma once

namespace wallock::test {

// Makes the machine that is running SQLite's default file system, for all that the process opens
// from then on. Every call after the first does nothing.
void use_machine_vfs();

}  // namespace wallock::test
