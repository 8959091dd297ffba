#!/usr/bin/env bash
# Measures everything that docs/performance.md shows and writes it there: about ten minutes on a
# quiet machine, which it should be.
#   bash bench/performance.sh                 results in bench/results, tables and plots in docs
#   bash bench/performance.sh --dir FOLDER    all data go there (default: below build/release)
#   bash bench/performance.sh --build FOLDER  uses the programs built there instead of building them
#   bash bench/performance.sh --quick         a few seconds each: shows that it runs, not how fast
# Servers that are not installed (bench/peers/install.sh does that) are left out of the tables.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

build="" dir="" quick=false results=bench/results docs=docs
while [ $# -gt 0 ]; do
  case $1 in
    --dir) dir=$2; shift ;;
    --build) build=$2; shift ;;
    --results) results=$2; shift ;;
    --docs) docs=$2; shift ;;
    --quick) quick=true ;;
    *) sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$build" ]; then
  build=build/release
  need_packages "${wallock_library_packages[@]}" libbenchmark-dev pkg-config valgrind python3
  use_ccache
  cmake --preset release -DWALLOCK_BUILD_TESTS=OFF >/dev/null
  cmake --build --preset release -j "${JOBS:-2}" --target wallock_benches >&2
fi
dir=${dir:-$build/bench/performance-data}
mkdir -p "$dir" "$results"
programs=$build/bench

peers=(--rounds=5 --milliseconds=300) where=() group=() processes=() waiting=()
if $quick; then
  peers=(--rounds=1 --milliseconds=60 --singles=20 --batches=1)
  where=(--operations=100)
  group=(--rounds=1 --milliseconds=100)
  processes=(--rounds=1 --milliseconds=100)
  waiting=(--releases=20 --kills=5 --idle-seconds=1)
fi

# run NAME PROGRAM ARGUMENT...: its rows go to NAME.json, its table to NAME.log.
run() {
  local name=$1
  shift
  echo "$(date +%T) $name" >&2
  "$@" --dir="$dir" --json="$results/$name.json" >"$build/bench/$name.log" 2>&1 ||
    { cat "$build/bench/$name.log" >&2; exit 1; }
}
slow_disk=(env "LD_PRELOAD=$(realpath "$programs/libwallock_slow_flush.so")" WALLOCK_FLUSH_US=1000
  WALLOCK_FLUSH_INSTEAD=1)

run peers bash bench/peers/run.sh --build "$build" "${peers[@]}"
run where "$programs/where/wallock_bench_where" "${where[@]}"
run group_commit "$programs/wallock_bench_group_commit" "${group[@]}"
run group_commit_1ms "${slow_disk[@]}" "$programs/wallock_bench_group_commit" "${group[@]}"
run processes "$programs/wallock_bench_processes" "${processes[@]}"
run processes_1ms "${slow_disk[@]}" "$programs/wallock_bench_processes" "${processes[@]}"
run waiting "$programs/wallock_bench_waiting" "${waiting[@]}"
if ! $quick; then
  bash bench/instructions.sh --build "$build" --write >&2
fi
python3 bench/peers/report.py --results "$results" --docs "$docs"
echo "$(date +%T) done: $docs/performance.md" >&2
