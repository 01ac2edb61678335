/* The keywords of the text syntax. Element types have the same names as in schemas. */
#include "onnx/text/text.h"

#include "onnx/schema.h"

#include <string.h>

const cq_text_kind_row cq_text_kinds[] = {
    [CQ_TEXT_MODEL]     = { "model", &cq_onnx_model_message },
    [CQ_TEXT_GRAPH]     = { "graph", &cq_onnx_graph_message },
    [CQ_TEXT_FUNCTION]  = { "function", &cq_onnx_function_message },
    [CQ_TEXT_NODE]      = { "node", &cq_onnx_node_message },
    [CQ_TEXT_ATTRIBUTE] = { "attribute", &cq_onnx_attribute_message },
    [CQ_TEXT_VALUE]     = { "value", &cq_onnx_value_info_message },
    [CQ_TEXT_TENSOR]    = { "tensor", &cq_onnx_tensor_message },
};

const cq_text_attribute_row cq_text_attributes[CQ_ONNX_ATTR_COUNT] = {
    [CQ_ONNX_ATTR_FLOAT]          = { "float", 0, 2 },
    [CQ_ONNX_ATTR_INT]            = { "int", 0, 3 },
    [CQ_ONNX_ATTR_STRING]         = { "string", 0, 4 },
    [CQ_ONNX_ATTR_TENSOR]         = { "tensor", 0, 5 },
    [CQ_ONNX_ATTR_GRAPH]          = { "graph", 0, 6 },
    [CQ_ONNX_ATTR_FLOATS]         = { "floats", CQ_ONNX_ATTR_FLOAT, 7 },
    [CQ_ONNX_ATTR_INTS]           = { "ints", CQ_ONNX_ATTR_INT, 8 },
    [CQ_ONNX_ATTR_STRINGS]        = { "strings", CQ_ONNX_ATTR_STRING, 9 },
    [CQ_ONNX_ATTR_TENSORS]        = { "tensors", CQ_ONNX_ATTR_TENSOR, 10 },
    [CQ_ONNX_ATTR_GRAPHS]         = { "graphs", CQ_ONNX_ATTR_GRAPH, 11 },
    [CQ_ONNX_ATTR_SPARSE_TENSOR]  = { "sparse_tensor", 0, 22 },
    [CQ_ONNX_ATTR_SPARSE_TENSORS] = { "sparse_tensors", CQ_ONNX_ATTR_SPARSE_TENSOR, 23 },
    [CQ_ONNX_ATTR_TYPE_PROTO]     = { "type_proto", 0, 14 },
    [CQ_ONNX_ATTR_TYPE_PROTOS]    = { "type_protos", CQ_ONNX_ATTR_TYPE_PROTO, 15 },
};

#define FLOATS  4
#define INT32S  5
#define STRINGS 6
#define INT64S  7
#define DOUBLES 10
#define UINT64S 11

const cq_text_number_row cq_text_numbers[CQ_ONNX_DATA_TYPE_COUNT] = {
    [CQ_ONNX_FLOAT] = { 'f', 4, FLOATS },        [CQ_ONNX_UINT8] = { 'u', 1, INT32S },
    [CQ_ONNX_INT8] = { 'i', 1, INT32S },         [CQ_ONNX_UINT16] = { 'u', 2, INT32S },
    [CQ_ONNX_INT16] = { 'i', 2, INT32S },        [CQ_ONNX_INT32] = { 'i', 4, INT32S },
    [CQ_ONNX_INT64] = { 'i', 8, INT64S },        [CQ_ONNX_STRING] = { 's', 0, STRINGS },
    [CQ_ONNX_BOOL] = { 'u', 1, INT32S },         [CQ_ONNX_FLOAT16] = { 'u', 2, INT32S },
    [CQ_ONNX_DOUBLE] = { 'd', 8, DOUBLES },      [CQ_ONNX_UINT32] = { 'u', 4, UINT64S },
    [CQ_ONNX_UINT64] = { 'u', 8, UINT64S },      [CQ_ONNX_COMPLEX64] = { 'f', 4, FLOATS },
    [CQ_ONNX_COMPLEX128] = { 'd', 8, DOUBLES },  [CQ_ONNX_BFLOAT16] = { 'u', 2, INT32S },
    [CQ_ONNX_FLOAT8E4M3FN] = { 'u', 1, INT32S }, [CQ_ONNX_FLOAT8E4M3FNUZ] = { 'u', 1, INT32S },
    [CQ_ONNX_FLOAT8E5M2] = { 'u', 1, INT32S },   [CQ_ONNX_FLOAT8E5M2FNUZ] = { 'u', 1, INT32S },
    [CQ_ONNX_UINT4] = { 'u', 1, INT32S },        [CQ_ONNX_INT4] = { 'u', 1, INT32S },
    [CQ_ONNX_FLOAT4E2M1] = { 'u', 1, INT32S },   [CQ_ONNX_FLOAT8E8M0] = { 'u', 1, INT32S },
    [CQ_ONNX_UINT2] = { 'u', 1, INT32S },        [CQ_ONNX_INT2] = { 'u', 1, INT32S },
};

static bool is_word(const char *word, const char *text, size_t len)
{
    return word && strlen(word) == len && memcmp(word, text, len) == 0;
}

int32_t cq_text_data_type(const char *word, size_t len)
{
    for (int32_t i = 1; i < CQ_ONNX_DATA_TYPE_COUNT; i++)
        if (is_word(cq_onnx_element_name(i), word, len))
            return i;
    return 0;
}

bool cq_text_is_type_word(const char *text, size_t len)
{
    static const char *const wraps[] = { "seq", "map", "optional", "sparse_tensor", "opaque" };

    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++)
        if (is_word(wraps[i], text, len))
            return true;
    return cq_text_data_type(text, len) != 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool cq_text_is_id(const char *name, size_t len)
{
    if (!len || !is_letter(name[0]))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9'))
            return false;
    return true;
}

bool cq_text_is_number_word(const char *text, size_t len)
{
    static const char *const words[] = { "inf", "infinity", "nan" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t k = 0;

        while (k < len && words[i][k] && (text[k] | 0x20) == words[i][k])
            k++;
        if (k == len && !words[i][k])
            return true;
    }
    return false;
}

bool cq_text_is_plain(const char *name)
{
    size_t len = strlen(name);

    return cq_text_is_id(name, len) && !cq_text_is_type_word(name, len) &&
           !cq_text_is_number_word(name, len);
}
