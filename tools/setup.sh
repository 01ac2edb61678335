#!/usr/bin/env bash
# Installs what building and testing calque need, and only what is missing.
#
#     tools/setup.sh build          compiler, CMake, the libraries calque links
#     tools/setup.sh build test     also the tools of the tests: cmocka, clang, python
#     tools/setup.sh peers          the projects that calque is compared with: PyTorch, onnx, ONNX Runtime
#     tools/setup.sh modern         today's PyTorch and compilers, in separate folders (8 GB); as root
#     tools/setup.sh cross          compilers, libraries and emulators for other systems
#     tools/setup.sh windows        the compiler and the emulator for Windows
#     tools/setup.sh wasm           the compiler to WebAssembly
#     tools/setup.sh browser        Chromium, puppeteer-core and axe-core, for tests of the page
#     tools/setup.sh dist           the tools that build and test the packages of a release; as root
#     tools/setup.sh torch-tests    PyTorch's own tests of its exporter, out of Debian's sources
#
# For Debian 12 and derivatives, as root or with sudo. It can be repeated: if nothing is
# missing, it takes a fraction of a second and needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly ORT_VERSION=1.30.0
readonly PUPPETEER_VERSION=24 AXE_VERSION=4
readonly CACHE=${CALQUE_CACHE:-$PWD/.cache}

packages_build=(gcc libc6-dev cmake ninja-build pkg-config libjansson-dev zlib1g-dev)
packages_test=(git g++ clang clang-format binutils libcmocka-dev python3 qemu-user zsh fish
    python3-numpy python3-setuptools python3-wheel python3-pip mypy)
packages_peers=(python3 python3-numpy python3-torch python3-torchvision python3-onnx libonnx-testdata)

packages_cross=(musl-tools gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static llvm)
packages_windows=(gcc-mingw-w64-x86-64-posix wine wine64)
packages_wasm=(emscripten nodejs node-acorn)
packages_browser=(chromium nodejs)
packages_dist=(debhelper dh-python lintian mmdebstrap ruby)
packages_arm64=(libc6-dev musl-dev libjansson-dev zlib1g-dev libcmocka-dev)

# Empty systems in which packages are installed and tried; newer ones are those of `modern`.
readonly ROOTS=$CACHE/roots
suites_roots=(bullseye bookworm)

# Debian's suites with newer peers and compilers, each installed into a separate folder.
# tools/modern.sh runs programs there; make test-compilers builds and tests there.
readonly MODERN=$CACHE/modern
declare -A packages_modern=(
    [trixie]="python3-torch python3-torchvision python3-onnx python3-onnxruntime"
    [sid]="python3-torch python3-torchvision python3-onnx python3-onnxruntime python3-transformers"
)

fail() {
    echo "setup: $*" >&2
    exit 1
}

is_root() {
    [ "$(id -u)" -eq 0 ]
}

as_root() {
    if is_root; then "$@"; else sudo "$@"; fi
}

is_installed() {
    [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == *" installed" ]]
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

# The package lists of a fresh machine or container are empty or old, those of a machine
# in use are fine: so they are fetched only after the first attempt has failed.
need_packages() {
    local missing=() name

    for name in "$@"; do
        is_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        fail "this is no Debian; install by hand what corresponds to: ${missing[*]}"
    is_root || command -v sudo >/dev/null ||
        fail "installing needs root or sudo; missing are: ${missing[*]}"
    echo "setup: installing ${missing[*]}"
    apt_install "${missing[@]}" >/dev/null 2>&1 && return 0
    as_root apt-get update -q || fail "apt-get update failed"
    apt_install "${missing[@]}" || fail "apt-get could not install: ${missing[*]}"
}

# ONNX Runtime has no Debian package. The npm package contains the shared library, and no
# script of it needs to run.
need_onnxruntime() {
    local dir=$CACHE/ort
    local package=$dir/node_modules/onnxruntime-node/package.json

    grep -qs "\"version\": \"$ORT_VERSION\"" "$package" && return 0
    command -v npm >/dev/null || need_packages nodejs npm
    echo "setup: installing onnxruntime-node $ORT_VERSION into $dir"
    mkdir -p "$dir"
    npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error \
        "onnxruntime-node@$ORT_VERSION" || fail "npm could not install onnxruntime-node"
    grep -qs "\"version\": \"$ORT_VERSION\"" "$package" || fail "npm left no $package"
}

# npm packages that drive and inspect the browser; neither downloads a browser.
need_browser() {
    local dir=$CACHE/browser

    need_packages "${packages_browser[@]}"
    [ -e "$dir/node_modules/puppeteer-core" ] && [ -e "$dir/node_modules/axe-core" ] && return 0
    command -v npm >/dev/null || need_packages npm
    echo "setup: installing puppeteer-core and axe-core into $dir"
    mkdir -p "$dir"
    npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error \
        "puppeteer-core@$PUPPETEER_VERSION" "axe-core@$AXE_VERSION" || fail "npm could not install puppeteer-core"
}

