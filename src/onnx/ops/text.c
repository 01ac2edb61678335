/* Schemas: strings. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_text[] = {
    "RegexFullMatch 20 | X:T1 | Y:T2 | pattern:s | T1=str T2=bool",
    "StringConcat 20 | X:T Y:T | Z:T |  | T=str",
    "StringNormalizer 10 | X:str | Y:str | case_change_action:s=NONE is_case_sensitive:i=0 "
    "locale:s stopwords:ss",
    "StringSplit 20 | X:T1 | Y:T2 Z:T3 | delimiter:s maxsplit:i | T1=str T2=str T3=i64",
    "TfIdfVectorizer 9 | X:T | Y:T1 | max_gram_length!:i max_skip_count!:i min_gram_length!:i "
    "mode!:s ngram_counts!:is ngram_indexes!:is pool_int64s:is pool_strings:ss weights:fs | "
    "T=str,i32,i64 T1=f32",
    NULL,
};
