#!/usr/bin/env bash
# Builds jansson and zlib for another system, from Debian's source packages, as static libraries:
#
#     tools/cross.sh x86_64-linux-musl | aarch64-linux-musl | x86_64-linux-glibc | aarch64-linux-glibc |
#                    x86_64-windows | wasm32
#
# The result is below .cache/cross/TARGET, where cmake/toolchains/cross.cmake expects it. tools/setup.sh
# cross installs the compilers. It may be run again at any time: what exists is not built again.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGET=${1:?usage: tools/cross.sh TARGET}
CROSS=$(realpath -m "${CALQUE_CACHE:-$PWD/.cache}/cross")
readonly CROSS
readonly SOURCES=$CROSS/sources PREFIX=$CROSS/$TARGET

fail() {
    echo "cross: $*" >&2
    exit 1
}

# The mirror that apt is set up for; security updates are elsewhere.
debian_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' |
        awk '$1 == "Debian" && $2 !~ /security/ && !found++ { print $3 }'
}

# Sources are downloaded with separate lists, so apt needs no configuration for them.
need_sources() {
    local mirror suite

    ls "$SOURCES"/jansson_*.orig.tar.* "$SOURCES"/zlib_*.orig.tar.* >/dev/null 2>&1 && return 0
    mirror=$(debian_mirror)
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    [ -n "$mirror" ] || fail "apt knows no mirror of Debian"
    mkdir -p "$SOURCES/lists/partial"
    echo "deb-src $mirror $suite main" >"$SOURCES/sources.list"
    (
        cd "$SOURCES"
        apt=(apt-get -q -o Dir::Etc::SourceList="$SOURCES/sources.list" -o Dir::Etc::SourceParts=-
            -o Dir::State::Lists="$SOURCES/lists" -o APT::Sandbox::User=root)
        "${apt[@]}" update >/dev/null
        "${apt[@]}" source --download-only jansson zlib >/dev/null
    ) || fail "the sources of jansson and zlib could not be fetched"
}

# Debian's musl-gcc links neither for ARM nor position-independent static programs. These specs do both:
# headers and libraries of musl instead of glibc's, and the kernel's headers beside them.
write_musl_compiler() {
    local processor=$1 gcc=$2 loader=$3
    local musl=/usr/lib/$processor-linux-musl headers=/usr/include/$processor-linux-musl

    [ -e "$musl/libc.a" ] || fail "there is no $musl: run tools/setup.sh cross"
    mkdir -p "$PREFIX/kernel"
    ln -sfn /usr/include/linux "$PREFIX/kernel/linux"
    ln -sfn /usr/include/asm-generic "$PREFIX/kernel/asm-generic"
    if [ "$processor" = x86_64 ]; then
        ln -sfn /usr/include/x86_64-linux-gnu/asm "$PREFIX/kernel/asm"
    else
        ln -sfn /usr/aarch64-linux-gnu/include/asm "$PREFIX/kernel/asm"
    fi
    cat >"$PREFIX/musl.specs" <<SPECS
%rename cpp_options old_cpp_options

*cpp_options:
-nostdinc -isystem $headers -isystem include%s -isystem $PREFIX/kernel %(old_cpp_options)

*cc1:
%(cc1_cpu) -nostdinc -isystem $headers -isystem include%s -isystem $PREFIX/kernel

*link_libgcc:
-L$musl -L .%s

*libgcc:
libgcc.a%s %:if-exists(libgcc_eh.a%s)

*startfile:
%{shared:;static-pie:$musl/rcrt1.o;static:$musl/crt1.o;:$musl/Scrt1.o} $musl/crti.o %{static:crtbeginT.o%s;:crtbeginS.o%s}

*endfile:
%{static:crtend.o%s;:crtendS.o%s} $musl/crtn.o

*link:
-nostdlib %{shared:-shared} %{static:-static} %{static-pie:-static -pie --no-dynamic-linker -z text} %{!static:%{!static-pie:-dynamic-linker /lib/$loader}} %{rdynamic:-export-dynamic}

*esp_link:


*esp_options:


*esp_cpp_options:


SPECS
    printf '#!/bin/sh\nexec %s "$@" -specs "%s"\n' "$gcc" "$PREFIX/musl.specs" >"$PREFIX/cc"
    chmod +x "$PREFIX/cc"
}

# The C library and headers of Debian 11 (glibc 2.31), so that programs run on every newer system too.
# Links with absolute targets would lead out of the folder. A cross compiler also searches folders outside of
# --sysroot, so the headers and libraries are named.
write_glibc_compiler() {
    local architecture=$1 gcc=$2 root=$PREFIX/root mirror link triplet

    if [ ! -e "$root/.complete" ]; then
        mirror=$(debian_mirror)
        [ -n "$mirror" ] || fail "apt knows no mirror of Debian"
        rm -rf --one-file-system "$root"
        mmdebstrap --quiet --variant=extract --architectures="$architecture" --include=libc6-dev \
            --aptopt='Acquire::Check-Valid-Until "false"' bullseye "$root" "$mirror" ||
            fail "mmdebstrap could not extract glibc of Debian 11"
        find "$root/usr/lib" "$root"/lib* -type l -lname '/*' | while read -r link; do
            ln -sfn "$root$(readlink "$link")" "$link"
        done
        touch "$root/.complete"
    fi
    triplet=$("$gcc" -print-multiarch)
    cat >"$PREFIX/cc" <<WRAPPER
#!/bin/sh
exec $gcc --sysroot="$root" -B"$root/usr/lib/$triplet" -nostdinc -isystem "$("$gcc" -print-file-name=include)" \
    -isystem "$root/usr/include/$triplet" -isystem "$root/usr/include" "\$@" \
    -L"$root/usr/lib/$triplet" -L"$root/lib/$triplet"
WRAPPER
    chmod +x "$PREFIX/cc"
}

