/* PyTorch's operator schemas, parsed once:
 *
 *     aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], …) -> Tensor
 */
#ifndef CQ_ATEN_CORE_SCHEMA_H
#define CQ_ATEN_CORE_SCHEMA_H

#include "base/arena.h"
#include "tensor/value.h"

enum { CQ_MAX_ARGS = 64 }; /* arguments or results of a schema; more are refused */

typedef enum cq_schema_base {
    CQ_SCHEMA_TENSOR,
    CQ_SCHEMA_INT, /* also SymInt, ScalarType, Layout, MemoryFormat */
    CQ_SCHEMA_FLOAT,
    CQ_SCHEMA_BOOL,
    CQ_SCHEMA_COMPLEX,
    CQ_SCHEMA_SCALAR, /* any number */
    CQ_SCHEMA_STR,    /* also Dimname */
    CQ_SCHEMA_DEVICE,
    CQ_SCHEMA_GENERATOR,
    CQ_SCHEMA_DICT,
    CQ_SCHEMA_TUPLE,
    CQ_SCHEMA_ANY, /* Any, a type variable, or a class: not checked here */
    CQ_SCHEMA_NONE
} cq_schema_base;

typedef struct cq_schema_type {
    cq_schema_base base;
    uint8_t        list_depth;       /* int[] is 1, int[][] 2 */
    int16_t        list_size;        /* int[2] is 2; 0: any */
    bool           optional;         /* the whole: int[]? */
    bool           element_optional; /* Tensor?[] */
    bool           written;          /* (a!): the argument is changed */
    bool           is_dtype;         /* ScalarType: an int that means a dtype */
    const char    *name;             /* as written, for messages and ANY */
} cq_schema_type;

typedef struct cq_schema_arg {
    const char    *name;
    cq_schema_type type;
    bool           keyword_only;
    bool           has_default;
    cq_val         default_value;
} cq_schema_arg;

typedef struct cq_schema {
    const char    *full;     /* "aten::add.Tensor" */
    const char    *name;     /* "aten::add" */
    const char    *overload; /* "Tensor", "" */
    size_t         n_args, n_results;
    cq_schema_arg *args, *results;
    bool           varargs;
} cq_schema;

/* Everything lives in arena. */
cq_status cq_schema_parse(cq_schema **out, cq_arena *arena, const char *text);

/* How an argument is matched with a type. */
typedef enum cq_match {
    CQ_MATCH_EXACT,    /* overload resolution: no conversion */
    CQ_MATCH_IMPLICIT, /* overload resolution: with the implicit conversions of TorchScript */
    CQ_MATCH_CALL      /* a call of an operator: what PyTorch converts silently */
} cq_match;

/* Whether a type accepts a value: the only rules for this. */
bool cq_schema_accepts(const cq_schema_type *type, const cq_val *v, cq_match how);

/* The position of an argument, -1 if it does not exist. */
int cq_schema_find(const cq_schema *schema, const char *arg);

#endif
