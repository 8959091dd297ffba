#!/usr/bin/env bash
# Installs the servers and client libraries that wallock is compared with, from Debian's packages:
# Redis 7 and PostgreSQL 15. The packages start their servers as services; those that were not there
# before are stopped and disabled again: run.sh starts servers of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/support/packages.sh

is_there() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }
new=()
for package in redis-server postgresql-15; do
  is_there "$package" || new+=("$package")
done
need_packages redis-server postgresql-15 libpq-dev libhiredis-dev pkg-config

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
for package in "${new[@]}"; do
  service=${package/postgresql-15/postgresql}
  if [ -d /run/systemd/system ]; then
    "${as_root[@]}" systemctl disable --now "$service" >/dev/null 2>&1 || true
  else
    "${as_root[@]}" "/etc/init.d/$service" stop >/dev/null 2>&1 || true
    "${as_root[@]}" update-rc.d "$service" disable >/dev/null 2>&1 || true
  fi
done
