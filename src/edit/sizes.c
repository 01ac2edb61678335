/* Other sizes for the inputs of a model: reads the specifications, infers with the new sizes,
 * writes what changes, and declares the new types. */
#include "edit/sizes.h"

#include <calque/edit.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 64, MAX_DEPTH = 64 };

/* ---- specifications ---- */

typedef struct size_spec {
    cq_onnx_value_info *input;
    size_t              rank;
    struct {
        char    name[MAX_TEXT]; /* "": the number */
        int64_t number;
    } axes[CQ_MAX_RANK];
} size_spec;

static cq_onnx_shape *shape_of(const cq_onnx_value_info *info)
{
    return info->type && info->type->tensor_type ? info->type->tensor_type->shape : NULL;
}

static bool is_input(const cq_onnx_model *m, const cq_onnx_value_info *info)
{
    return info->name && (m->ir_version >= 4 || !cq_onnx_model_has_initializer(m, info->name));
}

/* The input at the start of a specification, and the text after its =. */
static cq_status find_input(cq_onnx_value_info **out, const char **sizes, const cq_onnx_model *m,
                            const char *spec)
{
    size_t n_inputs = 0, longest = 0;

    *out = NULL;
    for (size_t i = 0; i < m->graph->input.n; i++) {
        cq_onnx_value_info *info = m->graph->input.items[i];
        const size_t        len  = info->name ? strlen(info->name) : 0;

        if (!is_input(m, info))
            continue;
        n_inputs++;
        if (len >= longest && strncmp(spec, info->name, len) == 0 && spec[len] == '=') {
            *out    = info;
            *sizes  = spec + len + 1;
            longest = len;
        }
    }
    if (*out)
        return CQ_OK;
    if (strchr(spec, '=') || n_inputs != 1)
        return cq_fail(CQ_E_NOT_FOUND, NULL, "calque info lists the inputs",
                       "--inputs '%s': expected INPUT=SIZES with the name of an input", spec);
    for (size_t i = 0; i < m->graph->input.n; i++)
        if (is_input(m, m->graph->input.items[i]))
            *out = m->graph->input.items[i];
    *sizes = spec;
    return CQ_OK;
}

static cq_status read_axis(size_spec *s, const char *text, size_t len)
{
    int64_t number = 0;
    bool    digits = len > 0, word = len > 0 && !isdigit((unsigned char)*text);

    for (size_t i = 0; i < len; i++) {
        digits &= isdigit((unsigned char)text[i]) != 0;
        word &= isalnum((unsigned char)text[i]) || text[i] == '_';
    }
    if ((!digits && !word) || len >= MAX_TEXT || len > (digits ? 15u : MAX_TEXT))
        return cq_fail(
            CQ_E_ARGUMENT, NULL, "sizes are numbers or names: batchx3xHxW, [batch,3,H,W]",
            "invalid size '%.*s' of input %s", (int)(len < 60 ? len : 60), text, s->input->name);
    if (s->rank == CQ_MAX_RANK)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "input %s: more than %d sizes", s->input->name,
                       CQ_MAX_RANK);
    for (size_t i = 0; digits && i < len; i++)
        number = number * 10 + (text[i] - '0');
    s->axes[s->rank].number = number;
    if (word)
        snprintf(s->axes[s->rank].name, MAX_TEXT, "%.*s", (int)len, text);
    s->rank++;
    return CQ_OK;
}

static cq_status read_spec(size_spec *out, const cq_onnx_model *m, const char *spec)
{
    const cq_onnx_shape *shape;
    const char          *at, *end;
    char                 separator = 'x';

    *out = (size_spec){ 0 };
    CQ_TRY(find_input(&out->input, &at, m, spec));
    end = at + strlen(at);
    if (*at == '[' && end[-1] == ']') {
        separator = ',';
        at++;
        end--;
    }
    while (at < end) {
        const char *stop = memchr(at, separator, (size_t)(end - at));

        stop = stop ? stop : end;
        CQ_TRY(read_axis(out, at, (size_t)(stop - at)));
        at = stop + 1;
    }
    shape = shape_of(out->input);
    if (shape && shape->dim.n != out->rank)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "input %s has %u dimensions, got %zu sizes",
                       out->input->name, shape->dim.n, out->rank);
    if (!out->input->type || !out->input->type->tensor_type)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "input %s is not a tensor", out->input->name);
    return CQ_OK;
}

