/* Schemas: operators of com.microsoft that ONNX Runtime's optimizer and quantizer write into files.
 * lib/onnx/microsoft.py defines them. The rows are open, because later versions have more
 * attributes. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_microsoft[] = {
    "Attention 1 open | input:T weights:T bias?:T mask_index?:i32 past?:T attention_bias?:T "
    "past_sequence_length?:i32 | output:T present?:T | do_rotary:i=0 mask_filter_value:f=-10000 "
    "num_heads!:i past_present_share_buffer:i qkv_hidden_sizes:is rotary_embedding_dim:i scale:f "
    "unidirectional:i=0 | T=f32,f16",
    "BiasGelu 1 open | A:T B:T | C:T |  | T=ieee,bf16",
    "BiasSoftmax 1 open | data:T bias:T | output:T | axis:i=1 is_inner_broadcast:i=0 | T=ieee",
    "BiasSplitGelu 1 open | X:T bias:T | Y:T |  | T=f32,f16",
    "DequantizeLinear 1 open | x:T1 x_scale:T2 x_zero_point?:T1 | y:T2 | axis:i=1 | "
    "T1=i8,u8,i16,u16,i32,int4 T2=f32,f16",
    "DynamicQuantizeMatMul 1 open | A:T1 B:T2 b_scale:T1 b_zero_point?:T2 bias?:T1 | Y:T1 |  | "
    "T1=f32 T2=i8,u8",
    "EmbedLayerNormalization 1 open | input_ids:i32 segment_ids?:i32 word_embedding:T "
    "position_embedding:T segment_embedding?:T gamma:T beta:T mask?:i32 position_ids?:i32 | "
    "output:T mask_index?:i32 embedding_sum?:T | epsilon:f=1e-12 mask_index_type:i=1 | T=f32,f16",
    "ExpandDims 1 open | X:T axis:i32 | Y:T |  | T=any,bf16",
    "FastGelu 1 open | X:T bias?:T | Y:T |  | T=f32,f16,bf16",
    "FusedConv 1 open | X:T W:T B?:T Z?:T | Y:T | activation:s activation_params:fs "
    "auto_pad:s=NOTSET dilations:is group:i=1 kernel_shape:is pads:is strides:is | T=ieee",
    "FusedGemm 1 open | A:T B:T C?:T | Y:T | activation:s activation_alpha:f activation_beta:f "
    "activation_gamma:f alpha:f=1 beta:f=1 transA:i=0 transB:i=0 | T=ieee,u32,u64,i32,i64",
    "FusedMatMul 1 open | A:T B:T | Y:T | alpha:f=1 transA:i=0 transB:i=0 transBatchA:i=0 "
    "transBatchB:i=0 | T=ieee,bf16",
    "FusedMatMulActivation 1 open | A:T B:T | Y:T | activation!:s activation_alpha:f "
    "activation_axis:i activation_beta:f activation_gamma:f alpha:f=1 transA:i=0 transB:i=0 "
    "transBatchA:i=0 transBatchB:i=0 | T=ieee,bf16",
    "Gelu 1 open | X:T | Y:T |  | T=ieee,bf16",
    "Inverse 1 open | X:T | Y:T |  | T=ieee",
    "GroupQueryAttention 1 open | query:T key?:T value?:T past_key?:T past_value?:T seqlens_k:i32 "
    "total_sequence_length:i32 cos_cache?:T sin_cache?:T position_ids?:i64 attention_bias?:T "
    "head_sink?:T | output:T present_key?:T present_value?:T output_qk?:T | do_rotary:i=0 "
    "kv_num_heads!:i local_window_size:i=-1 num_heads!:i qk_output:i=0 rotary_interleaved:i=0 "
    "scale:f smooth_softmax:i=-1 softcap:f=0 | T=f32,f16,bf16",
    "MatMulIntegerToFloat 1 open | A:T1 B:T2 a_scale:T3 b_scale:T3 a_zero_point?:T1 "
    "b_zero_point?:T2 bias?:T3 | Y:T3 |  | T1=i8,u8 T2=i8,u8 T3=f32,f16",
    "MatMulNBits 1 open | A:T1 B:T2 scales:T1 zero_points?:T3 g_idx?:T4 bias?:T1 | Y:T1 | K!:i N!:i "
    "accuracy_level:i=0 bits:i=4 block_size!:i | T1=f32,f16,bf16 T2=u8,i32 T3=u8,i32,f32,f16,bf16 "
    "T4=i32",
    "MultiHeadAttention 1 open | query:T key?:T value?:T bias?:T key_padding_mask?:i32 "
    "attention_bias?:T past_key?:T past_value?:T past_sequence_length?:i32 cache_indirection?:i32 | "
    "output:T present_key?:T present_value?:T qk?:QK | mask_filter_value:f=-10000 num_heads!:i "
    "scale:f unidirectional:i=0 | T=f32,f16 QK=f32,f16",
    "NhwcMaxPool 1 open | x:T | y:T | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is "
    "kernel_shape!:is pads:is strides:is | T=i8,u8",
    "QAttention 1 open | input:T1 weight:T2 bias:T3 input_scale:T3 weight_scale:T3 mask_index?:i32 "
    "input_zero_point?:T1 weight_zero_point?:T2 past?:T3 | output:T3 present?:T3 | do_rotary:i=0 "
    "mask_filter_value:f=-10000 num_heads!:i past_present_share_buffer:i scale:f "
    "unidirectional:i=0 | T1=i8,u8 T2=i8,u8 T3=f32,f16",
    "QGemm 1 open | A:TA a_scale:T a_zero_point:TA B:TB b_scale:T b_zero_point:TB C?:i32 y_scale?:T "
    "y_zero_point?:TYZ | Y:TY | alpha:f=1 transA:i=0 transB:i=0 | T=f32 TA=u8,i8 TB=u8,i8 "
    "TYZ=u8,i8 TY=f32,u8,i8",
    "QLinearAdd 1 open | A:T A_scale:f32 A_zero_point?:T B:T B_scale:f32 B_zero_point?:T "
    "C_scale:f32 C_zero_point?:T | C:T |  | T=u8,i8",
    "QLinearAveragePool 1 open | X:T x_scale:f32 x_zero_point?:T y_scale:f32 y_zero_point?:T | Y:T | "
    "auto_pad:s=NOTSET ceil_mode:i=0 channels_last:i=0 count_include_pad:i=0 kernel_shape!:is "
    "pads:is strides:is | T=u8,i8",
    "QLinearConcat 1 open | Y_scale:f32 Y_zero_point:T8 inputs~3:TV | Y:T8 | axis!:i | T8=u8,i8 "
    "TV=u8,i8,f32",
    "QLinearGlobalAveragePool 1 open | X:T x_scale:f32 x_zero_point:T y_scale:f32 y_zero_point:T | "
    "Y:T | channels_last:i=0 | T=u8,i8",
    "QLinearLeakyRelu 1 open | X:T X_scale:f32 X_zero_point?:T Y_scale:f32 Y_zero_point?:T | Y:T | "
    "alpha:f=0.01 | T=u8,i8",
    "QLinearMul 1 open | A:T A_scale:f32 A_zero_point?:T B:T B_scale:f32 B_zero_point?:T "
    "C_scale:f32 C_zero_point?:T | C:T |  | T=u8,i8",
    "QLinearReduceMean 1 open | data:T data_scale:f32 data_zero_point?:T reduced_scale:f32 "
    "reduced_zero_point?:T | reduced:T | axes!:is keepdims!:i | T=u8,i8",
    "QLinearSigmoid 1 open | X:T X_scale:f32 X_zero_point?:T Y_scale:f32 Y_zero_point?:T | Y:T |  | "
    "T=u8,i8",
    "QLinearSoftmax 1 open | X:T X_scale:f32 x_zero_point?:T y_scale:f32 y_zero_point:T | Y:T | "
    "axis:i=-1 opset!:i | T=u8,i8",
    "QLinearWhere 1 open | condition:bool X:T x_scale:f32 x_zero_point:T Y:T y_scale:f32 "
    "y_zero_point:T z_scale:f32 z_zero_point:T | Z:T |  | T=u8,i8",
    "QuantizeLinear 1 open | x:T1 y_scale:T1 y_zero_point?:T2 | y:T2 | axis:i=1 | T1=f32,f16 "
    "T2=i8,u8,i16,u16,int4",
    "QuickGelu 1 open | X:T | Y:T | alpha:f=1.702 | T=ieee,bf16",
    "RotaryEmbedding 1 open | input:T position_ids:i64 cos_cache:T sin_cache:T | output:T | "
    "interleaved:i=0 is_packed_batching:i=0 num_heads:i=0 rotary_embedding_dim:i=0 scale:f=1 | "
    "T=f32,f16,bf16",
    "SimplifiedLayerNormalization 1 open | X:T scale:T | Y:T inv_std_var?:U | axis:i=-1 "
    "epsilon:f=1e-05 stash_type:i=1 | T=ieee,bf16 U=f32,f64",
    "SkipLayerNormalization 1 open | input:T skip:T gamma:T beta?:T bias?:T | output:T mean?:f32 "
    "inv_std_var?:f32 input_skip_bias_sum?:T | epsilon:f=1e-12 | T=f32,f16",
    "SkipSimplifiedLayerNormalization 1 open | input:T skip:T gamma:T bias?:T | output:T mean?:f32 "
    "inv_std_var?:f32 input_skip_bias_sum?:T | epsilon:f=1e-12 | T=f32,f16,bf16",
    "TransposeMatMul 1 open | A:T B:T | Y:T | alpha:f=1 transA:i=0 transB:i=0 | T=ieee,bf16",
    "Trilu 1 open | X:T k?:i64 | Y:T | upper:i=1 | T=any,bf16",
    NULL,
};
