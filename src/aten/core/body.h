/* Operators in Python: a composed operator is a function in lib/aten.
 *
 *     @operator("aten::relu6(Tensor self) -> Tensor")
 *     def relu6(self):
 *         return torch.hardtanh(self, 0, 6)
 *
 * The function has the parameters of the schema, in its order. lang/eval.h runs it; this file
 * defines the meaning of its calls:
 *
 * torch.sum(x, 1, keepdim=True) or x.sum(1, keepdim=True) calls the first overload of aten::sum
 * that accepts the arguments, torch.ops.aten.sum.dim_IntList(x, [1]) that overload, and
 * torch.ops.quantized.add(…) an operator of another namespace. Arithmetic between tensors calls
 * operators, too. Dtypes are torch.float32 and so on. x.shape, x.ndim, x.dtype, x.size(i),
 * x.numel(), torch.result_type(a, b) … need no data of the tensor; `from calque import …` has
 * functions that only calque provides (natives).
 *
 * Sizes stay symbolic through + - * // %, min, max and lists. A branch on one, int(n) or a float
 * computed from one uses its value on the example, and the listener is informed; an assert only
 * compares. */
#ifndef CQ_ATEN_CORE_BODY_H
#define CQ_ATEN_CORE_BODY_H

#include "aten/core/ctx.h"
#include "lang/eval.h"

/* One evaluation for a call of an operator. */
typedef struct cq_body {
    cq_lang    lang; /* first */
    cq_opcall *c;
    void      *user; /* of a caller with more parameters or a dict as result */
} cq_body;

/* Runs a function that returns what c's operator does, and sets the results. */
cq_status cq_body_run(cq_lib_function *f, cq_opcall *c);

/* Runs a function for a call that was made: its parameters are arguments of the operator, and names
 * for which value has a value. The result belongs to the context; None after a failure. */
typedef bool cq_body_names(const cq_body *b, const char *name, cq_val *out);
cq_val       cq_body_eval(cq_lib_function *f, cq_opcall *c, cq_body_names *value,
                          bool (*needs)(cq_lang *l, const char *key), void *user);

/* Checks lib/aten, or its changed files, as a whole (library_check.c): the error names the file and
 * the line. */
cq_status cq_body_check_library(bool only_changed);

extern const cq_lang_host cq_body_host;

/* ---- natives: functions in C that bodies call ---- */

typedef cq_val cq_native_fn(cq_body *b, const cq_val *args, size_t n);

typedef struct cq_native {
    const char   *name; /* "calque.qparams", ".shape", or "numel" for a method */
    size_t        min, max;
    uint32_t      takes; /* bits of cq_val_kind, as the first argument; else it is an operator */
    cq_native_fn *fn;
} cq_native;

extern const cq_native cq_natives[]; /* body_native.c */

/* Constants of numbers that no operator computes (fft.c, window.c), the equation of einsum
 * (contract.c), and the quantization parameters of a tensor (quantized.c). */
cq_native_fn cq_native_waves, cq_native_kaiser, cq_native_einsum_labels;
cq_native_fn cq_native_floats, cq_native_quantized, cq_native_regrid, cq_native_grid_dtype,
    cq_native_qparams, cq_native_narrow_range, cq_native_bias_on_grid;

/* A constant of doubles, as another dtype; releases wide. */
cq_val cq_native_constant(cq_body *b, cq_tensor *wide, cq_dtype dtype);

#endif
