/* Random numbers where data was stripped: in models, tensor files, and folders with a test-case.
 * The other half of strip.c. */
#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "onnx/file/external.h"
#include "onnx/tensor.h"
#include "onnx/file/wire.h"
#include "tensor/random.h"
#include "testcase/edit.h"
#include "testcase/folder.h"
#include "testcase/meta.h"
#include "testcase/stats.h"

#include <calque/testcase.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 4 /* when another program creates the folder meanwhile */ };

typedef struct unstrip {
    cq_edit  edit; /* first */
    uint64_t seed;
    uint64_t n_filled; /* bytes of the tensors that were filled so far */
} unstrip;

/* Python's json also writes NaN, Infinity and -Infinity, which are no JSON: they become null. */
static json_t *parse_location(const char *text)
{
    static const char *const words[] = { "-Infinity", "Infinity", "NaN" };
    cq_str                   clean   = { 0 };
    json_t                  *json;

    while (*text) {
        size_t i = 0;

        while (i < 3 && !cq_starts_with(text, words[i]))
            i++;
        if (i < 3)
            cq_str_add(&clean, "null");
        else
            cq_str_add_char(&clean, *text);
        text += i < 3 ? strlen(words[i]) : 1;
    }
    json = json_loads(cq_str_text(&clean), 0, NULL);
    cq_str_clear(&clean);
    return json;
}

/* A number of the location; null is NaN. */
static cq_status read_number(double *out, const cq_onnx_tensor *tensor, const json_t *location,
                             const char *key)
{
    const json_t *value = json_object_get(location, key);

    if (!json_is_number(value) && !json_is_null(value))
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "a stripped tensor does not say its %s as a number", key);
    *out = json_is_null(value) ? NAN : json_number_value(value);
    return CQ_OK;
}

/* Whether a tensor is stripped, and its statistics. */
static cq_status read_stripped(bool *is, cq_stats *stats, const cq_onnx_tensor *tensor)
{
    const char *text = cq_onnx_entry_get(&tensor->external_data, "location");
    const char *type;
    json_t     *location;
    cq_status   status = CQ_OK;

    *is = false;
    if (!cq_onnx_is_external(tensor) || !text || *text != '{')
        return CQ_OK;
    location = parse_location(text);
    type     = json_string_value(json_object_get(location, "type"));
    if (type && strcmp(type, "stripped") == 0) {
        *is    = true;
        status = read_number(&stats->mean, tensor, location, "average");
        if (status == CQ_OK)
            status = read_number(&stats->variance, tensor, location, "variance");
        if (status == CQ_OK && stats->variance < 0)
            status = cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                             "the variance of a stripped tensor is %g, which is negative",
                             stats->variance);
    }
    json_decref(location);
    return status;
}

/* Checked before the allocation: stripped data came from a file, so it fits in one, and all of it
 * counts for the limit of outputs. Elements of less than 4 bytes take as long to generate as floats
 * and are counted as such. */
static cq_status check_size(unstrip *u, const cq_onnx_tensor *tensor)
{
    const char *length = cq_onnx_entry_get(&tensor->external_data, "length");
    cq_dtype    dtype  = cq_dtype_from_onnx(tensor->data_type);
    size_t      size;

    CQ_TRY(cq_onnx_tensor_raw_size(&size, tensor));
    if (size > CQ_ONNX_MAX_FILE)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "a stripped tensor claims %zu bytes but protobuf stops at %d", size,
                       CQ_ONNX_MAX_FILE);
    if (length && strtoull(length, NULL, 10) != size)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "a stripped tensor had %s bytes, its type and dimensions need %zu", length,
                       size);
    if (tensor->dims.n > CQ_MAX_RANK || dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, tensor->name, NULL,
                       "a stripped tensor has %u dimensions and data type %d", tensor->dims.n,
                       tensor->data_type);
    u->n_filled += cq_dtype_size(dtype) < 4 ? size / cq_dtype_size(dtype) * 4 : size;
    return cq_out_allow(u->n_filled, tensor->name);
}

