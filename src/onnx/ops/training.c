/* Schemas: gradients and optimizers (ai.onnx.preview.training). Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_training[] = {
    "Adagrad 1 | R:T1 T:T2 inputs~:T3 | outputs~:T3 | decay_factor:f=0 epsilon:f=1e-06 "
    "norm_coefficient:f=0 | T1=f32,f64 T2=i64 T3=f32,f64",
    "Adam 1 | R:T1 T:T2 inputs~:T3 | outputs~:T3 | alpha:f=0.9 beta:f=0.999 epsilon:f=1e-06 "
    "norm_coefficient:f=0 norm_coefficient_post:f=0 | T1=f32,f64 T2=i64 T3=f32,f64",
    "Gradient 1 | Inputs~:T1 | Outputs~:T2 | xs!:ss y!:s zs:ss | T1=any T2=ieee",
    "Momentum 1 | R:T1 T:T2 inputs~:T3 | outputs~:T3 | alpha!:f beta!:f mode!:s "
    "norm_coefficient!:f | T1=f32,f64 T2=i64 T3=f32,f64",
    NULL,
};
