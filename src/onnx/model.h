/* An ONNX model in memory: the messages of onnx.proto, one C struct each, field for
 * field, up to IR version 13. Nothing here knows what an operator means.
 *
 * Reading: an optional string or message is NULL when absent, optional bytes have
 * data == NULL, a list has n == 0; an optional number is there when its bit is set in
 * `has`: cq_onnx_has(attribute, CQ_ONNX_ATTRIBUTE_I). So a decoded model is encoded to
 * an equal message. Strings are C strings in the model's arena; bytes are views of the
 * file the model was read from.
 *
 * Building: the functions at the end copy every string into the arena. They keep the
 * first failure in model->status, take NULL for an object that could not be made, and
 * then do nothing; check model->status (or let cq_onnx_model_save do it) once at the end.
 *
 * The byte format is in wire.h, conversion to tensors in tensor.h. */
#ifndef CQ_ONNX_MODEL_H
#define CQ_ONNX_MODEL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "tensor/tensor.h"

#include <calque/graph.h>

/* The newest IR version whose messages are mirrored here. */
#define CQ_ONNX_IR_NEWEST 13

/* Like CQ_VEC, but allocated in the model's arena and half the size. Repeated messages are lists of
 * pointers, so elements have stable addresses. */
#define CQ_ONNX_LIST(type)                                                                         \
    struct {                                                                                       \
        type    *items;                                                                            \
        uint32_t n, cap;                                                                           \
    }

typedef struct cq_onnx_bytes {
    const void *data; /* NULL: absent; not NUL-terminated */
    size_t      size;
} cq_onnx_bytes;

/* Fields of newer versions of onnx.proto, kept unchanged to be written back: a ring, of which the
 * message refers to the last element. */
typedef struct cq_onnx_unknown cq_onnx_unknown;
struct cq_onnx_unknown {
    cq_onnx_unknown *next;
    cq_onnx_bytes    bytes; /* whole fields, tags included */
};

/* The first members of every message. */
#define CQ_ONNX_MESSAGE                                                                            \
    uint32_t         has; /* bit n: the optional number of field n is set */                       \
    cq_onnx_unknown *unknown

/* Fields with a bit in `has`, by their number in onnx.proto. */
enum {
    CQ_ONNX_MODEL_IR_VERSION           = 1,
    CQ_ONNX_MODEL_MODEL_VERSION        = 5,
    CQ_ONNX_ATTRIBUTE_F                = 2,
    CQ_ONNX_ATTRIBUTE_I                = 3,
    CQ_ONNX_ATTRIBUTE_TYPE             = 20,
    CQ_ONNX_TENSOR_DATA_TYPE           = 2,
    CQ_ONNX_TENSOR_DATA_LOCATION       = 14,
    CQ_ONNX_SEGMENT_BEGIN              = 1,
    CQ_ONNX_SEGMENT_END                = 2,
    CQ_ONNX_DIM_VALUE                  = 1,
    CQ_ONNX_TENSOR_TYPE_ELEM_TYPE      = 1,
    CQ_ONNX_MAP_TYPE_KEY_TYPE          = 1,
    CQ_ONNX_OPSET_VERSION              = 2,
    CQ_ONNX_SEQUENCE_ELEM_TYPE         = 2,
    CQ_ONNX_OPTIONAL_ELEM_TYPE         = 2,
    CQ_ONNX_MAP_VALUE_KEY_TYPE         = 2,
    CQ_ONNX_DEVICE_NUM_DEVICES         = 2,
    CQ_ONNX_NODE_DEVICE_PIPELINE_STAGE = 3,
    CQ_ONNX_INT_INTS_KEY               = 1,
    CQ_ONNX_SHARDED_DIM_AXIS           = 1,
    CQ_ONNX_SIMPLE_SHARDED_DIM_VALUE   = 1,
    CQ_ONNX_SIMPLE_SHARDED_NUM_SHARDS  = 3
};

#define cq_onnx_has(message, field)     (((message)->has >> (field)) & 1u)
#define cq_onnx_set_has(message, field) ((message)->has |= 1u << (field))