# NAME: unpacks its sources, configures them with further arguments, and builds the static library.
build() {
    local name=$1 work
    shift

    work=$(mktemp -d)
    tar -C "$work" --strip-components=1 -xf "$SOURCES/$name"_*.orig.tar.*
    if [ "$name" = zlib ]; then # Debian's archive lacks a file that only the shared library needs
        mkdir -p "$work/win32" && touch "$work/win32/zlib1.rc"
    fi
    "${CMAKE[@]}" -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_TOOLCHAIN_FILE="${TOOLCHAIN:-$PWD/cmake/toolchains/$TARGET.cmake}" \
        -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DCMAKE_C_FLAGS="-ffile-prefix-map=$work=." "$@" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "$name could not be configured"; }
    case $name in
    jansson) ninja -C "$work/build" jansson >>"$work/log" 2>&1 ;;
    zlib) ninja -C "$work/build" zlibstatic >>"$work/log" 2>&1 ;;
    esac || { tail -n 30 "$work/log" >&2; fail "$name could not be built"; }
    mkdir -p "$PREFIX/lib/pkgconfig" "$PREFIX/include" "$PREFIX/licences"
    find "$work/build" -name 'lib*.a' -exec cp {} "$PREFIX/lib/" \;
    find "$work/build" "$work" -maxdepth 2 \( -name jansson.h -o -name jansson_config.h -o -name zlib.h \
        -o -name zconf.h \) -exec cp {} "$PREFIX/include/" \;
    cp "$work"/LICENSE "$PREFIX/licences/$name" 2>/dev/null ||
        sed -n '/Copyright/,/\*\//p' "$work/zlib.h" | sed '$d' >"$PREFIX/licences/$name"
    rm -rf "$work"
}

# zlib's CMake files do not know emscripten.
build_zlib_for_wasm() {
    local work

    work=$(mktemp -d)
    tar -C "$work" --strip-components=1 -xf "$SOURCES"/zlib_*.orig.tar.*
    (cd "$work" && emcc -O3 -DHAVE_UNISTD_H -c adler32.c crc32.c deflate.c inffast.c \
        inflate.c inftrees.c trees.c zutil.c && emar rcs "$PREFIX/lib/libz.a" ./*.o) || fail "zlib could not be built"
    cp "$work/zlib.h" "$work/zconf.h" "$PREFIX/include/"
    sed -n '/Copyright/,/\*\//p' "$work/zlib.h" | sed '$d' >"$PREFIX/licences/zlib"
    rm -rf "$work"
}

[ -e "$PREFIX/.complete" ] && exit 0
need_sources
mkdir -p "$PREFIX"
CMAKE=(cmake)
case $TARGET in
x86_64-linux-musl) write_musl_compiler x86_64 gcc ld-musl-x86_64.so.1 ;;
aarch64-linux-musl) write_musl_compiler aarch64 aarch64-linux-gnu-gcc ld-musl-aarch64.so.1 ;;
x86_64-linux-glibc) write_glibc_compiler amd64 gcc ;;
aarch64-linux-glibc) write_glibc_compiler arm64 aarch64-linux-gnu-gcc ;;
x86_64-windows) ;;
wasm32)
    CMAKE=(emcmake cmake)
    TOOLCHAIN=$(dirname "$(readlink -f "$(command -v emcc)")")/cmake/Modules/Platform/Emscripten.cmake
    ;;
*) fail "unknown target '$TARGET'; expected {x86_64,aarch64}-linux-{musl,glibc}, x86_64-windows or wasm32" ;;
esac
echo "cross: building jansson and zlib for $TARGET"
[ -e "$PREFIX/lib/libjansson.a" ] || build jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF \
    -DJANSSON_BUILD_SHARED_LIBS=OFF
if [ "$TARGET" = wasm32 ]; then build_zlib_for_wasm; else build zlib; fi
[ -e "$PREFIX/lib/libz.a" ] || mv "$PREFIX/lib/libzlibstatic.a" "$PREFIX/lib/libz.a"
version=$(basename "$(ls "$SOURCES"/jansson_*.orig.tar.*)" | sed 's/jansson_//; s/.orig.*//')
printf 'Name: jansson\nDescription: JSON\nVersion: %s\nLibs: -L%s -ljansson\nCflags: -I%s\n' \
    "$version" "$PREFIX/lib" "$PREFIX/include" >"$PREFIX/lib/pkgconfig/jansson.pc"
touch "$PREFIX/.complete"
