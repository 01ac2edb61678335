set(CALQUE_CROSS ${CMAKE_CURRENT_LIST_DIR}/../../.cache/cross/aarch64-linux-musl)
set(CALQUE_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
