#!/usr/bin/env bash
# Shows where the instructions of one operation go: by library, by function, by SQL statement.
#   bash bench/profile.sh lease                       acquire and release, at relaxed
#   bash bench/profile.sh cycle --level=commits       other levels, --n=OPERATIONS
#   bash bench/profile.sh lease --baseline            the same of the baseline
#   bash bench/profile.sh lease --sql="DROP TRIGGER ..."   with another schema
#   TOP=60 bash bench/profile.sh lease                more functions than 40
# Operations: lease, commit_1, commit_10, ..., cycle, execute, delivery, delivery_in_line. Needs
# valgrind. It counts instructions: what the disk takes is not in here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2; }
need_packages "${wallock_library_packages[@]}" libbenchmark-dev valgrind python3
use_ccache
# Optimised as a release is, but with names for the profiler.
build=build/profile
cmake --preset release -B "$build" -DWALLOCK_BUILD_TESTS=OFF -DWALLOCK_BUILD_EXAMPLES=OFF \
  -DCMAKE_CXX_FLAGS=-g >/dev/null
cmake --build "$build" -j "${JOBS:-2}" --target wallock_bench_profile >&2

program=$build/bench/wallock_bench_profile
out=$build/bench/callgrind.out
operations=1000
for argument in "$@"; do
  case $argument in --n=*) operations=${argument#--n=} ;; esac
done
"$program" "$@" --n="$operations" --dir="$build/bench" --statements
valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$out" \
  "$program" "$@" --n="$operations" --dir="$build/bench" >/dev/null 2>"$out.log" ||
  { cat "$out.log" >&2; exit 1; }
exec python3 bench/callgrind.py --operations "$operations" --top "${TOP:-40}" "$out"
