#!/usr/bin/env bash
# Builds the demonstration and runs it, from a fresh clone on a fresh Debian or Ubuntu.
#   bash examples/run.sh              arguments go to the demonstration
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

need_packages "${wallock_library_packages[@]}"
use_ccache

cmake --preset release -DWALLOCK_BUILD_TESTS=OFF -DWALLOCK_BUILD_BENCH=OFF >/dev/null
cmake --build --preset release -j "${JOBS:-2}" --target wallock_demo
exec build/release/examples/wallock_demo "$@"
