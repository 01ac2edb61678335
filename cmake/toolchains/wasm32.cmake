# WebAssembly with Debian's emscripten, and jansson and zlib that tools/cross.sh builds.
set(CALQUE_TARGET wasm32)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "") # the kernels add -O3
list(APPEND CMAKE_FIND_ROOT_PATH ${CALQUE_CROSS})
set(ENV{PKG_CONFIG_LIBDIR} ${CALQUE_CROSS}/lib/pkgconfig)

# emcc is a Python program that starts clang, and its start takes longer than clang needs for most files. So clang
# compiles, with the flags that emcc would pass, and emcc links.
if(NOT DEFINED CALQUE_EMCC_FLAGS)
  execute_process(COMMAND ${CMAKE_C_COMPILER} --cflags OUTPUT_VARIABLE CALQUE_EMCC_FLAGS
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CALQUE_EMCC_FLAGS)
set(CMAKE_C_COMPILE_OBJECT "/usr/bin/clang ${CALQUE_EMCC_FLAGS} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
