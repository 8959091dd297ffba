#!/usr/bin/env bash
# Counts the instructions of each operation under callgrind and compares them with
# bench/instructions.json; fails if one got more than 3 % dearer. No clock: load does not matter.
#   bash bench/instructions.sh                  compares
#   bash bench/instructions.sh --write          writes bench/instructions.json anew, after comparing
#   bash bench/instructions.sh --build FOLDER   uses the program built there instead of building it
# What is counted is a call of the Coordinator, in the program of profile.sh, after a warm-up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

build="" write=false
while [ $# -gt 0 ]; do
  case $1 in
    --write) write=true ;;
    --build) build=$2; shift ;;
    *) sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2 ;;
  esac
  shift
done
need_packages valgrind python3
if [ -z "$build" ]; then
  build=build/release
  need_packages "${wallock_library_packages[@]}" libbenchmark-dev
  use_ccache
  cmake --preset release -DWALLOCK_BUILD_TESTS=OFF >/dev/null
  cmake --build --preset release -j "${JOBS:-2}" --target wallock_bench_profile >&2
fi
program=$build/bench/wallock_bench_profile
results=$build/bench/instructions
mkdir -p "$results"

# Flushes take no instructions of ours: in memory they take no time either.
data=$results
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
  data=$(mktemp -d /dev/shm/wallock.XXXXXX)
  trap 'rm -rf "$data"' EXIT
fi

profiles=()
# count NAME FUNCTION QUESTION LEVEL [N]: counts N operations, of which only what runs inside that
# member of the Coordinator.
count() {
  local name=$1 function=$2 question=$3 level=$4 operations=${5:-500}
  local out=$results/$name.$level.out
  echo "counting $name at $level" >&2
  valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$out" \
    --toggle-collect="wallock::Coordinator::$function(*" \
    "$program" "$question" --level="$level" --n=$operations --dir="$data" \
    >/dev/null 2>"$out.log" || { cat "$out.log" >&2; exit 1; }
  profiles+=("$name/$level=$out:$operations")
}
for level in every_answer relaxed; do
  count acquire acquire lease "$level"
  count release release lease "$level"
  count commit_1 commit commit_1 "$level"
  count claim claim delivery "$level"
  count settle settle delivery "$level"
done
count commit_100 commit commit_100 relaxed 50
count execute execute execute relaxed

new=$results/instructions.json
python3 bench/instructions.py collect --out "$new" "${profiles[@]}"
status=0
if [ -e bench/instructions.json ]; then
  python3 bench/instructions.py compare bench/instructions.json "$new" || status=$?
fi
if $write; then
  cp "$new" bench/instructions.json
  exit 0
fi
exit $status
