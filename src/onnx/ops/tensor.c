/* Schemas: shapes, constants and moving elements. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_tensor[] = {
    "BitCast 26 | input:T1 | output:T2 | to!:i | "
    "T1=num,float8,int4,bool,c64,c128,bf16,f4e2m1,f8e8m0,u2,i2 "
    "T2=num,float8,int4,bool,c64,c128,bf16,f4e2m1,f8e8m0,u2,i2",
    "Cast 1 uninferred | input:T1 | output:T2 | to!:s | T1=num,bool T2=num,bool",
    "Cast 6 | input:T1 | output:T2 | to!:i | T1=num,bool T2=num,bool",
    "Cast 9 | input:T1 | output:T2 | to!:i | T1=num,bool,str T2=num,bool,str",
    "Cast 13 | input:T1 | output:T2 | to!:i | T1=num,bool,str,bf16 T2=num,bool,str,bf16",
    "Cast 19 | input:T1 | output:T2 | saturate:i=1 to!:i | T1=num,float8,bool,str,bf16 "
    "T2=num,float8,bool,str,bf16",
    "Cast 21 | input:T1 | output:T2 | saturate:i=1 to!:i | T1=num,float8,int4,bool,str,bf16 "
    "T2=num,float8,int4,bool,str,bf16",
    "Cast 23 | input:T1 | output:T2 | saturate:i=1 to!:i | "
    "T1=num,float8,int4,bool,str,bf16,f4e2m1 T2=num,float8,int4,bool,str,bf16,f4e2m1",
    "Cast 24 | input:T1 | output:T2 | round_mode:s=up saturate:i=1 to!:i | "
    "T1=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0 "
    "T2=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0",
    "Cast 25 | input:T1 | output:T2 | round_mode:s=up saturate:i=1 to!:i | "
    "T1=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0,u2,i2 "
    "T2=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0,u2,i2",
    "CastLike 15 function | input:T1 target_type:T2 | output:T2 |  | T1=num,bool,str,bf16 "
    "T2=num,bool,str,bf16",
    "CastLike 19 function | input:T1 target_type:T2 | output:T2 | saturate:i=1 | "
    "T1=num,float8,bool,str,bf16 T2=num,float8,bool,str,bf16",
    "CastLike 21 function | input:T1 target_type:T2 | output:T2 | saturate:i=1 | "
    "T1=num,float8,int4,bool,str,bf16 T2=num,float8,int4,bool,str,bf16",
    "CastLike 23 function | input:T1 target_type:T2 | output:T2 | saturate:i=1 | "
    "T1=num,float8,int4,bool,str,bf16,f4e2m1 T2=num,float8,int4,bool,str,bf16,f4e2m1",
    "CastLike 24 function | input:T1 target_type:T2 | output:T2 | round_mode:s=up "
    "saturate:i=1 | T1=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0 "
    "T2=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0",
    "CastLike 25 function | input:T1 target_type:T2 | output:T2 | round_mode:s=up "
    "saturate:i=1 | T1=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0,u2,i2 "
    "T2=num,float8,int4,bool,str,bf16,f4e2m1,f8e8m0,u2,i2",
    "Compress 9 uninferred | input:T condition:T1 | output:T | axis:i | T=any T1=bool",
    "Compress 11 | input:T condition:T1 | output:T | axis:i | T=any T1=bool",
    "Concat 1 uninferred | inputs*:T | concat_result:T | axis:i | T=ieee",
    "Concat 4 | inputs*:T | concat_result:T | axis!:i | T=any",
    "Concat 11 | inputs*:T | concat_result:T | axis!:i | T=any",
    "Concat 13 | inputs*:T | concat_result:T | axis!:i | T=any,bf16",
    "Constant 1 |  | output:T | value!:t | T=ieee",
    "Constant 9 |  | output:T | value!:t | T=any",
    "Constant 11 |  | output:T | sparse_value:sp value:t | T=any",
    "Constant 12 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | T=any",
    "Constant 13 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | T=any,bf16",
    "Constant 19 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | T=any,float8,bf16",
    "Constant 21 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | T=any,float8,int4,bf16",
    "Constant 23 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | "
    "T=any,float8,int4,bf16,f4e2m1",
    "Constant 24 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Constant 25 |  | output:T | sparse_value:sp value:t value_float:f value_floats:fs "
    "value_int:i value_ints:is value_string:s value_strings:ss | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "ConstantOfShape 9 | input:T1 | output:T2 | value:t | T1=i64 T2=num,bool",
    "ConstantOfShape 20 | input:T1 | output:T2 | value:t | T1=i64 T2=num,float8,bool,bf16",
    "ConstantOfShape 21 | input:T1 | output:T2 | value:t | T1=i64 T2=num,float8,int4,bool,bf16",
    "ConstantOfShape 23 | input:T1 | output:T2 | value:t | T1=i64 "
    "T2=num,float8,int4,bool,bf16,f4e2m1",
    "ConstantOfShape 24 | input:T1 | output:T2 | value:t | T1=i64 "
    "T2=num,float8,int4,bool,bf16,f4e2m1,f8e8m0",
    "ConstantOfShape 25 | input:T1 | output:T2 | value:t | T1=i64 "
    "T2=num,float8,int4,bool,bf16,f4e2m1,f8e8m0,u2,i2",
    "DepthToSpace 1 | input:T | output:T | blocksize!:i | T=any",
    "DepthToSpace 11 | input:T | output:T | blocksize!:i mode:s=DCR | T=any",
    "DepthToSpace 13 | input:T | output:T | blocksize!:i mode:s=DCR | T=any,bf16",
    "Expand 8 | input:T shape:i64 | output:T |  | T=any",
    "Expand 13 | input:T shape:i64 | output:T |  | T=any,bf16",
    "EyeLike 9 | input:T1 | output:T2 | dtype:i k:i=0 | T1=num,bool T2=num,bool",
    "EyeLike 22 | input:T1 | output:T2 | dtype:i k:i=0 | T1=num,bool,bf16 T2=num,bool,bf16",
    "Flatten 1 | input:T | output:T | axis:i=1 | T=ieee",
    "Flatten 9 | input:T | output:T | axis:i=1 | T=any",
    "Flatten 11 | input:T | output:T | axis:i=1 | T=any",
    "Flatten 13 | input:T | output:T | axis:i=1 | T=any,bf16",
    "Flatten 21 | input:T | output:T | axis:i=1 | T=any,float8,int4,bf16",
    "Flatten 23 | input:T | output:T | axis:i=1 | T=any,float8,int4,bf16,f4e2m1",
    "Flatten 24 | input:T | output:T | axis:i=1 | T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Flatten 25 | input:T | output:T | axis:i=1 | T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "Gather 1 | data:T indices:Tind | output:T | axis:i=0 | T=any Tind=i32,i64",
    "Gather 11 | data:T indices:Tind | output:T | axis:i=0 | T=any Tind=i32,i64",
    "Gather 13 | data:T indices:Tind | output:T | axis:i=0 | T=any,bf16 Tind=i32,i64",
    "GatherElements 11 | data:T indices:Tind | output:T | axis:i=0 | T=any Tind=i32,i64",
    "GatherElements 13 | data:T indices:Tind | output:T | axis:i=0 | T=any,bf16 Tind=i32,i64",
    "GatherND 11 | data:T indices:i64 | output:T |  | T=any",
    "GatherND 12 | data:T indices:i64 | output:T | batch_dims:i=0 | T=any",
    "GatherND 13 | data:T indices:i64 | output:T | batch_dims:i=0 | T=any,bf16",
    "Identity 1 | input:T | output:T |  | T=any",
    "Identity 13 | input:T | output:T |  | T=any,bf16",
    "Identity 14 | input:V | output:V |  | V=any,bf16,seq.any",
    "Identity 16 | input:V | output:V |  | V=any,bf16,opt.any,seq.any,opt.seq.any",
    "Identity 19 | input:V | output:V |  | V=any,float8,bf16,opt.any,seq.any,opt.seq.any",
    "Identity 21 | input:V | output:V |  | V=any,float8,int4,bf16,opt.any,seq.any,opt.seq.any",
    "Identity 23 | input:V | output:V |  | "
    "V=any,float8,int4,bf16,f4e2m1,opt.any,seq.any,opt.seq.any",
    "Identity 24 | input:V | output:V |  | "
    "V=any,float8,int4,bf16,f4e2m1,f8e8m0,opt.any,seq.any,opt.seq.any",
    "Identity 25 | input:V | output:V |  | "
    "V=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2,opt.any,seq.any,opt.seq.any",
    "NonZero 9 | X:T | Y:i64 |  | T=any",
    "NonZero 13 | X:T | Y:i64 |  | T=any,bf16",
    "OneHot 9 | indices:T1 depth:T2 values:T3 | output:T3 | axis:i=-1 | T1=num T2=num T3=any",
    "OneHot 11 | indices:T1 depth:T2 values:T3 | output:T3 | axis:i=-1 | T1=num T2=num T3=any",
    "Pad 1 uninferred | data:T | output:T | mode:s=constant paddings!:is value:f=0 | T=ieee",
    "Pad 2 | data:T | output:T | mode:s=constant pads!:is value:f=0 | T=ieee",
    "Pad 11 | data:T pads:i64 constant_value?:T | output:T | mode:s=constant | T=num",
    "Pad 13 | data:T pads:i64 constant_value?:T | output:T | mode:s=constant | T=any,bf16",
    "Pad 18 | data:T pads:i64 constant_value?:T axes?:Tind | output:T | mode:s=constant | "
    "T=any,bf16 Tind=i32,i64",
    "Pad 19 | data:T pads:i64 constant_value?:T axes?:Tind | output:T | mode:s=constant | "
    "T=any,bf16 Tind=i32,i64",
    "Pad 21 | data:T pads:i64 constant_value?:T axes?:Tind | output:T | mode:s=constant | "
    "T=any,float8,int4,bf16 Tind=i32,i64",
    "Pad 23 | data:T pads:i64 constant_value?:T axes?:Tind | output:T | mode:s=constant | "
    "T=any,float8,int4,bf16,f4e2m1 Tind=i32,i64",
    "Pad 24 | data:T pads:i64 constant_value?:T axes?:Tind | output:T | mode:s=constant | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0 Tind=i32,i64",
    "Pad 25 | data:T pads:i64 constant_value?:T axes?:Tind | output:T | mode:s=constant | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2 Tind=i32,i64",
    "Range 11 function | start:T limit:T delta:T | output:T |  | T=f32,f64,i16,i32,i64",
    "Range 27 function | start:T limit:T delta:T | output:T | stash_type:i=1 | "
    "T=ieee,i16,i32,i64,bf16",
    "Reshape 1 uninferred | data:T | reshaped:T | consumed_inputs:is shape:is | T=ieee",
    "Reshape 5 | data:T shape:i64 | reshaped:T |  | T=any",
    "Reshape 13 | data:T shape:i64 | reshaped:T |  | T=any,bf16",
    "Reshape 14 | data:T shape:i64 | reshaped:T | allowzero:i=0 | T=any,bf16",
    "Reshape 19 | data:T shape:i64 | reshaped:T | allowzero:i=0 | T=any,float8,bf16",
    "Reshape 21 | data:T shape:i64 | reshaped:T | allowzero:i=0 | T=any,float8,int4,bf16",
    "Reshape 23 | data:T shape:i64 | reshaped:T | allowzero:i=0 | T=any,float8,int4,bf16,f4e2m1",
    "Reshape 24 | data:T shape:i64 | reshaped:T | allowzero:i=0 | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Reshape 25 | data:T shape:i64 | reshaped:T | allowzero:i=0 | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "ReverseSequence 10 | input:T sequence_lens:i64 | Y:T | batch_axis:i=1 time_axis:i=0 | T=any",
    "Scatter 9 | data:T indices:Tind updates:T | output:T | axis:i=0 | T=any Tind=i32,i64",
    "Scatter 11 deprecated | data:T indices:Tind updates:T | output:T | axis:i=0 | T=any "
    "Tind=i32,i64",
    "ScatterElements 11 | data:T indices:Tind updates:T | output:T | axis:i=0 | T=any "
    "Tind=i32,i64",
    "ScatterElements 13 | data:T indices:Tind updates:T | output:T | axis:i=0 | T=any,bf16 "
    "Tind=i32,i64",
    "ScatterElements 16 | data:T indices:Tind updates:T | output:T | axis:i=0 "
    "reduction:s=none | T=any,bf16 Tind=i32,i64",
    "ScatterElements 18 | data:T indices:Tind updates:T | output:T | axis:i=0 "
    "reduction:s=none | T=any,bf16 Tind=i32,i64",
    "ScatterND 11 | data:T indices:i64 updates:T | output:T |  | T=any",
    "ScatterND 13 | data:T indices:i64 updates:T | output:T |  | T=any,bf16",
    "ScatterND 16 | data:T indices:i64 updates:T | output:T | reduction:s=none | T=any,bf16",
    "ScatterND 18 | data:T indices:i64 updates:T | output:T | reduction:s=none | T=any,bf16",
    "Shape 1 | data:T | shape:T1 |  | T=any T1=i64",
    "Shape 13 | data:T | shape:T1 |  | T=any,bf16 T1=i64",
    "Shape 15 | data:T | shape:T1 | end:i start:i=0 | T=any,bf16 T1=i64",
    "Shape 19 | data:T | shape:T1 | end:i start:i=0 | T=any,float8,bf16 T1=i64",
    "Shape 21 | data:T | shape:T1 | end:i start:i=0 | T=any,float8,int4,bf16 T1=i64",
    "Shape 23 | data:T | shape:T1 | end:i start:i=0 | T=any,float8,int4,bf16,f4e2m1 T1=i64",
    "Shape 24 | data:T | shape:T1 | end:i start:i=0 | T=any,float8,int4,bf16,f4e2m1,f8e8m0 T1=i64",
    "Shape 25 | data:T | shape:T1 | end:i start:i=0 | "
    "T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2 T1=i64",
    "Size 1 | data:T | size:T1 |  | T=any T1=i64",
    "Size 13 | data:T | size:T1 |  | T=any,bf16 T1=i64",
    "Size 19 | data:T | size:T1 |  | T=any,float8,bf16 T1=i64",
    "Size 21 | data:T | size:T1 |  | T=any,float8,int4,bf16 T1=i64",
    "Size 23 | data:T | size:T1 |  | T=any,float8,int4,bf16,f4e2m1 T1=i64",
    "Size 24 | data:T | size:T1 |  | T=any,float8,int4,bf16,f4e2m1,f8e8m0 T1=i64",
    "Size 25 | data:T | size:T1 |  | T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2 T1=i64",
    "Slice 1 | data:T | output:T | axes:is ends!:is starts!:is | T=any",
    "Slice 10 | data:T starts:Tind ends:Tind axes?:Tind steps?:Tind | output:T |  | T=any "
    "Tind=i32,i64",
    "Slice 11 | data:T starts:Tind ends:Tind axes?:Tind steps?:Tind | output:T |  | T=any "
    "Tind=i32,i64",
    "Slice 13 | data:T starts:Tind ends:Tind axes?:Tind steps?:Tind | output:T |  | "
    "T=any,bf16 Tind=i32,i64",
    "SpaceToDepth 1 | input:T | output:T | blocksize!:i | T=any",
    "SpaceToDepth 13 | input:T | output:T | blocksize!:i | T=any,bf16",
    "Split 1 uninferred | input:T split?:T | outputs...*:T | axis:i split:is | T=ieee",
    "Split 2 | input:T | outputs*:T | axis:i=0 split:is | T=any",
    "Split 11 | input:T | outputs*:T | axis:i=0 split:is | T=any",
    "Split 13 | input:T split?:i64 | outputs*:T | axis:i=0 | T=any,bf16",
    "Split 18 | input:T split?:i64 | outputs*:T | axis:i=0 num_outputs:i | T=any,bf16",
    "Squeeze 1 | data:T | squeezed:T | axes:is | T=any",
    "Squeeze 11 | data:T | squeezed:T | axes:is | T=any",
    "Squeeze 13 | data:T axes?:i64 | squeezed:T |  | T=any,bf16",
    "Squeeze 21 | data:T axes?:i64 | squeezed:T |  | T=any,float8,int4,bf16",
    "Squeeze 23 | data:T axes?:i64 | squeezed:T |  | T=any,float8,int4,bf16,f4e2m1",
    "Squeeze 24 | data:T axes?:i64 | squeezed:T |  | T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Squeeze 25 | data:T axes?:i64 | squeezed:T |  | T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "TensorScatter 24 | past_cache:T update:T write_indices?:i64 | present_cache:T | "
    "axis:i=-2 mode:s=linear | T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Tile 1 | input:T tiles:T axis:T | output:T |  | T=ieee T1=i64",
    "Tile 6 | input:T repeats:T1 | output:T |  | T=any T1=i64",
    "Tile 13 | input:T repeats:T1 | output:T |  | T=any,bf16 T1=i64",
    "TopK 1 | X:T | Values:T Indices:I | axis:i=-1 k!:i | T=ieee I=i64",
    "TopK 10 | X:T K:i64 | Values:T Indices:I | axis:i=-1 | T=ieee I=i64",
    "TopK 11 | X:T K:i64 | Values:T Indices:I | axis:i=-1 largest:i=1 sorted:i=1 | T=num I=i64",
    "TopK 24 | X:T K:i64 | Values:T Indices:I | axis:i=-1 largest:i=1 sorted:i=1 | T=num,bf16 "
    "I=i64",
    "Transpose 1 | data:T | transposed:T | perm:is | T=any",
    "Transpose 13 | data:T | transposed:T | perm:is | T=any,bf16",
    "Transpose 21 | data:T | transposed:T | perm:is | T=any,float8,int4,bf16",
    "Transpose 23 | data:T | transposed:T | perm:is | T=any,float8,int4,bf16,f4e2m1",
    "Transpose 24 | data:T | transposed:T | perm:is | T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Transpose 25 | data:T | transposed:T | perm:is | T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "Trilu 14 | input:T k?:i64 | output:T | upper:i=1 | T=any,bf16",
    "Unique 11 | X:T | Y:T indices?:i64 inverse_indices?:i64 counts?:i64 | axis:i sorted:i=1 "
    "| T=any",
    "Unsqueeze 1 | data:T | expanded:T | axes!:is | T=any",
    "Unsqueeze 11 | data:T | expanded:T | axes!:is | T=any",
    "Unsqueeze 13 | data:T axes:i64 | expanded:T |  | T=any,bf16",
    "Unsqueeze 21 | data:T axes:i64 | expanded:T |  | T=any,float8,int4,bf16",
    "Unsqueeze 23 | data:T axes:i64 | expanded:T |  | T=any,float8,int4,bf16,f4e2m1",
    "Unsqueeze 24 | data:T axes:i64 | expanded:T |  | T=any,float8,int4,bf16,f4e2m1,f8e8m0",
    "Unsqueeze 25 | data:T axes:i64 | expanded:T |  | T=any,float8,int4,bf16,f4e2m1,f8e8m0,u2,i2",
    "Where 9 | condition:B X:T Y:T | output:T |  | B=bool T=any",
    "Where 16 | condition:B X:T Y:T | output:T |  | B=bool T=any,bf16",
    NULL,
};
