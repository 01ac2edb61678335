/* The interface of kernels: inputs, outputs and attributes of one node.
 *
 *     static cq_status softmax(cq_rt *rt)
 *     {
 *         const cq_tensor *x = cq_rt_in(rt, 0);
 *         uint32_t         axis;
 *         cq_tensor       *y;
 *
 *         CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
 *         CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
 *         return cq_kernel_softmax(y, x, axis);
 *     }
 *
 * Before a kernel is called, numbers of inputs and outputs, attributes and types have been
 * checked against the schema: required inputs are present, have the kind that the schema declares,
 * and inputs of one type variable have one dtype. The kernel checks shapes. If a kernel fails, the
 * caller releases the outputs and adds the node to the error. */
#ifndef CQ_RUNTIME_CALL_H
#define CQ_RUNTIME_CALL_H

#include "kernel/elementwise.h"
#include "kernel/operand.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/plan.h"

/* State of one run of a model, shared by all its frames. */
typedef struct cq_rt_run {
    cq_rt_workspace *workspace;
    uint64_t         steps_left;
    uint64_t         straight_steps; /* additional steps for work outside of loops, see work.h */
    double           products_left;  /* products outside of loops that still add to
                                      * straight_steps */
    bool     in_loop;
    uint64_t random;  /* random seed of this run, for operators without a seed */
    uint64_t n_draws; /* number of random operators run so far */
    bool     traps_nan;
    void (*hook)(void *user, const char *node, const char *op_type, int64_t begin, int64_t end);
    void *hook_user;
} cq_rt_run;

struct cq_rt {
    const cq_rt_step *step;
    cq_rt_run        *run;
    const cq_val     *frame; /* values of the graph that contains the node, for captures of
                              * subgraphs */
    size_t        n_in, n_out;
    const cq_val *in;        /* borrowed */
    cq_val       *out;       /* NONE until the kernel sets them; later owned by the frame */
    bool          has_ranks; /* strings are represented by their ranks: arithmetic on them is
                              * meaningless */
    double      paid;        /* output elements already charged for (work.h) */
    size_t      n_kept;
    cq_tensor **kept; /* temporary tensors of the kernel, see cq_rt_keep */
};

/* ---- inputs ---- */

/* Input i as a tensor; NULL if it is omitted or not a tensor. */
const cq_tensor *cq_rt_in(const cq_rt *rt, size_t i);
bool             cq_rt_has_in(const cq_rt *rt, size_t i);

/* Input i as one number. A tensor with another number of elements is an error. fallback is returned
 * if the input is omitted. */
cq_status cq_rt_in_i64(int64_t *out, const cq_rt *rt, size_t i, int64_t fallback);
cq_status cq_rt_in_f64(double *out, const cq_rt *rt, size_t i, double fallback);

/* A short list of integers: axes, sizes or pads. */
typedef struct cq_rt_ints {
    bool    given;
    size_t  n;
    int64_t at[2 * CQ_MAX_RANK];
} cq_rt_ints;

/* Reads integers from an input; given is false if it is omitted. */
cq_status cq_rt_in_ints(cq_rt_ints *out, const cq_rt *rt, size_t i);

/* Reads integers from the attribute if the operator has one of that name at this version, otherwise
 * from input i: many lists were attributes in older versions and are inputs now. */
cq_status cq_rt_ints_of(cq_rt_ints *out, const cq_rt *rt, const char *name, size_t i);

/* ---- attributes, with the schema's defaults; 0 or "" if there is no default ---- */

const cq_onnx_attribute *cq_rt_attr_given(const cq_rt *rt, const char *name); /* NULL if the node
                                                                               * omits it */
int64_t           cq_rt_int(const cq_rt *rt, const char *name);
double            cq_rt_float(const cq_rt *rt, const char *name);
const char       *cq_rt_string(const cq_rt *rt, const char *name);
bool              cq_rt_is(const cq_rt *rt, const char *name, const char *value);
cq_status         cq_rt_attr_ints(cq_rt_ints *out, const cq_rt *rt, const char *name);
const cq_rt_plan *cq_rt_graph(const cq_rt *rt, const char *name);

/* Sets *out to the index of a string attribute's value among n names. */
cq_status cq_rt_choose(int *out, const cq_rt *rt, const char *attr, const char *const *names,
                       size_t n);

/* Converts a data type of onnx.proto to a dtype; rejects unsupported ones. */
cq_status cq_rt_dtype(cq_dtype *out, int64_t data_type);

/* The dtype that an attribute selects for output 0; the schema must allow it. */
cq_status cq_rt_out_dtype(cq_dtype *out, const cq_rt *rt, const char *attribute);

/* ---- shapes ---- */

typedef struct cq_rt_sizes {
    uint32_t rank;
    int64_t  at[CQ_MAX_RANK];
} cq_rt_sizes;

void cq_rt_sizes_of(cq_rt_sizes *out, const cq_tensor *t);

/* Converts an axis, -1 being the last of rank axes, to an index. */
cq_status cq_rt_axis(uint32_t *out, int64_t axis, uint32_t rank);

/* Axes as a bit set; duplicates are an error. An empty list selects all axes. */
cq_status cq_rt_axes(uint64_t *out, const cq_rt_ints *axes, uint32_t rank);

/* Broadcasts the shape *io with another one; false if they are incompatible. */
bool cq_rt_sizes_join(cq_rt_sizes *io, const cq_rt_sizes *other);

/* The shape that n tensors broadcast to; NULL tensors are skipped. _with adds another tensor to
 * *io. */
