/* The kind of a model file, by its first bytes; the name matters only for an ONNX model that does
 * not begin with its IR version. */
#include "info/info.h"

#include "base/file.h"
#include "base/str.h"

#include <calque/weights.h>
#include <calque/zoo.h>

#include <string.h>

enum { HEAD_SIZE = 512 };

typedef struct head {
    size_t        n;
    unsigned char bytes[HEAD_SIZE];
} head;

static cq_status read_head(head *out, const char *path)
{
    cq_mapping *file;

    CQ_TRY(cq_mapping_open(&file, path));
    out->n = cq_mapping_size(file) < HEAD_SIZE ? cq_mapping_size(file) : HEAD_SIZE;
    if (out->n)
        memcpy(out->bytes, cq_mapping_data(file), out->n);
    cq_mapping_release(file);
    return CQ_OK;
}

static bool is_archive(const head *h)
{
    return h->n > 1 && h->bytes[0] == 'P' && h->bytes[1] == 'K';
}

/* A model begins with its IR version, field 1; no pickle, archive or text begins so. */
static bool is_onnx(const head *h, const char *path)
{
    return h->n && (h->bytes[0] == 0x08 || (cq_ends_with(path, ".onnx") && !is_archive(h)));
}

static cq_status info_of_onnx(cq_info **out, const char *path)
{
    cq_onnx_model *model  = NULL;
    cq_status      status = cq_onnx_model_load(&model, path);

    if (status == CQ_OK)
        status = cq_onnx_model_info(out, model);
    cq_onnx_model_free(model);
    return status;
}

static cq_status info_of_program(cq_info **out, const char *path, const char *entry)
{
    cq_pt2   *program = NULL;
    cq_status status  = cq_pt2_load(&program, path, entry);

    if (status == CQ_OK)
        status = cq_pt2_info(out, program);
    else if (status == CQ_E_ARGUMENT && !entry) /* which one is meant */
        status = cq_pt2_programs_info(out, path);
    cq_pt2_free(program);
    return status;
}

/* If Python source has no unambiguous entry, the module stays unmade and the candidates are
 * shown. */
static cq_status make_python(cq_script *script, const char *entry)
{
    cq_status status = cq_script_is_python(script) ? cq_script_make(script, entry) : CQ_OK;

    return !entry && (status == CQ_E_NOT_FOUND || status == CQ_E_ARGUMENT) ? CQ_OK : status;
}

static cq_status info_of_script(cq_info **out, const char *path, const char *entry)
{
    cq_script *script = NULL;
    cq_status  status = cq_script_load(&script, path);

    if (status == CQ_OK)
        status = make_python(script, entry);
    if (status == CQ_OK)
        status = cq_script_info(out, script);
    cq_script_free(script);
    return status;
}

CQ_API cq_status cq_model_info(cq_info **out, const char *model, const char *entry)
{
    CQ_NEED_OUT(out, model);
    head h;

    if (cq_zoo_find(model))
        return cq_zoo_info(out, model);
    CQ_TRY(read_head(&h, model));
    if (is_onnx(&h, model))
        return info_of_onnx(out, model);
    if (is_archive(&h) && cq_pt2_is_archive_file(model))
        return info_of_program(out, model, entry);
    if (cq_is_weights_file(model))
        return cq_state_dict_info(out, model);
    return info_of_script(out, model, entry);
}
