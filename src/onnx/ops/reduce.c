/* Schemas: reductions along axes. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_reduce[] = {
    "ArgMax 1 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 | T=num",
    "ArgMax 11 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 | T=num",
    "ArgMax 12 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 select_last_index:i=0 | T=num",
    "ArgMax 13 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 select_last_index:i=0 | T=num,bf16",
    "ArgMin 1 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 | T=num",
    "ArgMin 11 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 | T=num",
    "ArgMin 12 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 select_last_index:i=0 | T=num",
    "ArgMin 13 | data:T | reduced:i64 | axis:i=0 keepdims:i=1 select_last_index:i=0 | T=num,bf16",
    "ReduceL1 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceL1 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceL1 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceL1 18 function | data:T axes?:i64 | reduced:T | keepdims:i=1 "
    "noop_with_empty_axes:i=0 | T=high,bf16",
    "ReduceL2 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceL2 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceL2 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceL2 18 function | data:T axes?:i64 | reduced:T | keepdims:i=1 "
    "noop_with_empty_axes:i=0 | T=high,bf16",
    "ReduceLogSum 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceLogSum 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceLogSum 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceLogSum 18 function | data:T axes?:i64 | reduced:T | keepdims:i=1 "
    "noop_with_empty_axes:i=0 | T=high,bf16",
    "ReduceLogSumExp 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceLogSumExp 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceLogSumExp 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceLogSumExp 18 function | data:T axes?:i64 | reduced:T | keepdims:i=1 "
    "noop_with_empty_axes:i=0 | T=high,bf16",
    "ReduceMax 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceMax 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceMax 12 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,u8,i8",
    "ReduceMax 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16,u8,i8",
    "ReduceMax 18 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16,u8,i8",
    "ReduceMax 20 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16,u8,i8,bool",
    "ReduceMean 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceMean 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceMean 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceMean 18 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16",
    "ReduceMin 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceMin 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceMin 12 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,u8,i8",
    "ReduceMin 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16,u8,i8",
    "ReduceMin 18 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16,u8,i8",
    "ReduceMin 20 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16,u8,i8,bool",
    "ReduceProd 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceProd 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceProd 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceProd 18 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16",
    "ReduceSum 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceSum 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceSum 13 | data:T axes?:i64 | reduced:T | keepdims:i=1 noop_with_empty_axes:i=0 | "
    "T=high,bf16",
    "ReduceSumSquare 1 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceSumSquare 11 | data:T | reduced:T | axes:is keepdims:i=1 | T=high",
    "ReduceSumSquare 13 | data:T | reduced:T | axes:is keepdims:i=1 | T=high,bf16",
    "ReduceSumSquare 18 function | data:T axes?:i64 | reduced:T | keepdims:i=1 "
    "noop_with_empty_axes:i=0 | T=high,bf16",
    NULL,
};
