#!/usr/bin/env bash
# Tells which lines and branches of the rules, the repository and the ledger the tests reach, and
# fails below the thresholds of tests/report/coverage.py.
#   bash tests/coverage.sh                  builds with clang, runs the tests, reports
#   bash tests/coverage.sh rules unit       only these folders of tests/
#   REPORT_ONLY=1 bash tests/coverage.sh    reports on the last run
#   LLVM=14 JOBS=8 bash tests/coverage.sh   another clang (19 by default), more processes (2)
#   BUILD=/tmp/coverage bash tests/...      another build folder than build/coverage
# Power cuts and simulated lives are left out: they reach nothing that the rest does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

llvm=${LLVM:-19}
jobs=${JOBS:-2}
build=${BUILD:-build/coverage}
folders=("$@")
if [ "$#" -eq 0 ]; then
  folders=(unit rules ledger repository coordinator faults simulation)
fi
programs=("${folders[@]/#/wallock_test_}")

need_packages "${wallock_library_packages[@]}" "${wallock_test_packages[@]}" "clang-$llvm" \
  "llvm-$llvm"
use_ccache

if [ -z "${REPORT_ONLY:-}" ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="clang++-$llvm" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS="-O1 -fprofile-instr-generate -fcoverage-mapping" \
    -DWALLOCK_BUILD_BENCH=OFF -DWALLOCK_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$build" -j "$jobs" --target "${programs[@]}"
  rm -rf "$build/profiles"
  mkdir "$build/profiles"
  profiles=$(realpath "$build/profiles")
  for folder in "${folders[@]}"; do
    filter=()
    case $folder in
      faults) filter=("~[power]") ;;
      simulation) filter=("*flush*,*epoch*") ;;
    esac
    # Programs that a test starts write there too; one that is killed leaves nothing.
    LLVM_PROFILE_FILE="$profiles/$folder-%m.profraw" \
      "$build/tests/wallock_test_$folder" "${filter[@]}"
  done
fi

"llvm-profdata-$llvm" merge -sparse -o "$build/tests.profdata" "$build"/profiles/*.profraw
# One program at a time: given several, llvm-cov takes a function that the first one does not use
# for one that never ran. It warns about such functions as "mismatched data".
for folder in "${folders[@]}"; do
  for format in lcov text; do
    "llvm-cov-$llvm" export -format=$format -instr-profile "$build/tests.profdata" \
      "$build/tests/wallock_test_$folder" --sources include src/ledger src/sqlite \
      >"$build/profiles/$folder.$format" 2>"$build/profiles/$folder.warnings"
  done
done
python3 -B tests/report/coverage.py "$build/profiles"
