/* The messages of onnx.proto: a table per message, indexed by field number. These tables drive the
 * decoder and the encoder: a field in the table is read, written and counted, and any other field
 * is kept as unknown. */
#ifndef CQ_ONNX_FILE_FIELDS_H
#define CQ_ONNX_FILE_FIELDS_H

#include "onnx/model.h"

typedef enum cq_onnx_kind {
    CQ_ONNX_KIND_NONE, /* no field has this number */
    CQ_ONNX_KIND_I64,
    CQ_ONNX_KIND_I32, /* also enums: unknown values are kept */
    CQ_ONNX_KIND_U64,
    CQ_ONNX_KIND_F32,
    CQ_ONNX_KIND_F64,
    CQ_ONNX_KIND_TEXT,
    CQ_ONNX_KIND_BYTES,
    CQ_ONNX_KIND_RAW, /* TensorProto.raw_data: bytes, or a tensor that replaces them */
    CQ_ONNX_KIND_MESSAGE
} cq_onnx_kind;

typedef struct cq_onnx_message cq_onnx_message;

typedef struct cq_onnx_field {
    const char            *name;
    uint8_t                kind;
    bool                   repeated;
    bool                   packed; /* packed when written; both forms are read */
    bool                   oneof;  /* setting it clears the other fields of its oneof */
    uint16_t               offset;
    const cq_onnx_message *message;
} cq_onnx_field;

struct cq_onnx_message {
    const char          *name;
    size_t               size;
    uint32_t             n_fields; /* highest number + 1 */
    const cq_onnx_field *fields;
};

extern const cq_onnx_message cq_onnx_model_message, cq_onnx_tensor_message, cq_onnx_graph_message,
    cq_onnx_type_message, cq_onnx_sequence_message, cq_onnx_optional_message, cq_onnx_map_message,
    cq_onnx_attribute_message, cq_onnx_value_info_message, cq_onnx_node_message,
    cq_onnx_function_message, cq_onnx_sparse_message, cq_onnx_annotation_message,
    cq_onnx_dim_message;

/* The common beginning of every message, and the layout of every CQ_ONNX_LIST. */
typedef struct cq_onnx_any {
    CQ_ONNX_MESSAGE;
} cq_onnx_any;

typedef struct cq_onnx_any_list {
    void    *items;
    uint32_t n, cap;
} cq_onnx_any_list;

/* Wire types of the protobuf encoding. */
enum {
    CQ_ONNX_WIRE_VARINT = 0,
    CQ_ONNX_WIRE_64     = 1,
    CQ_ONNX_WIRE_BYTES  = 2,
    CQ_ONNX_WIRE_GROUP  = 3,
    CQ_ONNX_WIRE_END    = 4,
    CQ_ONNX_WIRE_32     = 5
};

/* Wire type of a single value of a kind, and its size in a struct or list. */
extern const struct cq_onnx_kind_row {
    uint8_t wire, size;
} cq_onnx_kinds[];

static inline int cq_onnx_kind_wire(int kind)
{
    return cq_onnx_kinds[kind].wire;
}

static inline size_t cq_onnx_kind_size(int kind)
{
    return cq_onnx_kinds[kind].size;
}

/* Calls visit for a message, then for all nested messages; parent is the table of the enclosing
 * message, NULL for the first. The decoder has bounded the depth. Stops at the first failure and
 * returns it. */
typedef cq_status (*cq_onnx_on_message)(void *user, const cq_onnx_message *message, void *at,
                                        const cq_onnx_message *parent);

cq_status cq_onnx_each_message(const cq_onnx_message *message, void *at, cq_onnx_on_message visit,
                               void *user);

#endif
