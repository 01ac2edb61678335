/* Programs of torch.export. */
#include "base/str.h"
#include "info/info.h"
#include "pt2/expr.h"
#include "pt2/model.h"

#include <ctype.h>
#include <stdio.h>

/* An expression as sympy writes it, Mul(Integer(2), Symbol('s0', positive=True)), with plain
 * numbers and names: Mul(2, s0). Older files are plain already. */
static void add_expr(cq_str *s, const char *expr)
{
    while (*expr) {
        bool   symbol  = cq_starts_with(expr, "Symbol('");
        bool   integer = cq_starts_with(expr, "Integer(");
        size_t len;

        if (!symbol && !integer) {
            cq_str_add_char(s, *expr++);
            continue;
        }
        expr += strlen("Symbol('"); /* as long as Integer( */
        len = strcspn(expr, symbol ? "'" : ")");
        cq_str_add_n(s, expr, len);
        expr += len;
        expr += strcspn(expr, ")");
        expr += *expr == ')';
    }
}

/* The symbol that an export calls `batch`: the first one, in the order of the inputs, that is only
 * ever the first size of inputs that have more. Empty: none. */
typedef struct batch_symbol {
    char name[64];
} batch_symbol;

static bool is_batch(const cq_pt2 *p, const char *symbol)
{
    const cq_pt2_graph *g = p->program->graph;
    char                name[64];

    for (size_t i = 0; i < p->user.n; i++) {
        const cq_pt2_arg  *arg  = &g->inputs[p->user.items[i]];
        const cq_pt2_meta *meta = arg->kind == CQ_PT2_SLOT ? &g->metas[arg->u.slot] : NULL;

        for (size_t k = 0; meta && k < meta->rank; k++)
            if (meta->sizes[k].expr && cq_pt2_lone_symbol(meta->sizes[k].expr, name, sizeof name) &&
                strcmp(name, symbol) == 0 && (k || meta->rank == 1))
                return false;
    }
    return true;
}

static batch_symbol find_batch(const cq_pt2 *p)
{
    const cq_pt2_graph *g     = p->program->graph;
    batch_symbol        found = { 0 };

    for (size_t i = 0; i < p->user.n && !found.name[0]; i++) {
        const cq_pt2_arg  *arg  = &g->inputs[p->user.items[i]];
        const cq_pt2_meta *meta = arg->kind == CQ_PT2_SLOT ? &g->metas[arg->u.slot] : NULL;

        if (meta && meta->rank > 1 && meta->sizes[0].expr &&
            cq_pt2_lone_symbol(meta->sizes[0].expr, found.name, sizeof found.name) &&
            !is_batch(p, found.name))
            found.name[0] = '\0';
    }
    return found;
}

