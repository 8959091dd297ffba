#!/usr/bin/env bash
# Runs everything that is random, again and again with growing seeds, for as long as it is told to.
#   bash tests/soak.sh --minutes 60                the lines of tests/soak.list, in rounds
#   bash tests/soak.sh --minutes 5 --only storm    those whose name has that word in it
#   bash tests/soak.sh --minutes 5 --seed 7000     beginning with that seed; random otherwise
#   BUILD=build/release bash tests/soak.sh ...     what is built there, instead of building it
# Ends with a summary: how often each ran, and for each failure its seed, its log and the command
# that repeats it. Exits 1 if there was one, 2 if it was called wrongly.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh

minutes='' only='' seed=$((RANDOM * 32768 + RANDOM))
wrong_call() {
  echo "usage: $0 --minutes N [--only WORD] [--seed N]" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || wrong_call
  case $1 in
    --minutes) minutes=$2 ;;
    --only) only=$2 ;;
    --seed) seed=$2 ;;
    *) wrong_call ;;
  esac
  shift 2
done
[[ $minutes =~ ^[0-9]+$ && $seed =~ ^[0-9]+$ ]] || wrong_call

# The list, as arrays of one index.
names=() folders=() filters=() environments=()
trim() { sed 's/^[[:space:]]*//; s/[[:space:]]*$//' <<<"$1"; }
while IFS='|' read -r name folder filter environment; do
  case $name in '#'* | '') continue ;; esac
  name=$(trim "$name")
  case $name in *"$only"*) ;; *) continue ;; esac
  names+=("$name")
  folders+=("$(trim "$folder")")
  filters+=("$(trim "$filter")")
  environments+=("$(trim "$environment")")
done <tests/soak.list
[ "${#names[@]}" -gt 0 ] || { echo "soak: nothing is called '$only'" >&2; exit 2; }

targets=()
for folder in "${folders[@]}"; do
  targets+=("wallock_test_$folder")
done
if [ -z "${BUILD:-}" ]; then
  need_packages "${wallock_library_packages[@]}" "${wallock_test_packages[@]}"
  use_ccache
  BUILD=build/soak
  cmake --preset release -B "$BUILD" -DWALLOCK_BUILD_BENCH=OFF -DWALLOCK_BUILD_EXAMPLES=OFF \
    >/dev/null
  mapfile -t targets < <(printf '%s\n' "${targets[@]}" | sort -u)
  cmake --build "$BUILD" -j "${JOBS:-2}" --target "${targets[@]}"
fi

logs=$BUILD/soak-logs
mkdir -p "$logs"
runs=() failed=() failures=()
for i in "${!names[@]}"; do
  runs[i]=0
  failed[i]=0
done
stopped=0
trap 'stopped=1' INT TERM
# From here on: what was built before costs no time of the soak.
begun=$SECONDS
end=$((SECONDS + minutes * 60))
first_seed=$seed

# run_one INDEX: one line of the list with $seed.
run_one() {
  local i=$1 status=0 left=$((end - SECONDS)) log set_by_list environment command
  [ "$left" -gt 0 ] || return 0
  log="$logs/$(tr ' ,' '--' <<<"${names[i]}")-$seed.log"
  read -ra set_by_list <<<"${environments[i]//\{seed\}/$seed}"
  environment=("RNG_SEED=$seed" "${set_by_list[@]}")
  command=("$BUILD/tests/wallock_test_${folders[i]}" "${filters[i]}" --rng-seed "$((seed + 1))")
  env "${environment[@]}" timeout --kill-after=10 "$left" "${command[@]}" >"$log" 2>&1 || status=$?
  # Cut short, which is no failure.
  if [ "$stopped" -eq 1 ] || [ "$status" -eq 124 ]; then return 0; fi
  runs[i]=$((runs[i] + 1))
  if [ "$status" -eq 0 ] && grep -q '^No test' "$log"; then status='no such test'; fi
  if [ "$status" = 0 ]; then
    grep -E 'seed|images|cycles|take-over|deaths' "$log" | sed 's/^/  /' || true
    rm -f "$log"
    return 0
  fi
  failed[i]=$((failed[i] + 1))
  failures+=("${names[i]}, seed $seed, ended with $status
    log     $log
    replay  ${environment[*]} ${command[0]} \"${command[1]}\" ${command[2]} ${command[3]}")
  echo "FAILED: ${failures[-1]}"
}

while [ "$SECONDS" -lt "$end" ] && [ "$stopped" -eq 0 ]; do
  for i in "${!names[@]}"; do
    if [ "$SECONDS" -ge "$end" ] || [ "$stopped" -eq 1 ]; then break; fi
    echo "$(date +%H:%M:%S) seed $seed: ${names[i]}"
    run_one "$i"
  done
  last_seed=$seed
  # A round uses some of the seeds that follow its own.
  seed=$((seed + 1000))
done

echo
echo "soak of $((SECONDS - begun)) s with $(nproc) cores," \
  "seeds $first_seed to ${last_seed:-$first_seed}"
for i in "${!names[@]}"; do
  printf '  %-24s %5d runs  %3d failed\n' "${names[i]}" "${runs[i]}" "${failed[i]}"
done
if [ "${#failures[@]}" -eq 0 ]; then
  echo "no failures"
  exit 0
fi
echo "failures:"
printf '  %s\n' "${failures[@]}"
exit 1
