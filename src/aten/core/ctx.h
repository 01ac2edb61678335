/* The context of a computation: the owner of the tensors that operators return, the first error,
 * the module that is being called, the random generator, and the listener. */
#ifndef CQ_ATEN_CORE_CTX_H
#define CQ_ATEN_CORE_CTX_H

#include "aten/core/op.h"
#include "base/location.h"
#include "base/vec.h"

#include <calque/nn.h>

/* The position of a call in the model: one frame per module. Frames are on the stack of the
 * module's call. */
typedef struct cq_scope cq_scope;
struct cq_scope {
    const cq_scope *parent;
    const char     *path;        /* from the root, "features.3"; "" for the root itself */
    const char     *name;        /* "3" */
    const char     *class_name;  /* "Conv2d" */
    unsigned        call;        /* how often this module was called before in this computation */
    void           *seen;        /* the listener's own copy */
    const void     *outer_marks; /* the observer's, of the caller */
};

/* A recorder of operator calls: a capture, a gradient tape. */
typedef struct cq_listener {
    /* Whether this listener records the call of a composed operator as one; otherwise it records
     * its parts. */
    bool (*wants_whole)(void *self, const cq_opcall *c);

    /* A composition that this listener records instead of the operator; NULL, or a function that
     * returns NULL: none. */
    cq_status (*(*parts_of)(void *self, const cq_op *op))(cq_opcall *c);

    /* A call was made and has its results. */
    cq_status (*called)(void *self, cq_opcall *c);

    /* t (an argument of an in-place operator) now has the contents of changed. */
    cq_status (*changed)(void *self, cq_ctx *cx, cq_tensor *t, cq_tensor *changed);

    /* Before t's contents are used: brings a view up to date with its base. */
    cq_status (*refresh)(void *self, cq_ctx *cx, cq_tensor *t);

    /* A plain number was taken from something that is not fixed. */
    void (*baked)(void *self, cq_ctx *cx, const char *what, cq_int value);

    /* The data of a fake tensor, computed now; a contiguous tensor that the context owns. */
    cq_status (*materialize)(void *self, cq_ctx *cx, cq_tensor **out, cq_tensor *t);
} cq_listener;

struct cq_ctx {
    cq_status       status; /* status of the first failure */
    cq_error_record error;
    CQ_VEC(cq_val) owned;
    const cq_scope           *scope;
    struct cq_module         *module;      /* the module that is being called (src/nn) */
    struct cq_module         *root_module; /* the outermost one */
    cq_location               location;    /* source location of the current call in a program */
    const cq_listener        *listener;
    void                     *listener_self;
    const struct cq_observer *observer; /* of module calls (observe.h); NULL: none */
    void                     *observer_self;
    struct cq_marking        *marking; /* marks by path; NULL: none */
    cq_symbols               *symbols; /* the listener's, NULL when sizes are all plain */
    bool                      fake;    /* operators compute no data */
    bool                      exporting;
    bool                      no_grad;       /* a tape notes nothing */
    bool                      untaken;       /* in a branch that the example does not take */
    bool                      in_grid;       /* inside of an operator on quantized tensors */
    bool                      whole_range;   /* reduce_range is ignored */
    unsigned                  depth;         /* of composed operators */
    cq_dtype                  default_float; /* of floats as tensors; CQ_DTYPE_NONE: float32 */
    uint64_t                  seed;
    struct cq_random         *random; /* made by the random operators when first needed */
    struct cq_arena          *nests;  /* of nested arguments and results; made when first needed */
    cq_status (*spend)(void *spender, uint64_t steps); /* limits work (work.h); NULL: unlimited */
    void *spender;
    cq_status (*will_write)(void            *user,
                            const cq_tensor *t); /* before its memory changes; or NULL */
    void *will_write_user;
};

enum { CQ_MAX_CALL_DEPTH = 64 };

/* Records the failure of this thread as the context's, if it is the first. */
cq_status cq_ctx_fail(cq_ctx *cx, cq_status status);

/* Gives v to the context: it is released when the context (or its innermost scope) ends. */
cq_val     cq_ctx_own(cq_ctx *cx, cq_val v);
cq_tensor *cq_ctx_own_tensor(cq_ctx *cx, cq_tensor *t);

/* A mark in the list of owned values; cq_ctx_pop releases everything after it except keep. */
size_t cq_ctx_mark(const cq_ctx *cx);
void   cq_ctx_pop(cq_ctx *cx, size_t mark, const cq_val *keep, size_t n_keep);

/* NULL without a context, after a failure, and for an unknown name, which is a failure. */
const cq_op *cq_op_or_fail(cq_ctx *cx, const char *full_name);

/* Calls an operator with positional arguments in schema order; missing ones at the end get
 * their defaults. The results are the context's; on failure they are None. */
cq_status cq_op_call(cq_ctx *cx, const cq_op *op, const cq_val *args, size_t n_args,
                     cq_val *results, size_t max_results);

/* Whether these arguments are of the types that the operator takes. */
bool cq_op_accepts(const cq_op *op, const cq_val *args, size_t n_args);

/* The same by name, for one tensor: NULL after a failure. */
cq_tensor *cq_op_tensor(cq_ctx *cx, const char *full_name, const cq_val *args, size_t n_args);
void       cq_op_tensors(cq_ctx *cx, const char *full_name, const cq_val *args, size_t n_args,
                         cq_tensor **results, size_t n_results);

#define CQ_OP(cx, full_name, ...)                                                                  \
    cq_op_tensor((cx), (full_name), (cq_val[]){ __VA_ARGS__ },                                     \
                 sizeof((cq_val[]){ __VA_ARGS__ }) / sizeof(cq_val))

/* Arguments for CQ_OP. */
#define TENSOR(tensor)  cq_val_of_tensor(tensor)
#define INT(number)     cq_val_of_i64(number)
#define SIZE(int_value) cq_val_of_int(int_value)
#define FLOAT(number)   cq_val_of_f64(number)
#define BOOL(boolean)   cq_val_of_bool(boolean)
#define DTYPE(d)        cq_val_of_i64(cq_dtype_to_torch(d))

/* Lists that live until the context's scope ends; None after a failure. */
cq_val cq_ints(cq_ctx *cx, const cq_int *items, size_t n);
cq_val cq_i64s(cq_ctx *cx, const int64_t *items, size_t n);
cq_val cq_f64s(cq_ctx *cx, const double *items, size_t n);
cq_val cq_tensors(cq_ctx *cx, cq_tensor *const *items, size_t n);
cq_val cq_str_val(cq_ctx *cx, const char *text);

#endif
