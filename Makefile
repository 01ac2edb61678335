# The short way: set up, build, show, test. The build itself is CMake's, in build/.
# `make help` prints the lines that begin with `#     make`.
#
#     make demo    install what is missing, build, export the built-in AlexNet and run it
#     make test    install what is missing, build with sanitizers, run every test
#     make check   the quick part of it, in a minute: one plain build, no peers
#     make test-compilers  unit tests with the compilers of newer Debians, where `tools/setup.sh modern` made their folders
#     make test-modern   with today's PyTorch, where `tools/setup.sh modern` made its folders
#     make test-operators  the same for PyTorch's operator database: what fails, by operator
#     make tsan    sessions and the pool of threads under ThreadSanitizer; some minutes
#     make bench-export   what exporting costs, against cp and PyTorch
#     make docs    rewrite what is printed from the code
#     make bench-run  calque against ONNX Runtime, latency of whole models
#     make static  build/static/calque: Linux on x86-64, one file without any library (musl)
#     make test-static   golden tests of it in an empty root
#     make aarch64  build/aarch64 (glibc) and build/aarch64-static (musl): Linux on ARM
#     make test-aarch64  unit, kernel and golden tests of both, ONNX data and a part of conformance in an emulator
#     make windows  build/windows/calque.exe: Windows on x86-64, one file; libcalque.dll
#     make test-windows  golden tests and a part of conformance of it in wine
#     make wasm    build/wasm: WebAssembly, for the two that follow
#     make npm     build/npm/calque: the npm package, for Node and bundlers
#     make web     build/web: a page that converts models in the browser
#     make test-web  tests of both, in Node and in Chromium
#     make dist    build/dist: archives, wheels, the npm package, bill of materials, checksums
#     make debian  the Debian packages, in build/dist too
#     make test-dist  installs and tries them in empty systems (Debian 11 to sid)
#     make test-reproducible  builds all packages again elsewhere; they have the same bytes
#     make install  into PREFIX (/usr/local), below DESTDIR if that is set
#     make help    this list
#     make         build/calque
.PHONY: all help install build demo test test-compilers test-modern test-operators check tsan static test-static windows test-windows aarch64 test-aarch64 wasm npm web test-web dist debian test-dist test-reproducible docs bench-run bench-export format clean

CMAKE_FLAGS ?=

all: build

build:
	@tools/setup.sh build
	@cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCALQUE_SANITIZE=OFF $(CMAKE_FLAGS) >/dev/null
	@ninja -C build --quiet

# Other systems: one compiler wrapper or toolchain file each (cmake/toolchains).
CROSS = cmake -S . -G Ninja -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS) -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/toolchains

static:
	@tools/setup.sh build cross
	@tools/cross.sh x86_64-linux-musl
	@$(CROSS)/x86_64-linux-musl.cmake -B build/static -DCALQUE_STATIC=ON >/dev/null
	@ninja -C build/static --quiet calque_cli

windows:
	@tools/setup.sh build windows
	@tools/cross.sh x86_64-windows
	@$(CROSS)/x86_64-windows.cmake -B build/windows >/dev/null
	@ninja -C build/windows --quiet calque_cli calque_shared

test-windows: windows build
	@for test in tests/cross/windows_paths.py tests/golden/run.py tests/cross/same_files.py; do \
	   CALQUE_BINARY=$(CURDIR)/build/windows/calque.exe CALQUE=$(CURDIR)/tests/cross/windows.sh \
	   /usr/bin/python3 $$test || exit 1; done

# Debian's emscripten finds its JavaScript modules there, also with another Node.
wasm: export NODE_PATH = /usr/share/nodejs
wasm:
	@tools/setup.sh build wasm
	@tools/cross.sh wasm32
	@$(CROSS)/wasm32.cmake -B build/wasm >/dev/null
	@ninja -C build/wasm --quiet calque_cli

npm: wasm
	@/usr/bin/python3 tools/web.py npm

web: build wasm
	@/usr/bin/python3 tools/web.py page

