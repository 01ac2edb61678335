#!/bin/sh
# Runs $CALQUE_BINARY, a program for Windows, in wine: the CALQUE of tests/golden/run.py. The registry of wine is in
# the cache. Drive Z: is the root, so that absolute paths of tests are paths of the working drive. The server of wine
# stays for a minute: to start it takes a second, and its services write to standard error.
cache=${CALQUE_CACHE:-$(cd "$(dirname "$0")/../.." && pwd)/.cache}
export WINEPREFIX="${WINEPREFIX:-$cache/wine}"
mkdir -p "$WINEPREFIX" # wine does not make the folders above it
export WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
wineserver -p60 2>/dev/null && wine wineboot >/dev/null 2>&1
exec wine "$CALQUE_BINARY" "$@"
