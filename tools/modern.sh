#!/usr/bin/env bash
# Runs a program in the folder of a newer Debian suite, which `tools/setup.sh modern` makes:
#
#     tools/modern.sh sid python3 script.py     PyTorch 2.14, onnx 1.20, ONNX Runtime 1.23
#     tools/modern.sh trixie python3 …          PyTorch 2.6
#
# The repository is at the same path inside; it is the working folder. As root.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1:?usage: tools/modern.sh SUITE PROGRAM [ARGUMENT…]}
root=${CALQUE_CACHE:-$PWD/.cache}/modern/$suite
shift
[ -e "$root/.complete" ] || {
    echo "modern: there is no $root; make it with tools/setup.sh modern" >&2
    exit 1
}

# A separate mount namespace: nothing stays mounted when the program ends.
exec unshare --mount bash -c '
    root=$1 top=$2
    shift 2
    mkdir -p "$root$top"
    mount --bind /proc "$root/proc"
    mount --bind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount --rbind "$top" "$root$top"
    exec env -u PYTHONPATH LANG=C.UTF-8 chroot "$root" sh -c "cd \"\$0\" && exec \"\$@\"" "$top" "$@"
' modern "$root" "$PWD" "$@"
