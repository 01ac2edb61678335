/* Interface between the parser (regex_parse.c), which builds a tree, and the compiler (regex.c). */
#ifndef CQ_BASE_REGEX_TREE_H
#define CQ_BASE_REGEX_TREE_H

#include "base/arena.h"
#include "base/regex.h"
#include "base/vec.h"

#include <stdint.h>

typedef enum kind {
    EMPTY,
    SET,
    CAT,
    ALT,
    REPEAT,
    BEGIN,
    END,
    LINE_BEGIN,
    LINE_END,
    EDGE,
    NO_EDGE
} kind;

typedef struct range {
    uint32_t low, high;
} range;

typedef struct tree {
    kind         kind;
    struct tree *a, *b;
    int          min, max; /* of REPEAT; max -1: unlimited */
    size_t       ranges, n_ranges;
    bool         is_negated, ignores_case;
} tree;

typedef CQ_VEC(range) range_list;

#define NOTHING UINT32_MAX /* before the first character and after the last */

/* The character at *at, which is advanced past it. Invalid UTF-8 bytes stand for themselves. */
uint32_t cq_regex_next_char(const char *text, size_t len, size_t *at);
bool     cq_regex_is_word(uint32_t c);

/* The tree is allocated in arena, the ranges of its sets in ranges. */
cq_status cq_regex_parse(tree **out, cq_arena *arena, range_list *ranges, const char *pattern,
                         size_t len);

#endif
