/* Operators on tensors for model code (see <calque/module.h> for layers).
 *
 * Calls take a context, borrow their arguments and return tensors that the context owns.
 * The first error stays in the context; later calls do nothing and return NULL, so model code
 * neither checks nor frees between layers. The caller that created the context checks the status at
 * the end and retains the tensors that it needs (cq_tensor_retain). */
#ifndef CALQUE_NN_H
#define CALQUE_NN_H

#include <calque/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_ctx cq_ctx;

CQ_API cq_status cq_ctx_new(cq_ctx **out);
CQ_API void      cq_ctx_free(cq_ctx *cx); /* and all tensors that it still owns */

/* The first error, and its details in cq_last_error(). */
CQ_API cq_status cq_ctx_status(const cq_ctx *cx);

/* Seeds the generator of random operators. The same seed gives the same numbers on every
 * machine. A new context has seed 0. */
CQ_API void cq_ctx_seed(cq_ctx *cx, uint64_t seed);

/* Retains t for the lifetime of the context. Returns t. */
CQ_API cq_tensor *cq_keep(cq_ctx *cx, cq_tensor *t);

/* ---- sizes ---- */

/* The size of x along axis (negative: from the end). In a capture it stays symbolic. */
CQ_API cq_int cq_size(cq_ctx *cx, cq_tensor *x, int axis);
CQ_API cq_int cq_numel(cq_ctx *cx, cq_tensor *x);

CQ_API cq_int cq_int_plus(cq_ctx *cx, cq_int a, cq_int b);
CQ_API cq_int cq_int_minus(cq_ctx *cx, cq_int a, cq_int b);
CQ_API cq_int cq_int_times(cq_ctx *cx, cq_int a, cq_int b);
CQ_API cq_int cq_int_over(cq_ctx *cx, cq_int a, cq_int b); /* rounds down */

/* The plain number, for loops and branches of C code. A symbolic number is fixed to its value on
 * the example, with a warning. */
CQ_API int64_t cq_int_value(cq_ctx *cx, cq_int a);

/* The number in a tensor of one element. Fixed to the example, like cq_int_value. */
CQ_API double  cq_item(cq_ctx *cx, cq_tensor *x);
CQ_API int64_t cq_item_i64(cq_ctx *cx, cq_tensor *x);

/* ---- new tensors ---- */

CQ_API cq_tensor *cq_zeros(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes);
CQ_API cq_tensor *cq_ones(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes);
CQ_API cq_tensor *cq_full(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes,
                          double value);
