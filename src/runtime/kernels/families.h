/* The families of kernel rows; each ends with a row without a name. */
#ifndef CQ_RUNTIME_KERNELS_FAMILIES_H
#define CQ_RUNTIME_KERNELS_FAMILIES_H

#include "runtime/call.h"

extern const cq_rt_row cq_rt_rows_elementwise[], cq_rt_rows_shape[], cq_rt_rows_create[],
    cq_rt_rows_math[], cq_rt_rows_microsoft[], cq_rt_rows_einsum[], cq_rt_rows_index[],
    cq_rt_rows_reduce[], cq_rt_rows_window[], cq_rt_rows_norm[], cq_rt_rows_control[],
    cq_rt_rows_sequence[], cq_rt_rows_random[], cq_rt_rows_quantize[], cq_rt_rows_rnn[],
    cq_rt_rows_loss[], cq_rt_rows_resize[], cq_rt_rows_image[], cq_rt_rows_signal[],
    cq_rt_rows_text[], cq_rt_rows_training[], cq_rt_rows_cast[], cq_rt_rows_ml[],
    cq_rt_rows_attention[], cq_rt_rows_linear_attention[], cq_rt_rows_deform[],
    cq_rt_rows_ml_linear[], cq_rt_rows_ml_trees[], cq_rt_rows_ml_features[], cq_rt_rows_ml_maps[];

#endif
