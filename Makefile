# The short way: set up, build, show, test. The build itself is CMake's, in build/.
#
#     make demo    install what is missing, build, export the built-in AlexNet and run it
#     make test    install what is missing, build with sanitizers, run every test
#     make check   the quick part of it: no peers, no clang
#     make         build/calque
.PHONY: all build demo test check format clean

CMAKE_FLAGS ?=

all: build

build:
	@tools/setup.sh build
	@cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCALQUE_SANITIZE=OFF $(CMAKE_FLAGS) \
	    --log-level=WARNING
	@ninja -C build --quiet

demo: build
	@tools/demo.sh build/calque

# A peer that cannot be installed is an error in CI; elsewhere its tests are skipped, and say so.
test:
	@tools/setup.sh build test
	@tools/setup.sh peers || test "$(CI)" != true
	@/usr/bin/python3 tools/run_tests.py

check:
	@tools/setup.sh build test
	@/usr/bin/python3 tools/run_tests.py --quick

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build
