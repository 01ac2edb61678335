/* Replays a folder of ONNX's test data: model.onnx, and test_data_set_N with input_i.pb and
 * output_i.pb. */
#include "runtime/gradients.h"
#include "runtime/value.h"

#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef CQ_VEC(cq_onnx_value *) values;

static void clear(values *list)
{
    for (size_t i = 0; i < list->n; i++)
        cq_onnx_value_release(list->items[i]);
    cq_vec_clear(list);
}

/* The data was written with numpy, which has no bfloat16, so its bits are stored as uint16. The
 * model declares the actual type. */
static cq_status as_bfloat16(cq_onnx_value **io, cq_dtype wanted)
{
    cq_tensor *t = cq_onnx_value_tensor(*io), *bits;

    if (wanted != CQ_DTYPE_BF16 || !t || t->dtype != CQ_DTYPE_U16)
        return CQ_OK;
    CQ_TRY(cq_tensor_new_view(&bits, t, CQ_DTYPE_BF16, t->rank, t->sizes, t->strides, t->offset));
    cq_onnx_value_release(*io);
    return cq_onnx_value_new(io, cq_val_of_tensor(bits));
}

/* Loads SET/input_0.pb, SET/input_1.pb, … by index until a file is missing. */
static cq_status load_all(values *out, const char *set, const cq_session *s, cq_onnx_side side)
{
    const cq_onnx_model *m    = cq_session_model(s);
    const char          *what = side == CQ_ONNX_INPUTS ? "input" : "output";
    size_t               n    = cq_onnx_model_n_values(m, side);

    for (size_t i = 0; i < n; i++) {
        size_t         at   = side == CQ_ONNX_INPUTS ? cq_session_input_at(s, i) : i;
        cq_str         path = { 0 };
        cq_onnx_value *v    = NULL;
        bool           last = false;
        cq_status      status;

        cq_str_printf(&path, "%s/%s_%zu.pb", set, what, i);
        status = path.status;
        if (status == CQ_OK && !cq_path_exists(cq_str_text(&path)))
            last = true;
        else if (status == CQ_OK)
            status = cq_onnx_value_load_for(&v, cq_str_text(&path), m, side, at);
        cq_str_clear(&path);
        if (status == CQ_OK && !last)
            status = as_bfloat16(&v, cq_onnx_model_value_dtype(m, side, at));
        if (status == CQ_OK && !last)
            status = cq_vec_push(out, v);
        if (status != CQ_OK)
            cq_onnx_value_release(v);
        CQ_TRY(status);
        if (last)
            break;
    }
    return CQ_OK;
}

/* Adds a hint if the model may legitimately produce different outputs. */
static cq_status explain(const cq_session *s, cq_status status)
{
    const char *random = cq_onnx_model_random_node(cq_session_model(s));

    return random ? cq_error_add_hint(status,
                                      "the model draws random numbers, in node %s: no two runs of "
                                      "it agree",
                                      random)
                  : status;
}

static cq_status compare_all(const cq_session *s, cq_onnx_value *const *got, const values *want,
                             double rtol, double atol)
{
    for (size_t i = 0; i < want->n; i++) {
        cq_status status = cq_onnx_value_compare(got[i], want->items[i], rtol, atol);

        if (status != CQ_OK)
            return explain(s,
                           cq_error_add_where(status, "output %s", cq_session_output_name(s, i)));
    }
    return CQ_OK;
}

static cq_status verify_set(const cq_session *s, const char *model, const char *set, double rtol,
                            double atol, const cq_session_options *options)
{
    size_t          n_out = cq_session_n_outputs(s), n_in = cq_session_n_inputs(s);
    values          given = { 0 }, want = { 0 };
    cq_onnx_value **got = NULL, **inputs = cq_zalloc((n_in + 1) * sizeof *inputs);
    cq_status       status;

    CQ_TRY_OR_DONE(inputs ? CQ_OK : CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(load_all(&given, set, s, CQ_ONNX_INPUTS));
    CQ_TRY_OR_DONE(load_all(&want, set, s, CQ_ONNX_OUTPUTS));
    for (size_t i = 0; i < given.n; i++)
        inputs[cq_session_input_at(s, i)] = given.items[i];
    if (!want.n)
        CQ_TRY_OR_DONE(cq_fail(CQ_E_NOT_FOUND, set, NULL, "output_0.pb is missing"));
    got = cq_zalloc(n_out * sizeof *got);
    CQ_TRY_OR_DONE(got ? CQ_OK : CQ_E_NO_MEMORY);
    CQ_TRY_OR_DONE(cq_session_run(s, NULL, inputs, n_in, got));
    CQ_TRY_OR_DONE(compare_all(s, got, &want, rtol, atol));
    status = cq_onnx_verify_gradients(model, set, s, inputs, rtol, options);
done:
    for (size_t i = 0; got && i < n_out; i++)
        cq_onnx_value_release(got[i]);
    cq_free(got);
    cq_free(inputs);
    clear(&given);
    clear(&want);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", set);
}

static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

static const char set_prefix[] = "test_data_set_";

typedef CQ_VEC(long) set_numbers;

static cq_status add_set(void *user, const char *name)
{
    set_numbers *found = user;
    const char  *text  = name + strlen(set_prefix);
    char        *end;
    long         number;

    if (!cq_starts_with(name, set_prefix))
        return CQ_OK;
    number = strtol(text, &end, 10);
    return *end == '\0' && end != text ? cq_vec_push(found, number) : CQ_OK;
}

/* Lists the numbers of the data sets in folder, sorted. */
static cq_status list_sets(long **out, size_t *n, const char *folder)
{
    set_numbers found  = { 0 };
    cq_status   status = CQ_OK;
    bool        opened;

    *out   = NULL;
    *n     = 0;
    status = cq_folder_each(folder, add_set, &found, &opened);
    if (!opened) {
        const int code = errno;

        return cq_fail(CQ_E_IO, folder,
                       code == ENOTDIR ? "expected a folder with model.onnx and "
                                         "test_data_set_0; use calque run to run a model"
                                       : NULL,
                       "cannot read the folder: %s", strerror(code));
    }
    if (status == CQ_OK && !found.n)
        status = cq_fail(CQ_E_NOT_FOUND, folder, NULL, "test_data_set_0 is missing");
    if (status != CQ_OK) {
        cq_vec_clear(&found);
        return status;
    }
    qsort(found.items, found.n, sizeof *found.items, by_number);
    *out = found.items;
    *n   = found.n;
    return CQ_OK;
}

CQ_API cq_status cq_onnx_verify(const char *folder, const char *model, double rtol, double atol,
                                const cq_session_options *options)
{
    CQ_NEED(folder);
    cq_session *s    = NULL;
    cq_str      path = { 0 };
    cq_str      own  = { 0 };
    long       *sets = NULL;
    size_t      n;
    cq_status   status;

    cq_str_printf(&own, "%s/model.onnx", folder);
    CQ_TRY_OR_DONE(own.status);
    model = model ? model : cq_str_text(&own);
    CQ_TRY_OR_DONE(list_sets(&sets, &n, folder));
    CQ_TRY_OR_DONE(cq_session_prepare_file(&s, model, options));
    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        cq_str_clear(&path);
        cq_str_printf(&path, "%s/%s%ld", folder, set_prefix, sets[i]);
        CQ_TRY_OR_DONE(path.status);
        status = verify_set(s, model, cq_str_text(&path), rtol, atol, options);
    }
done:
    cq_session_free(s);
    cq_free(sets);
    cq_str_clear(&path);
    cq_str_clear(&own);
    return status;
}
