# Writes the Python files of lib/ into one C file: cmake -DLIB=… -DOUT=… -P embed.cmake
#
# The text is written as numbers: string literals have a length that compilers need not support.
file(GLOB_RECURSE files RELATIVE ${LIB} ${LIB}/*.py)
list(SORT files)
set(texts "")
set(table "")
set(n 0)
foreach(file ${files})
  file(READ ${LIB}/${file} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${n}[] = {\n${bytes}0\n};\n")
  string(APPEND table "    { \"${file}\", (const char *)text_${n}, ${size} },\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "/* Written by cmake/embed.cmake. */\n#include \"lang/library.h\"\n\n${texts}\nconst cq_lib_text cq_lib_texts[] = {\n${table}    { 0 },\n};\n")
