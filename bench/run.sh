#!/usr/bin/env bash
# Builds the benchmarks and runs them: wallock against the same results by hand, in alternation.
#   bash bench/run.sh                     the quick run: some minutes
#   bash bench/run.sh --full              more rounds, more operations
#   bash bench/run.sh --json FILE         writes the rows and the machine as JSON, too
#   bash bench/run.sh --dir FOLDER        databases go there (default: below build/release)
#   bash bench/run.sh --only REGEX        only these, for example lease/relaxed
#   bash bench/run.sh --only heartbeats   or growth: these two are not part of the other runs
#   bash bench/run.sh --all-rows          with the rows of every count, not of the main ones only
#   bash bench/run.sh --markdown          the table of bench/README.md
# bench/README.md says how to read the table. No time makes it fail: only a broken run does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

build=build/release
rounds=5 scale=1 json="" dir=$build/bench/run only=. table=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) rounds=5 scale=1 ;;
    --full) rounds=11 scale=3 ;;
    --json) json=$2; shift ;;
    --dir) dir=$2; shift ;;
    --only) only=$2; shift ;;
    --all-rows | --markdown) table+=("$1") ;;
    *) sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2 ;;
  esac
  shift
done

need_packages "${wallock_library_packages[@]}" libbenchmark-dev python3
use_ccache
cmake --preset release -DWALLOCK_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release -j "${JOBS:-2}" --target wallock_benches >&2

results=$build/bench/results
rm -rf "$results"
mkdir -p "$results" "$dir"
case $only in
  heartbeats | growth)
    exec "$build/bench/wallock_bench_$only" --dir="$dir" ${json:+--json="$json"}
    ;;
esac
for name in leases commits jobs deliveries; do
  echo "running $name" >&2
  # Google Benchmark's own lines are left out: the table below says the same in fewer words.
  "$build/bench/wallock_bench_$name" --dir="$dir" --rounds="$rounds" --scale="$scale" \
    --benchmark_filter="$only" --benchmark_out_format=json \
    --benchmark_out="$results/$name.json" >"$results/$name.log" 2>&1 ||
    { cat "$results/$name.log" >&2; exit 1; }
done
exec python3 bench/table.py "${table[@]}" ${json:+--json "$json"} "$results"/*.json
