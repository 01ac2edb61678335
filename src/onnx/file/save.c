/* Writes models. External data of the source model is copied: a plan has a replacement for every
 * tensor whose message differs from the one in memory, and the encoder writes the fields of the
 * replacement. The model itself is not changed. */
#include "base/progress.h"
#include "base/path.h"
#include "base/sized.h"
#include "onnx/file/external.h"
#include "onnx/file/old_data.h"
#include "onnx/tensor.h"
#include "onnx/file/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In the data file, tensors are aligned so that they can be mapped and used without copying: to
 * cache lines, and to pages for large tensors. */
enum { ALIGN_SMALL = 64, ALIGN_PAGE = 4096, PAGE_WORTHY = 1 << 16 };

/* Saved models that may still refer to the data file of the source. */
enum { KEEP_DATA = CQ_ONNX_SAVE_AS_IS | CQ_ONNX_SAVE_SHARE_DATA | CQ_ONNX_SAVE_SHARE_BESIDE };

enum { MAX_TRIES = 4 /* attempts if other programs take the name of the data file */ };

/* A piece of the data file. */
typedef struct piece {
    const cq_onnx_tensor *from; /* the tensor, or its raw_data */
    uint64_t              offset;
    unsigned              file;
} piece;

typedef struct plan {
    const cq_onnx_model *m;
    const char          *path;      /* path of the model */
    const char          *data_name; /* name of the data file, as stored in the model */
    uint32_t             flags;
    uint64_t             threshold, offset, total;
    uint64_t             split_size;
    unsigned             file;      /* index of the data file that is being filled */
    bool                 is_chosen; /* the caller chose data_name */
    cq_onnx_model       *scratch;   /* owns the replacements */
    cq_ptr_map           instead;
    CQ_VEC(piece) pieces;
    CQ_VEC(cq_storage *) loaded; /* data that was external in the source */
} plan;

static void plan_clear(plan *p)
{
    for (size_t i = 0; i < p->loaded.n; i++)
        cq_storage_release(p->loaded.items[i]);
    cq_vec_clear(&p->loaded);
    cq_vec_clear(&p->pieces);
    cq_ptr_map_clear(&p->instead);
    cq_onnx_model_free(p->scratch);
    p->scratch = NULL;
    p->offset = p->total = 0;
    p->file              = 0;
}

/* "NAME", "NAME.1", … */
static void data_file_name(cq_str *s, const char *name, unsigned file)
{
    s->len = 0;
    cq_str_add(s, name);
    if (file)
        cq_str_printf(s, ".%u", file);
}

/* A copy of the message without data, which is written instead of it. */
static cq_onnx_tensor *copy_without_data(plan *p, const cq_onnx_tensor *tensor)
{
    cq_onnx_tensor *copy = cq_onnx_alloc(p->scratch, sizeof *copy);

    if (!copy || cq_ptr_map_set(&p->instead, tensor, copy) != CQ_OK)
        return NULL;
    *copy               = *tensor;
    copy->tensor        = NULL;
    copy->raw_data.data = NULL;
    copy->raw_data.size = 0;
    copy->data_location = CQ_ONNX_LOCATION_DEFAULT;
    copy->has &= ~(1u << CQ_ONNX_TENSOR_DATA_LOCATION);
    memset(&copy->external_data, 0, sizeof copy->external_data);
    return copy;
}

/* A replacement with the bytes of an external tensor in raw_data. */
static cq_status load_external(plan *p, const cq_onnx_tensor *tensor, cq_onnx_tensor **out)
{
    cq_storage *bytes;
    size_t      size;

    CQ_TRY(cq_onnx_tensor_raw_size(&size, tensor));
    CQ_TRY(cq_vec_reserve(&p->loaded, p->loaded.n + 1));
    CQ_TRY(cq_onnx_external_storage(&bytes, p->m, tensor, size));
    p->loaded.items[p->loaded.n++] = bytes;
    *out                           = copy_without_data(p, tensor);
    if (!*out)
        return CQ_E_NO_MEMORY;
    (*out)->raw_data = (cq_onnx_bytes){ size ? bytes->data : "", size };
    return CQ_OK;
}

static uint64_t bytes_of(const cq_onnx_tensor *tensor)
{
    const cq_tensor *t = tensor->tensor;

    return t ? cq_onnx_elements_size(t) : tensor->raw_data.size;
}

