/* Rules for tensors in a model: the elements are in one field, which is the field for their type,
 * and their number matches dims. Values are only checked for the indices of sparse tensors. */
#include "onnx/check/check.h"
#include "onnx/file/external.h"
#include "onnx/file/fields.h"
#include "onnx/tensor.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    uint16_t    offset;
} typed_fields[] = {
    { "float_data", offsetof(cq_onnx_tensor, float_data) },
    { "int32_data", offsetof(cq_onnx_tensor, int32_data) },
    { "string_data", offsetof(cq_onnx_tensor, string_data) },
    { "int64_data", offsetof(cq_onnx_tensor, int64_data) },
    { "double_data", offsetof(cq_onnx_tensor, double_data) },
    { "uint64_data", offsetof(cq_onnx_tensor, uint64_data) },
};

/* Counts the fields that contain elements; returns the name and number of elements of the last
 * one. */
static int count_fields(const cq_onnx_tensor *tensor, const char **name, uint64_t *numbers)
{
    int n = 0;

    *name    = "none";
    *numbers = 0;
    for (size_t i = 0; i < sizeof typed_fields / sizeof *typed_fields; i++) {
        cq_onnx_any_list list;

        memcpy(&list, (const char *)tensor + typed_fields[i].offset, sizeof list);
        if (!list.n)
            continue;
        *name    = typed_fields[i].name;
        *numbers = list.n;
        n++;
    }
    if (tensor->tensor || tensor->raw_data.size) {
        *name = "raw_data";
        n++;
    }
    return n;
}

static void check_external(cq_onnx_check *c, const cq_onnx_tensor *tensor, int n_fields)
{
    const char *fault =
        cq_onnx_location_fault(cq_onnx_entry_get(&tensor->external_data, "location"));

    if (n_fields)
        cq_onnx_report(c, CQ_ONNX_RULE_EXTERNAL_WITH_DATA,
                       "the data is both in an external file and in the model");
    if (fault)
        cq_onnx_report(c, CQ_ONNX_RULE_EXTERNAL_LOCATION, "external data %s", fault);
    else if (cq_onnx_is_stripped(tensor))
        cq_onnx_report(c, CQ_ONNX_RULE_EXTERNAL_FILE,
                       "the data was stripped; calque unstrip fills it with random numbers");
    else if (cq_onnx_external_file_check(c->m, tensor) != CQ_OK)
        cq_onnx_report(c, CQ_ONNX_RULE_EXTERNAL_FILE, "%s: %s", cq_last_error()->where,
                       cq_last_error()->message);
}

/* Versions of the specification pack types of less than a byte differently, so their number of
 * elements is not checked. */
static void check_size(cq_onnx_check *c, const cq_onnx_tensor *tensor, const char *field,
                       uint64_t numbers, int64_t numel)
{
    bool     is_raw = strcmp(field, "raw_data") == 0;
    uint64_t want   = (uint64_t)numel * cq_onnx_numbers_per_element(tensor->data_type);
    size_t   bytes;

    if (tensor->tensor)
        return;
    if (is_raw && cq_onnx_tensor_raw_size(&bytes, tensor) == CQ_OK &&
        tensor->raw_data.size != bytes)
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_DATA_SIZE, "raw_data has %zu bytes, dims need %zu",
                       tensor->raw_data.size, bytes);
    else if (!is_raw && tensor->data_type <= CQ_ONNX_FLOAT8E5M2FNUZ && numbers != want)
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_DATA_SIZE,
                       "%s has %" PRIu64 " numbers, dims need %" PRIu64, field, numbers, want);
}

static void check_elements(cq_onnx_check *c, const cq_onnx_tensor *tensor)
{
    const char *field;
    uint64_t    numbers;
    int         n_fields = count_fields(tensor, &field, &numbers);
    int64_t     numel;

    if (cq_onnx_is_external(tensor)) {
        check_external(c, tensor, n_fields);
        return;
    }
    if (cq_onnx_tensor_numel(&numel, tensor) != CQ_OK) {
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_DIMS_INVALID, "%s", cq_last_error()->message);
        return;
    }
    if (!numel && tensor->tensor)
        n_fields--; /* the tensor of a model in memory has no field that stores bytes */
    if (n_fields != (numel ? 1 : 0)) {
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_DATA_COUNT,
                       "%" PRId64 " elements are stored in %d fields", numel, n_fields);
        return;
    }
    if (!numel)
        return;
    if (strcmp(field, "raw_data") == 0 && tensor->data_type == CQ_ONNX_STRING)
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_STRING_RAW, "strings are stored in raw_data");
    else if (strcmp(field, "raw_data") != 0 &&
             strcmp(field, cq_onnx_data_field_name(tensor->data_type)) != 0)
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_DATA_FIELD, "elements of type %s are in %s, not %s",
                       cq_onnx_data_type_name(tensor->data_type), field,
                       cq_onnx_data_field_name(tensor->data_type));
    else
        check_size(c, tensor, field, numbers, numel);
}

