/* Schemas: recurrent layers. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_rnn[] = {
    "GRU 1 uninferred | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h:T | "
    "activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=foward "
    "hidden_size:i output_sequence:i=0 | T=ieee T1=i32",
    "GRU 3 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward "
    "hidden_size:i linear_before_reset:i=0 output_sequence:i=0 | T=ieee T1=i32",
    "GRU 7 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward "
    "hidden_size:i linear_before_reset:i=0 | T=ieee T1=i32",
    "GRU 14 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward "
    "hidden_size:i layout:i=0 linear_before_reset:i=0 | T=ieee T1=i32",
    "GRU 22 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward "
    "hidden_size:i layout:i=0 linear_before_reset:i=0 | T=ieee,bf16 T1=i32",
    "LSTM 1 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T | Y?:T Y_h?:T "
    "Y_c?:T | activation_alpha:fs activation_beta:fs activations:ss clip:f "
    "direction:s=forward hidden_size:i input_forget:i=0 output_sequence:i=0 | T=ieee T1=i32",
    "LSTM 7 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T | Y?:T Y_h?:T "
    "Y_c?:T | activation_alpha:fs activation_beta:fs activations:ss clip:f "
    "direction:s=forward hidden_size:i input_forget:i=0 | T=ieee T1=i32",
    "LSTM 14 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T | Y?:T "
    "Y_h?:T Y_c?:T | activation_alpha:fs activation_beta:fs activations:ss clip:f "
    "direction:s=forward hidden_size:i input_forget:i=0 layout:i=0 | T=ieee T1=i32",
    "LSTM 22 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T | Y?:T "
    "Y_h?:T Y_c?:T | activation_alpha:fs activation_beta:fs activations:ss clip:f "
    "direction:s=forward hidden_size:i input_forget:i=0 layout:i=0 | T=ieee,bf16 T1=i32",
    "RNN 1 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss=Tanh,Tanh clip:f "
    "direction:s=forward hidden_size:i output_sequence:i=0 | T=ieee T1=i32",
    "RNN 7 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss=Tanh,Tanh clip:f "
    "direction:s=forward hidden_size:i | T=ieee T1=i32",
    "RNN 14 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss=Tanh,Tanh clip:f "
    "direction:s=forward hidden_size:i layout:i=0 | T=ieee T1=i32",
    "RNN 22 | X:T W:T R:T B?:T sequence_lens?:T1 initial_h?:T | Y?:T Y_h?:T | "
    "activation_alpha:fs activation_beta:fs activations:ss=Tanh,Tanh clip:f "
    "direction:s=forward hidden_size:i layout:i=0 | T=ieee,bf16 T1=i32",
    NULL,
};
