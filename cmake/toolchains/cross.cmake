# Sets CALQUE_CROSS to the folder in which tools/cross.sh built the libraries of CALQUE_TARGET.
set(CALQUE_CACHE $ENV{CALQUE_CACHE})
if(NOT CALQUE_CACHE)
  set(CALQUE_CACHE .cache)
endif()
get_filename_component(CALQUE_CROSS ${CALQUE_CACHE}/cross/${CALQUE_TARGET} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_LIST_DIR}/../..)