static bool is_in_symbol(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Adds an expression, in which the symbol is `batch`. */
static void add_renamed(cq_str *s, const char *expr, const batch_symbol *batch)
{
    const size_t len   = strlen(batch->name);
    cq_str       plain = { 0 };
    const char  *text;

    add_expr(&plain, expr);
    for (text = cq_str_text(&plain); *text;) {
        size_t n = 1;

        while (is_in_symbol(text[0]) && is_in_symbol(text[n]))
            n++;
        if (len && n == len && strncmp(text, batch->name, n) == 0)
            cq_str_add(s, "batch");
        else
            cq_str_add_n(s, text, n);
        text += n;
    }
    cq_str_clear(&plain);
}

/* "s0x3x224x224" */
static void add_shape(cq_info *info, const cq_pt2_meta *meta, const batch_symbol *batch)
{
    cq_str s = { 0 };

    for (size_t i = 0; i < meta->rank; i++) {
        const cq_pt2_size *size = &meta->sizes[i];

        cq_str_add(&s, i ? "x" : "");
        if (!size->expr)
            cq_str_printf(&s, "%lld", (long long)size->value);
        else
            add_renamed(&s, size->expr, batch);
    }
    if (!meta->rank)
        cq_str_add(&s, "scalar");
    cq_info_add_str(info, &s);
    cq_str_clear(&s);
}

/* A row for a value of the graph; one that is not a tensor has the kind of its number. */
static void add_value(cq_info *info, const cq_pt2_graph *g, const cq_pt2_arg *arg, const char *name,
                      const batch_symbol *batch)
{
    const cq_pt2_meta *meta = arg->kind == CQ_PT2_SLOT ? &g->metas[arg->u.slot] : NULL;

    cq_info_add_text(info, name ? name : "");
    if (meta && meta->dtype != CQ_DTYPE_NONE) {
        cq_info_add_text(info, cq_dtype_name(meta->dtype));
        add_shape(info, meta, batch);
        return;
    }
    cq_info_add_text(info, arg->kind == CQ_PT2_NONE    ? "None"
                           : arg->kind == CQ_PT2_FLOAT ? "float"
                           : arg->kind == CQ_PT2_BOOL  ? "bool"
                           : arg->kind == CQ_PT2_TEXT  ? "str"
                                                       : "int");
    cq_info_add_text(info, "");
}

static void add_ends(cq_info *info, const cq_pt2 *p, const batch_symbol *batch)
{
    static const char *const columns[] = { "name", "dtype", "shape", NULL };
    const cq_pt2_graph      *g         = p->program->graph;
    size_t                   n         = 0;

    cq_info_begin(info, "inputs", columns);
    for (size_t i = 0; i < p->user.n; i++)
        add_value(info, g, &g->inputs[p->user.items[i]], cq_pt2_input_name(p, i), batch);
    cq_info_begin(info, "outputs", columns);
    for (size_t i = 0; i < g->n_outputs; i++)
        if (p->program->outputs[i].role == CQ_PT2_USER && g->outputs[i].kind != CQ_PT2_NONE)
            add_value(info, g, &g->outputs[i], cq_pt2_output_name(p, n++), batch);
}

static void add_ranges(cq_info *info, const cq_pt2_program *p, const batch_symbol *batch)
{
    static const char *const columns[] = { "size", "range", NULL };
    char                     text[64];
    cq_str                   name = { 0 };

    if (p->n_ranges)
        cq_info_begin(info, "dynamic sizes", columns);
    for (size_t i = 0; i < p->n_ranges; i++) {
        const cq_pt2_range *r = &p->ranges[i];

        if (r->max < INT64_C(1) << 53) /* more means no end */
            snprintf(text, sizeof text, "%lld..%lld", (long long)r->min, (long long)r->max);
        else
            snprintf(text, sizeof text, "%lld..", (long long)r->min);
        cq_str_clear(&name);
        add_renamed(&name, r->expr, batch);
        cq_info_add_str(info, &name);
        cq_info_add_text(info, text);
    }
    cq_str_clear(&name);
}

typedef struct weights {
    cq_info        *info;
    cq_info_weights all;
} weights;

static cq_status add_weight(void *user, const char *name, cq_tensor *t, bool is_parameter)
{
    weights       *w    = user;
    cq_info_module none = { .path = "" };
    cq_str         kind = { 0 };

    cq_info_add_tensor(w->info, name, t);
    cq_info_module_tensor(w->info, &w->all, &none, name, t, is_parameter);
    if (none.shared)
        cq_str_printf(&kind, "same as %s", none.shared);
    else
        cq_str_add(&kind, is_parameter ? "parameter" : "buffer");
    cq_info_add_str(w->info, &kind);
    cq_str_clear(&kind);
    return w->info->status;
}

static void add_operators(cq_info *info, const cq_pt2_program *p)
{
    cq_info_counts counts = { 0 };

    for (size_t i = 0; i < p->n_nodes && info->status == CQ_OK; i++) {
        const cq_pt2_node *node = p->nodes[i];

        info->status = cq_info_count_name(&counts, node->op ? node->op : node->target);
    }
    cq_info_add_counts(info, "operators", &counts);
}

static void add_header(cq_info *info, const cq_pt2_program *p)
{
    const cq_json *program = p->archive->program;
    const cq_json *version = cq_json_get(program, "schema_version");
    const char    *torch   = cq_json_text(cq_json_get(program, "torch_version"), "");
    char           text[64];

    snprintf(text, sizeof text, "%lld.%lld",
             (long long)cq_json_int(cq_json_get(version, "major"), 0),
             (long long)cq_json_int(cq_json_get(version, "minor"), 0));
    cq_info_fact(info, "format", "torch.export program");
    cq_info_fact(info, "program", p->archive->model);
    if (*torch) {
        char producer[128];

        snprintf(producer, sizeof producer, "PyTorch %.100s", torch);
        cq_info_fact(info, "producer", producer);
    }
    cq_info_fact(info, "schema version", text);
    cq_info_fact_number(info, "nodes", CQ_INFO_COUNT, (int64_t)p->n_nodes);
}

CQ_API cq_status cq_pt2_info(cq_info **out, cq_pt2 *p)
{
    batch_symbol batch;
    CQ_NEED_OUT(out, p);
    static const char *const columns[] = { "name",  "dtype", "shape", "elements",
                                           "bytes", "kind",  NULL };
    weights                  w         = { 0 };
    cq_status                status;

    CQ_TRY(cq_info_new(out));
    w.info = *out;
    add_header(*out, p->program);
    batch = find_batch(p);
    add_ends(*out, p, &batch);
    add_ranges(*out, p->program, &batch);
    add_operators(*out, p->program);
    cq_info_begin(*out, "tensors", columns);
    status = cq_pt2_each_weight(p, add_weight, &w);
    cq_info_add_weights(*out, &w.all);
    if ((*out)->status == CQ_OK)
        (*out)->status = status;
    return cq_info_done(out);
}

/* ---- several programs ---- */

typedef struct listing {
    cq_info    *info;
    const char *path;
} listing;

/* "x float32 2x4, y int64 scalar" */
static cq_status describe_inputs(cq_str *s, const cq_pt2 *p)
{
    for (size_t i = 0; i < cq_pt2_n_inputs(p); i++) {
        cq_tensor *t;

        CQ_TRY(cq_pt2_example_input(&t, p, i));
        cq_str_printf(s, "%s%s %s ", i ? ", " : "", cq_pt2_input_name(p, i),
                      cq_dtype_name(t->dtype));
        for (size_t k = 0; k < t->rank; k++)
            cq_str_printf(s, "%s%lld", k ? "x" : "", (long long)t->sizes[k].value);
        cq_str_add(s, t->rank ? "" : "scalar");
        cq_tensor_release(t);
    }
    return s->status;
}

static cq_status add_program(void *user, const char *name)
{
    listing  *l      = user;
    cq_pt2   *p      = NULL;
    cq_str    inputs = { 0 };
    cq_status status = cq_pt2_load(&p, l->path, name);

    if (status == CQ_OK)
        status = describe_inputs(&inputs, p);
    if (status == CQ_OK) {
        cq_info_add_text(l->info, name);
        cq_info_add_number(l->info, CQ_INFO_COUNT, (int64_t)p->program->n_nodes);
        cq_info_add_text(l->info, cq_str_text(&inputs));
        status = l->info->status;
    }
    cq_str_clear(&inputs);
    cq_pt2_free(p);
    return status;
}

CQ_API cq_status cq_pt2_programs_info(cq_info **out, const char *path)
{
    static const char *const columns[] = { "program", "nodes", "inputs", NULL };
    listing                  l         = { .path = path };
    cq_status                status;

    CQ_NEED_OUT(out, path);
    CQ_TRY(cq_info_new(out));
    l.info = *out;
    cq_info_fact(*out, "format", "torch.export programs");
    cq_info_begin(*out, "programs", columns);
    status = cq_pt2_each_program(path, add_program, &l);
    if ((*out)->status == CQ_OK)
        (*out)->status = status;
    return cq_info_done(out);
}