enum { PIECE = 1 << 16 }; /* elements that are float64 at a time */

/* Integers are rounded, and kept within their type: a cast would wrap them around. */
static cq_status fill_piece(cq_random *r, cq_tensor *t, int64_t from, int64_t n, cq_stats stats)
{
    int           bits   = 8 * (int)cq_dtype_size(t->dtype);
    bool          sign   = cq_dtype_is_signed(t->dtype);
    double        low    = sign ? -ldexp(1, bits - 1) : 0;
    double        high   = nextafter(ldexp(1, bits - sign), 0);
    const int64_t stride = 1;
    cq_tensor    *piece = NULL, *wide = NULL;
    cq_status     status;
    double       *x;

    CQ_TRY_OR_DONE(cq_tensor_new_view(&piece, t, t->dtype, 1, &(cq_int){ .value = n }, &stride,
                                      t->offset + from));
    CQ_TRY_OR_DONE(cq_tensor_new(&wide, CQ_DTYPE_F64, 1, &n, NULL));
    CQ_TRY_OR_DONE(cq_random_fill_normal(r, wide, stats.mean, sqrt(stats.variance)));
    x = cq_tensor_data(wide);
    for (int64_t i = 0; i < n; i++)
        x[i] = fmin(fmax(nearbyint(x[i]), low), high);
    status = cq_tensor_copy_into(piece, wide);
done:
    cq_tensor_release(piece);
    cq_tensor_release(wide);
    return status;
}

static cq_status fill_integers(cq_random *r, cq_tensor *t, cq_stats stats)
{
    const int64_t n = cq_tensor_numel(t);

    for (int64_t i = 0; i < n; i += PIECE)
        CQ_TRY(fill_piece(r, t, i, n - i < PIECE ? n - i : PIECE, stats));
    return CQ_OK;
}

