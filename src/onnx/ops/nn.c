/* Schemas: convolution, pooling, normalization and losses. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_nn[] = {
    "Attention 23 function | Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2 | Y:T1 "
    "present_key?:T1 present_value?:T2 qk_matmul_output?:T1 | is_causal:i=0 kv_num_heads:i "
    "q_num_heads:i qk_matmul_output_mode:i=0 scale:f softcap:f=0 softmax_precision:i | "
    "T1=ieee,bf16 T2=ieee,bf16 U=num,bf16,bool",
    "Attention 24 function | Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2 "
    "nonpad_kv_seqlen?:i64 | Y:T1 present_key?:T1 present_value?:T2 qk_matmul_output?:T1 | "
    "is_causal:i=0 kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i=0 scale:f softcap:f=0 "
    "softmax_precision:i | T1=ieee,bf16 T2=ieee,bf16 U=num,bf16,bool",
    "Attention 25 function | Q:T1 K:T1 V:T2 attn_mask?:U past_key?:T1 past_value?:T2 "
    "nonpad_kv_seqlen?:i64 | Y:T1 present_key?:T1 present_value?:T2 qk_matmul_output?:T1 | "
    "is_causal:i=0 kv_num_heads:i left_window_size:i=-1 q_num_heads:i "
    "qk_matmul_output_mode:i=0 right_window_size:i=-1 scale:f softcap:f=0 softmax_precision:i "
    "| T1=ieee,bf16 T2=ieee,bf16 U=num,bf16,bool",
    "AveragePool 1 | X:T | Y:T | auto_pad:s=NOTSET kernel_shape!:is pads:is strides:is | T=ieee",
    "AveragePool 7 | X:T | Y:T | auto_pad:s=NOTSET count_include_pad:i=0 kernel_shape!:is "
    "pads:is strides:is | T=ieee",
    "AveragePool 10 | X:T | Y:T | auto_pad:s=NOTSET ceil_mode:i=0 count_include_pad:i=0 "
    "kernel_shape!:is pads:is strides:is | T=ieee",
    "AveragePool 11 | X:T | Y:T | auto_pad:s=NOTSET ceil_mode:i=0 count_include_pad:i=0 "
    "kernel_shape!:is pads:is strides:is | T=ieee",
    "AveragePool 19 | X:T | Y:T | auto_pad:s=NOTSET ceil_mode:i=0 count_include_pad:i=0 "
    "dilations:is kernel_shape!:is pads:is strides:is | T=ieee",
    "AveragePool 22 | X:T | Y:T | auto_pad:s=NOTSET ceil_mode:i=0 count_include_pad:i=0 "
    "dilations:is kernel_shape!:is pads:is strides:is | T=ieee,bf16",
    "BatchNormalization 1 one-or-all | X:T scale:T B:T mean:T var:T | Y:T mean?:T var?:T "
    "saved_mean?:T saved_var?:T | consumed_inputs!:is epsilon:f=1e-05 is_test:i=0 "
    "momentum:f=0.9 spatial:i=1 | T=ieee",
    "BatchNormalization 6 one-or-all | X:T scale:T B:T mean:T var:T | Y:T mean?:T var?:T "
    "saved_mean?:T saved_var?:T | epsilon:f=1e-05 is_test:i=0 momentum:f=0.9 spatial:i=1 | "
    "T=ieee",
    "BatchNormalization 7 one-or-all | X:T scale:T B:T mean:T var:T | Y:T mean?:T var?:T "
    "saved_mean?:T saved_var?:T | epsilon:f=1e-05 momentum:f=0.9 spatial:i=1 | T=ieee",
    "BatchNormalization 9 one-or-all | X:T scale:T B:T mean:T var:T | Y:T mean?:T var?:T "
    "saved_mean?:T saved_var?:T | epsilon:f=1e-05 momentum:f=0.9 | T=ieee",
    "BatchNormalization 14 one-or-all | X:T scale:T B:T input_mean:U input_var:U | Y:T "
    "running_mean?:U running_var?:U | epsilon:f=1e-05 momentum:f=0.9 training_mode:i=0 | "
    "T=ieee,bf16 U=ieee,bf16",
    "BatchNormalization 15 one-or-all | X:T scale:T1 B:T1 input_mean:T2 input_var:T2 | Y:T "
    "running_mean?:T2 running_var?:T2 | epsilon:f=1e-05 momentum:f=0.9 training_mode:i=0 | "
    "T=ieee,bf16 T1=ieee,bf16 T2=ieee,bf16",
    "CausalConvWithState 27 function | input:T weight:T bias?:T past_state?:T | output:T "
    "present_state:T | activation:s=none | T=f16,bf16,f32",
    "Col2Im 18 | input:T image_shape:i64 block_shape:i64 | output:T | dilations:is pads:is "
    "strides:is | T=any,bf16",
    "Conv 1 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET dilations:is group:i=1 kernel_shape:is "
    "pads:is strides:is | T=ieee",
    "Conv 11 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET dilations:is group:i=1 kernel_shape:is "
    "pads:is strides:is | T=ieee",
    "Conv 22 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET dilations:is group:i=1 kernel_shape:is "
    "pads:is strides:is | T=ieee,bf16",
    "ConvTranspose 1 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET dilations:is group:i=1 "
    "kernel_shape:is output_padding:is output_shape:is pads:is strides:is | T=ieee",
    "ConvTranspose 11 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET dilations:is group:i=1 "
    "kernel_shape:is output_padding:is output_shape:is pads:is strides:is | T=ieee",
    "ConvTranspose 22 | X:T W:T B?:T | Y:T | auto_pad:s=NOTSET dilations:is group:i=1 "
    "kernel_shape:is output_padding:is output_shape:is pads:is strides:is | T=ieee,bf16",
    "DeformConv 19 | X:T W:T offset:T B?:T mask?:T | Y:T | dilations:is group:i=1 "
    "kernel_shape:is offset_group:i=1 pads:is strides:is | T=ieee",
    "DeformConv 22 | X:T W:T offset:T B?:T mask?:T | Y:T | dilations:is group:i=1 "
    "kernel_shape:is offset_group:i=1 pads:is strides:is | T=ieee,bf16",
    "Dropout 1 uninferred | data:T | output:T mask?:T | consumed_inputs:is is_test:i=0 "
    "ratio:f=0.5 | T=ieee",
    "Dropout 6 | data:T | output:T mask?:T | is_test:i=0 ratio:f=0.5 | T=ieee",
    "Dropout 7 | data:T | output:T mask?:T | ratio:f=0.5 | T=ieee",
    "Dropout 10 | data:T | output:T mask?:T1 | ratio:f=0.5 | T=ieee T1=bool",
    "Dropout 12 | data:T ratio?:T1 training_mode?:T2 | output:T mask?:T2 | seed:i | T=ieee "
    "T1=ieee T2=bool",
    "Dropout 13 | data:T ratio?:T1 training_mode?:T2 | output:T mask?:T2 | seed:i | "
    "T=ieee,bf16 T1=ieee T2=bool",
    "Dropout 22 | data:T ratio?:T1 training_mode?:T2 | output:T mask?:T2 | seed:i | "
    "T=ieee,float8,bf16 T1=ieee,float8,bf16 T2=bool",
    "GlobalAveragePool 1 | X:T | Y:T |  | T=ieee",
    "GlobalAveragePool 22 | X:T | Y:T |  | T=ieee,bf16",
    "GlobalLpPool 1 uninferred | X:T | Y:T | p:f=2 | T=ieee",
    "GlobalLpPool 2 | X:T | Y:T | p:i=2 | T=ieee",
    "GlobalLpPool 22 | X:T | Y:T | p:i=2 | T=ieee,bf16",
    "GlobalMaxPool 1 | X:T | Y:T |  | T=ieee",
    "GlobalMaxPool 22 | X:T | Y:T |  | T=ieee,bf16",
    "GroupNormalization 18 deprecated function | X:T scale:T bias:T | Y:T | epsilon:f=1e-05 "
    "num_groups!:i | T=ieee,bf16",
    "GroupNormalization 21 function | X:T scale:T bias:T | Y:T | epsilon:f=1e-05 "
    "num_groups!:i stash_type:i=1 | T=ieee,bf16",
    "InstanceNormalization 1 uninferred | input:T scale:T B:T | output:T | consumed_inputs:is "
    "epsilon:f=1e-05 | T=ieee",
    "InstanceNormalization 6 | input:T scale:T B:T | output:T | epsilon:f=1e-05 | T=ieee",
    "InstanceNormalization 22 | input:T scale:T B:T | output:T | epsilon:f=1e-05 | T=ieee,bf16",
    "LRN 1 | X:T | Y:T | alpha:f=0.0001 beta:f=0.75 bias:f=1 size!:i | T=ieee",
    "LRN 13 | X:T | Y:T | alpha:f=0.0001 beta:f=0.75 bias:f=1 size!:i | T=ieee,bf16",
    "LayerNormalization 17 function open | X:T Scale:T B?:T | Y:T Mean?:U InvStdDev?:U | "
    "axis:i=-1 epsilon:f=1e-05 stash_type:i=1 | T=ieee,bf16 U=f32,bf16",
    "LinearAttention 27 function | query:T key:T value:T past_state?:S decay?:T beta?:T | "
    "output:T present_state:S | chunk_size:i=64 kv_num_heads!:i q_num_heads!:i scale:f=0 "
    "update_rule:s=gated_delta | T=f16,bf16,f32 S=f16,bf16,f32",
    "LpNormalization 1 | input:T | output:T | axis:i=-1 p:i=2 | T=ieee",
    "LpNormalization 22 | input:T | output:T | axis:i=-1 p:i=2 | T=ieee,bf16",
    "LpPool 1 uninferred | X:T | Y:T | auto_pad:s=NOTSET kernel_shape:is p:f=2 pads:is "
    "strides:is | T=ieee",
    "LpPool 2 | X:T | Y:T | auto_pad:s=NOTSET kernel_shape!:is p:i=2 pads:is strides:is | T=ieee",
    "LpPool 11 | X:T | Y:T | auto_pad:s=NOTSET kernel_shape!:is p:i=2 pads:is strides:is | T=ieee",
    "LpPool 18 | X:T | Y:T | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is kernel_shape!:is "
    "p:i=2 pads:is strides:is | T=ieee",
    "LpPool 22 | X:T | Y:T | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is kernel_shape!:is "
    "p:i=2 pads:is strides:is | T=ieee,bf16",
    "MaxPool 1 | X:T | Y:T | auto_pad:s=NOTSET kernel_shape!:is pads:is strides:is | T=ieee",
    "MaxPool 8 | X:T | Y:T Indices?:I | auto_pad:s=NOTSET kernel_shape!:is pads:is "
    "storage_order:i=0 strides:is | T=ieee I=i64",
    "MaxPool 10 | X:T | Y:T Indices?:I | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is "
    "kernel_shape!:is pads:is storage_order:i=0 strides:is | T=ieee I=i64",
    "MaxPool 11 | X:T | Y:T Indices?:I | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is "
    "kernel_shape!:is pads:is storage_order:i=0 strides:is | T=ieee I=i64",
    "MaxPool 12 | X:T | Y:T Indices?:I | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is "
    "kernel_shape!:is pads:is storage_order:i=0 strides:is | T=ieee,i8,u8 I=i64",
    "MaxPool 22 | X:T | Y:T Indices?:I | auto_pad:s=NOTSET ceil_mode:i=0 dilations:is "
    "kernel_shape!:is pads:is storage_order:i=0 strides:is | T=ieee,i8,u8,bf16 I=i64",
    "MaxUnpool 9 | X:T1 I:T2 output_shape?:T2 | output:T1 | kernel_shape!:is pads:is "
    "strides:is | T1=ieee T2=i64",
    "MaxUnpool 11 | X:T1 I:T2 output_shape?:T2 | output:T1 | kernel_shape!:is pads:is "
    "strides:is | T1=ieee T2=i64",
    "MaxUnpool 22 | X:T1 I:T2 output_shape?:T2 | output:T1 | kernel_shape!:is pads:is "
    "strides:is | T1=ieee,bf16 T2=i64",
    "MeanVarianceNormalization 9 function | X:T | Y:T | axes:is=0,2,3 | T=ieee",
    "MeanVarianceNormalization 13 function | X:T | Y:T | axes:is=0,2,3 | T=ieee,bf16",
    "NegativeLogLikelihoodLoss 12 function | input:T target:Tind weight?:T | loss:T | "
    "ignore_index:i reduction:s=mean | T=ieee Tind=i32,i64",
    "NegativeLogLikelihoodLoss 13 function | input:T target:Tind weight?:T | loss:T | "
    "ignore_index:i reduction:s=mean | T=ieee Tind=i32,i64",
    "NegativeLogLikelihoodLoss 22 function | input:T target:Tind weight?:T | loss:T | "
    "ignore_index:i reduction:s=mean | T=ieee,bf16 Tind=i32,i64",
    "RMSNormalization 23 function | X:T scale:V | Y:V | axis:i=-1 epsilon:f=1e-05 "
    "stash_type:i=1 | T=ieee,bf16 V=ieee,bf16",
    "RotaryEmbedding 23 function | X:T cos_cache:T sin_cache:T position_ids?:M | Y:T | "
    "interleaved:i=0 num_heads:i rotary_embedding_dim:i=0 | T=f32,f16,bf16 M=i64",
    "SoftmaxCrossEntropyLoss 12 function | scores:T labels:Tind weights?:T | output:T "
    "log_prob?:T | ignore_index:i reduction:s=mean | T=ieee Tind=i32,i64",
    "SoftmaxCrossEntropyLoss 13 function | scores:T labels:Tind weights?:T | output:T "
    "log_prob?:T | ignore_index:i reduction:s=mean | T=ieee,bf16 Tind=i32,i64",
    NULL,
};
