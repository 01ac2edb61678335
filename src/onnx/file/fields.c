/* The tables of fields.h. Order and grouping follow the structs in model.h. */
#include "onnx/file/fields.h"

#include <string.h>

#define FIELD(type, member, k, ...)                                                                \
    {                                                                                              \
        .name = #member, .kind = CQ_ONNX_KIND_##k, .offset = offsetof(type, member), __VA_ARGS__   \
    }
#define ONE(type, member, k)       FIELD(type, member, k, .repeated = false)
#define MANY(type, member, k)      FIELD(type, member, k, .repeated = true)
#define PACKED(type, member, k)    FIELD(type, member, k, .repeated = true, .packed = true)
#define EITHER(type, member, k)    FIELD(type, member, k, .oneof = true)
#define ONE_OF(type, member, m)    FIELD(type, member, MESSAGE, .message = &m)
#define MANY_OF(type, member, m)   FIELD(type, member, MESSAGE, .message = &m, .repeated = true)
#define EITHER_OF(type, member, m) FIELD(type, member, MESSAGE, .message = &m, .oneof = true)

#define MESSAGE(proto, type, table)                                                                \
    {                                                                                              \
        .name = proto, .size = sizeof(type), .n_fields = sizeof(table) / sizeof *(table),          \
        .fields = table                                                                            \
    }

static const cq_onnx_field entry_fields[] = {
    [1] = ONE(cq_onnx_entry, key, TEXT),
    [2] = ONE(cq_onnx_entry, value, TEXT),
};
static const cq_onnx_message entry = MESSAGE("StringStringEntryProto", cq_onnx_entry, entry_fields);

static const cq_onnx_field segment_fields[] = {
    [1] = ONE(cq_onnx_segment, begin, I64),
    [2] = ONE(cq_onnx_segment, end, I64),
};
static const cq_onnx_message segment = MESSAGE("Segment", cq_onnx_segment, segment_fields);

static const cq_onnx_field tensor_fields[] = {
    [1]  = MANY(cq_onnx_tensor, dims, I64),
    [2]  = ONE(cq_onnx_tensor, data_type, I32),
    [3]  = ONE_OF(cq_onnx_tensor, segment, segment),
    [4]  = PACKED(cq_onnx_tensor, float_data, F32),
    [5]  = PACKED(cq_onnx_tensor, int32_data, I32),
    [6]  = MANY(cq_onnx_tensor, string_data, BYTES),
    [7]  = PACKED(cq_onnx_tensor, int64_data, I64),
    [8]  = ONE(cq_onnx_tensor, name, TEXT),
    [9]  = ONE(cq_onnx_tensor, raw_data, RAW),
    [10] = PACKED(cq_onnx_tensor, double_data, F64),
    [11] = PACKED(cq_onnx_tensor, uint64_data, U64),
    [12] = ONE(cq_onnx_tensor, doc_string, TEXT),
    [13] = MANY_OF(cq_onnx_tensor, external_data, entry),
    [14] = ONE(cq_onnx_tensor, data_location, I32),
    [16] = MANY_OF(cq_onnx_tensor, metadata_props, entry),
};
const cq_onnx_message cq_onnx_tensor_message =
    MESSAGE("TensorProto", cq_onnx_tensor, tensor_fields);

static const cq_onnx_field sparse_fields[] = {
    [1] = ONE_OF(cq_onnx_sparse_tensor, values, cq_onnx_tensor_message),
    [2] = ONE_OF(cq_onnx_sparse_tensor, indices, cq_onnx_tensor_message),
    [3] = MANY(cq_onnx_sparse_tensor, dims, I64),
};
const cq_onnx_message cq_onnx_sparse_message =
    MESSAGE("SparseTensorProto", cq_onnx_sparse_tensor, sparse_fields);

static const cq_onnx_field dim_fields[] = {
    [1] = EITHER(cq_onnx_dim, dim_value, I64),
    [2] = EITHER(cq_onnx_dim, dim_param, TEXT),
    [3] = ONE(cq_onnx_dim, denotation, TEXT),
};
const cq_onnx_message cq_onnx_dim_message = MESSAGE("Dimension", cq_onnx_dim, dim_fields);

static const cq_onnx_field shape_fields[] = {
    [1] = MANY_OF(cq_onnx_shape, dim, cq_onnx_dim_message),
};
static const cq_onnx_message shape = MESSAGE("TensorShapeProto", cq_onnx_shape, shape_fields);