/* A replacement that refers to the data file, which will contain the bytes of from. */
static cq_status make_external(plan *p, const cq_onnx_tensor *tensor, const cq_onnx_tensor *from)
{
    uint64_t        size = bytes_of(from), align = size < PAGE_WORTHY ? ALIGN_SMALL : ALIGN_PAGE;
    cq_onnx_tensor *copy = copy_without_data(p, tensor);
    cq_str          name = { 0 };
    char            number[24];

    if (!copy)
        return CQ_E_NO_MEMORY;
    p->offset = (p->offset + align - 1) / align * align;
    if (p->split_size && p->offset && p->offset + size > p->split_size) {
        p->total += p->offset;
        p->offset = 0;
        p->file++;
    }
    data_file_name(&name, p->data_name, p->file);
    cq_onnx_add_entry(p->scratch, &copy->external_data, "location", cq_str_text(&name));
    cq_str_clear(&name);
    snprintf(number, sizeof number, "%" PRIu64, p->offset);
    cq_onnx_add_entry(p->scratch, &copy->external_data, "offset", number);
    snprintf(number, sizeof number, "%" PRIu64, size);
    cq_onnx_add_entry(p->scratch, &copy->external_data, "length", number);
    copy->data_location = CQ_ONNX_LOCATION_EXTERNAL;
    cq_onnx_set_has(copy, CQ_ONNX_TENSOR_DATA_LOCATION);
    CQ_TRY(cq_vec_push(&p->pieces, (piece){ from, p->offset, p->file }));
    p->offset += size;
    return p->scratch->status;
}

/* Whether the tensor stays in its file. */
static bool is_shared(const plan *p, const cq_onnx_tensor *tensor)
{
    const cq_onnx_files *files = cq_onnx_tensor_home(p->m, tensor)->files;

    return p->flags & CQ_ONNX_SAVE_SHARE_DATA || (p->flags & CQ_ONNX_SAVE_SHARE_BESIDE && files &&
                                                  cq_onnx_files_is_beside(files, p->path));
}

static cq_status share(const plan *p, const cq_onnx_tensor *tensor)
{
    const cq_onnx_files *files = cq_onnx_tensor_home(p->m, tensor)->files;

    if (files && !cq_onnx_files_is_beside(files, p->path))
        return cq_fail(CQ_E_ARGUMENT, p->path, "write to the folder of the weights, or copy them",
                       "the model cannot refer to the external data of '%s' in another folder",
                       tensor->name ? tensor->name : "");
    return cq_onnx_external_file_check(p->m, tensor);
}

static cq_status plan_tensor(plan *p, const cq_onnx_tensor *tensor, bool is_initializer)
{
    const cq_onnx_tensor *from = tensor;
    cq_onnx_tensor       *loaded;

    if (cq_onnx_is_external(tensor) &&
        cq_onnx_files_is_data(cq_onnx_tensor_home(p->m, tensor)->files, tensor, p->path))
        return cq_fail(CQ_E_ARGUMENT, p->path, "choose another name for the output",
                       "the file contains weights of the model that is being saved");
    if (p->flags & CQ_ONNX_SAVE_AS_IS)
        return CQ_OK;
    if (cq_onnx_is_external(tensor) && is_shared(p, tensor))
        return share(p, tensor);
    if (cq_onnx_is_external(tensor)) {
        CQ_TRY(load_external(p, tensor, &loaded));
        from = loaded;
    }
    if (!(p->flags & CQ_ONNX_SAVE_EXTERNAL) || !is_initializer || bytes_of(from) < p->threshold)
        return CQ_OK;
    return make_external(p, tensor, from);
}

/* Only initializers are put into the data file: few programs support external data in
 * attributes. */
static cq_status plan_message(void *p, const cq_onnx_message *message, void *at,
                              const cq_onnx_message *parent)
{
    if (message != &cq_onnx_tensor_message)
        return CQ_OK;
    return plan_tensor(p, at, parent == &cq_onnx_graph_message);
}

static cq_status plan_make(plan *p)
{
    CQ_TRY(cq_onnx_model_new(&p->scratch, NULL));
    return cq_onnx_each_message(&cq_onnx_model_message, (void *)p->m, plan_message, p);
}