# The mirror that apt is set up for, which has the newer suites too; security updates are elsewhere.
debian_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' |
        awk '$1 == "Debian" && $2 !~ /security/ && !found++ { print $3 }'
}

# A folder that an older version of this script made lacks some packages.
need_suite_packages() {
    local suite=$1 folder=$MODERN/$1 missing=() name
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Check-Valid-Until=false)

    shift
    for name in "$@"; do
        [[ $(dpkg-query --admindir="$folder/var/lib/dpkg" -W -f '${Status}' "$name" 2>/dev/null) \
            == *" installed" ]] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    is_root || fail "folders of other suites are made and entered as root"
    echo "setup: installing into $folder: ${missing[*]}"
    tools/modern.sh "$suite" "${apt[@]}" install -y --no-install-recommends "${missing[@]}" \
        >/dev/null 2>&1 && return 0
    tools/modern.sh "$suite" "${apt[@]}" update >/dev/null || fail "apt-get update failed in $folder"
    tools/modern.sh "$suite" "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
        fail "apt-get could not install into $folder: ${missing[*]}"
}

need_suite() {
    local suite=$1 folder=$MODERN/$1 mirror packages

    read -r -a packages <<<"${packages_modern[$suite]}"
    packages+=("${packages_build[@]}" "${packages_test[@]}" make)
    if [ -e "$folder/.complete" ]; then
        need_suite_packages "$suite" "${packages[@]}"
        return
    fi
    is_root || fail "folders of other suites are made and entered as root"
    need_packages mmdebstrap
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || fail "apt knows no mirror of Debian"
    echo "setup: installing PyTorch of Debian $suite into $folder"
    rm -rf --one-file-system "$folder"
    mkdir -p "$MODERN"
    # A mirror may be a snapshot, whose release file has expired.
    mmdebstrap --quiet --variant=apt --include="${packages[*]}" \
        --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$folder" "$mirror" ||
        fail "mmdebstrap could not install Debian $suite"
    touch "$folder/.complete"
}

need_roots() {
    local suite mirror

    for suite in "${suites_roots[@]}"; do
        [ -e "$ROOTS/$suite/.complete" ] && continue
        is_root || fail "roots of other suites are made and entered as root"
        mirror=$(debian_mirror)
        [ -n "$mirror" ] || fail "apt knows no mirror of Debian"
        echo "setup: installing Python of Debian $suite into $ROOTS/$suite"
        rm -rf --one-file-system "${ROOTS:?}/$suite"
        mkdir -p "$ROOTS"
        mmdebstrap --quiet --variant=apt --include="python3 python3-numpy python3-pip" \
            --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$ROOTS/$suite" "$mirror" ||
            fail "mmdebstrap could not install Debian $suite"
        touch "$ROOTS/$suite/.complete"
    done
}

# Sources are downloaded with separate lists, so apt needs no configuration for them.
need_torch_tests() {
    local dir=$CACHE/torch-tests mirror suite

    [ -e "$dir/.complete" ] && return 0
    need_packages python3-parameterized libtorch-dev pybind11-dev # an operator in C++ is among them
    mirror=$(debian_mirror)
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    [ -n "$mirror" ] || fail "apt knows no mirror of Debian"
    echo "setup: fetching PyTorch's tests of its exporter into $dir"
    mkdir -p "$dir/lists/partial"
    echo "deb-src $mirror $suite main" >"$dir/sources.list"
    (
        cd "$dir"
        apt=(apt-get -q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=-
            -o Dir::State::Lists="$dir/lists" -o APT::Sandbox::User=root)
        "${apt[@]}" update
        "${apt[@]}" source --download-only pytorch || true # Debian's patches may be missing
        tar --wildcards --strip-components=1 -xJf pytorch_*.orig.tar.xz '*/test/onnx'
    ) || fail "the sources of PyTorch could not be fetched"
    touch "$dir/.complete"
}

# The libraries of another architecture are installed beside those of this one.
need_cross() {
    need_packages "${packages_cross[@]}" mmdebstrap
    if ! dpkg --print-foreign-architectures | grep -qx arm64; then
        as_root dpkg --add-architecture arm64
        as_root apt-get update -q || fail "apt-get update failed"
    fi
    need_packages "${packages_arm64[@]/%/:arm64}"
}

[ $# -gt 0 ] || fail "usage: tools/setup.sh build|test|peers|modern|cross|windows|wasm|browser|dist|torch-tests…"
for what in "$@"; do
    case $what in
    build) need_packages "${packages_build[@]}" ;;
    test) need_packages "${packages_test[@]}" ;;
    peers) need_packages "${packages_peers[@]}" && need_onnxruntime ;;
    modern) need_suite trixie && need_suite sid ;;
    cross) need_cross ;;
    windows) need_packages "${packages_windows[@]}" ;;
    wasm) need_packages "${packages_wasm[@]}" ;;
    browser) need_browser ;;
    dist) need_packages "${packages_dist[@]}" && need_roots ;;
    torch-tests) need_torch_tests ;;
    *) fail "unknown part '$what'; expected build, test, peers, modern, cross, windows, wasm, browser, dist or torch-tests" ;;
    esac
done