/* TensorProto.DataType; cq_dtype_from_onnx and cq_dtype_to_onnx convert. */
typedef enum cq_onnx_data_type {
    CQ_ONNX_UNDEFINED      = 0,
    CQ_ONNX_FLOAT          = 1,
    CQ_ONNX_UINT8          = 2,
    CQ_ONNX_INT8           = 3,
    CQ_ONNX_UINT16         = 4,
    CQ_ONNX_INT16          = 5,
    CQ_ONNX_INT32          = 6,
    CQ_ONNX_INT64          = 7,
    CQ_ONNX_STRING         = 8,
    CQ_ONNX_BOOL           = 9,
    CQ_ONNX_FLOAT16        = 10,
    CQ_ONNX_DOUBLE         = 11,
    CQ_ONNX_UINT32         = 12,
    CQ_ONNX_UINT64         = 13,
    CQ_ONNX_COMPLEX64      = 14,
    CQ_ONNX_COMPLEX128     = 15,
    CQ_ONNX_BFLOAT16       = 16,
    CQ_ONNX_FLOAT8E4M3FN   = 17,
    CQ_ONNX_FLOAT8E4M3FNUZ = 18,
    CQ_ONNX_FLOAT8E5M2     = 19,
    CQ_ONNX_FLOAT8E5M2FNUZ = 20,
    CQ_ONNX_UINT4          = 21,
    CQ_ONNX_INT4           = 22,
    CQ_ONNX_FLOAT4E2M1     = 23,
    CQ_ONNX_FLOAT8E8M0     = 24,
    CQ_ONNX_UINT2          = 25,
    CQ_ONNX_INT2           = 26,
    CQ_ONNX_DATA_TYPE_COUNT
} cq_onnx_data_type;

enum { CQ_ONNX_LOCATION_DEFAULT = 0, CQ_ONNX_LOCATION_EXTERNAL = 1 };

typedef struct cq_onnx_type cq_onnx_type;
typedef CQ_ONNX_LIST(const char *) cq_onnx_names;
typedef CQ_ONNX_LIST(cq_onnx_bytes) cq_onnx_bytes_list;
typedef CQ_ONNX_LIST(int64_t) cq_onnx_ints;
/* The floats of a tensor may be in the file, at an unaligned address. */
typedef float  cq_onnx_f32 __attribute__((aligned(1)));
typedef double cq_onnx_f64 __attribute__((aligned(1)));
typedef CQ_ONNX_LIST(cq_onnx_f32) cq_onnx_floats;

typedef struct cq_onnx_entry { /* StringStringEntryProto */
    CQ_ONNX_MESSAGE;
    const char *key, *value;
} cq_onnx_entry;

typedef CQ_ONNX_LIST(cq_onnx_entry *) cq_onnx_entries;

typedef struct cq_onnx_segment { /* TensorProto.Segment */
    CQ_ONNX_MESSAGE;
    int64_t begin, end;
} cq_onnx_segment;

/* The elements are in one of the typed lists, in raw_data, in an external file, or in tensor, which
 * replaces raw_data and is streamed when the model is encoded. */
typedef struct cq_onnx_tensor {
    CQ_ONNX_MESSAGE;
    int32_t        data_type; /* cq_onnx_data_type */
    int32_t        data_location;
    const char    *name, *doc_string;
    cq_onnx_ints   dims;
    cq_onnx_bytes  raw_data;
    cq_tensor     *tensor; /* the model holds a reference; NULL: raw_data is used */
    cq_onnx_floats float_data;
    CQ_ONNX_LIST(int32_t) int32_data;
    cq_onnx_ints int64_data;
    CQ_ONNX_LIST(cq_onnx_f64) double_data;
    CQ_ONNX_LIST(uint64_t) uint64_data;
    cq_onnx_bytes_list string_data;
    cq_onnx_entries    external_data;
    cq_onnx_entries    metadata_props;
    cq_onnx_segment   *segment;
} cq_onnx_tensor;

typedef struct cq_onnx_sparse_tensor {
    CQ_ONNX_MESSAGE;
    cq_onnx_tensor *values, *indices;
    cq_onnx_ints    dims;
} cq_onnx_sparse_tensor;

typedef struct cq_onnx_dim { /* TensorShapeProto.Dimension: a number, a name, or unset */
    CQ_ONNX_MESSAGE;
    int64_t     dim_value;
    const char *dim_param;
    const char *denotation;
} cq_onnx_dim;

