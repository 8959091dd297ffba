#!/usr/bin/env bash
# Fuzzes with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, from the kept corpus on.
#   bash tests/fuzz/run.sh --seconds 60                 all targets, so long each
#   bash tests/fuzz/run.sh --seconds 60 json            one: json, frame or database
#   bash tests/fuzz/run.sh --planted                    each planted bug must be found in 60 seconds
#   ... --seed N                                        libFuzzer's seed; random otherwise
#   ... --build FOLDER                                  another build folder than build/fuzz
# What a run adds to the corpus stays in FOLDER/found/<target>; an input that found something is
# kept as FOLDER/found/crash-* and printed. Exits 1 if anything was found, or a planted bug was not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/support/packages.sh

build=build/fuzz
seconds=60
planted=
seed=0
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --build) build=$2; shift ;;
    --planted) planted=_planted ;;
    --seed) seed=$2; shift ;;
    json | frame | database) targets+=("$1") ;;
    *) echo "unknown argument: $1" >&2; exit 2 ;;
  esac
  shift
done
[ "${#targets[@]}" -gt 0 ] || targets=(json frame database)

need_packages "${wallock_library_packages[@]}" "${wallock_test_packages[@]}" clang
# Debian and Ubuntu keep clang's sanitizers and its fuzzer in a package of clang's own version.
if command -v dpkg-query >/dev/null; then
  need_packages "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
fi
use_ccache
cmake --preset fuzz -B "$build" >/dev/null
programs=()
for target in "${targets[@]}"; do
  programs+=("fuzz_$target$planted")
done
cmake --build "$build" -j "${JOBS:-2}" --target "${programs[@]}" fuzz_corpus

# Stores are written hundreds of times a second: in memory where there is room for it.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
  export TMPDIR=/dev/shm
fi
found=$build/found
status=0
for target in "${targets[@]}"; do
  mkdir -p "$found/$target$planted"
  kept=$(mktemp -d)
  "$build/tests/fuzz/fuzz_corpus" "tests/fuzz/corpus/$target.txt" --unpack "$kept"
  dictionary=()
  if [ -f "tests/fuzz/corpus/$target.dict" ]; then
    dictionary=("-dict=tests/fuzz/corpus/$target.dict")
  fi
  echo "fuzzing $target$planted for $seconds seconds"
  if "$build/tests/fuzz/fuzz_$target$planted" -max_total_time="$seconds" -seed="$seed" \
    -timeout=30 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$found/crash-$target$planted-" "${dictionary[@]}" \
    "$found/$target$planted" "$kept" >"$found/$target$planted.log" 2>&1; then
    found_one=
  else
    found_one=yes
  fi
  rm -r "$kept"
  grep -E "^fuzz:|^SUMMARY|stat::number_of|Test unit written|^Done" \
    "$found/$target$planted.log" || true
  # Whatever else stops a run (a sanitizer, a hang) is not the bug that was planted.
  if [ -n "$planted" ] && ! grep -q "^fuzz:" "$found/$target$planted.log"; then
    [ -z "$found_one" ] || tail -n 40 "$found/$target$planted.log"
    echo "$target: the planted bug was not found" >&2
    status=1
  elif [ -z "$planted" ] && [ -n "$found_one" ]; then
    tail -n 40 "$found/$target.log"
    status=1
  fi
done
exit $status
