#!/usr/bin/env bash
# Runs wallock beside Redis, PostgreSQL, bare SQLite and flock, on one disk, by turns.
#   bash bench/peers/run.sh                 some minutes; prints a table
#   bash bench/peers/run.sh --json FILE     writes the rows and the machine as JSON, too
#   bash bench/peers/run.sh --dir FOLDER    all data go there (default: below build/release)
#   bash bench/peers/run.sh --build FOLDER  uses the program built there instead of building it
#   bash bench/peers/run.sh --flush-us N    everybody's flushes sleep so long instead of flushing:
#                                           another disk, which nobody else uses
# Other arguments go to the program: --rounds=3 --milliseconds=500 --only=pair ...
# The servers are started here, with data folders of their own, and stopped at the end. One that is
# not installed (install.sh does that) is skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/support/packages.sh

build="" dir="" flush_us="" arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --dir) dir=$2; shift ;;
    --dir=*) dir=${1#--dir=} ;;
    --build) build=$2; shift ;;
    --build=*) build=${1#--build=} ;;
    --flush-us) flush_us=$2; shift ;;
    --flush-us=*) flush_us=${1#--flush-us=} ;;
    --help) sed -n '2,/^set/{/^#/p}' "$0"; exit 0 ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
if [ -z "$build" ]; then
  build=build/release
  need_packages "${wallock_library_packages[@]}" libbenchmark-dev pkg-config
  use_ccache
  cmake --preset release -DWALLOCK_BUILD_TESTS=OFF >/dev/null
  cmake --build --preset release -j "${JOBS:-2}" \
    --target wallock_bench_peers wallock_slow_flush >&2
fi
dir=${dir:-$build/bench/peers-data}
mkdir -p "$dir"
dir=$(realpath "$dir")
program=$(realpath "$build")/bench/peers/wallock_bench_peers
disk=()
if [ -n "$flush_us" ]; then
  disk=(env "LD_PRELOAD=$(realpath "$build")/bench/libwallock_slow_flush.so"
    "WALLOCK_FLUSH_US=$flush_us" WALLOCK_FLUSH_INSTEAD=1)
fi

# Sockets have short names: they cannot lie in a deep folder.
sockets=$(mktemp -d)
chmod 755 "$sockets"
servers=()
stop() {
  local process
  for process in "${servers[@]}"; do
    kill -INT "$process" 2>/dev/null || true
  done
  for process in "${servers[@]}"; do
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$sockets" "$dir/redis-always" "$dir/redis-everysec" "$dir/postgres"
}
trap stop EXIT

# until_answers COMMAND...: waits for a server, ten seconds at most.
until_answers() {
  local try
  for try in $(seq 100); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.1
  done
  echo "run.sh: no answer: $*" >&2
  exit 1
}

# Neither snapshots nor rewrites of its log: they would fall into somebody's turn.
start_redis() {
  local policy=$1
  rm -rf "$dir/redis-$policy"
  mkdir -p "$dir/redis-$policy"
  "${disk[@]}" redis-server --port 0 --unixsocket "$sockets/redis-$policy" \
    --dir "$dir/redis-$policy" --appendonly yes --appendfsync "$policy" \
    --save "" --auto-aof-rewrite-percentage 0 --daemonize no >"$sockets/redis-$policy.log" 2>&1 &
  servers+=($!)
  until_answers redis-cli -s "$sockets/redis-$policy" ping
  arguments+=("--redis-$policy=$sockets/redis-$policy")
}

# PostgreSQL refuses to run as root. Its defaults, except that no checkpoint falls into a turn.
start_postgres() {
  local bin=$1 as_user=()
  rm -rf "$dir/postgres"
  mkdir -p "$dir/postgres"
  if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$dir/postgres" "$sockets"
    as_user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  fi
  "${as_user[@]}" "$bin/initdb" -D "$dir/postgres" -U postgres -A trust -E UTF8 --locale=C \
    >"$sockets/initdb.log" 2>&1 || { cat "$sockets/initdb.log" >&2; exit 1; }
  "${as_user[@]}" "${disk[@]}" "$bin/postgres" -D "$dir/postgres" -k "$sockets" \
    -c listen_addresses= -c checkpoint_timeout=30min -c max_wal_size=8GB \
    >"$sockets/postgres.log" 2>&1 &
  servers+=($!)
  until_answers "$bin/pg_isready" -h "$sockets"
  arguments+=("--postgres=$sockets")
}

if command -v redis-server >/dev/null; then
  start_redis always
  start_redis everysec
else
  echo "redis: skipped" >&2
fi
postgres_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -x "$postgres_bin/postgres" ]; then
  start_postgres "$postgres_bin"
else
  echo "postgres: skipped" >&2
fi
"${disk[@]}" "$program" --dir="$dir" "${arguments[@]}"
