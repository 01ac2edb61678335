# Linux with a C library of its own (musl, or an old glibc), and static jansson and zlib. tools/cross.sh makes the
# compiler, a wrapper, and the libraries. A shared library does not show the symbols of the static ones.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CALQUE_PROCESSOR})
set(CMAKE_C_COMPILER ${CALQUE_CROSS}/cc)
set(CMAKE_FIND_ROOT_PATH ${CALQUE_CROSS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static-libgcc -Wl,--exclude-libs,ALL")
set(ENV{PKG_CONFIG_LIBDIR} ${CALQUE_CROSS}/lib/pkgconfig)
if(CALQUE_PROCESSOR STREQUAL "aarch64")
  set(CMAKE_C_FLAGS_INIT -mno-outline-atomics) # libgcc's call a function that musl's shared library does not have
  set(CMAKE_AR aarch64-linux-gnu-ar)
  set(CMAKE_RANLIB aarch64-linux-gnu-ranlib)
  set(CMAKE_STRIP aarch64-linux-gnu-strip)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
endif()
