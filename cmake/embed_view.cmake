# Writes the files of web/view into one C file: cmake -DVIEW=… -DOUT=… -P embed_view.cmake
#
# The text is written as numbers: string literals have a length that compilers need not support.
set(texts "")
set(table "")
foreach(file view.html view.css view.js)
  file(READ ${VIEW}/${file} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(MAKE_C_IDENTIFIER ${file} name)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND texts "static const unsigned char ${name}[] = {\n${bytes}0\n};\n")
  string(APPEND table "    { \"${file}\", (const char *)${name}, ${size} },\n")
endforeach()
file(WRITE ${OUT} "/* Written by cmake/embed_view.cmake. */\n#include \"view/view.h\"\n\n${texts}\nconst cq_view_file cq_view_files[] = {\n${table}};\n")