static const cq_onnx_field tensor_type_fields[] = {
    [1] = ONE(cq_onnx_tensor_type, elem_type, I32),
    [2] = ONE_OF(cq_onnx_tensor_type, shape, shape),
};
static const cq_onnx_message tensor_type =
    MESSAGE("TypeProto.Tensor", cq_onnx_tensor_type, tensor_type_fields);

static const cq_onnx_field element_type_fields[] = {
    [1] = ONE_OF(cq_onnx_element_type, elem_type, cq_onnx_type_message),
};
static const cq_onnx_message element_type =
    MESSAGE("TypeProto.Sequence", cq_onnx_element_type, element_type_fields);

static const cq_onnx_field map_type_fields[] = {
    [1] = ONE(cq_onnx_map_type, key_type, I32),
    [2] = ONE_OF(cq_onnx_map_type, value_type, cq_onnx_type_message),
};
static const cq_onnx_message map_type = MESSAGE("TypeProto.Map", cq_onnx_map_type, map_type_fields);

static const cq_onnx_field opaque_type_fields[] = {
    [1] = ONE(cq_onnx_opaque_type, domain, TEXT),
    [2] = ONE(cq_onnx_opaque_type, name, TEXT),
};
static const cq_onnx_message opaque_type =
    MESSAGE("TypeProto.Opaque", cq_onnx_opaque_type, opaque_type_fields);

static const cq_onnx_field type_fields[] = {
    [1] = EITHER_OF(cq_onnx_type, tensor_type, tensor_type),
    [4] = EITHER_OF(cq_onnx_type, sequence_type, element_type),
    [5] = EITHER_OF(cq_onnx_type, map_type, map_type),
    [6] = ONE(cq_onnx_type, denotation, TEXT),
    [7] = EITHER_OF(cq_onnx_type, opaque_type, opaque_type),
    [8] = EITHER_OF(cq_onnx_type, sparse_tensor_type, tensor_type),
    [9] = EITHER_OF(cq_onnx_type, optional_type, element_type),
};
const cq_onnx_message cq_onnx_type_message = MESSAGE("TypeProto", cq_onnx_type, type_fields);

static const cq_onnx_field value_info_fields[] = {
    [1] = ONE(cq_onnx_value_info, name, TEXT),
    [2] = ONE_OF(cq_onnx_value_info, type, cq_onnx_type_message),
    [3] = ONE(cq_onnx_value_info, doc_string, TEXT),
    [4] = MANY_OF(cq_onnx_value_info, metadata_props, entry),
};
const cq_onnx_message cq_onnx_value_info_message =
    MESSAGE("ValueInfoProto", cq_onnx_value_info, value_info_fields);

static const cq_onnx_field attribute_fields[] = {
    [1]  = ONE(cq_onnx_attribute, name, TEXT),
    [2]  = ONE(cq_onnx_attribute, f, F32),
    [3]  = ONE(cq_onnx_attribute, i, I64),
    [4]  = ONE(cq_onnx_attribute, s, BYTES),
    [5]  = ONE_OF(cq_onnx_attribute, t, cq_onnx_tensor_message),
    [6]  = ONE_OF(cq_onnx_attribute, g, cq_onnx_graph_message),
    [7]  = MANY(cq_onnx_attribute, floats, F32),
    [8]  = MANY(cq_onnx_attribute, ints, I64),
    [9]  = MANY(cq_onnx_attribute, strings, BYTES),
    [10] = MANY_OF(cq_onnx_attribute, tensors, cq_onnx_tensor_message),
    [11] = MANY_OF(cq_onnx_attribute, graphs, cq_onnx_graph_message),
    [13] = ONE(cq_onnx_attribute, doc_string, TEXT),
    [14] = ONE_OF(cq_onnx_attribute, tp, cq_onnx_type_message),
    [15] = MANY_OF(cq_onnx_attribute, type_protos, cq_onnx_type_message),
    [20] = ONE(cq_onnx_attribute, type, I32),
    [21] = ONE(cq_onnx_attribute, ref_attr_name, TEXT),
    [22] = ONE_OF(cq_onnx_attribute, sparse_tensor, cq_onnx_sparse_message),
    [23] = MANY_OF(cq_onnx_attribute, sparse_tensors, cq_onnx_sparse_message),
};
const cq_onnx_message cq_onnx_attribute_message =
    MESSAGE("AttributeProto", cq_onnx_attribute, attribute_fields);

