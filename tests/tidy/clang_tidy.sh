#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy; any warning fails. In the order of the arguments:
#   bash tests/tidy/clang_tidy.sh                    all of src/, and through it the headers
#   bash tests/tidy/clang_tidy.sh src/host examples  these folders
#   bash tests/tidy/clang_tidy.sh src/version.cpp    these files
#   JOBS=8 bash tests/tidy/clang_tidy.sh             more processes at once (2 by default)
# CLANG_TIDY names the program (clang-tidy-19). The folder build/tidy holds what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tidy=${CLANG_TIDY:-clang-tidy-19}
build=build/tidy
if ! command -v "$tidy" >/dev/null; then
  echo "clang_tidy: there is no $tidy; on Debian and Ubuntu: apt-get install $tidy" >&2
  exit 2
fi
if [ "$#" -eq 0 ]; then
  set -- src
fi

# Without precompiled headers, which only the compiler that made them can read. The generated header
# of the SQL is the one thing that has to be built.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
cmake --build "$build" --target wallock_sql >/dev/null

mapfile -t files < <(find "$@" -name '*.cpp' | sort)
mapfile -t files < <(python3 - "$build/compile_commands.json" "${files[@]}" <<'PYTHON'
import json, os, sys
known = {os.path.realpath(entry["file"]) for entry in json.load(open(sys.argv[1]))}
for name in sys.argv[2:]:
    if os.path.realpath(name) in known:
        print(name)
    else:
        print(f"clang_tidy: {name} is not a part of this build", file=sys.stderr)
PYTHON
)
if [ "${#files[@]}" -eq 0 ]; then
  echo "clang_tidy: nothing to look at" >&2
  exit 2
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "${JOBS:-2}" "$tidy" -p "$build" --quiet --warnings-as-errors='*'
echo "clang_tidy: ${#files[@]} files, no warning"