static void write_pieces(const plan *p, cq_out *out, unsigned file)
{
    static const char zeros[ALIGN_PAGE];

    for (size_t i = 0; i < p->pieces.n; i++) {
        const piece *next = &p->pieces.items[i];

        if (next->file != file)
            continue;
        cq_out_write(out, zeros, (size_t)(next->offset - cq_out_offset(out)));
        if (next->from->tensor)
            cq_onnx_write_elements(out, next->from->tensor);
        else
            cq_out_write(out, next->from->raw_data.data, next->from->raw_data.size);
    }
}

static cq_status write_data(const plan *p, const char *path, const char *data_path)
{
    cq_str    name = { 0 };
    cq_out   *data;
    cq_status status = CQ_OK;

    if (cq_path_look_up(path, NULL) == CQ_PATH_OTHER)
        return cq_fail(CQ_E_UNSUPPORTED, path, "write to a file",
                       "external data requires a regular output file");
    for (unsigned file = 0; file <= p->file && status == CQ_OK; file++) {
        data_file_name(&name, data_path, file);
        status = name.status;
        if (status == CQ_OK)
            status =
                p->is_chosen ? cq_out_open(&data, name.text) : cq_out_open_new(&data, name.text);
        if (status != CQ_OK)
            break;
        write_pieces(p, data, file);
        status = cq_out_commit(data);
    }
    cq_str_clear(&name);
    return status;
}

/* Writes both files or none. The data file is renamed first, to a name that no model uses: after an
 * interruption at any time there is a model with its data. */
static cq_status write_files(const plan *p, cq_onnx_encoding *e, const char *path,
                             const char *data_path)
{
    cq_out   *out;
    cq_status status;

    const uint64_t size = cq_onnx_encoding_size(e) + p->total + p->offset;

    CQ_TRY(cq_out_allow(size, path));
    cq_progress_begin("writing", size);
    cq_batch_begin();
    if (p->pieces.n)
        CQ_TRY_OR_DONE(write_data(p, path, data_path));
    CQ_TRY_OR_DONE(cq_out_open(&out, path));
    cq_onnx_encoding_write(e, out);
    CQ_TRY_OR_DONE(cq_out_commit(out));
    if (!(p->flags & KEEP_DATA) && !p->is_chosen) {
        CQ_TRY_OR_DONE(cq_batch_sync()); /* before the folder is locked, because it takes time */
        status = cq_onnx_delete_old_data(path, p->m->files, p->pieces.n > 0);
    }
done:
    status = cq_batch_end(status);
    cq_progress_end();
    return status;
}

CQ_API void cq_onnx_save_options_init(cq_onnx_save_options *opts)
{
    CQ_NEED_ELSE(opts, );
    *opts = (cq_onnx_save_options){ .struct_size = sizeof *opts, .threshold = 1024 };
}

static cq_status too_large(const char *where, uint64_t size)
{
    return cq_fail(CQ_E_UNSUPPORTED, where, "save it with external data",
                   "the model takes %" PRIu64 " bytes but protobuf stops at %d", size,
                   CQ_ONNX_MAX_FILE);
}

/* A model that exceeds protobuf's limit gets external data even without the option. */
static cq_status encode(cq_onnx_encoding **out, plan *p)
{
    CQ_TRY(plan_make(p));
    CQ_TRY(cq_onnx_encoding_new(out, &cq_onnx_model_message, p->m, &p->instead));
    if (cq_onnx_encoding_size(*out) <= CQ_ONNX_MAX_FILE ||
        (p->flags & (CQ_ONNX_SAVE_EXTERNAL | CQ_ONNX_SAVE_AS_IS)))
        return CQ_OK;
    cq_onnx_encoding_free(*out);
    *out = NULL;
    plan_clear(p);
    p->flags |= CQ_ONNX_SAVE_EXTERNAL;
    CQ_TRY(plan_make(p));
    return cq_onnx_encoding_new(out, &cq_onnx_model_message, p->m, &p->instead);
}

static cq_status give_data_path(const cq_onnx_save_options *options, const plan *p,
                                const char *data_path)
{
    const char *text = p->pieces.n ? data_path : "";

    if (!options->data_path)
        return CQ_OK;
    if (strlen(text) >= options->data_path_size)
        return cq_fail(CQ_E_ARGUMENT, p->path, NULL,
                       "data_path_size is %zu, but the path has %zu bytes", options->data_path_size,
                       strlen(text) + 1);
    strcpy(options->data_path, text);
    return CQ_OK;
}

