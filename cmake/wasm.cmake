# The command line as a WebAssembly module, with the calls of the C API that web/session.js uses. web/calque.js makes one
# instance for each command, so the memory of a command is returned when it ends.
# web/module.js loads the module, so that the same code works in Node.
target_link_options(calque_cli PRIVATE -O2 -msimd128 -sMODULARIZE=1 -sEXPORT_ES6=1 -sEXPORT_NAME=createCalque
  -sENVIRONMENT=web,worker -sINVOKE_RUN=0 -sEXIT_RUNTIME=0 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB
  -sTOTAL_STACK=16MB -sINITIAL_MEMORY=64MB -sFORCE_FILESYSTEM=1 -sABORTING_MALLOC=0 -sWASM_BIGINT=1
  -sALLOW_TABLE_GROWTH=1 -sEXPORTED_RUNTIME_METHODS=callMain,FS,UTF8ToString,addFunction
  -sEXPORTED_FUNCTIONS=@${PROJECT_SOURCE_DIR}/web/exports.json)
set_target_properties(calque_cli PROPERTIES SUFFIX .mjs LINK_DEPENDS ${PROJECT_SOURCE_DIR}/web/exports.json)