static const cq_onnx_field int_ints_fields[] = {
    [1] = ONE(cq_onnx_int_ints, key, I64),
    [2] = MANY(cq_onnx_int_ints, value, I64),
};
static const cq_onnx_message int_ints =
    MESSAGE("IntIntListEntryProto", cq_onnx_int_ints, int_ints_fields);

static const cq_onnx_field simple_sharded_dim_fields[] = {
    [1] = EITHER(cq_onnx_simple_sharded_dim, dim_value, I64),
    [2] = EITHER(cq_onnx_simple_sharded_dim, dim_param, TEXT),
    [3] = ONE(cq_onnx_simple_sharded_dim, num_shards, I64),
};
static const cq_onnx_message simple_sharded_dim =
    MESSAGE("SimpleShardedDimProto", cq_onnx_simple_sharded_dim, simple_sharded_dim_fields);

static const cq_onnx_field sharded_dim_fields[] = {
    [1] = ONE(cq_onnx_sharded_dim, axis, I64),
    [2] = MANY_OF(cq_onnx_sharded_dim, simple_sharding, simple_sharded_dim),
};
static const cq_onnx_message sharded_dim =
    MESSAGE("ShardedDimProto", cq_onnx_sharded_dim, sharded_dim_fields);

static const cq_onnx_field sharding_spec_fields[] = {
    [1] = ONE(cq_onnx_sharding_spec, tensor_name, TEXT),
    [2] = MANY(cq_onnx_sharding_spec, device, I64),
    [3] = MANY_OF(cq_onnx_sharding_spec, index_to_device_group_map, int_ints),
    [4] = MANY_OF(cq_onnx_sharding_spec, sharded_dim, sharded_dim),
};
static const cq_onnx_message sharding_spec =
    MESSAGE("ShardingSpecProto", cq_onnx_sharding_spec, sharding_spec_fields);

static const cq_onnx_field node_device_fields[] = {
    [1] = ONE(cq_onnx_node_device, configuration_id, TEXT),
    [2] = MANY_OF(cq_onnx_node_device, sharding_spec, sharding_spec),
    [3] = ONE(cq_onnx_node_device, pipeline_stage, I32),
};
static const cq_onnx_message node_device =
    MESSAGE("NodeDeviceConfigurationProto", cq_onnx_node_device, node_device_fields);

static const cq_onnx_field device_fields[] = {
    [1] = ONE(cq_onnx_device, name, TEXT),
    [2] = ONE(cq_onnx_device, num_devices, I32),
    [3] = MANY(cq_onnx_device, device, TEXT),
};
static const cq_onnx_message device =
    MESSAGE("DeviceConfigurationProto", cq_onnx_device, device_fields);

static const cq_onnx_field node_fields[] = {
    [1]  = MANY(cq_onnx_node, input, TEXT),
    [2]  = MANY(cq_onnx_node, output, TEXT),
    [3]  = ONE(cq_onnx_node, name, TEXT),
    [4]  = ONE(cq_onnx_node, op_type, TEXT),
    [5]  = MANY_OF(cq_onnx_node, attribute, cq_onnx_attribute_message),
    [6]  = ONE(cq_onnx_node, doc_string, TEXT),
    [7]  = ONE(cq_onnx_node, domain, TEXT),
    [8]  = ONE(cq_onnx_node, overload, TEXT),
    [9]  = MANY_OF(cq_onnx_node, metadata_props, entry),
    [10] = MANY_OF(cq_onnx_node, device_configurations, node_device),
};
const cq_onnx_message cq_onnx_node_message = MESSAGE("NodeProto", cq_onnx_node, node_fields);

static const cq_onnx_field annotation_fields[] = {
    [1] = ONE(cq_onnx_annotation, tensor_name, TEXT),
    [2] = MANY_OF(cq_onnx_annotation, quant_parameter_tensor_names, entry),
};
const cq_onnx_message cq_onnx_annotation_message =
    MESSAGE("TensorAnnotation", cq_onnx_annotation, annotation_fields);

