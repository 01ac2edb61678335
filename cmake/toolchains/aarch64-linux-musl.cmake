set(CALQUE_TARGET aarch64-linux-musl)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
set(CALQUE_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
