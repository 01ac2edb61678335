set(CALQUE_CROSS ${CMAKE_CURRENT_LIST_DIR}/../../.cache/cross/x86_64-linux-glibc)
set(CALQUE_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
