# Installs what a build needs on Debian and Ubuntu. Sourced by tests/run.sh and examples/run.sh.
# Nothing is run when all is there; apt is used when something is missing.

wallock_library_packages=(
  g++ cmake ninja-build
  libsqlite3-dev libsqlitecpp-dev nlohmann-json3-dev libfmt-dev libssl-dev libexpected-dev)
wallock_test_packages=(catch2 libbenchmark-dev pkg-config python3)

# need_packages NAME...: makes sure that these packages are installed, or ends the script.
need_packages() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null; then
    echo "wallock: not a Debian system; I take it that these are installed: $*" >&2
    return 0
  fi
  for package in "$@"; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing+=("$package")
    fi
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    return 0
  fi

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      cannot_install "neither root nor sudo" "${missing[@]}"
    fi
    as_root=(sudo)
  fi
  echo "wallock: installing ${missing[*]}" >&2
  # A fresh machine has no package lists, and old lists name files that are gone: update and retry.
  if ! apt_install "${missing[@]}" >/dev/null 2>&1; then
    "${as_root[@]}" apt-get update -q >&2 || cannot_install "apt-get update failed" "${missing[@]}"
    apt_install "${missing[@]}" >&2 || cannot_install "apt-get install failed" "${missing[@]}"
  fi
}

# apt_install NAME...: uses as_root of its caller. Waits for another installation to end: that of
# the other of README's two commands, say.
apt_install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 "$@"
}

# cannot_install REASON NAME...: says what a person has to do, and ends the script.
cannot_install() {
  local reason=$1
  shift
  echo "wallock: packages are missing, and I cannot install them ($reason). As root, run:" >&2
  echo "  apt-get install $*" >&2
  exit 1
}

# use_ccache: lets CMake use ccache where there is one.
use_ccache() {
  if command -v ccache >/dev/null && [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ]; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    # Or it would leave out every file that uses a precompiled header.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
}