typedef struct cq_onnx_shape {
    CQ_ONNX_MESSAGE;
    CQ_ONNX_LIST(cq_onnx_dim *) dim;
} cq_onnx_shape;

typedef struct cq_onnx_tensor_type { /* of dense and of sparse tensors */
    CQ_ONNX_MESSAGE;
    int32_t        elem_type; /* cq_onnx_data_type */
    cq_onnx_shape *shape;     /* NULL: the rank is unknown */
} cq_onnx_tensor_type;

typedef struct cq_onnx_element_type { /* TypeProto.Sequence and TypeProto.Optional */
    CQ_ONNX_MESSAGE;
    cq_onnx_type *elem_type;
} cq_onnx_element_type;

typedef struct cq_onnx_map_type {
    CQ_ONNX_MESSAGE;
    int32_t       key_type;
    cq_onnx_type *value_type;
} cq_onnx_map_type;

typedef struct cq_onnx_opaque_type {
    CQ_ONNX_MESSAGE;
    const char *domain, *name;
} cq_onnx_opaque_type;

struct cq_onnx_type { /* TypeProto: at most one of the pointers except denotation is set */
    CQ_ONNX_MESSAGE;
    cq_onnx_tensor_type  *tensor_type;
    cq_onnx_element_type *sequence_type;
    cq_onnx_map_type     *map_type;
    cq_onnx_opaque_type  *opaque_type;
    cq_onnx_tensor_type  *sparse_tensor_type;
    cq_onnx_element_type *optional_type;
    const char           *denotation;
};

typedef struct cq_onnx_value_info {
    CQ_ONNX_MESSAGE;
    const char     *name, *doc_string;
    cq_onnx_type   *type;
    cq_onnx_entries metadata_props;
} cq_onnx_value_info;

typedef CQ_ONNX_LIST(cq_onnx_value_info *) cq_onnx_value_infos;

typedef struct cq_onnx_attribute {
    CQ_ONNX_MESSAGE;
    int32_t                type; /* cq_onnx_attribute_type */
    float                  f;
    int64_t                i;
    const char            *name, *ref_attr_name, *doc_string;
    cq_onnx_bytes          s;
    cq_onnx_tensor        *t;
    cq_onnx_graph         *g;
    cq_onnx_sparse_tensor *sparse_tensor;
    cq_onnx_type          *tp;
    cq_onnx_floats         floats;
    cq_onnx_ints           ints;
    cq_onnx_bytes_list     strings;
    CQ_ONNX_LIST(cq_onnx_tensor *) tensors;
    CQ_ONNX_LIST(cq_onnx_graph *) graphs;
    CQ_ONNX_LIST(cq_onnx_sparse_tensor *) sparse_tensors;
    CQ_ONNX_LIST(cq_onnx_type *) type_protos;
} cq_onnx_attribute;

typedef CQ_ONNX_LIST(cq_onnx_attribute *) cq_onnx_attributes;

/* How a model is distributed over devices (IR version 11). */
typedef struct cq_onnx_int_ints { /* IntIntListEntryProto */
    CQ_ONNX_MESSAGE;
    int64_t      key;
    cq_onnx_ints value;
} cq_onnx_int_ints;

typedef struct cq_onnx_simple_sharded_dim {
    CQ_ONNX_MESSAGE;
    int64_t     dim_value, num_shards;
    const char *dim_param;
} cq_onnx_simple_sharded_dim;

typedef struct cq_onnx_sharded_dim {
    CQ_ONNX_MESSAGE;
    int64_t axis;
    CQ_ONNX_LIST(cq_onnx_simple_sharded_dim *) simple_sharding;
} cq_onnx_sharded_dim;

typedef struct cq_onnx_sharding_spec {
    CQ_ONNX_MESSAGE;
    const char  *tensor_name;
    cq_onnx_ints device;
    CQ_ONNX_LIST(cq_onnx_int_ints *) index_to_device_group_map;
    CQ_ONNX_LIST(cq_onnx_sharded_dim *) sharded_dim;
} cq_onnx_sharding_spec;

