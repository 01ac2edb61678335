# Writes the Python files of lib/ into one C file: cmake -DLIB=… -DOUT=… -P embed.cmake
#
# The text is written as string literals, which compilers read many times faster than lists of
# numbers. They are longer than C requires compilers to support; gcc and clang have no limit.
file(GLOB_RECURSE files RELATIVE ${LIB} ${LIB}/*.py)
list(SORT files)
set(texts "")
set(table "")
set(n 0)
foreach(file ${files})
  file(READ ${LIB}/${file} text)
  file(SIZE ${LIB}/${file} size)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}") # no trigraphs
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  string(APPEND texts "static const char text_${n}[] =\n\"${text}\";\n")
  string(APPEND table "    { \"${file}\", text_${n}, ${size} },\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "/* Written by cmake/embed.cmake. */\n#include \"lang/library.h\"\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n${texts}\nconst cq_lib_text cq_lib_texts[] = {\n${table}    { 0 },\n};\n")
