#!/usr/bin/env bash
# Builds wallock and runs all its tests, from a fresh clone on a fresh Debian or Ubuntu.
#   bash tests/run.sh                 everything
#   bash tests/run.sh -L rules        arguments go to ctest: here, the tests with one label
#   PRESET=asan bash tests/run.sh     another preset of CMakePresets.json (ci by default)
#   JOBS=8 bash tests/run.sh          more processes at once (2 by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

preset=${PRESET:-ci}
jobs=${JOBS:-2}

need_packages "${wallock_library_packages[@]}" "${wallock_test_packages[@]}"
use_ccache

cmake --preset "$preset"
cmake --build --preset "$preset" -j "$jobs"
# The report is left in build/<preset>/report; docs/certificate.json is made from one like it.
mkdir -p "build/$preset/report"
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$jobs" \
  --output-junit "$PWD/build/$preset/report/junit.xml" "$@"
