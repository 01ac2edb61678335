#!/usr/bin/env bash
# One model from C code to numbers: exports the built-in AlexNet, checks the file, lists its
# graph and runs it. Each command is shown before it runs, so it can be repeated by hand.
set -euo pipefail
calque=$1
out=build/demo
mkdir -p "$out"

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

show "$calque" export alexnet --input batchx3x224x224 -o "$out/alexnet.onnx"
show "$calque" check --full "$out/alexnet.onnx"
show "$calque" print "$out/alexnet.onnx"
show "$calque" run "$out/alexnet.onnx" --input 2x3x224x224
printf '\nExported AlexNet with a dynamic batch to %s (%s bytes), found it valid, listed it, and ran it on two images.\n' \
    "$out/alexnet.onnx" "$(stat -c %s "$out/alexnet.onnx")"
