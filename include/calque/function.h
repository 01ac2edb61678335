/* Custom functions with forward, backward and symbolic, like subclasses of
 * torch.autograd.Function. */
#ifndef CALQUE_FUNCTION_H
#define CALQUE_FUNCTION_H

#include <calque/nn.h>
#include <calque/symbolic.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CQ_FUNCTION_MAX_TENSORS = 8 };

/* Registered as an operator under its name, so it must outlive all uses of the library. */
typedef struct cq_function {
    size_t      struct_size; /* sizeof(cq_function) */
    const char *name;        /* "mydomain::my_function" */
    size_t      n_in, n_out; /* at most CQ_FUNCTION_MAX_TENSORS each */

    /* Computes out from in with other operators. */
    void (*forward)(cq_ctx *cx, void *user, cq_tensor *const *in, cq_tensor **out);

    /* Computes the gradients of the inputs from those of the outputs; NULL: differentiate the
     * operators that forward calls. */
    void (*backward)(cq_ctx *cx, void *user, cq_tensor *const *in, cq_tensor *const *out,
                     cq_tensor *const *grad_out, cq_tensor **grad_in);

    /* Emits ONNX; the arguments are called x0, x1, …. NULL: export the operators that forward
     * calls (unless CQ_EXPORT_NO_AUTOGRAD_INLINING). */
    cq_symbolic_fn symbolic;
    void          *user;
} cq_function;

CQ_API void cq_apply(cq_ctx *cx, const cq_function *f, cq_tensor *const *in, cq_tensor **out);

#ifdef __cplusplus
}
#endif

#endif