CQ_API cq_tensor *cq_zeros_like(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_ones_like(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_full_like(cq_ctx *cx, cq_tensor *x, double value);
CQ_API cq_tensor *cq_arange(cq_ctx *cx, cq_int start, cq_int end, int64_t step); /* int64 */
CQ_API cq_tensor *cq_arange_f(cq_ctx *cx, cq_dtype dtype, double start, double end, double step);
CQ_API cq_tensor *cq_rand(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes);
CQ_API cq_tensor *cq_randn(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes);
CQ_API cq_tensor *cq_to(cq_ctx *cx, cq_tensor *x, cq_dtype dtype);
CQ_API cq_tensor *cq_type_as(cq_ctx *cx, cq_tensor *x, cq_tensor *other);
CQ_API cq_tensor *cq_clone(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_detach(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_contiguous(cq_ctx *cx, cq_tensor *x);

/* ---- element by element ---- */

CQ_API cq_tensor *cq_add(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_add_alpha(cq_ctx *cx, cq_tensor *a, cq_tensor *b,
                               double alpha); /* a + alpha*b */
CQ_API cq_tensor *cq_sub(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_mul(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_div(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
/* rounding: NULL, "trunc" or "floor" */
CQ_API cq_tensor *cq_div_mode(cq_ctx *cx, cq_tensor *a, cq_tensor *b, const char *rounding);
CQ_API cq_tensor *cq_pow(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_maximum(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_minimum(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_add_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_sub_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_mul_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_div_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_pow_scalar(cq_ctx *cx, cq_tensor *a, double b);

CQ_API cq_tensor *cq_eq(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_ne(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_gt(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_lt(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_ge(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_le(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_eq_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_ne_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_gt_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_lt_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_ge_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_le_scalar(cq_ctx *cx, cq_tensor *a, double b);
CQ_API cq_tensor *cq_logical_and(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_logical_or(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_logical_xor(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_logical_not(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_bitwise_and(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_bitwise_or(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_bitwise_xor(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_bitwise_not(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_where(cq_ctx *cx, cq_tensor *condition, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_masked_fill(cq_ctx *cx, cq_tensor *x, cq_tensor *mask, double value);

CQ_API cq_tensor *cq_neg(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_abs(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_sqrt(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_rsqrt(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_exp(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_log(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_sin(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_cos(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_tan(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_asin(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_acos(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_atan(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_tanh(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_sigmoid(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_erf(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_floor(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_ceil(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_round(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_sign(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_reciprocal(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_clamp(cq_ctx *cx, cq_tensor *x, double low,
                           double high); /* ±INFINITY: no bound */

/* In-place operators change x and every view of the same memory. They return x. */
CQ_API cq_tensor *cq_add_(cq_ctx *cx, cq_tensor *x, cq_tensor *other);
CQ_API cq_tensor *cq_mul_(cq_ctx *cx, cq_tensor *x, cq_tensor *other);
CQ_API cq_tensor *cq_relu_(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_copy_(cq_ctx *cx, cq_tensor *x, cq_tensor *from);
CQ_API cq_tensor *cq_fill_(cq_ctx *cx, cq_tensor *x, double value);

/* ---- activations ---- */

CQ_API cq_tensor *cq_relu(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_relu6(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_leaky_relu(cq_ctx *cx, cq_tensor *x, double negative_slope);
CQ_API cq_tensor *cq_prelu(cq_ctx *cx, cq_tensor *x, cq_tensor *weight);
CQ_API cq_tensor *cq_elu(cq_ctx *cx, cq_tensor *x, double alpha);
CQ_API cq_tensor *cq_selu(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_celu(cq_ctx *cx, cq_tensor *x, double alpha);
CQ_API cq_tensor *cq_gelu(cq_ctx *cx, cq_tensor *x, bool tanh_approximation);
CQ_API cq_tensor *cq_silu(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_mish(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_hardtanh(cq_ctx *cx, cq_tensor *x, double low, double high);
CQ_API cq_tensor *cq_hardswish(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_hardsigmoid(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_softplus(cq_ctx *cx, cq_tensor *x, double beta, double threshold);
CQ_API cq_tensor *cq_threshold(cq_ctx *cx, cq_tensor *x, double threshold, double value);
CQ_API cq_tensor *cq_glu(cq_ctx *cx, cq_tensor *x, int dim);
CQ_API cq_tensor *cq_softmax(cq_ctx *cx, cq_tensor *x, int dim);
CQ_API cq_tensor *cq_log_softmax(cq_ctx *cx, cq_tensor *x, int dim);

/* ---- shape ---- */

CQ_API cq_tensor *cq_view(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *sizes);
CQ_API cq_tensor *cq_reshape(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *sizes);
CQ_API cq_tensor *cq_flatten(cq_ctx *cx, cq_tensor *x, int start, int end);
CQ_API cq_tensor *cq_t(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_transpose(cq_ctx *cx, cq_tensor *x, int a, int b);
CQ_API cq_tensor *cq_permute(cq_ctx *cx, cq_tensor *x, size_t rank, const int64_t *dims);
CQ_API cq_tensor *cq_squeeze(cq_ctx *cx, cq_tensor *x, int dim);
CQ_API cq_tensor *cq_unsqueeze(cq_ctx *cx, cq_tensor *x, int dim);
CQ_API cq_tensor *cq_expand(cq_ctx *cx, cq_tensor *x, size_t rank,
                            const cq_int *sizes); /* -1: unchanged */
CQ_API cq_tensor *cq_repeat(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *times);
CQ_API cq_tensor *cq_cat(cq_ctx *cx, size_t n, cq_tensor *const *xs, int dim);
CQ_API cq_tensor *cq_stack(cq_ctx *cx, size_t n, cq_tensor *const *xs, int dim);
/* Splits into pieces of size (the last may be smaller), or into n_chunks of equal size. Returns the
 * number of pieces. */
CQ_API size_t cq_split(cq_ctx *cx, cq_tensor *x, cq_int size, int dim, cq_tensor **out, size_t max);
CQ_API size_t cq_chunk(cq_ctx *cx, cq_tensor *x, int64_t n_chunks, int dim, cq_tensor **out,
                       size_t max);
CQ_API size_t cq_unbind(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor **out, size_t max);
CQ_API cq_tensor *cq_pixel_shuffle(cq_ctx *cx, cq_tensor *x, int64_t factor);
CQ_API cq_tensor *cq_pad(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *pads, const char *mode,
                         double value); /* "constant", "reflect", "replicate", "circular" */

/* ---- indexing ---- */

CQ_API cq_tensor *cq_slice(cq_ctx *cx, cq_tensor *x, int dim, cq_int start, cq_int end,
                           int64_t step);
CQ_API cq_tensor *cq_select(cq_ctx *cx, cq_tensor *x, int dim, cq_int index);
CQ_API cq_tensor *cq_narrow(cq_ctx *cx, cq_tensor *x, int dim, cq_int start, cq_int length);
/* x[i0, i1, …] with int64 or bool tensors; NULL selects a whole dimension. */
CQ_API cq_tensor *cq_index(cq_ctx *cx, cq_tensor *x, size_t n, cq_tensor *const *indices);
CQ_API cq_tensor *cq_index_put_(cq_ctx *cx, cq_tensor *x, size_t n, cq_tensor *const *indices,
                                cq_tensor *values, bool accumulate);
CQ_API cq_tensor *cq_index_select(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor *index);
CQ_API cq_tensor *cq_gather(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor *index);
CQ_API cq_tensor *cq_scatter(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor *index, cq_tensor *src);
CQ_API cq_tensor *cq_embedding(cq_ctx *cx, cq_tensor *weight, cq_tensor *indices);

/* ---- sums and orders. An n_dims of 0 means all dimensions ---- */

CQ_API cq_tensor *cq_sum(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                         bool keepdim);
CQ_API cq_tensor *cq_mean(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                          bool keepdim);
CQ_API cq_tensor *cq_var(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                         bool unbiased, bool keepdim);
CQ_API cq_tensor *cq_std(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                         bool unbiased, bool keepdim);
CQ_API cq_tensor *cq_prod(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_max(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_min(cq_ctx *cx, cq_tensor *x);
CQ_API cq_tensor *cq_max_dim(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim, cq_tensor **indices);
CQ_API cq_tensor *cq_min_dim(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim, cq_tensor **indices);
CQ_API cq_tensor *cq_argmax(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim);
CQ_API cq_tensor *cq_argmin(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim);
CQ_API cq_tensor *cq_topk(cq_ctx *cx, cq_tensor *x, int64_t k, int dim, bool largest,
                          cq_tensor **indices);
CQ_API cq_tensor *cq_sort(cq_ctx *cx, cq_tensor *x, int dim, bool descending, cq_tensor **indices);
CQ_API cq_tensor *cq_cumsum(cq_ctx *cx, cq_tensor *x, int dim);
CQ_API cq_tensor *cq_norm(cq_ctx *cx, cq_tensor *x, double p, size_t n_dims, const int64_t *dims,
                          bool keepdim);

/* ---- products ---- */

CQ_API cq_tensor *cq_mm(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_bmm(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_matmul(cq_ctx *cx, cq_tensor *a, cq_tensor *b);
CQ_API cq_tensor *cq_addmm(cq_ctx *cx, cq_tensor *bias, cq_tensor *a, cq_tensor *b, double beta,
                           double alpha);
CQ_API cq_tensor *cq_linear(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias);

/* ---- convolution and pooling. Zeros mean the defaults: stride 1 (for pooling the kernel size),
 * dilation 1, groups 1 ---- */

#define CQ_CONV_FIELDS(n)                                                                          \
    int64_t stride[n], padding[n], dilation[n], groups;                                            \
    int64_t output_padding[n] /* transposed convolution only */
typedef struct cq_conv1d_options {
    CQ_CONV_FIELDS(1);
} cq_conv1d_options;
typedef struct cq_conv2d_options {
    CQ_CONV_FIELDS(2);
} cq_conv2d_options;
typedef struct cq_conv3d_options {
    CQ_CONV_FIELDS(3);
} cq_conv3d_options;

CQ_API cq_tensor *cq_conv1d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                            const cq_conv1d_options *o);
CQ_API cq_tensor *cq_conv2d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                            const cq_conv2d_options *o);
CQ_API cq_tensor *cq_conv3d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                            const cq_conv3d_options *o);
CQ_API cq_tensor *cq_conv_transpose1d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                      const cq_conv1d_options *o);
CQ_API cq_tensor *cq_conv_transpose2d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                      const cq_conv2d_options *o);
CQ_API cq_tensor *cq_conv_transpose3d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                      const cq_conv3d_options *o);

#define CQ_POOL_FIELDS(n)                                                                          \
    int64_t kernel[n], stride[n], padding[n], dilation[n];                                         \
    bool    ceil_mode, exclude_pad /* average pooling: do not count padding */
typedef struct cq_pool1d {
    CQ_POOL_FIELDS(1);
} cq_pool1d;
typedef struct cq_pool2d {
    CQ_POOL_FIELDS(2);
} cq_pool2d;
typedef struct cq_pool3d {
    CQ_POOL_FIELDS(3);
} cq_pool3d;

CQ_API cq_tensor *cq_max_pool1d(cq_ctx *cx, cq_tensor *x, const cq_pool1d *o);
CQ_API cq_tensor *cq_max_pool2d(cq_ctx *cx, cq_tensor *x, const cq_pool2d *o);
CQ_API cq_tensor *cq_max_pool3d(cq_ctx *cx, cq_tensor *x, const cq_pool3d *o);
CQ_API cq_tensor *cq_avg_pool1d(cq_ctx *cx, cq_tensor *x, const cq_pool1d *o);
CQ_API cq_tensor *cq_avg_pool2d(cq_ctx *cx, cq_tensor *x, const cq_pool2d *o);
CQ_API cq_tensor *cq_avg_pool3d(cq_ctx *cx, cq_tensor *x, const cq_pool3d *o);
/* Adaptive pooling of the last n dimensions, 1 to 3, to the given sizes. */
CQ_API cq_tensor *cq_adaptive_avg_pool(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *sizes);
CQ_API cq_tensor *cq_adaptive_max_pool(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *sizes);
/* im2col with kernel, dilation, padding and stride of o. */
CQ_API cq_tensor *cq_unfold(cq_ctx *cx, cq_tensor *x, const cq_pool2d *o);

/* mode: "nearest", "linear", "bilinear", "bicubic", "trilinear". Either sizes or scales has n
 * items, the other one is NULL. */
CQ_API cq_tensor *cq_interpolate(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *sizes,
                                 const double *scales, const char *mode, bool align_corners);

/* ---- normalisation, dropout ---- */

/* Running statistics may be NULL if training is true; training updates them. */
CQ_API cq_tensor *cq_batch_norm(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                cq_tensor *running_mean, cq_tensor *running_var, bool training,
                                double momentum, double eps);
CQ_API cq_tensor *cq_layer_norm(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *shape,
                                cq_tensor *weight, cq_tensor *bias, double eps);
CQ_API cq_tensor *cq_group_norm(cq_ctx *cx, cq_tensor *x, int64_t groups, cq_tensor *weight,
                                cq_tensor *bias, double eps);
CQ_API cq_tensor *cq_instance_norm(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                   double eps);
CQ_API cq_tensor *cq_dropout(cq_ctx *cx, cq_tensor *x, double p, bool training);
CQ_API cq_tensor *cq_feature_dropout(cq_ctx *cx, cq_tensor *x, double p, bool training);

#ifdef __cplusplus
}
#endif

#endif
