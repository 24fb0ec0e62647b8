#!/bin/sh
# Installs what the local place needs beside .venv: a JDK, Maven, Prometheus and Redis from the system's packages, and
# the pinned jars in the user's cache. A second call finds everything in place and installs nothing.
set -eu
cd "$(dirname "$0")/.."

fail() { printf 'jars: %s\n' "$*" >&2; exit 2; }
say() { printf 'jars: %s\n' "$*" >&2; }
missing() { # command package ...: the packages whose command is not there
    while [ $# -gt 0 ]; do
        command -v "$1" >/dev/null 2>&1 || printf ' %s' "$2"
        shift 2
    done
}

# Debian starts the servers that it installs, on all interfaces. Nothing here wants them to run.
without_starting() {
    policy=/usr/sbin/policy-rc.d
    if [ -e "$policy" ]; then "$@"; return; fi
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    status=0
    "$@" || status=$?
    rm -f "$policy"
    return "$status"
}

packages=$(missing mvn maven javac openjdk-17-jdk-headless prometheus prometheus redis-server redis-server)
if [ -n "$packages" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        fail "these are needed and were not found; on Debian or Ubuntu: apt-get install$packages"
    fi
    say "installing$packages"
    apt-get update -qq >/dev/null
    # shellcheck disable=SC2086 # one word a package
    without_starting env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi
exec .venv/bin/python -m infra.local.jars
