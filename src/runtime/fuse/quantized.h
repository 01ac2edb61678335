/* Shared by the files of integer arithmetic: quantized.c has the pass and DequantizeLinear,
 * quantized_forms.c the operators that contain quantization parameters. */
#ifndef CQ_RUNTIME_FUSE_QUANTIZED_H
#define CQ_RUNTIME_FUSE_QUANTIZED_H

#include "runtime/fuse/images.h"
#include "runtime/kernels/quantized.h"

/* ---- quantized.c ---- */

bool cq_quant_is_8_bits(cq_dtype dtype);

/* The parameters of v if it is available in quantized form; otherwise NULL. */
const cq_rt_grid *cq_quant_grid_of(const cq_rt_node_value *v);

/* Makes v available as plain floats or bytes for step at, or folds it. */
cq_status cq_quant_need_plain(cq_img_pass *p, cq_rt_node_value *v, const cq_rt_node_step *at);

/* Represents v by the quantized value q, or by a new one, from now on. */
cq_status cq_quant_replace(cq_img_pass *p, cq_rt_node_value *v, cq_rt_node_value *q,
                           const cq_rt_grid *grid);

/* Reads scale and zero point, inputs i and i + 1 of a step; false unless each is one constant
 * number. */
bool cq_quant_read_params(cq_qimage_params *out, cq_dtype *bytes, const cq_rt_node_step *s,
                          uint32_t i);

typedef struct cq_rt_quant_weight {
    const cq_tensor *w;     /* int8 */
    const cq_tensor *scale; /* one number, or one for each output; NULL: 1 */
    bool             transposed;
} cq_rt_quant_weight;

/* Describes a convolution by a constant w; false if it is not supported. */
bool cq_quant_conv_spec(cq_qconv_spec *out, const cq_rt_node_step *s, const cq_tensor *w);

/* Describes a matrix [k, n], or [n, k] if the product transposes it. */
cq_qconv_spec cq_quant_matrix_spec(const cq_rt_quant_weight *w, bool by_rows);

/* Reads a constant vector of n floats; *fits is false if the bias has another form. */
cq_status cq_quant_find_bias(const float **out, bool *fits, cq_img_pass *p,
                             const cq_rt_node_step *s, uint32_t i, int64_t n);

/* Prepares the data of the step: sums have the scale of `from` times that of the weight; results
 * have the parameters `to`. */
cq_status cq_quant_prepare(cq_rt_qconv **out, cq_img_pass *p, const cq_qconv_spec *spec,
                           const cq_rt_quant_weight *w, const float *bias, double from, double to);

/* ---- quantized_forms.c ---- */

/* The channels that the step needs if it reads the quantized value q; otherwise 0. */
int64_t cq_quant_form_channels(bool *is_image, const cq_rt_node_step *s, const cq_rt_node_value *q);

/* *done is false if the step stays unchanged. */
cq_status cq_quant_write_qlinear_conv(cq_img_pass *p, cq_rt_node_step *s, bool *done);
cq_status cq_quant_write_qlinear_matmul(cq_img_pass *p, cq_rt_node_step *s, bool *done);
cq_status cq_quant_write_dynamic(cq_img_pass *p, cq_rt_node_step *s, bool *done);
cq_status cq_quant_write_matmul_integer(cq_img_pass *p, cq_rt_node_step *s, bool *done);

#endif
