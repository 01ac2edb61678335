/* Weights of a module from a file of torch.save. This is why nn stands on archive. */
#include "archive/state_dict.h"
#include "base/map.h"
#include "base/str.h"
#include "nn/module.h"

typedef struct fitting {
    const cq_state_dict *dict;
    cq_map               known;    /* names that the module has */
    cq_str               problems; /* one per line */
    size_t               n_problems;
} fitting;

enum { MAX_LISTED = 20 }; /* a message has 2 KB; the rest is counted */

static void complain(fitting *f, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(fitting *f, const char *name, const char *format, ...)
{
    va_list args;

    if (f->n_problems++ >= MAX_LISTED)
        return;
    cq_str_printf(&f->problems, "\n  %s: ", name);
    va_start(args, format);
    cq_str_vprintf(&f->problems, format, args);
    va_end(args);
}

static bool same_sizes(const cq_tensor *a, const cq_tensor *b)
{
    bool same = a->rank == b->rank;

    for (size_t i = 0; same && i < a->rank; i++)
        same = a->sizes[i].value == b->sizes[i].value;
    return same;
}

static cq_status fit_one(void *user, const char *name, cq_module_state *state)
{
    fitting             *f    = user;
    const cq_state_item *item = cq_state_dict_find(f->dict, name);
    char                 want[CQ_DESCRIBE_SIZE], found[CQ_DESCRIBE_SIZE];

    if (!state->tensor)
        return CQ_OK; /* a Linear without bias: the file must not have one either */
    CQ_TRY(cq_map_set(&f->known, name, state));
    if (!item)
        complain(f, name, "missing in the file");
    else if (item->value.kind != CQ_VAL_TENSOR)
        complain(f, name, "the file has a quantized or sparse tensor");
    else if (!cq_tensor_has_data(item->value.u.tensor))
        complain(f, name, "the file has a tensor without data");
    else if (!same_sizes(item->value.u.tensor, state->tensor))
        complain(f, name, "the file has %s but the module %s",
                 cq_tensor_describe(item->value.u.tensor, found, sizeof found),
                 cq_tensor_describe(state->tensor, want, sizeof want));
    return CQ_OK;
}

/* Compares names and shapes both ways, so that all that does not fit is told at once. */
static cq_status check_fit(fitting *f, const cq_module *m, const char *path)
{
    CQ_TRY(cq_module_each_state(m, fit_one, f));
    for (size_t i = 0; i < cq_state_dict_count(f->dict); i++)
        if (!cq_map_has(&f->known, cq_state_dict_at(f->dict, i)->name))
            complain(f, cq_state_dict_at(f->dict, i)->name, "not in the module");
    if (!f->n_problems)
        return CQ_OK;
    if (f->n_problems > MAX_LISTED)
        cq_str_printf(&f->problems, "\n  and %zu more", f->n_problems - MAX_LISTED);
    return f->problems.status != CQ_OK
               ? f->problems.status
               : cq_fail(CQ_E_TYPE, path, NULL, "%zu entries do not fit the module:%s",
                         f->n_problems, cq_str_text(&f->problems));
}

static cq_status set_one(void *user, const char *name, cq_module_state *state)
{
    const fitting *f = user;

    return state->tensor ? cq_tensor_copy_into(state->tensor,
                                               cq_state_dict_find(f->dict, name)->value.u.tensor)
                         : CQ_OK;
}

CQ_API cq_status cq_module_load_state_dict(cq_module *m, const char *path)
{
    CQ_NEED(m && path);
    cq_state_dict *dict;
    fitting        f = { 0 };
    cq_status      status;

    CQ_TRY(cq_module_status(m));
    CQ_TRY(cq_state_dict_open(&dict, path, NULL));
    f.dict = dict;
    status = check_fit(&f, m, path);
    if (status == CQ_OK)
        status = cq_module_each_state(m, set_one, &f);
    cq_map_clear(&f.known);
    cq_str_clear(&f.problems);
    cq_state_dict_free(dict);
    return status;
}
