/* Schemas: operators that early exporters wrote into the default domain, and that no release of
 * ONNX contains. lib/onnx/experimental.py defines them. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_experimental[] = {
    "Affine 1 open | X:T | Y:T | alpha:f=1 beta:f=0 | T=ieee",
    "Crop 1 open | X:T | Y:T | border!:is scale:is | T=ieee",
    "ImageScaler 1 open | X:T | Y:T | bias:fs scale:f=1 | T=ieee",
    "ParametricSoftplus 1 open | X:T | Y:T | alpha!:f beta!:f | T=ieee",
    "Scale 1 open | X:T | Y:T | scale:f=1 | T=ieee",
    "ScaledTanh 1 open | X:T | Y:T | alpha!:f beta!:f | T=ieee",
    NULL,
};
