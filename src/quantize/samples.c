/* Sets of inputs: a folder with input_0.npy (or .pb), …; a folder of such folders; a folder of
 * files that are the only input each; or random numbers. */
#include "quantize/samples.h"

#include "base/alloc.h"
#include "base/path.h"
#include "base/str.h"
#include "tensor/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 4096 };

void cq_values_release(cq_onnx_value **values, size_t n)
{
    for (size_t i = 0; values && i < n; i++)
        cq_onnx_value_release(values[i]);
    cq_free(values);
}

void cq_samples_close(cq_samples *s)
{
    for (size_t i = 0; i < s->paths.n; i++)
        cq_free(s->paths.items[i]);
    cq_vec_clear(&s->paths);
}

/* ---- folders ---- */

typedef struct listing {
    cq_samples *s;
    const char *folder;
    bool        wants_files;
} listing;

static bool has_first_input(const char *folder)
{
    char path[MAX_PATH];

    snprintf(path, sizeof path, "%.4000s/input_0.pb", folder);
    if (cq_path_exists(path))
        return true;
    snprintf(path, sizeof path, "%.4000s/input_0.npy", folder);
    return cq_path_exists(path);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

static cq_status push_path(cq_samples *s, const char *path)
{
    char *copy = cq_strdup(path);

    if (!copy || cq_vec_push(&s->paths, copy) != CQ_OK) {
        cq_free(copy);
        return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

static cq_status note_entry(void *user, const char *name)
{
    listing *l = user;
    char     path[MAX_PATH];

    if (snprintf(path, sizeof path, "%s/%s", l->folder, name) >= (int)sizeof path)
        return CQ_OK;
    if (l->wants_files ? ends_with(name, ".npy") || ends_with(name, ".pb") : has_first_input(path))
        return push_path(l->s, path);
    return CQ_OK;
}

/* test_data_set_2 comes before test_data_set_10. */
static int by_length_and_name(const void *a, const void *b)
{
    const char  *x = *(char *const *)a, *y = *(char *const *)b;
    const size_t n = strlen(x), k = strlen(y);

    return n != k ? (n > k) - (n < k) : strcmp(x, y);
}

static size_t n_required(const cq_onnx_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->graph->input.n; i++)
        n += m->graph->input.items[i]->name &&
             !cq_onnx_model_has_initializer(m, m->graph->input.items[i]->name);
    return n;
}

static cq_status find_sets(cq_samples *s, const char *folder)
{
    listing l = { s, folder, false };

    if (has_first_input(folder))
        return push_path(s, folder);
    CQ_TRY(cq_folder_each(folder, note_entry, &l, NULL));
    l.wants_files = true;
    if (!s->paths.n)
        CQ_TRY(cq_folder_each(folder, note_entry, &l, NULL));
    if (s->paths.n && l.wants_files && !has_first_input(s->paths.items[0]) &&
        n_required(s->m) != 1 && cq_path_entry(s->paths.items[0], NULL) == CQ_ENTRY_FILE)
        return cq_fail(CQ_E_ARGUMENT, folder,
                       "put input_0.npy, input_1.npy, … of each set into a folder of its own",
                       "a folder of files is for models with one input; the model has %zu",
                       n_required(s->m));
    if (!s->paths.n)
        return cq_fail(CQ_E_NOT_FOUND, folder, NULL,
                       "found no inputs: expected input_0.npy or input_0.pb, folders with these, "
                       "or .npy files");
    qsort(s->paths.items, s->paths.n, sizeof *s->paths.items, by_length_and_name);
    return CQ_OK;
}

cq_status cq_samples_open(cq_samples *out, const cq_onnx_model *m, const char *folder,
                          const cq_quantize_options *o)
{
    cq_status status;

    *out = (cq_samples){ .m = m, .low = o->input_low, .high = o->input_high, .n = o->n_random };
    if (!folder)
        return CQ_OK;
    status = find_sets(out, folder);
    out->n = (int64_t)out->paths.n;
    if (status != CQ_OK)
        cq_samples_close(out);
    return status;
}

/* ---- sets ---- */

static cq_status load_file(cq_input_set *out, const cq_onnx_model *m, const char *path)
{
    cq_tensor *t = NULL;
    cq_status  status;

    out->items = cq_zalloc((m->graph->input.n + 1) * sizeof *out->items);
    out->n     = m->graph->input.n;
    if (!out->items)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < out->n; i++) {
        const char *name = m->graph->input.items[i]->name;

        if (!name || cq_onnx_model_has_initializer(m, name))
            continue;
        if (ends_with(path, ".pb"))
            return cq_onnx_value_load_for(&out->items[i], path, m, CQ_ONNX_INPUTS, i);
        CQ_TRY(cq_tensor_load_npy(&t, path));
        status = cq_onnx_value_new_tensor(&out->items[i], t);
        cq_tensor_release(t);
        return status;
    }
    return CQ_OK;
}

/* Normal numbers become uniform ones from low to high. */
static cq_status spread(cq_input_set *set, double low, double high)
{
    for (size_t i = 0; i < set->n; i++) {
        cq_tensor     *t = set->items[i] ? cq_onnx_value_tensor(set->items[i]) : NULL, *made = NULL;
        cq_onnx_value *value  = NULL;
        cq_status      status = CQ_OK;

        if (!t || !cq_dtype_is_float(cq_tensor_dtype(t)))
            continue;
        CQ_TRY(cq_tensor_clone(&made, t, CQ_DTYPE_F64));
        double *x = cq_tensor_data(made);

        for (int64_t k = 0; k < cq_tensor_numel(made); k++)
            x[k] = low + (high - low) * 0.5 * erfc(-x[k] * 0.7071067811865476);
        cq_tensor *converted = NULL;

        status = cq_tensor_clone(&converted, made, cq_tensor_dtype(t));
        cq_tensor_release(made);
        if (status == CQ_OK) {
            cq_tensor_set_made_up(converted);
            status = cq_onnx_value_new_tensor(&value, converted);
        }
        cq_tensor_release(converted);
        CQ_TRY(status);
        cq_onnx_value_release(set->items[i]);
        set->items[i] = value;
    }
    return CQ_OK;
}

static cq_status get_set(cq_input_set *out, const cq_samples *s, int64_t i)
{
    if (s->paths.n) {
        const char *path = s->paths.items[i];

        return has_first_input(path) ? cq_input_set_load(out, s->m, path)
                                     : load_file(out, s->m, path);
    }
    CQ_TRY(cq_input_set_random(out, s->m, s->m, &cq_input_choices[s->choice], (uint64_t)i));
    return s->low < s->high ? spread(out, s->low, s->high) : CQ_OK;
}

cq_status cq_samples_run(cq_samples *s, const cq_session *session, int64_t i, cq_input_set *inputs,
                         cq_onnx_value **outputs)
{
    cq_status status;

    do {
        *inputs = (cq_input_set){ 0 };
        status  = get_set(inputs, s, i);
        if (status == CQ_OK)
            status = cq_session_run(session, NULL, inputs->items, inputs->n, outputs);
        if (status == CQ_OK)
            return CQ_OK;
        cq_input_set_clear(inputs);
    } while (!s->paths.n && i == 0 && status != CQ_E_CANCELLED && ++s->choice < CQ_N_INPUT_CHOICES);
    return status;
}
