#!/bin/sh
# Runs $CALQUE_BINARY in a root that has nothing but the binary, tests/ and the working folder: no
# shell, no library, no /proc, no /dev, no /etc. It is the CALQUE of tests/golden/run.py in
# `make test-static`; needs root or user namespaces.
set -e
tests=$(cd "$(dirname "$0")/.." && pwd)
export tests binary="$CALQUE_BINARY" here="$PWD"
exec unshare --user --map-root-user --mount /bin/sh -c '
    root=${TMPDIR:-/tmp}/calque-empty-root # the mount on it is private to this process
    mkdir -p "$root"
    mount -t tmpfs calque "$root"
    mkdir -p "$root$tests" "$root$here"
    touch "$root/calque"
    mount --bind "$tests" "$root$tests"
    mount --bind "$here" "$root$here"
    mount --bind "$binary" "$root/calque"
    exec unshare --root="$root" --wd="$here" /calque "$@"' calque "$@"