/* ---- symbols ---- */

/* A dynamic size of the unchanged model. */
static cq_status add_old_symbols(cq_size_change *c)
{
    const cq_onnx_graph *g = c->edit.m->graph;

    for (size_t i = 0; i < g->input.n; i++) {
        const cq_onnx_shape *shape = shape_of(g->input.items[i]);

        for (size_t k = 0; shape && k < shape->dim.n; k++)
            if (shape->dim.items[k]->dim_param && *shape->dim.items[k]->dim_param)
                (void)cq_symbol_of_input(&c->symbols, shape->dim.items[k]->dim_param, 1,
                                         g->input.items[i]->name, (int)k);
    }
    return cq_symbols_check(&c->symbols);
}

/* The symbol of an axis that changes; its example is the old size. */
static cq_status add_symbol(cq_size_change *c, size_spec *s, size_t axis, int64_t old)
{
    char        made[MAX_TEXT];
    const char *name = s->axes[axis].name;
    cq_int      symbol;

    if (!*name) {
        snprintf(made, sizeof made, "new_size_%.20s_%zu", s->input->name, axis);
        name = made;
    }
    symbol = cq_symbol_of_input(&c->symbols, name, old, s->input->name, (int)axis);
    CQ_TRY(cq_symbols_check(&c->symbols));
    if (symbol.value != old)
        return cq_fail(CQ_E_ARGUMENT, NULL, "use another name",
                       "the size %s is %lld in one input and %lld in %s", name,
                       (long long)symbol.value, (long long)old, s->input->name);
    if (!*s->axes[axis].name) {
        CQ_TRY(cq_ptr_map_set(&c->numbers, cq_int_symbol(symbol),
                              (void *)(uintptr_t)(1 + s->axes[axis].number)));
        snprintf(s->axes[axis].name, MAX_TEXT, "%s", name);
    }
    return CQ_OK;
}

static void declare(cq_size_change *c, const size_spec *s)
{
    cq_onnx_axis axes[CQ_MAX_RANK];

    for (size_t i = 0; i < s->rank; i++)
        axes[i] = (cq_onnx_axis){ *s->axes[i].name ? s->axes[i].name : NULL, s->axes[i].number };
    s->input->type =
        cq_onnx_type_new_tensor(c->edit.m, s->input->type->tensor_type->elem_type, s->rank, axes);
}

static cq_status declare_new(cq_size_change *c, size_spec *s)
{
    const cq_onnx_shape *shape = shape_of(s->input);

    for (size_t i = 0; i < s->rank; i++) {
        const cq_onnx_dim *d      = shape ? shape->dim.items[i] : NULL;
        const bool         is_old = d && cq_onnx_has(d, CQ_ONNX_DIM_VALUE) && d->dim_value >= 0;

        if (is_old && (*s->axes[i].name || s->axes[i].number != d->dim_value))
            CQ_TRY(add_symbol(c, s, i, d->dim_value));
        else if (*s->axes[i].name)
            (void)cq_symbol_of_input(&c->symbols, s->axes[i].name, 1, s->input->name, (int)i);
    }
    declare(c, s);
    return c->edit.m->status;
}

/* ---- the model ---- */

/* Declared sizes of intermediate values and outputs belong to the old inputs. */
static void forget_shapes(cq_onnx_graph *g, int depth)
{
    if (!g || depth > MAX_DEPTH)
        return;
    g->value_info.n = 0;
    for (size_t i = 0; i < g->output.n; i++)
        if (shape_of(g->output.items[i]))
            g->output.items[i]->type->tensor_type->shape = NULL;
    for (size_t i = 0; i < g->node.n; i++)
        for (size_t k = 0; k < g->node.items[i]->attribute.n; k++) {
            cq_onnx_attribute *a = g->node.items[i]->attribute.items[k];

            forget_shapes(a->g, depth + 1);
            for (size_t j = 0; j < a->graphs.n; j++)
                forget_shapes(a->graphs.items[j], depth + 1);
        }
}

