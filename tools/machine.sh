#!/bin/sh
# What the machine itself must have: Python 3.11 with venv, and a JDK 17 or newer.
# `tools/machine.sh python` prints the Python to use; `tools/machine.sh java` checks the JDK.
# What is missing is installed when this runs as root on a machine with apt-get; else one line says what to type.
set -eu

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

install() {
    echo "Installing $1 with apt-get." >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$1"; } >&2
}

find_python() {
    for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "Weft needs Python 3.11 or newer, and this machine has none. Type: sudo apt-get install python3.11-venv" >&2
    exit 1
}

check_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null && return
    package="$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    if may_install; then
        install "$package"
    else
        echo "This Python cannot make virtual environments. Type: sudo apt-get install $package" >&2
        exit 1
    fi
}

# The major version of javac (17, 21, …), or nothing. Java 8 calls itself 1.8.
java_version() {
    javac="${JAVA_HOME:+$JAVA_HOME/bin/}javac"
    { "$javac" -version 2>&1 || true; } | sed -n 's/^javac \(1\.\)\{0,1\}\([0-9]*\).*/\2/p'
}

check_java() {
    version="$(java_version)"
    [ "${version:-0}" -ge 17 ] && return
    if [ -z "${JAVA_HOME:-}" ] && may_install; then
        install openjdk-17-jdk-headless
        version="$(java_version)"
        [ "${version:-0}" -ge 17 ] && return
    fi
    if [ -n "$version" ]; then
        found="the JDK ${JAVA_HOME:+in JAVA_HOME }is version $version"
    else
        found="$(if [ -n "${JAVA_HOME:-}" ]; then echo "JAVA_HOME has none"; else echo "this machine has none"; fi)"
    fi
    echo "Weft needs a JDK 17 or newer, and $found. Type: sudo apt-get install openjdk-17-jdk-headless" >&2
    exit 1
}

case "${1:-}" in
python)
    python="$(find_python)"
    check_venv "$python"
    echo "$python"
    ;;
java) check_java ;;
*)
    echo "usage: tools/machine.sh python|java" >&2
    exit 2
    ;;
esac