/* The path of the data file that the caller named, in the folder of the model. */
static cq_status chosen_path(char **out, const char *path, const char *name)
{
    const char *slash = cq_path_separator(path), *fault = cq_onnx_location_fault(name);
    cq_str      made = { 0 };

    *out = NULL;
    if (fault)
        return cq_fail(CQ_E_ARGUMENT, path, "give a name relative to the folder of the model",
                       "data file '%s' %s", name, fault);
    cq_str_add_n(&made, path, slash ? (size_t)(slash - path) + 1 : 0);
    cq_str_add(&made, name);
    *out = cq_str_take(&made);
    if (*out && (strcmp(*out, path) == 0 || cq_path_is_same(*out, path)))
        return cq_fail(CQ_E_ARGUMENT, path, "choose another name",
                       "the data file has the name of the model");
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status save_once(plan *p, const cq_onnx_save_options *options, bool preferred)
{
    const char       *path      = p->path, *slash;
    cq_onnx_encoding *e         = NULL;
    char             *data_path = NULL;
    cq_status         status;

    p->flags     = options->flags;
    p->is_chosen = options->data_name != NULL;
    if (p->is_chosen && p->flags & (CQ_ONNX_SAVE_SHARE_DATA | CQ_ONNX_SAVE_SHARE_BESIDE))
        return cq_fail(CQ_E_ARGUMENT, path, NULL,
                       "data is either shared or written to a chosen file");
    if (p->is_chosen) {
        p->flags |= CQ_ONNX_SAVE_EXTERNAL;
        CQ_TRY_OR_DONE(chosen_path(&data_path, path, options->data_name));
        p->data_name = options->data_name;
    } else {
        CQ_TRY_OR_DONE(cq_onnx_data_path(&data_path, path, preferred));
        slash        = cq_path_separator(data_path);
        p->data_name = slash ? slash + 1 : data_path;
    }
    CQ_TRY_OR_DONE(encode(&e, p));
    CQ_TRY_OR_DONE(give_data_path(options, p, data_path));
    status = cq_onnx_encoding_size(e) > CQ_ONNX_MAX_FILE ? too_large(path, cq_onnx_encoding_size(e))
                                                         : write_files(p, e, path, data_path);
done:
    cq_onnx_encoding_free(e);
    plan_clear(p);
    cq_free(data_path);
    return status;
}

CQ_API cq_status cq_onnx_model_save(const cq_onnx_model *m, const char *path,
                                    const cq_onnx_save_options *given)
{
    CQ_NEED(m && path);
    cq_onnx_save_options options;
    plan                 p      = { .m = m, .path = path };
    cq_status            status = CQ_OK;

    CQ_TRY(m->status);
    cq_onnx_save_options_init(&options);
    CQ_TRY(cq_sized_take(&options, given, "cq_onnx_save_options"));
    p.threshold  = options.threshold;
    p.split_size = options.split_size;
    for (int i = 0; i < MAX_TRIES; i++) {
        status = save_once(&p, &options, i == 0);
        if (status != CQ_E_IO || !cq_batch_collided())
            break;
    }
    return status;
}

CQ_API cq_status cq_onnx_model_encode(void **data, size_t *size, const cq_onnx_model *m)
{
    CQ_NEED_OUT(data, size && m);
    cq_onnx_encoding *e;
    cq_out           *out;
    cq_status         status;

    *data = NULL;
    *size = 0;
    CQ_TRY(m->status);
    CQ_TRY(cq_onnx_encoding_new(&e, &cq_onnx_model_message, m, NULL));
    if (cq_onnx_encoding_size(e) > CQ_ONNX_MAX_FILE) {
        status = too_large(NULL, cq_onnx_encoding_size(e));
    } else {
        status = cq_out_allow(cq_onnx_encoding_size(e), NULL);
        if (status == CQ_OK)
            status = cq_out_open_memory(&out);
        if (status == CQ_OK) {
            cq_onnx_encoding_write(e, out);
            status = cq_out_take_memory(out, data, size);
        }
    }
    cq_onnx_encoding_free(e);
    return status;
}
