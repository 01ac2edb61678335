/* Schemas: operators with graphs inside. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_controlflow[] = {
    "If 1 | cond:B | outputs~:V | else_branch!:g then_branch!:g | V=any B=bool",
    "If 11 | cond:B | outputs~:V | else_branch!:g then_branch!:g | V=any B=bool",
    "If 13 | cond:B | outputs~:V | else_branch!:g then_branch!:g | V=any,seq.any B=bool",
    "If 16 | cond:B | outputs~:V | else_branch!:g then_branch!:g | "
    "V=any,bf16,opt.any,opt.bf16,seq.any,seq.bf16,opt.seq.any,opt.seq.bf16 B=bool",
    "If 19 | cond:B | outputs~:V | else_branch!:g then_branch!:g | "
    "V=any,float8,bf16,opt.any,opt.float8,opt.bf16,seq.any,seq.float8,seq.bf16,opt.seq.any,opt.seq.bf16 "
    "B=bool",
    "If 21 | cond:B | outputs~:V | else_branch!:g then_branch!:g | "
    "V=any,float8,int4,bf16,opt.any,opt.float8,opt.int4,opt.bf16,seq.any,seq.float8,seq.int4,seq.bf16,opt.seq.any,opt.seq.bf16 "
    "B=bool",
    "If 23 | cond:B | outputs~:V | else_branch!:g then_branch!:g | "
    "V=any,float8,int4,bf16,f4e2m1,opt.any,opt.float8,opt.int4,opt.bf16,opt.f4e2m1,seq.any,seq.float8,seq.int4,seq.bf16,seq.f4e2m1,opt.seq.any,opt.seq.bf16 "
    "B=bool",
    "If 24 | cond:B | outputs~:V | else_branch!:g then_branch!:g | "
    "V=any,float8,int4,bf16,f4e2m1,f8e8m0,opt.any,opt.float8,opt.int4,opt.bf16,opt.f4e2m1,opt.f8e8m0,seq.any,seq.float8,seq.int4,seq.bf16,seq.f4e2m1,seq.f8e8m0,opt.seq.any,opt.seq.bf16 "
    "B=bool",
    "If 25 | cond:B | outputs~:V | else_branch!:g then_branch!:g | "
    "V=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2,opt.any,opt.float8,opt.int4,opt.bf16,opt.f4e2m1,opt.f8e8m0,opt.u2,opt.i2,seq.any,seq.float8,seq.int4,seq.bf16,seq.f4e2m1,seq.f8e8m0,seq.u2,seq.i2,opt.seq.any,opt.seq.bf16 "
    "B=bool",
    "Loop 1 | M?:I cond?:B v_initial~:V | v_final_and_scan_outputs~:V | body!:g | V=any I=i64 "
    "B=bool",
    "Loop 11 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | V=any "
    "I=i64 B=bool",
    "Loop 13 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,seq.any I=i64 B=bool",
    "Loop 16 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,bf16,opt.any,opt.bf16,seq.any,seq.bf16,opt.seq.any,opt.seq.bf16 I=i64 B=bool",
    "Loop 19 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,float8,bf16,opt.any,opt.float8,opt.bf16,seq.any,seq.float8,seq.bf16,opt.seq.any,opt.seq.bf16 "
    "I=i64 B=bool",
    "Loop 21 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,float8,int4,bf16,opt.any,opt.float8,opt.int4,opt.bf16,seq.any,seq.float8,seq.int4,seq.bf16,opt.seq.any,opt.seq.bf16 "
    "I=i64 B=bool",
    "Loop 23 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,float8,int4,bf16,f4e2m1,opt.any,opt.float8,opt.int4,opt.bf16,opt.f4e2m1,seq.any,seq.float8,seq.int4,seq.bf16,seq.f4e2m1,opt.seq.any,opt.seq.bf16 "
    "I=i64 B=bool",
    "Loop 24 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,float8,int4,bf16,f4e2m1,f8e8m0,opt.any,opt.float8,opt.int4,opt.bf16,opt.f4e2m1,opt.f8e8m0,seq.any,seq.float8,seq.int4,seq.bf16,seq.f4e2m1,seq.f8e8m0,opt.seq.any,opt.seq.bf16 "
    "I=i64 B=bool",
    "Loop 25 | M?:I cond?:B v_initial~0:V | v_final_and_scan_outputs~:V | body!:g | "
    "V=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2,opt.any,opt.float8,opt.int4,opt.bf16,opt.f4e2m1,opt.f8e8m0,opt.u2,opt.i2,seq.any,seq.float8,seq.int4,seq.bf16,seq.f4e2m1,seq.f8e8m0,seq.u2,seq.i2,opt.seq.any,opt.seq.bf16 "
    "I=i64 B=bool",
    "Scan 8 | sequence_lens?:I initial_state_and_scan_inputs~:V | "
    "final_state_and_scan_outputs~:V | body!:g directions:is num_scan_inputs!:i | I=i64 V=any",
    "Scan 9 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any",
    "Scan 11 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any",
    "Scan 16 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any,bf16",
    "Scan 19 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any,float8,bf16",
    "Scan 21 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any,float8,int4,bf16",
    "Scan 23 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any,float8,int4,bf16,f4e2m1",
    "Scan 24 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Scan 25 | initial_state_and_scan_inputs~:V | final_state_and_scan_outputs~:V | body!:g "
    "num_scan_inputs!:i scan_input_axes:is scan_input_directions:is scan_output_axes:is "
    "scan_output_directions:is | V=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "SequenceMap 17 function | input_sequence:S additional_inputs~0:V | out_sequence~:S | "
    "body!:g | S=seq.any V=any,seq.any",
    NULL,
};
