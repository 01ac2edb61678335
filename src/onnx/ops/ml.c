/* Schemas: classical machine learning (ai.onnx.ml). Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_ml[] = {
    "ArrayFeatureExtractor 1 | X:T Y:i64 | Z:T |  | T=f32,f64,i64,i32,str",
    "Binarizer 1 | X:T | Y:T | threshold:f=0 | T=f32,f64,i64,i32",
    "CastMap 1 | X:T1 | Y:T2 | cast_to:s=TO_FLOAT map_form:s=DENSE max_map:i=1 | "
    "T1=map.i64-str,map.i64-f32 T2=str,f32,i64",
    "CategoryMapper 1 | X:T1 | Y:T2 | cats_int64s:is cats_strings:ss default_int64:i=-1 "
    "default_string:s=_Unused | T1=str,i64 T2=str,i64",
    "DictVectorizer 1 | X:T1 | Y:T2 | int64_vocabulary:is string_vocabulary:ss | "
    "T1=map.str-i64,map.i64-str,map.i64-f32,map.i64-f64,map.str-f32,map.str-f64 "
    "T2=i64,f32,f64,str",
    "FeatureVectorizer 1 | X*:T1 | Y:f32 | inputdimensions:is | T1=i32,i64,f32,f64",
    "Imputer 1 | X:T | Y:T | imputed_value_floats:fs imputed_value_int64s:is "
    "replaced_value_float:f=0 replaced_value_int64:i=0 | T=f32,f64,i64,i32",
    "LabelEncoder 1 | X:T1 | Y:T2 | classes_strings:ss default_int64:i=-1 "
    "default_string:s=_Unused | T1=str,i64 T2=str,i64",
    "LabelEncoder 2 | X:T1 | Y:T2 | default_float:f=-0 default_int64:i=-1 "
    "default_string:s=_Unused keys_floats:fs keys_int64s:is keys_strings:ss values_floats:fs "
    "values_int64s:is values_strings:ss | T1=str,i64,f32 T2=str,i64,f32",
    "LabelEncoder 4 | X:T1 | Y:T2 | default_float:f=-0 default_int64:i=-1 "
    "default_string:s=_Unused default_tensor:t keys_floats:fs keys_int64s:is keys_strings:ss "
    "keys_tensor:t values_floats:fs values_int64s:is values_strings:ss values_tensor:t | "
    "T1=str,i64,f32,i32,i16,f64 T2=str,i64,f32,i32,i16,f64",
    "LinearClassifier 1 | X:T1 | Y:T2 Z:f32 | classlabels_ints:is classlabels_strings:ss "
    "coefficients!:fs intercepts:fs multi_class:i=0 post_transform:s=NONE | "
    "T1=f32,f64,i64,i32 T2=str,i64",
    "LinearRegressor 1 | X:T | Y:f32 | coefficients:fs intercepts:fs post_transform:s=NONE "
    "targets:i=1 | T=f32,f64,i64,i32",
    "Normalizer 1 | X:T | Y:f32 | norm:s=MAX | T=f32,f64,i64,i32",
    "OneHotEncoder 1 | X:T | Y:f32 | cats_int64s:is cats_strings:ss zeros:i=1 | "
    "T=str,i64,i32,f32,f64",
    "SVMClassifier 1 | X:T1 | Y:T2 Z:f32 | classlabels_ints:is classlabels_strings:ss "
    "coefficients:fs kernel_params:fs kernel_type:s=LINEAR post_transform:s=NONE prob_a:fs "
    "prob_b:fs rho:fs support_vectors:fs vectors_per_class:is | T1=f32,f64,i64,i32 T2=str,i64",
    "SVMRegressor 1 | X:T | Y:f32 | coefficients:fs kernel_params:fs kernel_type:s=LINEAR "
    "n_supports:i=0 one_class:i=0 post_transform:s=NONE rho:fs support_vectors:fs | "
    "T=f32,f64,i64,i32",
    "Scaler 1 | X:T | Y:f32 | offset:fs scale:fs | T=f32,f64,i64,i32",
    "TreeEnsemble 5 | X:T | Y:T | aggregate_function:i=1 leaf_targetids!:is leaf_weights!:t "
    "membership_values:t n_targets:i nodes_falseleafs!:is nodes_falsenodeids!:is "
    "nodes_featureids!:is nodes_hitrates:t nodes_missing_value_tracks_true:is nodes_modes!:t "
    "nodes_splits!:t nodes_trueleafs!:is nodes_truenodeids!:is post_transform:i=0 "
    "tree_roots!:is | T=ieee",
    "TreeEnsembleClassifier 1 uninferred | X:T1 | Y:T2 Z:f32 | base_values:fs class_ids:is "
    "class_nodeids:is class_treeids:is class_weights:fs classlabels_int64s:is "
    "classlabels_strings:ss nodes_falsenodeids:is nodes_featureids:is nodes_hitrates:fs "
    "nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is "
    "nodes_truenodeids:is nodes_values:fs post_transform:s=NONE | T1=f32,f64,i64,i32 "
    "T2=str,i64",
    "TreeEnsembleClassifier 3 uninferred | X:T1 | Y:T2 Z:f32 | base_values:fs "
    "base_values_as_tensor:t class_ids:is class_nodeids:is class_treeids:is class_weights:fs "
    "class_weights_as_tensor:t classlabels_int64s:is classlabels_strings:ss "
    "nodes_falsenodeids:is nodes_featureids:is nodes_hitrates:fs nodes_hitrates_as_tensor:t "
    "nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is "
    "nodes_truenodeids:is nodes_values:fs nodes_values_as_tensor:t post_transform:s=NONE | "
    "T1=f32,f64,i64,i32 T2=str,i64",
    "TreeEnsembleClassifier 5 deprecated | X:T1 | Y:T2 Z:f32 | base_values:fs "
    "base_values_as_tensor:t class_ids:is class_nodeids:is class_treeids:is class_weights:fs "
    "class_weights_as_tensor:t classlabels_int64s:is classlabels_strings:ss "
    "nodes_falsenodeids:is nodes_featureids:is nodes_hitrates:fs nodes_hitrates_as_tensor:t "
    "nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is "
    "nodes_truenodeids:is nodes_values:fs nodes_values_as_tensor:t post_transform:s=NONE | "
    "T1=f32,f64,i64,i32 T2=str,i64",
    "TreeEnsembleRegressor 1 | X:T | Y:f32 | aggregate_function:s=SUM base_values:fs "
    "n_targets:i nodes_falsenodeids:is nodes_featureids:is nodes_hitrates:fs "
    "nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is "
    "nodes_truenodeids:is nodes_values:fs post_transform:s=NONE target_ids:is "
    "target_nodeids:is target_treeids:is target_weights:fs | T=f32,f64,i64,i32",
    "TreeEnsembleRegressor 3 | X:T | Y:f32 | aggregate_function:s=SUM base_values:fs "
    "base_values_as_tensor:t n_targets:i nodes_falsenodeids:is nodes_featureids:is "
    "nodes_hitrates:fs nodes_hitrates_as_tensor:t nodes_missing_value_tracks_true:is "
    "nodes_modes:ss nodes_nodeids:is nodes_treeids:is nodes_truenodeids:is nodes_values:fs "
    "nodes_values_as_tensor:t post_transform:s=NONE target_ids:is target_nodeids:is "
    "target_treeids:is target_weights:fs target_weights_as_tensor:t | T=f32,f64,i64,i32",
    "TreeEnsembleRegressor 5 deprecated | X:T | Y:f32 | aggregate_function:s=SUM "
    "base_values:fs base_values_as_tensor:t n_targets:i nodes_falsenodeids:is "
    "nodes_featureids:is nodes_hitrates:fs nodes_hitrates_as_tensor:t "
    "nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is "
    "nodes_truenodeids:is nodes_values:fs nodes_values_as_tensor:t post_transform:s=NONE "
    "target_ids:is target_nodeids:is target_treeids:is target_weights:fs "
    "target_weights_as_tensor:t | T=f32,f64,i64,i32",
    "ZipMap 1 | X:f32 | Z:T | classlabels_int64s:is classlabels_strings:ss | "
    "T=seq.map.str-f32,seq.map.i64-f32",
    NULL,
};
