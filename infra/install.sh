#!/bin/sh
# Installs what is missing: a Python environment in .venv from the hashed lock, and Java for Spark.
# A second call finds everything in place and installs nothing.
set -eu
cd "$(dirname "$0")/.."
export UV_SYSTEM_CERTS=1 # the machine knows better than uv whom to trust, e.g. behind a proxy

fail() { printf 'install: %s\n' "$*" >&2; exit 2; }
say() { printf 'install: %s\n' "$*" >&2; }
debian_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
apt_install() {
    apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Of several of a version the first that has the interpreter in the program itself: out of a shared library, as pyenv
# builds it, the same code takes a fifth longer.
find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        found=
        for path in $(which -a "$name" 2>/dev/null || command -v "$name"); do
            real=$("$path" -c 'import sys; (3, 11) <= sys.version_info[:2] < (3, 14) and print(sys.executable)' \
                2>/dev/null) && [ -n "$real" ] || continue
            found=${found:-$real}
            if ! ldd "$real" 2>/dev/null | grep -q libpython; then found=$real; break; fi
        done
        if [ -n "$found" ]; then printf '%s\n' "$found"; return; fi
    done
    fail "Python 3.11, 3.12 or 3.13 is needed and was not found; on Debian or Ubuntu: apt-get install python3"
}

find_uv() {
    if command -v uv >/dev/null 2>&1; then command -v uv; return; fi
    tools=$PWD/.state/uv
    if [ ! -x "$tools/bin/uv" ]; then
        say "uv is missing: fetching it with pip"
        with_pip=
        for python in "$1" python3 python3.13 python3.12 python3.11; do
            if "$python" -m pip --version >/dev/null 2>&1; then with_pip=$python; break; fi
        done
        if [ -z "$with_pip" ]; then
            debian_root || fail "pip is needed to fetch uv; on Debian or Ubuntu: apt-get install python3-pip"
            apt_install python3-pip
            with_pip=$1
        fi
        PIP_ROOT_USER_ACTION=ignore "$with_pip" -m pip install -q --disable-pip-version-check --require-hashes \
            --target "$tools" -r infra/uv.lock >&2
    fi
    printf '%s\n' "$tools/bin/uv"
}

java_release() {
    java=${JAVA_HOME:+$JAVA_HOME/bin/}java
    command -v "$java" >/dev/null 2>&1 || { echo 0; return; }
    release=$("$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
    echo "${release:-0}"
}

install_java() {
    [ "$(java_release)" -ge 17 ] && return
    debian_root || fail "Java 17 or newer is needed by Spark; on Debian or Ubuntu: apt-get install openjdk-17-jre-headless"
    say "installing Java"
    apt-get update -qq >/dev/null
    for package in openjdk-17-jre-headless openjdk-21-jre-headless openjdk-25-jre-headless; do
        if [ -n "$(apt-cache madison "$package")" ]; then apt_install "$package"; break; fi
    done
    [ "$(java_release)" -ge 17 ] || fail "Java 17 or newer could not be installed; set JAVA_HOME to one"
}

install_python() {
    python=$(find_python)
    wanted=$(cat requirements.lock pyproject.toml "$0" | sha256sum | cut -d ' ' -f 1)" $PWD $("$python" -V)"
    stamp=.venv/tidebed-installed
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && .venv/bin/python -c '' 2>/dev/null; then return; fi
    uv=$(find_uv "$python")
    say "installing Python packages into .venv"
    rm -f "$stamp"
    "$uv" venv -q --allow-existing --python "$python" .venv
    # compiled now, once: where bytecode is not kept, each process would compile what it imports, for seconds
    VIRTUAL_ENV=$PWD/.venv "$uv" pip sync -q --require-hashes --compile-bytecode requirements.lock
    VIRTUAL_ENV=$PWD/.venv "$uv" pip install -q --no-deps --no-build-isolation -e .
    printf '%s\n' "$wanted" >"$stamp"
}

install_python
install_java
