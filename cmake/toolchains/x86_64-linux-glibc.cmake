set(CALQUE_TARGET x86_64-linux-glibc)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
set(CALQUE_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