typedef struct cq_onnx_node_device { /* NodeDeviceConfigurationProto */
    CQ_ONNX_MESSAGE;
    const char *configuration_id;
    int32_t     pipeline_stage;
    CQ_ONNX_LIST(cq_onnx_sharding_spec *) sharding_spec;
} cq_onnx_node_device;

typedef struct cq_onnx_device { /* DeviceConfigurationProto */
    CQ_ONNX_MESSAGE;
    const char   *name;
    int32_t       num_devices;
    cq_onnx_names device;
} cq_onnx_device;

typedef struct cq_onnx_node {
    CQ_ONNX_MESSAGE;
    const char        *name, *op_type, *domain, *overload, *doc_string;
    cq_onnx_names      input, output; /* "" is an omitted optional input or output */
    cq_onnx_attributes attribute;
    cq_onnx_entries    metadata_props;
    CQ_ONNX_LIST(cq_onnx_node_device *) device_configurations;
} cq_onnx_node;

typedef struct cq_onnx_annotation { /* TensorAnnotation */
    CQ_ONNX_MESSAGE;
    const char     *tensor_name;
    cq_onnx_entries quant_parameter_tensor_names;
} cq_onnx_annotation;

struct cq_onnx_graph {
    CQ_ONNX_MESSAGE;
    const char *name, *doc_string;
    CQ_ONNX_LIST(cq_onnx_node *) node;
    CQ_ONNX_LIST(cq_onnx_tensor *) initializer;
    CQ_ONNX_LIST(cq_onnx_sparse_tensor *) sparse_initializer;
    cq_onnx_value_infos input, output, value_info;
    CQ_ONNX_LIST(cq_onnx_annotation *) quantization_annotation;
    cq_onnx_entries metadata_props;
};

typedef struct cq_onnx_opset { /* OperatorSetIdProto */
    CQ_ONNX_MESSAGE;
    const char *domain; /* NULL and "" are the default domain */
    int64_t     version;
} cq_onnx_opset;

typedef CQ_ONNX_LIST(cq_onnx_opset *) cq_onnx_opsets;

typedef struct cq_onnx_function {
    CQ_ONNX_MESSAGE;
    const char        *name, *domain, *overload, *doc_string;
    cq_onnx_names      input, output;
    cq_onnx_names      attribute;       /* those without a default */
    cq_onnx_attributes attribute_proto; /* with a default */
    CQ_ONNX_LIST(cq_onnx_node *) node;
    cq_onnx_opsets      opset_import;
    cq_onnx_value_infos value_info;
    cq_onnx_entries     metadata_props;
} cq_onnx_function;

/* Values that are not tensors, for separate files: test data (onnx-data.proto). */
typedef struct cq_onnx_sequence cq_onnx_sequence;
typedef struct cq_onnx_optional cq_onnx_optional;

typedef struct cq_onnx_map_value { /* MapProto */
    CQ_ONNX_MESSAGE;
    const char        *name;
    int32_t            key_type;
    cq_onnx_ints       keys;
    cq_onnx_bytes_list string_keys;
    cq_onnx_sequence  *values;
} cq_onnx_map_value;

/* Values of elem_type, of a sequence and of an optional. */
enum {
    CQ_ONNX_ELEM_UNDEFINED     = 0,
    CQ_ONNX_ELEM_TENSOR        = 1,
    CQ_ONNX_ELEM_SPARSE_TENSOR = 2,
    CQ_ONNX_ELEM_SEQUENCE      = 3,
    CQ_ONNX_ELEM_MAP           = 4,
    CQ_ONNX_ELEM_OPTIONAL      = 5
};

struct cq_onnx_sequence {
    CQ_ONNX_MESSAGE;
    const char *name;
    int32_t     elem_type;
    CQ_ONNX_LIST(cq_onnx_tensor *) tensor_values;
    CQ_ONNX_LIST(cq_onnx_sparse_tensor *) sparse_tensor_values;
    CQ_ONNX_LIST(cq_onnx_sequence *) sequence_values;
    CQ_ONNX_LIST(cq_onnx_map_value *) map_values;
    CQ_ONNX_LIST(cq_onnx_optional *) optional_values;
};

struct cq_onnx_optional { /* without a value it is empty */
    CQ_ONNX_MESSAGE;
    const char            *name;
    int32_t                elem_type;
    cq_onnx_tensor        *tensor_value;
    cq_onnx_sparse_tensor *sparse_tensor_value;
    cq_onnx_sequence      *sequence_value;
    cq_onnx_map_value     *map_value;
    cq_onnx_optional      *optional_value;
};

