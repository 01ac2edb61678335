/* Extracts a part of a model: a walk from the outputs back to the inputs marks the nodes that are
 * needed, and the lists of the graph are compacted in-place. */
#include "onnx/part/cut.h"

#include "base/sized.h"
#include "base/str.h"
#include "onnx/part/names.h"
#include "onnx/reads.h"

#include <calque/part.h>

#include <string.h>

typedef struct cutter {
    cq_onnx_model *m;
    cq_onnx_graph *g;
    cq_map         makers;       /* name of a value to index + 1 of its node */
    cq_map         inputs;       /* set of names: inputs of the part */
    cq_map         graph_inputs; /* names of inputs of the model to their value infos */
    cq_map         constants;    /* set of names: initializers */
    cq_map         used;         /* set of names: values that kept nodes read or compute, and
                                  * outputs of the part */
    cq_map   types;              /* names to value infos of the model */
    uint8_t *keep;               /* whether to keep each node */
    CQ_VEC(uint32_t) stack;
    cq_part_names needed; /* inputs of the model without a default that the walk reached */
} cutter;

cq_status cq_part_index_makers(cq_map *out, const cq_onnx_graph *g)
{
    for (uint32_t i = 0; i < g->node.n; i++)
        for (uint32_t k = 0; k < g->node.items[i]->output.n; k++) {
            const char *name = g->node.items[i]->output.items[k];

            if (*name && !cq_map_has(out, name))
                CQ_TRY(cq_map_set(out, name, (void *)(uintptr_t)(i + 1)));
        }
    return CQ_OK;
}

/* The name of a sparse initializer is that of its values. */
static const char *sparse_name(const cq_onnx_sparse_tensor *sparse)
{
    return sparse->values && sparse->values->name ? sparse->values->name : "";
}

static cq_status index_types(cq_map *types, const cq_onnx_value_infos *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const cq_onnx_value_info *v = list->items[i];

        if (v->name && v->type && !cq_map_has(types, v->name))
            CQ_TRY(cq_map_set(types, v->name, list->items[i]));
    }
    return CQ_OK;
}

static cq_status index_graph(cutter *c)
{
    const cq_onnx_graph *g = c->g;

    c->keep = cq_zalloc((size_t)g->node.n + 1);
    if (!c->keep)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_part_index_makers(&c->makers, g));
    for (uint32_t i = 0; i < g->input.n; i++)
        if (g->input.items[i]->name)
            CQ_TRY(cq_map_set(&c->graph_inputs, g->input.items[i]->name, g->input.items[i]));
    for (uint32_t i = 0; i < g->initializer.n; i++)
        if (g->initializer.items[i]->name)
            CQ_TRY(cq_map_set(&c->constants, g->initializer.items[i]->name, c));
    for (uint32_t i = 0; i < g->sparse_initializer.n; i++)
        CQ_TRY(cq_map_set(&c->constants, sparse_name(g->sparse_initializer.items[i]), c));
    CQ_TRY(index_types(&c->types, &g->input));
    CQ_TRY(index_types(&c->types, &g->output));
    return index_types(&c->types, &g->value_info);
}

static void cutter_clear(cutter *c)
{
    cq_map_clear(&c->makers);
    cq_map_clear(&c->inputs);
    cq_map_clear(&c->graph_inputs);
    cq_map_clear(&c->constants);
    cq_map_clear(&c->used);
    cq_map_clear(&c->types);
    cq_vec_clear(&c->stack);
    cq_vec_clear(&c->needed);
    cq_free(c->keep);
}

/* ---- needed nodes ---- */

static bool is_value(const cutter *c, const char *name)
{
    return cq_map_has(&c->makers, name) || cq_map_has(&c->graph_inputs, name) ||
           cq_map_has(&c->constants, name);
}

static cq_status no_value(const char *name, const char *side)
{
    return cq_fail(CQ_E_ARGUMENT, NULL, "use calque print FILE to list the values of the model",
                   "%s '%s' is not a value of the model's graph", side, name);
}

static cq_status reach(void *cutter_, const char *name)
{
    cutter *c     = cutter_;
    size_t  maker = (uintptr_t)cq_map_get(&c->makers, name);

    if (!*name || cq_map_has(&c->used, name))
        return CQ_OK;
    CQ_TRY(cq_map_set(&c->used, name, c));
    if (cq_map_has(&c->inputs, name))
        return CQ_OK;
    if (maker && !c->keep[maker - 1]) {
        c->keep[maker - 1] = 1;
        return cq_vec_push(&c->stack, (uint32_t)maker - 1);
    }
    if (!maker && cq_map_has(&c->graph_inputs, name) && !cq_map_has(&c->constants, name))
        return cq_vec_push(&c->needed, name);
    return CQ_OK;
}

static cq_status walk_back(cutter *c, const cq_part_names *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        if (!cq_map_has(&c->makers, outputs->items[i]) && !is_value(c, outputs->items[i]))
            return no_value(outputs->items[i], "output");
        if (cq_map_has(&c->inputs, outputs->items[i]))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "'%s' is both an input and an output",
                           outputs->items[i]);
        CQ_TRY(reach(c, outputs->items[i]));
    }
    while (c->stack.n) {
        uint32_t at = c->stack.items[--c->stack.n];

        CQ_TRY(cq_onnx_each_read(c->g->node.items[at], reach, c));
    }
    return CQ_OK;
}

