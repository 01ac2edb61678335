# WebAssembly with Debian's emscripten, and jansson and zlib that tools/cross.sh builds.
set(CALQUE_CROSS ${CMAKE_CURRENT_LIST_DIR}/../../.cache/cross/wasm32)
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "") # the kernels add -O3
list(APPEND CMAKE_FIND_ROOT_PATH ${CALQUE_CROSS})
set(ENV{PKG_CONFIG_LIBDIR} ${CALQUE_CROSS}/lib/pkgconfig)
