/* Schemas: quantized arithmetic. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_quantize[] = {
    "ConvInteger 10 | x:T1 w:T2 x_zero_point?:T1 w_zero_point?:T2 | y:T3 | auto_pad:s=NOTSET "
    "dilations:is group:i=1 kernel_shape:is pads:is strides:is | T1=i8,u8 T2=i8,u8 T3=i32",
    "DequantizeLinear 10 | x:T x_scale:f32 x_zero_point?:T | y:f32 |  | T=i8,u8,i32",
    "DequantizeLinear 13 | x:T x_scale:f32 x_zero_point?:T | y:f32 | axis:i=1 | T=i8,u8,i32",
    "DynamicQuantizeLinear 11 function | x:T1 | y:T2 y_scale:f32 y_zero_point:T2 |  | T1=f32 "
    "T2=u8",
    "MatMulInteger 10 | A:T1 B:T2 a_zero_point?:T1 b_zero_point?:T2 | Y:T3 |  | T1=i8,u8 "
    "T2=i8,u8 T3=i32",
    "QLinearConv 10 | x:T1 x_scale:f32 x_zero_point:T1 w:T2 w_scale:f32 w_zero_point:T2 "
    "y_scale:f32 y_zero_point:T3 B?:T4 | y:T3 | auto_pad:s=NOTSET dilations:is group:i=1 "
    "kernel_shape:is pads:is strides:is | T1=i8,u8 T2=i8,u8 T3=i8,u8 T4=i32",
    "QLinearMatMul 10 | a:T1 a_scale:f32 a_zero_point:T1 b:T2 b_scale:f32 b_zero_point:T2 "
    "y_scale:f32 y_zero_point:T3 | y:T3 |  | T1=i8,u8 T2=i8,u8 T3=i8,u8",
    "QuantizeLinear 10 | x:T1 y_scale:f32 y_zero_point?:T2 | y:T2 |  | T1=f32,i32 T2=i8,u8",
    "QuantizeLinear 13 | x:T1 y_scale:f32 y_zero_point?:T2 | y:T2 | axis:i=1 | T1=f32,i32 "
    "T2=i8,u8",
    NULL,
};
