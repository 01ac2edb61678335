/* The layers of torch.nn as modules, with PyTorch's names for their parameters and its default
 * initial values. All constructors return NULL on failure (see <calque/module.h>). In the structs,
 * zeros mean PyTorch's defaults; arguments without a default, such as the kernel size, are
 * required. Arguments that torch.nn refuses, at construction or in a call, are CQ_E_ARGUMENT. */
#ifndef CALQUE_LAYERS_H
#define CALQUE_LAYERS_H

#include <calque/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- containers ---- */

CQ_API cq_module *cq_sequential_new(void);
/* Adds under the next number, "0", "1", …; returns m. */
CQ_API cq_module *cq_sequential_add(cq_module *sequential, cq_module *m);
/* A sequence of n modules at once: cq_sequential_of(2, (cq_module *[]){ a, b }). */
CQ_API cq_module *cq_sequential_of(size_t n, cq_module *const *modules);
/* A list that only holds modules: add with cq_sequential_add or cq_module_add. */
CQ_API cq_module *cq_module_list_new(void);

/* ---- linear ---- */

CQ_API cq_module *cq_linear_new(int64_t in, int64_t out, bool bias);
CQ_API cq_module *cq_bilinear_new(int64_t in1, int64_t in2, int64_t out,
                                  bool bias); /* two inputs */
CQ_API cq_module *cq_embedding_new(int64_t count, int64_t size);
CQ_API cq_module *cq_embedding_new_padded(int64_t count, int64_t size, int64_t padding_idx);

/* ---- convolution ---- */

typedef struct cq_conv_spec {
    size_t  struct_size; /* sizeof(cq_conv_spec) */
    int64_t in, out;
    int64_t kernel[3], stride[3], padding[3], dilation[3], output_padding[3];
    int64_t groups;
    bool    no_bias;
} cq_conv_spec;

CQ_API cq_module *cq_conv1d_new(const cq_conv_spec *spec);
CQ_API cq_module *cq_conv2d_new(const cq_conv_spec *spec);
CQ_API cq_module *cq_conv3d_new(const cq_conv_spec *spec);
CQ_API cq_module *cq_conv_transpose1d_new(const cq_conv_spec *spec);
CQ_API cq_module *cq_conv_transpose2d_new(const cq_conv_spec *spec);
CQ_API cq_module *cq_conv_transpose3d_new(const cq_conv_spec *spec);

/* ---- normalisation. eps 0 is 1e-5 ---- */

CQ_API cq_module *cq_batch_norm1d_new(int64_t features);
CQ_API cq_module *cq_batch_norm2d_new(int64_t features);
CQ_API cq_module *cq_batch_norm3d_new(int64_t features);
CQ_API cq_module *cq_batch_norm_new_with(int dims, int64_t features, double eps, double momentum,
                                         bool affine, bool track_running_stats);
CQ_API cq_module *cq_instance_norm1d_new(int64_t features, bool affine);
CQ_API cq_module *cq_instance_norm2d_new(int64_t features, bool affine);
CQ_API cq_module *cq_instance_norm3d_new(int64_t features, bool affine);
CQ_API cq_module *cq_layer_norm_new(size_t n, const int64_t *shape, double eps);
CQ_API cq_module *cq_group_norm_new(int64_t groups, int64_t channels, double eps);

/* ---- pooling ---- */

CQ_API cq_module *cq_max_pool1d_new(const cq_pool1d *o);
CQ_API cq_module *cq_max_pool2d_new(const cq_pool2d *o);
CQ_API cq_module *cq_max_pool3d_new(const cq_pool3d *o);
CQ_API cq_module *cq_avg_pool1d_new(const cq_pool1d *o);
CQ_API cq_module *cq_avg_pool2d_new(const cq_pool2d *o);
CQ_API cq_module *cq_avg_pool3d_new(const cq_pool3d *o);
CQ_API cq_module *cq_adaptive_avg_pool_new(size_t         n,
                                           const int64_t *sizes); /* AdaptiveAvgPool<n>d */
CQ_API cq_module *cq_adaptive_max_pool_new(size_t n, const int64_t *sizes);

/* ---- recurrent. Inputs: x, then optionally h0 (and c0); outputs: y, h (and c) ---- */

typedef struct cq_rnn_spec {
    size_t  struct_size; /* sizeof(cq_rnn_spec) */
    int64_t input, hidden;
    int64_t layers;     /* 0: 1 */
    int64_t projection; /* of an LSTM; 0: none */
    bool    bidirectional, batch_first, no_bias;
    bool    relu; /* of an RNN: instead of tanh */
    double  dropout;
} cq_rnn_spec;

CQ_API cq_module *cq_rnn_new(const cq_rnn_spec *spec);
CQ_API cq_module *cq_lstm_new(const cq_rnn_spec *spec);
CQ_API cq_module *cq_gru_new(const cq_rnn_spec *spec);

/* ---- activations ---- */

CQ_API cq_module *cq_relu_new(void);
CQ_API cq_module *cq_relu_inplace_new(void);
CQ_API cq_module *cq_relu6_new(void);
CQ_API cq_module *cq_leaky_relu_new(double negative_slope);
CQ_API cq_module *cq_prelu_new(int64_t parameters, double init); /* init: PyTorch's is 0.25 */
CQ_API cq_module *cq_elu_new(double alpha);
CQ_API cq_module *cq_selu_new(void);
CQ_API cq_module *cq_celu_new(double alpha);
CQ_API cq_module *cq_gelu_new(bool tanh_approximation);
CQ_API cq_module *cq_silu_new(void);
CQ_API cq_module *cq_mish_new(void);
CQ_API cq_module *cq_tanh_new(void);
CQ_API cq_module *cq_sigmoid_new(void);
CQ_API cq_module *cq_hardtanh_new(double low, double high);
CQ_API cq_module *cq_hardswish_new(void);
CQ_API cq_module *cq_hardsigmoid_new(void);
CQ_API cq_module *cq_softplus_new(double beta, double threshold);
CQ_API cq_module *cq_threshold_new(double threshold, double value);
CQ_API cq_module *cq_glu_new(int dim);
CQ_API cq_module *cq_softmax_new(int dim);
CQ_API cq_module *cq_log_softmax_new(int dim);

/* ---- the rest ---- */

CQ_API cq_module *cq_identity_new(void);
CQ_API cq_module *cq_dropout_new(double p);
CQ_API cq_module *cq_dropout2d_new(double p);
/* n pads as for cq_pad: of the last dimension (before, after), of the one before, … */
CQ_API cq_module *cq_constant_pad_new(size_t n, const int64_t *pads, double value);
CQ_API cq_module *cq_zero_pad2d_new(const int64_t pads[4]);
CQ_API cq_module *cq_reflection_pad_new(size_t n, const int64_t *pads);
CQ_API cq_module *cq_replication_pad_new(size_t n, const int64_t *pads);
CQ_API cq_module *cq_pixel_shuffle_new(int64_t factor);
CQ_API cq_module *cq_upsample_new(size_t n, const int64_t *sizes, const double *scales,
                                  const char *mode, bool align_corners);
CQ_API cq_module *cq_flatten_new(int start, int end);
CQ_API cq_module *cq_unflatten_new(int dim, size_t n, const int64_t *sizes);

#ifdef __cplusplus
}
#endif

#endif
