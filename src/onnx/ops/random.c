/* Schemas: random numbers. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_random[] = {
    "Bernoulli 15 function | input:T1 | output:T2 | dtype:i seed:f | T1=ieee T2=num,bf16,bool",
    "Bernoulli 22 function | input:T1 | output:T2 | dtype:i seed:f | T1=ieee,bf16 "
    "T2=num,bf16,bool",
    "Multinomial 7 | input:T1 | output:T2 | dtype:i=6 sample_size:i=1 seed:f | T1=ieee T2=i32,i64",
    "Multinomial 22 | input:T1 | output:T2 | dtype:i=6 sample_size:i=1 seed:f | T1=ieee,bf16 "
    "T2=i32,i64",
    "RandomNormal 1 |  | output:T | dtype:i=1 mean:f=0 scale:f=1 seed:f shape!:is | T=ieee",
    "RandomNormal 22 |  | output:T | dtype:i=1 mean:f=0 scale:f=1 seed:f shape!:is | T=ieee,bf16",
    "RandomNormalLike 1 | input:T1 | output:T2 | dtype:i mean:f=0 scale:f=1 seed:f | T1=any "
    "T2=ieee",
    "RandomNormalLike 22 | input:T1 | output:T2 | dtype:i mean:f=0 scale:f=1 seed:f | "
    "T1=any,bf16 T2=ieee,bf16",
    "RandomUniform 1 |  | output:T | dtype:i=1 high:f=1 low:f=0 seed:f shape!:is | T=ieee",
    "RandomUniform 22 |  | output:T | dtype:i=1 high:f=1 low:f=0 seed:f shape!:is | T=ieee,bf16",
    "RandomUniformLike 1 | input:T1 | output:T2 | dtype:i high:f=1 low:f=0 seed:f | T1=any "
    "T2=ieee",
    "RandomUniformLike 22 | input:T1 | output:T2 | dtype:i high:f=1 low:f=0 seed:f | "
    "T1=any,bf16 T2=ieee,bf16",
    NULL,
};