typedef struct cq_onnx_training_info {
    CQ_ONNX_MESSAGE;
    cq_onnx_graph  *initialization, *algorithm;
    cq_onnx_entries initialization_binding, update_binding;
} cq_onnx_training_info;

struct cq_onnx_model { /* ModelProto, which owns all of the above */
    CQ_ONNX_MESSAGE;
    int64_t         ir_version, model_version;
    const char     *producer_name, *producer_version, *domain, *doc_string;
    cq_onnx_opsets  opset_import;
    cq_onnx_graph  *graph;
    cq_onnx_entries metadata_props;
    CQ_ONNX_LIST(cq_onnx_training_info *) training_info;
    CQ_ONNX_LIST(cq_onnx_function *) functions;
    CQ_ONNX_LIST(cq_onnx_device *) configuration;

    /* Fields that are not part of the message. */
    cq_arena   *arena;
    cq_status   status;          /* the first failure while building */
    cq_storage *source;          /* the owner of the decoded bytes; NULL for a built model */
    CQ_VEC(cq_tensor *) tensors; /* references held for cq_onnx_tensor.tensor */
    struct cq_onnx_files *files; /* external data; NULL if the model was not read from a file */

    /* For a model that was joined from several (part/join.c): the other models, whose messages are
     * part of this one, and for each of their tensors the model that it was read with. */
    CQ_VEC(cq_onnx_model *) joined;
    cq_ptr_map homes;
};

/* The model whose file contains the bytes of a tensor of m: m, or one that was joined to it. */
const cq_onnx_model *cq_onnx_tensor_home(const cq_onnx_model *m, const cq_onnx_tensor *tensor);

/* ---- Building ---- */

/* A model with an empty graph of that name, and nothing else set. */
cq_status cq_onnx_model_new(cq_onnx_model **out, const char *graph_name);

void cq_onnx_model_set_ir_version(cq_onnx_model *m, int64_t version);
void cq_onnx_model_set_producer(cq_onnx_model *m, const char *name, const char *version);
void cq_onnx_model_add_opset(cq_onnx_model *m, const char *domain, int64_t version);

/* Appends key = value to the metadata_props of any message. */
void cq_onnx_add_entry(cq_onnx_model *m, cq_onnx_entries *list, const char *key, const char *value);

/* state.c: declares that an input is passed from an output of the previous run, with its first
 * value. */
cq_status cq_onnx_model_note_state(cq_onnx_model *m, const char *input, const char *output,
                                   const cq_tensor *initial);

/* Copies of text in the model's arena; NULL stays NULL. */
const char *cq_onnx_text(cq_onnx_model *m, const char *text);
void        cq_onnx_add_name(cq_onnx_model *m, cq_onnx_names *list, const char *name);

cq_onnx_graph *cq_onnx_graph_new(cq_onnx_model *m, const char *name); /* for an attribute */

/* Appends a node to graph (NULL: m->graph). name and domain may be NULL. */
cq_onnx_node *cq_onnx_graph_add_node(cq_onnx_model *m, cq_onnx_graph *graph, const char *op_type,
                                     const char *domain, const char *name);
void          cq_onnx_node_add_input(cq_onnx_model *m, cq_onnx_node *node, const char *name);
void          cq_onnx_node_add_output(cq_onnx_model *m, cq_onnx_node *node, const char *name);

cq_onnx_function *cq_onnx_model_add_function(cq_onnx_model *m, const char *domain,
                                             const char *name);
cq_onnx_node     *cq_onnx_function_add_node(cq_onnx_model *m, cq_onnx_function *function,
                                            const char *op_type, const char *domain, const char *name);
void cq_onnx_function_add_opset(cq_onnx_model *m, cq_onnx_function *function, const char *domain,
                                int64_t version);

/* Types. An axis is a name, a number, or neither (-1). */
typedef struct cq_onnx_axis {
    const char *name;  /* not NULL: dim_param */
    int64_t     value; /* -1: unset */
} cq_onnx_axis;