/* Reports all missing names at once, so that one more call suffices. */
static cq_status fail_needed(const cutter *c)
{
    cq_str    names = { 0 };
    cq_status status;

    for (size_t i = 0; i < c->needed.n && i < 16; i++)
        cq_str_printf(&names, "%s%s", i ? ", " : "", c->needed.items[i]);
    if (c->needed.n > 16)
        cq_str_printf(&names, " and %zu more", c->needed.n - 16);
    status = names.status == CQ_OK
                 ? cq_fail(CQ_E_ARGUMENT, NULL, "add them to the inputs",
                           "the outputs also depend on inputs of the model that are not listed: %s",
                           names.text)
                 : names.status;
    cq_str_clear(&names);
    return status;
}

static cq_status check_inputs(const cutter *c, const cq_part_names *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (!cq_map_has(&c->used, inputs->items[i]))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "no output depends on input '%s'",
                           inputs->items[i]);
    return c->needed.n ? fail_needed(c) : CQ_OK;
}

/* ---- the graph of the part ---- */

/* The value info of an initializer that becomes an input: its type is in the tensor message. */
static cq_onnx_value_info *constant_value(cutter *c, const char *name)
{
    cq_onnx_value_info *v;

    for (uint32_t i = 0; i < c->g->initializer.n; i++) {
        const cq_onnx_tensor *t = c->g->initializer.items[i];
        cq_onnx_axis          axes[CQ_MAX_RANK];

        if (!t->name || strcmp(t->name, name) != 0 || t->dims.n > CQ_MAX_RANK)
            continue;
        for (uint32_t k = 0; k < t->dims.n; k++)
            axes[k] = (cq_onnx_axis){ NULL, t->dims.items[k] };
        v = cq_onnx_alloc(c->m, sizeof *v);
        if (!v)
            return NULL;
        v->name = cq_onnx_text(c->m, name);
        v->type = cq_onnx_type_new_tensor(c->m, t->data_type, t->dims.n, axes);
        return v;
    }
    return NULL;
}

static cq_status make_values(cutter *c, cq_onnx_value_infos *out, const cq_part_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        cq_onnx_value_info *v = cq_map_get(&c->types, names->items[i]);

        v = v ? v : constant_value(c, names->items[i]);
        CQ_TRY(c->m->status);
        if (!v)
            return cq_fail(CQ_E_UNSUPPORTED, NULL,
                           "declare its type in the model's value_info, or cut elsewhere",
                           "the type of value '%s' cannot be inferred", names->items[i]);
        cq_onnx_list_push(c->m, out, v);
    }
    return c->m->status;
}

/* Removes the items for which keep is false, in-place. */
#define COMPACT(list, keep)                                                                        \
    do {                                                                                           \
        uint32_t kept_ = 0;                                                                        \
        for (uint32_t i = 0; i < (list)->n; i++)                                                   \
            if (keep)                                                                              \
                (list)->items[kept_++] = (list)->items[i];                                         \
        (list)->n = kept_;                                                                         \
    } while (0)

static bool is_used(const cutter *c, const char *name)
{
    return name && cq_map_has(&c->used, name);
}

/* An initializer that becomes an input loses its value, unless the model's own input had it as
 * default. */
static bool keeps_constant(const cutter *c, const char *name)
{
    return is_used(c, name) &&
           (!cq_map_has(&c->inputs, name) || cq_map_has(&c->graph_inputs, name));
}

/* Keeps inputs with a default that the part reads, after its own inputs. */
static void add_defaults(cutter *c, cq_onnx_value_infos *inputs)
{
    for (uint32_t i = 0; i < c->g->input.n; i++) {
        const char *name = c->g->input.items[i]->name;

        if (is_used(c, name) && !cq_map_has(&c->inputs, name) && cq_map_has(&c->constants, name))
            cq_onnx_list_push(c->m, inputs, c->g->input.items[i]);
    }
}

static cq_status note_outputs(cutter *c)
{
    for (uint32_t i = 0; i < c->g->node.n; i++)
        for (uint32_t k = 0; c->keep[i] && k < c->g->node.items[i]->output.n; k++)
            if (*c->g->node.items[i]->output.items[k])
                CQ_TRY(cq_map_set(&c->used, c->g->node.items[i]->output.items[k], c));
    return CQ_OK;
}

/* A kept node may also make a value that is an input of the part. Its output gets another name,
 * which nothing reads. */
static cq_status rename_made_inputs(cutter *c)
{
    cq_part_taken taken  = { 0 };
    cq_status     status = cq_part_take_names(&taken, c->g);

    for (uint32_t i = 0; i < c->g->node.n && status == CQ_OK; i++) {
        cq_onnx_names *outputs = &c->g->node.items[i]->output;

        for (uint32_t k = 0; c->keep[i] && k < outputs->n && status == CQ_OK; k++)
            if (cq_map_has(&c->inputs, outputs->items[k])) {
                outputs->items[k] =
                    cq_part_free_name(c->m, outputs->items[k], &taken.by_kind[CQ_PART_VALUE],
                                      &taken.by_kind[CQ_PART_VALUE]);
                status = c->m->status;
            }
    }
    cq_part_taken_clear(&taken);
    return status;
}