static cq_status make_tensor(cq_tensor **out, const cq_onnx_tensor *tensor, cq_stats stats,
                             uint64_t seed)
{
    const char *name  = tensor->name ? tensor->name : "";
    cq_dtype    dtype = cq_dtype_from_onnx(tensor->data_type);
    cq_status   status;
    cq_random   r;

    cq_random_seed(&r, seed ^ cq_hash_stable(name, strlen(name)));
    CQ_TRY(cq_tensor_new(out, dtype, tensor->dims.n, tensor->dims.items, NULL));
    if (dtype == CQ_DTYPE_BOOL)
        status = cq_random_fill_bernoulli(&r, *out, stats.mean);
    else if (cq_dtype_is_integer(dtype))
        status = fill_integers(&r, *out, stats);
    else
        status = cq_random_fill_normal(&r, *out, stats.mean, sqrt(stats.variance));
    if (status != CQ_OK) {
        cq_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

static cq_status unstrip_tensor(unstrip *u, cq_onnx_model *m, cq_onnx_tensor *tensor)
{
    cq_onnx_tensor *full;
    cq_tensor      *t;
    cq_stats        stats;
    bool            is;

    CQ_TRY(read_stripped(&is, &stats, tensor));
    if (!is)
        return CQ_OK;
    CQ_TRY(make_tensor(&t, tensor, stats, u->seed));
    full = cq_onnx_tensor_new(m, NULL, t); /* for its reference, which the model keeps */
    cq_tensor_release(t);
    if (!full)
        return m->status;
    cq_clear_elements(tensor);
    tensor->tensor        = full->tensor;
    tensor->data_location = CQ_ONNX_LOCATION_DEFAULT;
    cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_DATA_LOCATION);
    u->edit.changed = true;
    return CQ_OK;
}

/* All sizes are checked before the first tensor is filled. */
static cq_status unstrip_graph(cq_edit *edit, cq_onnx_model *m, cq_onnx_graph *graph)
{
    cq_stats stats;
    bool     is;

    for (uint32_t i = 0; i < graph->initializer.n; i++) {
        CQ_TRY(read_stripped(&is, &stats, graph->initializer.items[i]));
        if (is)
            CQ_TRY(check_size((unstrip *)edit, graph->initializer.items[i]));
    }
    for (uint32_t i = 0; i < graph->initializer.n; i++)
        CQ_TRY(unstrip_tensor((unstrip *)edit, m, graph->initializer.items[i]));
    return CQ_OK;
}

/* ---- folders ---- */

/* A file of a test case; any file is written to out. */
static cq_status unstrip_entry(unstrip *u, const char *path, const char *out)
{
    if (cq_ends_with(path, ".onnx") || cq_ends_with(path, ".pb"))
        return cq_edit_file(&u->edit, path, out);
    if (strcmp(cq_path_name(path), "meta.json") == 0)
        return cq_meta_set_unstripped(path, out);
    return cq_copy_file(path, out);
}

static bool is_folder(const char *path)
{
    return cq_path_look_up(path, NULL) == CQ_PATH_FOLDER;
}

/* A test case is untrusted: a link in it could lead to any file of the user, and a FIFO would
 * block. */
static cq_status check_entry(const char *path, cq_entry_kind kind)
{
    if (kind == CQ_ENTRY_MISSING)
        return cq_fail(CQ_E_IO, path, NULL, "cannot look at the file");
    if (kind != CQ_ENTRY_FILE && kind != CQ_ENTRY_FOLDER)
        return cq_fail(CQ_E_FORMAT, path, "put a copy of the file itself into the folder",
                       kind == CQ_ENTRY_LINK ? "a link in a test-case is not followed"
                                             : "this is not a regular file");
    return CQ_OK;
}

/* The files in a folder and, with nested, those in its test_data_set_N. */
static cq_status unstrip_folder(unstrip *u, const char *folder, const char *out, bool nested)
{
    cq_names  names  = { 0 };
    cq_status status = cq_list_folder(&names, folder);

    if (status == CQ_OK)
        status = cq_dir_make(out);
    for (size_t i = 0; i < names.n && status == CQ_OK; i++) {
        cq_str        from = { 0 }, to = { 0 };
        cq_entry_kind kind = CQ_ENTRY_MISSING;

        cq_str_printf(&from, "%s/%s", folder, names.items[i]);
        cq_str_printf(&to, "%s/%s", out, names.items[i]);
        if (from.status != CQ_OK || to.status != CQ_OK)
            status = CQ_E_NO_MEMORY;
        else if ((status = check_entry(from.text, kind = cq_path_entry(from.text, NULL))) != CQ_OK)
            ;
        else if (kind != CQ_ENTRY_FOLDER)
            status = unstrip_entry(u, from.text, to.text);
        else if (nested && cq_starts_with(names.items[i], "test_data_set_"))
            status = unstrip_folder(u, from.text, to.text, false);
        cq_str_clear(&from);
        cq_str_clear(&to);
    }
    cq_names_clear(&names);
    return status;
}

/* All of its files change together. */
static cq_status unstrip_case(unstrip *u, const char *folder, const char *out)
{
    const char *at;

    CQ_TRY(cq_batch_folder(&at, out));
    return unstrip_folder(u, folder, at, true);
}

CQ_API cq_status cq_unstrip(const char *path, const char *out, uint64_t seed)
{
    CQ_NEED(path);
    unstrip u = { .edit = { .graph = unstrip_graph }, .seed = seed };

    cq_status status = CQ_OK;

    out = out ? out : path;
    for (int i = 0; i < MAX_TRIES; i++) {
        cq_batch_begin();
        status = cq_batch_end(is_folder(path) ? unstrip_case(&u, path, out)
                                              : cq_edit_file(&u.edit, path, out));
        if (status != CQ_E_IO || !cq_batch_collided())
            break;
    }
    return status;
}