cq_status cq_rt_broadcast_with(cq_rt_sizes *io, const cq_tensor *t);
cq_status cq_rt_broadcast(cq_rt_sizes *out, const cq_tensor *const *tensors, size_t n);

/* The shape of a @ b: vectors are dropped, batch axes broadcast. */
cq_status cq_rt_product_sizes(cq_rt_sizes *out, const cq_tensor *a, const cq_tensor *b);

/* ---- outputs ---- */

/* Whether output i is used: kernels need not compute unused outputs. */
bool cq_rt_wants(const cq_rt *rt, size_t i);

/* Allocates an output with uninitialized elements. The call owns it. */
cq_status cq_rt_out(cq_tensor **out, cq_rt *rt, size_t i, cq_dtype dtype, size_t rank,
                    const int64_t *sizes);
cq_status cq_rt_out_like(cq_tensor **out, cq_rt *rt, size_t i, const cq_tensor *like);
cq_status cq_rt_out_sized(cq_tensor **out, cq_rt *rt, size_t i, cq_dtype dtype,
                          const cq_rt_sizes *sizes);

/* Sets output i to a value and takes ownership of it. */
cq_status cq_rt_set(cq_rt *rt, size_t i, cq_val value);
cq_status cq_rt_set_tensor(cq_rt *rt, size_t i, cq_tensor *t);

/* Sets output i to an input, which is retained. */
cq_status cq_rt_pass(cq_rt *rt, size_t i, const cq_tensor *t);

/* Allocates a tensor that is not an output; the caller releases it. */
cq_status cq_rt_temp(cq_tensor **out, cq_rt *rt, cq_dtype dtype, size_t rank, const int64_t *sizes);

/* Fails unless t has that rank: "X has shape float32[3], expected rank 4". */
cq_status cq_rt_need_rank(const cq_tensor *t, const char *name, uint32_t rank);

/* Fails with "the shapes float32[1, 3] and float32[2] do not match"; b may be NULL. */
cq_status cq_rt_misfit(const cq_tensor *a, const cq_tensor *b);

/* ---- views, as new tensors ---- */

/* A tensor with the same elements in the same order and other sizes: a view if strides allow,
 * otherwise a copy. The number of elements must be the same. */
cq_status cq_rt_reshape(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_rt_sizes *sizes);

/* Dimension i of the result is axes[i] of t. */
cq_status cq_rt_permute(cq_tensor **out, const cq_tensor *t, const uint32_t *axes);

/* The n elements start, start + step, … of an axis; all indices must be valid. */
cq_status cq_rt_slice(cq_tensor **out, const cq_tensor *t, uint32_t axis, int64_t start,
                      int64_t step, int64_t n);

/* The start (clamped) and the length of a slice along one axis, by Python's rules. */
int64_t cq_rt_slice_range(int64_t *start, int64_t end, int64_t step, int64_t size);

/* The lengths of the parts of a Split: from the node's input or attribute, or equal parts with a
 * shorter last one. */
typedef struct cq_rt_lengths {
    const cq_tensor         *input;
    const cq_onnx_attribute *attribute;
    int64_t                  size, each;
} cq_rt_lengths;

/* Checks the lengths: their sum must be size. */
cq_status cq_rt_split_lengths(cq_rt_lengths *out, const cq_rt *rt, int64_t size);
int64_t   cq_rt_length_at(const cq_rt_lengths *lengths, size_t i);

/* The element with index `at` of an axis, which is removed. */
cq_status cq_rt_select(cq_tensor **out, const cq_tensor *t, uint32_t axis, int64_t at);

/* Broadcasts t: sizes of 1 and missing leading axes are repeated. */
cq_status cq_rt_expand(cq_tensor **out, const cq_tensor *t, const cq_rt_sizes *sizes);

/* ---- tensors of the call: released after the kernel returns, also on failure ---- */

/* Takes ownership of a new tensor: CQ_TRY(cq_rt_keep(rt, cq_tensor_contiguous(&dense, x), &dense)).
 * Returns the status of its creation. */
cq_status cq_rt_keep(cq_rt *rt, cq_status made, cq_tensor **t);

/* cq_rt_temp and the views above, whose results are kept. A kernel should release tensors that it
 * creates in each iteration of a loop itself. */
cq_status cq_rt_scratch(cq_tensor **out, cq_rt *rt, cq_dtype dtype, size_t rank,
                        const int64_t *sizes);
cq_status cq_rt_reshaped(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_rt_sizes *sizes);
cq_status cq_rt_permuted(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const uint32_t *axes);
cq_status cq_rt_sliced(cq_tensor **out, cq_rt *rt, const cq_tensor *t, uint32_t axis, int64_t start,
                       int64_t step, int64_t n);
cq_status cq_rt_expanded(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_rt_sizes *sizes);

/* Reshapes t to a matrix: sizes before the attribute axis are rows, the others columns. */
cq_status cq_rt_flattened(cq_tensor **out, cq_rt *rt, const cq_tensor *t);

/* t itself if it is contiguous, otherwise a contiguous copy. */
cq_status cq_rt_contiguous(const cq_tensor **out, cq_rt *rt, const cq_tensor *t);

/* Called after the kernel by its caller. */
void cq_rt_release_kept(cq_rt *rt);

/* ---- subgraphs ---- */

/* Runs a subgraph of the node. inputs are borrowed; the caller releases the outputs. */
cq_status cq_rt_run_graph(cq_rt *rt, const cq_rt_plan *plan, const cq_val *inputs, size_t n_inputs,
                          cq_val *outputs, size_t n_outputs);

#endif