test-web: npm web
	@tools/setup.sh browser
	@for test in tests/web/*.py; do /usr/bin/python3 $$test || exit 1; done

# Wheels contain a shared library for each C library, and the static program.
dist: static windows npm
	@tools/setup.sh dist
	@tools/cross.sh aarch64-linux-musl && tools/cross.sh x86_64-linux-glibc && tools/cross.sh aarch64-linux-glibc
	@$(CROSS)/aarch64-linux-musl.cmake -B build/aarch64-static -DCALQUE_STATIC=ON >/dev/null
	@$(CROSS)/x86_64-linux-glibc.cmake -B build/x86_64-glibc >/dev/null
	@$(CROSS)/aarch64-linux-glibc.cmake -B build/aarch64-glibc >/dev/null
	@ninja -C build/static --quiet calque_shared
	@ninja -C build/aarch64-static --quiet calque_cli calque_shared
	@ninja -C build/x86_64-glibc --quiet calque_shared
	@ninja -C build/aarch64-glibc --quiet calque_shared
	@rm -rf build/dist
	@/usr/bin/python3 tools/dist.py

debian:
	@tools/setup.sh build dist
	@/usr/bin/python3 tools/dist.py debian sums

test-dist:
	@for test in tests/dist/*_test.py; do /usr/bin/python3 $$test || exit 1; done

test-reproducible: # after make dist debian
	@/usr/bin/python3 tests/dist/reproducible.py

test-static: static
	@CALQUE_BINARY=$(CURDIR)/build/static/calque CALQUE=$(CURDIR)/tests/cross/empty_root.sh \
	   /usr/bin/python3 tests/golden/run.py

aarch64:
	@tools/setup.sh build cross
	@tools/cross.sh aarch64-linux-musl
	@$(CROSS)/aarch64-linux-musl.cmake -B build/aarch64-static -DCALQUE_STATIC=ON >/dev/null
	@$(CROSS)/aarch64-linux-gnu.cmake -B build/aarch64 -DCALQUE_TESTS=ON >/dev/null
	@ninja -C build/aarch64-static --quiet calque_cli
	@ninja -C build/aarch64 --quiet

test-aarch64: aarch64 build
	@cd build/aarch64 && ctest --output-on-failure --timeout 1200 -j2 -R '^unit/(base|tensor|kernel|runtime|onnx)'
	@for build in aarch64-static aarch64; do CALQUE_BINARY=$(CURDIR)/build/$$build/calque \
	   CALQUE=$(CURDIR)/tests/cross/aarch64.sh /usr/bin/python3 tests/golden/run.py || exit 1; done
	@for test in onnx_data same_files; do CALQUE_BINARY=$(CURDIR)/build/aarch64-static/calque \
	   CALQUE=$(CURDIR)/tests/cross/aarch64.sh /usr/bin/python3 tests/cross/$$test.py || exit 1; done

PREFIX  ?= /usr/local
DESTDIR ?=

install: build
	@DESTDIR='$(DESTDIR)' cmake --install build --prefix '$(PREFIX)'

help:
	@sed -n 's/^#     //p' Makefile

demo: build
	@tools/demo.sh build/calque

# A peer that cannot be installed is an error in CI; elsewhere its tests are skipped, and say so.
test:
	@tools/setup.sh build test
	@tools/setup.sh peers || test "$(CI)" != true
	@tools/setup.sh wasm browser || test "$(CI)" != true
	@/usr/bin/python3 tools/run_tests.py

# Samples of PyTorch's own operator database as programs of torch.export, in ONNX Runtime; an hour for
# all of them. OPERATORS="only=^linalg" picks some.
OPERATORS ?=
test-operators: build
	@mkdir -p build/modern
	@tools/modern.sh sid python3 tests/modern/operators.py make build/modern/operators $(OPERATORS)
	@/usr/bin/python3 tests/modern/operators.py export build/modern/operators $(OPERATORS)
	@tools/modern.sh sid python3 tests/modern/operators.py check build/modern/operators $(OPERATORS)

# Language models go on with a prompt as they do in PyTorch, token for token, in ONNX Runtime; and
# weights are streamed: 7 billion in float16, holes in a file, are exported with at most 200 MB of memory.
test-modern: build
	@tools/modern.sh sid python3 tests/peer/torch_library.py
	@mkdir -p build/modern
	@tools/modern.sh sid python3 tests/modern/language_models.py make build/modern/18
	@/usr/bin/python3 tests/modern/export_all.py build/calque build/modern/18 18 23
	@for opset in 18 23; do \
	   tools/modern.sh sid python3 tests/modern/language_models.py check build/modern/$$opset || exit 1; done
	@/usr/bin/python3 tests/modern/large_program.py build/modern/large.pt2
	@/usr/bin/python3 tests/modern/peak.py 200 build/calque export build/modern/large.pt2 -o build/modern/large.onnx
	@rm -f build/modern/large.*

check:
	@tools/setup.sh build test
	@/usr/bin/python3 tools/run_tests.py --quick

# Results must not depend on the compiler: optimised unit tests, and the quick tests as a user of that
# Debian would run them.
SUITES ?= trixie sid
test-compilers:
	@tools/setup.sh modern
	@for suite in $(SUITES); do echo "==== $$suite"; \
	   tools/modern.sh $$suite /usr/bin/python3 tools/run_tests.py --release --folder build/$$suite || exit 1; \
	   tools/modern.sh $$suite /usr/bin/python3 tools/run_tests.py --quick --folder build/$$suite-quick || exit 1; done

# Every model of ONNX's test data in one session that eight threads run at once.
TSAN_DATA = $(wildcard /usr/include/onnx/backend/test/data/node/* /usr/include/onnx/backend/test/data/simple/*)
tsan:
	@tools/setup.sh build test
	@cmake -S . -B build/tsan -G Ninja -DCMAKE_BUILD_TYPE=None -DCALQUE_TSAN=ON -DCALQUE_TESTS=ON >/dev/null
	@ninja -C build/tsan --quiet rerun unit_base_thread unit_runtime_session unit_runtime_plan_memory
	@build/tsan/tests/unit_base_thread && build/tsan/tests/unit_runtime_session && build/tsan/tests/unit_runtime_plan_memory
	@build/tsan/tests/rerun --at-once 8 $(TSAN_DATA) >build/tsan/rerun.log && \
	 echo "$$(grep -c '^ok ' build/tsan/rerun.log) models give the same bits from eight threads at once"

bench-export: build
	@tools/setup.sh peers
	@/usr/bin/python3 tools/bench_export.py build/calque

# What is printed from the code: the page of operators and the list of exported symbols.
docs: build
	@build/calque ops --markdown >docs/operators.md
	@/usr/bin/python3 tests/repo/abi.py --bless
	@echo "docs/operators.md and tools/abi.txt are rewritten"

# Interleaved in one process, on 1 and 2 threads; a while for all models. BENCH="resnet50 vgg16" picks some.
bench-run: build
	@tools/setup.sh peers
	@/usr/bin/python3 bench/run.py $(BENCH)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build
