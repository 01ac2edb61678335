/* Operators as text: what others express has a body instead of code.
 *
 *     { .schema = "aten::relu6(Tensor self) -> Tensor",
 *       .body   = "hardtanh(self, 0, 6)" },
 *     { .schema = "aten::trace(Tensor self) -> Tensor",
 *       .body   = "assert self.ndim == 2, 'wants a matrix'\n"
 *                 "return self.diagonal().sum()" },
 *
 * The text is a subset of Python, and means what it means there:
 *
 *   statements   x = …      a, b = …      items += …     return …      return a, b
 *                if cond: …; …      elif cond: …      else: …      for x in items: …; …
 *                assert cond, 'message'     warn('message')
 *                raise NotImplementedError('message'), TypeError, ValueError
 *                They end with the line or a semicolon; a block is the rest of its line. A body
 *                of one expression needs no return.
 *   values       arguments by name, numbers, 'text', None, True, False, math.pi, math.inf,
 *                math.nan, torch.float32 … (dtypes), [a, b], [f(x) for x in items if cond]
 *   operators    or and not, comparisons, is None, is not None, in, not in, + - * / // % @ **,
 *                a if cond else b, items[i], items[i:j]. On tensors they call operators.
 *   calls        sum(x, 1, keepdim=True) or x.sum(1, keepdim=True) calls the first overload in the
 *                table that takes such arguments; sum.dim_IntList(x, 1) that one. *args are all
 *                arguments of the row. Several results are a tuple.
 *   of tensors   x.shape, x.ndim, x.dtype, x.size(i), x.numel(), x.is_floating_point(),
 *                x.is_complex(), result_type(a, b), broadcast_shapes(a, b)
 *   of dtypes    d.is_floating_point, d.is_complex, dtype_name(d)
 *   of numbers   len, min, max, abs, sum, prod, int, float, bool, round, range, reversed,
 *                math.sqrt, math.exp, math.log, math.floor, math.ceil, wrap_dim(dim, rank),
 *                wrap_dims(dims, rank), isinstance(x, Tensor)
 *   of grids     qparams(x), quantized(x, scale, zero_point, dtype) and others, in quantized.c
 *   of symbols   is_known(n): the same in every run; size_hint(n): what it is on the example
 *
 * Messages are written with values between braces: '{p} is not between 0 and 1'.
 *
 * Sizes stay symbolic through + - * // %, min, max and lists. A branch on one, int(n) or a float
 * made of one takes what it is on the example, and the listener hears of it; an assert only looks.
 *
 * A body is parsed when it is first used. The parser resolves every name and operator and knows
 * of each expression what kinds of values it can have, so that a wrong body is an error even in a
 * branch that is never taken; a test parses all of them. */
#ifndef CQ_ATEN_BODY_H
#define CQ_ATEN_BODY_H

#include "aten/ctx.h"

#include <stdatomic.h>

typedef struct cq_body cq_body;

/* Where the parsed text is kept, beside the row that has the text. */
typedef struct cq_body_slot {
    _Atomic(cq_body *) body;
} cq_body_slot;

/* Lets go of it; those of the tables stay. */
void cq_body_slot_clear(cq_body_slot *slot);

/* Functions that bodies share, by schema and body. They are not operators: what they call is heard
 * as if the caller had called it. body_functions.c has most of them, body_images.c those of images
 * and windows, body_layers.c those of quantized and recurrent layers. */
typedef struct cq_body_function {
    const char *schema, *body;
} cq_body_function;

extern const cq_body_function cq_body_functions[];
extern const cq_body_function cq_body_images[];
extern const cq_body_function cq_body_layers[];

/* Runs a text of c's row, parsed into slot when it is first used; sets the results. */
cq_status cq_body_run(cq_body_slot *slot, const char *text, cq_opcall *c);

/* The same for formulas, "self: grad * cos(self); other: …": an expression each for the arguments
 * that want one. Names that only the owner of the formula knows may have a number behind them. */
typedef struct cq_formula_owner {
    const char *const *names;     /* "grad", "result", NULL */
    size_t             n_tensors; /* of them; those behind are integers */
    cq_val (*value)(void *self, size_t name, size_t number);
    bool (*wants)(void *self, const char *arg);
    cq_status (*give)(void *self, const char *arg, cq_val v);
} cq_formula_owner;

cq_status cq_formula_run(cq_body_slot *slot, const char *text, cq_opcall *c,
                         const cq_formula_owner *owner, void *self);

extern const cq_formula_owner cq_unview_names; /* of the formulas that are unviews */

/* Parses only: the error says what is wrong with the text. */
cq_status cq_body_check(const cq_op *op, const char *text);
cq_status cq_formula_check(const cq_op *op, const char *text, const cq_formula_owner *owner);
cq_status cq_body_check_functions(void);

#endif