void cq_onnx_check_tensor(cq_onnx_check *c, const cq_onnx_tensor *tensor)
{
    if (tensor->data_type == CQ_ONNX_UNDEFINED)
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_TYPE_MISSING, "the tensor has no data type");
    else if (!cq_onnx_data_type_name(tensor->data_type))
        cq_onnx_report(c, CQ_ONNX_RULE_TENSOR_TYPE_UNKNOWN, "%" PRId32 " is not a data type",
                       tensor->data_type);
    else
        check_elements(c, tensor);
}

/* Indices refer to the dense tensor: one number per value or one per axis, ascending. */
static void check_order(cq_onnx_check *c, const cq_onnx_sparse_tensor *sparse, const int64_t *index,
                        int64_t n, bool by_axis)
{
    int64_t before = -1, at, size = 1;

    for (uint32_t axis = 0; axis < sparse->dims.n; axis++)
        if (__builtin_mul_overflow(size, sparse->dims.items[axis], &size)) {
            cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_DIMS, "the dense tensor is too large");
            return;
        }
    for (int64_t i = 0; i < n; i++, before = at) {
        bool inside = true;

        at = by_axis ? 0 : *index++;
        for (uint32_t axis = 0; by_axis && axis < sparse->dims.n; axis++, index++) {
            inside &= *index >= 0 && *index < sparse->dims.items[axis];
            at = inside ? at * sparse->dims.items[axis] + *index : -1;
        }
        if (at < 0 || at >= size || at <= before) {
            cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_INDICES,
                           at < 0 || at >= size ? "index %" PRId64 " is out of range"
                                                : "index %" PRId64 " is out of order",
                           i);
            return;
        }
    }
}

static void check_indices(cq_onnx_check *c, const cq_onnx_sparse_tensor *sparse, int64_t n_values)
{
    const cq_onnx_tensor *indices = sparse->indices;
    bool                  by_axis;
    cq_tensor            *t;
    cq_status             status;

    cq_onnx_check_tensor(c, indices);
    by_axis = indices->dims.n == 2;
    if (indices->data_type != CQ_ONNX_INT64 || (!by_axis && indices->dims.n != 1) ||
        indices->dims.items[0] != n_values ||
        (by_axis && indices->dims.items[1] != sparse->dims.n)) {
        cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_INDICES,
                       "%s indices of rank %u do not match %" PRId64 " values in %u dimensions",
                       indices->data_type == CQ_ONNX_INT64 ? "INT64" : "other than INT64",
                       indices->dims.n, n_values, sparse->dims.n);
        return;
    }
    status = cq_onnx_tensor_to_tensor(&t, c->m, indices);
    if (status == CQ_E_FORMAT)
        cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_INDICES, "cannot read the indices: %s",
                       cq_last_error()->message);
    if (status != CQ_OK)
        return;
    check_order(c, sparse, cq_tensor_data(t), n_values, by_axis);
    cq_tensor_release(t);
}

void cq_onnx_check_sparse_tensor(cq_onnx_check *c, const cq_onnx_sparse_tensor *sparse)
{
    bool bad_dims = sparse->dims.n == 0;

    if (!sparse->values) {
        cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_VALUES, "the sparse tensor has no values");
        return;
    }
    cq_onnx_check_tensor(c, sparse->values);
    for (uint32_t i = 0; i < sparse->dims.n; i++)
        bad_dims |= sparse->dims.items[i] <= 0;
    if (bad_dims)
        cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_DIMS, "sizes are missing or not above 0");
    if (sparse->values->dims.n != 1)
        cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_VALUES, "values have rank %u, not 1",
                       sparse->values->dims.n);
    else if (sparse->indices && !bad_dims)
        check_indices(c, sparse, sparse->values->dims.items[0]);
    else if (!sparse->indices && sparse->values->dims.items[0])
        cq_onnx_report(c, CQ_ONNX_RULE_SPARSE_INDICES, "%" PRId64 " values have no indices",
                       sparse->values->dims.items[0]);
}