/* axes NULL: no shape. data_type is a cq_onnx_data_type. */
cq_onnx_type *cq_onnx_type_new_tensor(cq_onnx_model *m, int32_t data_type, size_t rank,
                                      const cq_onnx_axis *axes);
cq_onnx_type *cq_onnx_type_new_sequence(cq_onnx_model *m, cq_onnx_type *element);
cq_onnx_type *cq_onnx_type_new_optional(cq_onnx_model *m, cq_onnx_type *element);

/* Appends a value to graph->input, output or value_info. type may be NULL. */
cq_onnx_value_info *cq_onnx_add_value(cq_onnx_model *m, cq_onnx_value_infos *list, const char *name,
                                      cq_onnx_type *type);

/* A tensor message whose raw_data is t's elements: t is retained, not copied, and its bytes are
 * read when the model is encoded. Fails for a fake t, which has no elements. */
cq_onnx_tensor *cq_onnx_tensor_new(cq_onnx_model *m, const char *name, cq_tensor *t);

/* The same, appended to the initializers of graph (NULL: m->graph). */
cq_onnx_tensor *cq_onnx_graph_add_initializer(cq_onnx_model *m, cq_onnx_graph *graph,
                                              const char *name, cq_tensor *t);

/* Append attributes to the node. Arrays are copied; messages are adopted. */
cq_onnx_attribute *cq_onnx_attr_int(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                    int64_t value);
cq_onnx_attribute *cq_onnx_attr_float(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                      float value);
cq_onnx_attribute *cq_onnx_attr_string(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       const char *value);
cq_onnx_attribute *cq_onnx_attr_bytes(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                      const void *data, size_t size);
cq_onnx_attribute *cq_onnx_attr_tensor(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       cq_tensor *value);
cq_onnx_attribute *cq_onnx_attr_graph(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                      cq_onnx_graph *value);
cq_onnx_attribute *cq_onnx_attr_type(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                     cq_onnx_type *value);
cq_onnx_attribute *cq_onnx_attr_ints(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                     const int64_t *values, size_t n);
cq_onnx_attribute *cq_onnx_attr_floats(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       const float *values, size_t n);
cq_onnx_attribute *cq_onnx_attr_strings(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                        const char *const *values, size_t n);
cq_onnx_attribute *cq_onnx_attr_tensors(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                        cq_tensor *const *values, size_t n);
cq_onnx_attribute *cq_onnx_attr_graphs(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       cq_onnx_graph *const *values, size_t n);

/* In a function: the attribute has the value of the caller's attribute of that name. */
cq_onnx_attribute *cq_onnx_attr_ref(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                    cq_onnx_attribute_type type, const char *ref_attr_name);

/* The attribute of that name, or NULL. */
const cq_onnx_attribute *cq_onnx_node_attr(const cq_onnx_node *node, const char *name);

/* ---- building blocks of the above and of the decoder ---- */

/* Zeroed memory that the model owns; NULL, with the status set, if memory is exhausted. */
void *cq_onnx_alloc(cq_onnx_model *m, size_t size);

/* Reserves space for want items of size bytes; list is a CQ_ONNX_LIST. Returns false on failure,
 * which is stored in m->status. */
bool cq_onnx_list_reserve(cq_onnx_model *m, void *list, size_t want, size_t size);
/* Appends a zeroed item; NULL: the model has failed. */
void *cq_onnx_list_grow(cq_onnx_model *m, void *list, size_t size);

/* list->items[list->n++] = item, if there is memory. */
#define cq_onnx_list_push(m, list, ...)                                                            \
    (cq_onnx_list_reserve((m), (list), (size_t)(list)->n + 1, sizeof *(list)->items)               \
         ? (void)((list)->items[(list)->n++] = (__VA_ARGS__))                                      \
         : (void)0)

/* flops.c: the floating-point operations of every node of the main graph, for the shapes in the
 * model. Nodes with dynamic shapes are skipped. */
typedef cq_status (*cq_onnx_flops_fn)(void *user, const cq_onnx_node *node, double flops);
cq_status cq_onnx_each_flops(cq_onnx_model *m, cq_onnx_flops_fn fn, void *user);

/* Fails for a model without a graph: a file may omit it. */
cq_status cq_onnx_need_graph(const cq_onnx_model *m);

#endif