/* An output of an operator that inference does not know keeps its number of axes. */
static void keep_ranks(cq_onnx_graph *g, cq_onnx_shape *const *old)
{
    for (size_t i = 0; i < g->output.n; i++) {
        if (!old[i] || shape_of(g->output.items[i]))
            continue;
        for (size_t k = 0; k < old[i]->dim.n; k++)
            *old[i]->dim.items[k] = (cq_onnx_dim){ 0 };
        g->output.items[i]->type->tensor_type->shape = old[i];
    }
}

/* Constants of nodes in a subgraph may read names of the graph around, so that the sizes, which are
 * computed first, can be used everywhere. */
static cq_status solve(cq_size_change *c)
{
    const cq_infer_guide guide = { &c->symbols, cq_size_rules_apply, c };

    CQ_TRY(cq_onnx_model_infer_guided(c->edit.m, 0, &guide));
    if (!c->n_troubles)
        return cq_size_fixes_write(c);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%zu node%s need%s the old sizes: %s%s",
                   c->n_troubles, c->n_troubles == 1 ? "" : "s", c->n_troubles == 1 ? "s" : "",
                   cq_str_text(&c->troubles), c->n_troubles > 20 ? "; …" : "");
}

/* Sizes that become numbers were symbols until now. */
static void declare_numbers(cq_size_change *c, const size_spec *s)
{
    size_spec plain = *s;

    for (size_t i = 0; i < s->rank; i++) {
        const cq_atom *symbol =
            *s->axes[i].name ? cq_int_symbol(cq_symbol(&c->symbols, s->axes[i].name, 1, NULL, 0))
                             : NULL;

        if (symbol && cq_ptr_map_get(&c->numbers, symbol))
            *plain.axes[i].name = '\0';
    }
    declare(c, &plain);
}

static cq_status change_sizes(cq_size_change *c, size_spec *specs, const char *const *texts,
                              size_t n)
{
    cq_onnx_model  *m   = c->edit.m;
    cq_onnx_shape **old = cq_onnx_alloc(m, (m->graph->output.n + 1) * sizeof *old);

    if (!old)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_opset_learn(&c->edit));
    CQ_TRY(add_old_symbols(c));
    for (size_t i = 0; i < n; i++) {
        CQ_TRY(read_spec(&specs[i], m, texts[i]));
        CQ_TRY(declare_new(c, &specs[i]));
    }
    for (size_t i = 0; i < m->graph->output.n; i++)
        old[i] = shape_of(m->graph->output.items[i]);
    forget_shapes(m->graph, 0);
    CQ_TRY(solve(c));
    for (size_t i = 0; i < n; i++)
        declare_numbers(c, &specs[i]);
    CQ_TRY(m->status);
    CQ_TRY(cq_onnx_model_infer(m, 0));
    keep_ranks(m->graph, old);
    return CQ_OK;
}

CQ_API cq_status cq_onnx_model_convert_inputs(cq_onnx_model *m, const char *const *texts, size_t n)
{
    CQ_NEED(m && m->graph && (texts || !n));
    cq_size_change c = { .edit.m = m };
    cq_arena      *arena;
    size_spec     *specs;
    cq_status      status;

    if (!n)
        return CQ_OK;
    arena = cq_arena_new();
    specs = arena ? cq_arena_array(arena, n, sizeof *specs) : NULL;
    if (!specs) {
        cq_arena_free(arena);
        return CQ_E_NO_MEMORY;
    }
    cq_symbols_init(&c.symbols, arena);
    status = change_sizes(&c, specs, texts, n);
    cq_opset_forget(&c.edit);
    cq_symbols_clear(&c.symbols);
    cq_ptr_map_clear(&c.numbers);
    cq_ptr_map_clear(&c.by_slot);
    cq_ptr_map_clear(&c.troubled);
    cq_map_clear(&c.sizes);
    cq_str_clear(&c.troubles);
    cq_arena_free(arena);
    return status;
}
