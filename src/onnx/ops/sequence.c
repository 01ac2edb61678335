/* Schemas: sequences and optionals. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_sequence[] = {
    "ConcatFromSequence 11 | input_sequence:S | concat_result:T | axis!:i new_axis:i=0 | "
    "S=seq.any T=any",
    "Optional 15 | input?:V | output:O | type:tp | V=any,seq.any O=opt.any,opt.seq.any",
    "OptionalGetElement 15 | input:O | output:V |  | O=opt.any,opt.seq.any V=any,seq.any",
    "OptionalGetElement 18 | input:O | output:V |  | O=any,opt.any,seq.any,opt.seq.any "
    "V=any,seq.any",
    "OptionalHasElement 15 | input:O | output:B |  | O=opt.any,opt.seq.any B=bool",
    "OptionalHasElement 18 | input?:O | output:B |  | O=any,opt.any,seq.any,opt.seq.any B=bool",
    "SequenceAt 11 | input_sequence:S position:I | tensor:T |  | S=seq.any T=any I=i32,i64",
    "SequenceConstruct 11 | inputs*:T | output_sequence:S |  | T=any S=seq.any",
    "SequenceEmpty 11 |  | output:S | dtype:i | S=seq.any",
    "SequenceErase 11 | input_sequence:S position?:I | output_sequence:S |  | S=seq.any I=i32,i64",
    "SequenceInsert 11 | input_sequence:S tensor:T position?:I | output_sequence:S |  | T=any "
    "S=seq.any I=i32,i64",
    "SequenceLength 11 | input_sequence:S | length:I |  | S=seq.any I=i64",
    "SplitToSequence 11 | input:T split?:I | output_sequence:S | axis:i=0 keepdims:i=1 | "
    "T=any I=i32,i64 S=seq.any",
    "SplitToSequence 24 | input:T split?:I | output_sequence:S | axis:i=0 keepdims:i=1 | "
    "T=any,bf16 I=i32,i64 S=seq.any,seq.bf16",
    NULL,
};