static const cq_onnx_field graph_fields[] = {
    [1]  = MANY_OF(cq_onnx_graph, node, cq_onnx_node_message),
    [2]  = ONE(cq_onnx_graph, name, TEXT),
    [5]  = MANY_OF(cq_onnx_graph, initializer, cq_onnx_tensor_message),
    [10] = ONE(cq_onnx_graph, doc_string, TEXT),
    [11] = MANY_OF(cq_onnx_graph, input, cq_onnx_value_info_message),
    [12] = MANY_OF(cq_onnx_graph, output, cq_onnx_value_info_message),
    [13] = MANY_OF(cq_onnx_graph, value_info, cq_onnx_value_info_message),
    [14] = MANY_OF(cq_onnx_graph, quantization_annotation, cq_onnx_annotation_message),
    [15] = MANY_OF(cq_onnx_graph, sparse_initializer, cq_onnx_sparse_message),
    [16] = MANY_OF(cq_onnx_graph, metadata_props, entry),
};
const cq_onnx_message cq_onnx_graph_message = MESSAGE("GraphProto", cq_onnx_graph, graph_fields);

static const cq_onnx_field opset_fields[] = {
    [1] = ONE(cq_onnx_opset, domain, TEXT),
    [2] = ONE(cq_onnx_opset, version, I64),
};
static const cq_onnx_message opset = MESSAGE("OperatorSetIdProto", cq_onnx_opset, opset_fields);

static const cq_onnx_field function_fields[] = {
    [1]  = ONE(cq_onnx_function, name, TEXT),
    [4]  = MANY(cq_onnx_function, input, TEXT),
    [5]  = MANY(cq_onnx_function, output, TEXT),
    [6]  = MANY(cq_onnx_function, attribute, TEXT),
    [7]  = MANY_OF(cq_onnx_function, node, cq_onnx_node_message),
    [8]  = ONE(cq_onnx_function, doc_string, TEXT),
    [9]  = MANY_OF(cq_onnx_function, opset_import, opset),
    [10] = ONE(cq_onnx_function, domain, TEXT),
    [11] = MANY_OF(cq_onnx_function, attribute_proto, cq_onnx_attribute_message),
    [12] = MANY_OF(cq_onnx_function, value_info, cq_onnx_value_info_message),
    [13] = ONE(cq_onnx_function, overload, TEXT),
    [14] = MANY_OF(cq_onnx_function, metadata_props, entry),
};
const cq_onnx_message cq_onnx_function_message =
    MESSAGE("FunctionProto", cq_onnx_function, function_fields);

static const cq_onnx_field training_info_fields[] = {
    [1] = ONE_OF(cq_onnx_training_info, initialization, cq_onnx_graph_message),
    [2] = ONE_OF(cq_onnx_training_info, algorithm, cq_onnx_graph_message),
    [3] = MANY_OF(cq_onnx_training_info, initialization_binding, entry),
    [4] = MANY_OF(cq_onnx_training_info, update_binding, entry),
};
static const cq_onnx_message training_info =
    MESSAGE("TrainingInfoProto", cq_onnx_training_info, training_info_fields);

static const cq_onnx_field model_fields[] = {
    [1]  = ONE(cq_onnx_model, ir_version, I64),
    [2]  = ONE(cq_onnx_model, producer_name, TEXT),
    [3]  = ONE(cq_onnx_model, producer_version, TEXT),
    [4]  = ONE(cq_onnx_model, domain, TEXT),
    [5]  = ONE(cq_onnx_model, model_version, I64),
    [6]  = ONE(cq_onnx_model, doc_string, TEXT),
    [7]  = ONE_OF(cq_onnx_model, graph, cq_onnx_graph_message),
    [8]  = MANY_OF(cq_onnx_model, opset_import, opset),
    [14] = MANY_OF(cq_onnx_model, metadata_props, entry),
    [20] = MANY_OF(cq_onnx_model, training_info, training_info),
    [25] = MANY_OF(cq_onnx_model, functions, cq_onnx_function_message),
    [26] = MANY_OF(cq_onnx_model, configuration, device),
};
const cq_onnx_message cq_onnx_model_message = MESSAGE("ModelProto", cq_onnx_model, model_fields);

static const cq_onnx_field map_value_fields[] = {
    [1] = ONE(cq_onnx_map_value, name, TEXT),
    [2] = ONE(cq_onnx_map_value, key_type, I32),
    [3] = MANY(cq_onnx_map_value, keys, I64),
    [4] = MANY(cq_onnx_map_value, string_keys, BYTES),
    [5] = ONE_OF(cq_onnx_map_value, values, cq_onnx_sequence_message),
};
const cq_onnx_message cq_onnx_map_message =
    MESSAGE("MapProto", cq_onnx_map_value, map_value_fields);