static bool is_end(const cq_part_names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static cq_status rebuild(cutter *c, const cq_part_names *inputs, const cq_part_names *outputs)
{
    cq_onnx_graph      *g   = c->g;
    cq_onnx_value_infos ins = { 0 }, outs = { 0 };

    CQ_TRY(make_values(c, &ins, inputs));
    CQ_TRY(make_values(c, &outs, outputs));
    add_defaults(c, &ins);
    CQ_TRY(c->m->status);
    CQ_TRY(rename_made_inputs(c));
    CQ_TRY(note_outputs(c));
    COMPACT(&g->initializer, keeps_constant(c, g->initializer.items[i]->name));
    COMPACT(&g->sparse_initializer, keeps_constant(c, sparse_name(g->sparse_initializer.items[i])));
    COMPACT(&g->value_info, is_used(c, g->value_info.items[i]->name) &&
                                !cq_map_has(&c->inputs, g->value_info.items[i]->name) &&
                                !is_end(outputs, g->value_info.items[i]->name));
    COMPACT(&g->quantization_annotation,
            is_used(c, g->quantization_annotation.items[i]->tensor_name));
    COMPACT(&g->node, c->keep[i]);
    g->input              = ins;
    g->output             = outs;
    c->m->training_info.n = 0;
    return CQ_OK;
}

/* ---- cutting ---- */

/* Adds the inputs of the model that the walk reached, in the model's order. */
static cq_status take_needed(cutter *c, cq_part_names *inputs)
{
    for (uint32_t i = 0; i < c->g->input.n; i++) {
        const char *name = c->g->input.items[i]->name;

        if (is_used(c, name) && !cq_map_has(&c->makers, name) && !cq_map_has(&c->constants, name)) {
            CQ_TRY(cq_vec_push(inputs, name));
            CQ_TRY(cq_map_set(&c->inputs, name, c));
        }
    }
    c->needed.n = 0;
    return CQ_OK;
}

static cq_status cut_at(cutter *c, cq_part_names *inputs, const cq_part_names *outputs,
                        bool any_inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        if (!is_value(c, inputs->items[i]))
            return no_value(inputs->items[i], "input");
        if (cq_map_has(&c->inputs, inputs->items[i]))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "input '%s' is listed twice",
                           inputs->items[i]);
        CQ_TRY(cq_map_set(&c->inputs, inputs->items[i], c));
    }
    CQ_TRY(walk_back(c, outputs));
    if (any_inputs)
        CQ_TRY(take_needed(c, inputs));
    CQ_TRY(check_inputs(c, inputs));
    return rebuild(c, inputs, outputs);
}

static cq_status copy_names(cq_part_names *out, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CQ_TRY(cq_vec_push(out, names[i]));
    return CQ_OK;
}

static cq_status find_ends(cq_part_names *inputs, cq_part_names *outputs, const cq_onnx_model *m,
                           const cq_cut_options *o)
{
    if (o->module)
        return cq_part_find_module(inputs, outputs, m, o->module);
    CQ_TRY(copy_names(inputs, o->inputs, o->n_inputs));
    CQ_TRY(copy_names(outputs, o->outputs, o->n_outputs));
    for (uint32_t i = 0; !o->n_outputs && i < m->graph->output.n; i++)
        if (m->graph->output.items[i]->name)
            CQ_TRY(cq_vec_push(outputs, m->graph->output.items[i]->name));
    return CQ_OK;
}

CQ_API void cq_cut_options_init(cq_cut_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_cut_options){ .struct_size = sizeof *options };
}

CQ_API cq_status cq_onnx_model_cut(cq_onnx_model *m, const cq_cut_options *given)
{
    CQ_NEED(m && given);
    cq_cut_options options;
    cq_part_names  inputs = { 0 }, outputs = { 0 };
    cutter         c = { .m = m, .g = m->graph };
    bool           sorted;
    cq_status      status;

    cq_cut_options_init(&options);
    CQ_TRY(cq_sized_take(&options, given, "cq_cut_options"));
    CQ_TRY(cq_onnx_need_graph(m));
    if (options.module && (options.n_inputs || options.n_outputs))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "expected either a module or inputs and outputs, got both");
    CQ_TRY(cq_onnx_model_sort(&sorted, m));
    CQ_TRY(cq_onnx_model_infer(m, 0));
    CQ_TRY_OR_DONE(find_ends(&inputs, &outputs, m, &options));
    CQ_TRY_OR_DONE(index_graph(&c));
    status = cut_at(&c, &inputs, &outputs, !options.module && !options.n_inputs);
done:
    cutter_clear(&c);
    cq_vec_clear(&inputs);
    cq_vec_clear(&outputs);
    return status;
}
