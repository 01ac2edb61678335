/* Modules of C code, the built-in models among them. */
#include "info/info.h"
#include "nn/module.h"

#include <calque/zoo.h>

#include <stdio.h>

enum { MAX_DEPTH = 64 };

static void visit(cq_info *info, cq_info_weights *all, cq_info_module *parent, const cq_module *m,
                  int depth)
{
    cq_info_module row;

    cq_info_module_begin(info, &row, parent, m->name ? m->name : "", cq_module_class_name(m));
    for (size_t i = 0; i < m->state.n; i++)
        if (m->state.items[i].tensor)
            cq_info_module_tensor(info, all, &row, m->state.items[i].name, m->state.items[i].tensor,
                                  !m->state.items[i].is_buffer);
    for (size_t i = 0; i < m->children.n && depth < MAX_DEPTH; i++)
        visit(info, all, &row, m->children.items[i], depth + 1);
    cq_info_module_end(info, &row);
}

static cq_status add_modules(cq_info *info, const cq_module *m)
{
    cq_info_weights all = { 0 };

    cq_info_begin(info, "modules", cq_info_module_columns);
    visit(info, &all, NULL, m, 0);
    cq_info_add_weights(info, &all);
    return info->status;
}

CQ_API cq_status cq_module_info(cq_info **out, cq_module *m)
{
    CQ_NEED_OUT(out, m);
    CQ_TRY(cq_info_new(out));
    cq_info_fact(*out, "format", "module");
    cq_info_fact(*out, "class", cq_module_class_name(m));
    add_modules(*out, m);
    return cq_info_done(out);
}

static void add_inputs(cq_info *info, const cq_zoo_model *model)
{
    static const char *const columns[]        = { "name", "dtype", "shape", NULL };
    static const char *const output_columns[] = { "name", NULL };
    char                     shape[CQ_MAX_RANK * 24];

    cq_info_begin(info, "inputs", columns);
    for (size_t i = 0; i < model->n_inputs; i++) {
        const cq_zoo_input *input = &model->inputs[i];
        size_t              len   = 0;

        for (size_t k = 0; k < input->rank; k++)
            len += (size_t)snprintf(shape + len, sizeof shape - len, "%s%lld", k ? "x" : "",
                                    (long long)input->sizes[k]);
        cq_info_add_text(info, input->name);
        cq_info_add_text(info, cq_dtype_name(input->dtype));
        cq_info_add_text(info, shape);
    }
    cq_info_begin(info, "outputs", output_columns);
    for (size_t i = 0; i < model->n_outputs; i++)
        cq_info_add_text(info, model->output_names[i]);
}

CQ_API cq_status cq_zoo_info(cq_info **out, const char *name)
{
    CQ_NEED_OUT(out, name);
    const cq_zoo_model *model = cq_zoo_find(name);
    cq_module          *m;

    if (!model)
        return cq_fail(CQ_E_NOT_FOUND, name, NULL, "unknown built-in model");
    m = model->make();
    CQ_TRY(cq_module_status(m));
    if (cq_info_new(out) == CQ_OK) {
        cq_info_fact(*out, "format", "built-in model");
        cq_info_fact(*out, "about", model->about);
        add_inputs(*out, model);
        add_modules(*out, m);
    }
    cq_module_free(m);
    return *out ? cq_info_done(out) : CQ_E_NO_MEMORY;
}
