#!/bin/sh
# Runs $CALQUE_BINARY, a program for Linux on ARM, in an emulator: the CALQUE of tests/golden/run.py.
exec qemu-aarch64-static -cpu "${CALQUE_CPU:-max}" "$CALQUE_BINARY" "$@"
