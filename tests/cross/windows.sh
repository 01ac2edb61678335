#!/bin/sh
# Runs $CALQUE_BINARY, a program for Windows, in wine: the CALQUE of tests/golden/run.py. The registry of wine is in
# the cache. /usr is drive Z:, so that absolute paths of tests are paths of the working drive.
export WINEPREFIX="${WINEPREFIX:-$(cd "$(dirname "$0")/../.." && pwd)/.cache/wine}"
export WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
exec wine "$CALQUE_BINARY" "$@"