static const cq_onnx_field sequence_fields[] = {
    [1] = ONE(cq_onnx_sequence, name, TEXT),
    [2] = ONE(cq_onnx_sequence, elem_type, I32),
    [3] = MANY_OF(cq_onnx_sequence, tensor_values, cq_onnx_tensor_message),
    [4] = MANY_OF(cq_onnx_sequence, sparse_tensor_values, cq_onnx_sparse_message),
    [5] = MANY_OF(cq_onnx_sequence, sequence_values, cq_onnx_sequence_message),
    [6] = MANY_OF(cq_onnx_sequence, map_values, cq_onnx_map_message),
    [7] = MANY_OF(cq_onnx_sequence, optional_values, cq_onnx_optional_message),
};
const cq_onnx_message cq_onnx_sequence_message =
    MESSAGE("SequenceProto", cq_onnx_sequence, sequence_fields);

static const cq_onnx_field optional_fields[] = {
    [1] = ONE(cq_onnx_optional, name, TEXT),
    [2] = ONE(cq_onnx_optional, elem_type, I32),
    [3] = ONE_OF(cq_onnx_optional, tensor_value, cq_onnx_tensor_message),
    [4] = ONE_OF(cq_onnx_optional, sparse_tensor_value, cq_onnx_sparse_message),
    [5] = ONE_OF(cq_onnx_optional, sequence_value, cq_onnx_sequence_message),
    [6] = ONE_OF(cq_onnx_optional, map_value, cq_onnx_map_message),
    [7] = ONE_OF(cq_onnx_optional, optional_value, cq_onnx_optional_message),
};
const cq_onnx_message cq_onnx_optional_message =
    MESSAGE("OptionalProto", cq_onnx_optional, optional_fields);

const struct cq_onnx_kind_row cq_onnx_kinds[] = {
    [CQ_ONNX_KIND_I64]     = { CQ_ONNX_WIRE_VARINT, sizeof(int64_t) },
    [CQ_ONNX_KIND_I32]     = { CQ_ONNX_WIRE_VARINT, sizeof(int32_t) },
    [CQ_ONNX_KIND_U64]     = { CQ_ONNX_WIRE_VARINT, sizeof(uint64_t) },
    [CQ_ONNX_KIND_F32]     = { CQ_ONNX_WIRE_32, sizeof(float) },
    [CQ_ONNX_KIND_F64]     = { CQ_ONNX_WIRE_64, sizeof(double) },
    [CQ_ONNX_KIND_TEXT]    = { CQ_ONNX_WIRE_BYTES, sizeof(char *) },
    [CQ_ONNX_KIND_BYTES]   = { CQ_ONNX_WIRE_BYTES, sizeof(cq_onnx_bytes) },
    [CQ_ONNX_KIND_RAW]     = { CQ_ONNX_WIRE_BYTES, sizeof(cq_onnx_bytes) },
    [CQ_ONNX_KIND_MESSAGE] = { CQ_ONNX_WIRE_BYTES, sizeof(void *) },
};

static cq_status each_message(const cq_onnx_message *message, void *at,
                              const cq_onnx_message *parent, cq_onnx_on_message visit, void *user)
{
    CQ_TRY(visit(user, message, at, parent));
    for (uint32_t i = 1; i < message->n_fields; i++) {
        const cq_onnx_field *field = &message->fields[i];
        char                *where = (char *)at + field->offset;
        cq_onnx_any_list     list  = { .items = where, .n = 1 };
        void                *item;

        if (field->kind != CQ_ONNX_KIND_MESSAGE)
            continue;
        if (field->repeated)
            memcpy(&list, where, sizeof list);
        for (uint32_t k = 0; k < list.n; k++) {
            memcpy(&item, (char *)list.items + k * sizeof item, sizeof item);
            if (item)
                CQ_TRY(each_message(field->message, item, message, visit, user));
        }
    }
    return CQ_OK;
}

cq_status cq_onnx_each_message(const cq_onnx_message *message, void *at, cq_onnx_on_message visit,
                               void *user)
{
    return each_message(message, at, NULL, visit, user);
}
