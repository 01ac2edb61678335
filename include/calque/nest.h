/* Nested arguments and results: a tensor, or a tuple, list or dict of nests.
 *
 * A nest is a plain struct with borrowed pointers, so it can be written as a literal:
 *
 *     cq_nest image = { .tensor = x };
 *     cq_nest pair  = { CQ_NEST_TUPLE, .n = 2, .items = (cq_nest[]){ image, { .tensor = y } } };
 *
 * Inside of a forward function, cq_nest_tuple, cq_nest_list and cq_nest_dict make nests that live
 * as long as the context; a forward function must return such a nest. In an export, a nest is
 * flattened to its tensors in order, without None. */
#ifndef CALQUE_NEST_H
#define CALQUE_NEST_H

#include <calque/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_nest_kind {
    CQ_NEST_TENSOR = 0,
    CQ_NEST_TUPLE  = 1,
    CQ_NEST_LIST   = 2,
    CQ_NEST_DICT   = 3
} cq_nest_kind;

typedef struct cq_nest cq_nest;
struct cq_nest {
    cq_nest_kind       kind;
    cq_tensor         *tensor; /* of CQ_NEST_TENSOR; NULL is None */
    size_t             n;      /* of the others */
    const cq_nest     *items;
    const char *const *keys; /* n of them, of CQ_NEST_DICT */
};

CQ_API cq_nest cq_nest_tensor(cq_tensor *t);
CQ_API cq_nest cq_nest_tuple(cq_ctx *cx, size_t n, const cq_nest *items);
CQ_API cq_nest cq_nest_list(cq_ctx *cx, size_t n, const cq_nest *items);
CQ_API cq_nest cq_nest_dict(cq_ctx *cx, size_t n, const char *const *keys, const cq_nest *items);

/* An item by index, or by its key in a dict. A missing item sets the context's error and returns
 * None. */
CQ_API cq_nest cq_nest_at(cq_ctx *cx, const cq_nest *nest, size_t index);
CQ_API cq_nest cq_nest_get(cq_ctx *cx, const cq_nest *nest, const char *key);

/* The tensors of a nest in order, without None: writes the first max of them, borrowed, to out and
 * returns the number of all. */
CQ_API size_t cq_nest_flatten(const cq_nest *nest, cq_tensor **out, size_t max);

#ifdef __cplusplus
}
#endif

#endif
