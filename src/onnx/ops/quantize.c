/* Schemas: quantized arithmetic. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_quantize[] = {
    "ConvInteger 10 | x:T1 w:T2 x_zero_point?:T1 w_zero_point?:T2 | y:T3 | auto_pad:s=NOTSET "
    "dilations:is group:i=1 kernel_shape:is pads:is strides:is | T1=i8,u8 T2=i8,u8 T3=i32",
    "DequantizeLinear 10 | x:T x_scale:f32 x_zero_point?:T | y:f32 |  | T=i8,u8,i32",
    "DequantizeLinear 13 | x:T x_scale:f32 x_zero_point?:T | y:f32 | axis:i=1 | T=i8,u8,i32",
    "DequantizeLinear 19 | x:T1 x_scale:T2 x_zero_point?:T1 | y:T2 | axis:i=1 | "
    "T1=float8,i8,u8,i32 T2=f32,f16,bf16",
    "DequantizeLinear 21 | x:T1 x_scale:T2 x_zero_point?:T1 | y:T2 | axis:i=1 block_size:i=0 "
    "| T1=float8,int4,i8,u8,i16,u16,i32 T2=f32,f16,bf16",
    "DequantizeLinear 23 | x:T1 x_scale:T2 x_zero_point?:T1 | y:T3 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 | T1=float8,int4,i8,u8,i16,u16,i32,f4e2m1 T2=f32,f16,bf16 "
    "T3=f32,f16,bf16",
    "DequantizeLinear 24 | x:T1 x_scale:T2 x_zero_point?:T1 | y:T3 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 | T1=float8,int4,i8,u8,i16,u16,i32,f4e2m1 T2=f32,f16,bf16,f8e8m0 "
    "T3=f32,f16,bf16",
    "DequantizeLinear 25 | x:T1 x_scale:T2 x_zero_point?:T1 | y:T3 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 | T1=float8,int4,i8,u8,i16,u16,i32,f4e2m1,u2,i2 T2=f32,f16,bf16,f8e8m0 "
    "T3=f32,f16,bf16",
    "DynamicQuantizeLinear 11 function | x:T1 | y:T2 y_scale:f32 y_zero_point:T2 |  | T1=f32 "
    "T2=u8",
    "MatMulInteger 10 | A:T1 B:T2 a_zero_point?:T1 b_zero_point?:T2 | Y:T3 |  | T1=i8,u8 "
    "T2=i8,u8 T3=i32",
    "QLinearConv 10 | x:T1 x_scale:f32 x_zero_point:T1 w:T2 w_scale:f32 w_zero_point:T2 "
    "y_scale:f32 y_zero_point:T3 B?:T4 | y:T3 | auto_pad:s=NOTSET dilations:is group:i=1 "
    "kernel_shape:is pads:is strides:is | T1=i8,u8 T2=i8,u8 T3=i8,u8 T4=i32",
    "QLinearMatMul 10 | a:T1 a_scale:f32 a_zero_point:T1 b:T2 b_scale:f32 b_zero_point:T2 "
    "y_scale:f32 y_zero_point:T3 | y:T3 |  | T1=i8,u8 T2=i8,u8 T3=i8,u8",
    "QLinearMatMul 21 | a:T1 a_scale:TS a_zero_point:T1 b:T2 b_scale:TS b_zero_point:T2 "
    "y_scale:TS y_zero_point:T3 | y:T3 |  | TS=f32,f16,bf16 T1=float8,i8,u8 T2=float8,i8,u8 "
    "T3=float8,i8,u8",
    "QuantizeLinear 10 | x:T1 y_scale:f32 y_zero_point?:T2 | y:T2 |  | T1=f32,i32 T2=i8,u8",
    "QuantizeLinear 13 | x:T1 y_scale:f32 y_zero_point?:T2 | y:T2 | axis:i=1 | T1=f32,i32 "
    "T2=i8,u8",
    "QuantizeLinear 19 | x:T1 y_scale:T1 y_zero_point?:T2 | y:T2 | axis:i=1 saturate:i=1 | "
    "T1=f32,f16,bf16,i32 T2=float8,i8,u8",
    "QuantizeLinear 21 | x:T1 y_scale:T1 y_zero_point?:T2 | y:T2 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 saturate:i=1 | T1=f32,f16,bf16,i32 T2=float8,int4,i8,u8,i16,u16",
    "QuantizeLinear 23 | x:T1 y_scale:T2 y_zero_point?:T3 | y:T3 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 precision:i=0 saturate:i=1 | T1=f32,f16,bf16,i32 T2=f32,f16,bf16,i32 "
    "T3=float8,int4,i8,u8,i16,u16,f4e2m1",
    "QuantizeLinear 24 | x:T1 y_scale:T2 y_zero_point?:T3 | y:T3 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 precision:i=0 saturate:i=1 | T1=f32,f16,bf16,i32 "
    "T2=f32,f16,bf16,i32,f8e8m0 T3=float8,int4,i8,u8,i16,u16,f4e2m1",
    "QuantizeLinear 25 | x:T1 y_scale:T2 y_zero_point?:T3 | y:T3 | axis:i=1 block_size:i=0 "
    "output_dtype:i=0 precision:i=0 saturate:i=1 | T1=f32,f16,bf16,i32 "
    "T2=f32,f16,bf16,i32,f8e8m0 T3=float8,int4,i8,u8,i16,u16,f4e2m1,u2,i2",
    NULL,
};
