/* Making functions of calls; what is in them is written in expand/. */
#include "onnx/expand.h"

#include "onnx/expand/expansion.h"
#include "onnx/text/text.h"

#include <stdlib.h>
#include <string.h>

/* domain: of the schemas. */
static const struct family {
    const char             *domain;
    const cq_expansion_row *rows;
} families[] = {
    { "com.microsoft", cq_expansions_fused },
    { "com.microsoft", cq_expansions_attention },
    { "com.microsoft", cq_expansions_quantized },
    { CQ_ONNX_EXPERIMENTAL, cq_expansions_experimental },
};

/* ---- what bodies ask for ---- */

bool cq_expansion_has(const cq_expansion *e, size_t input)
{
    return input < e->node->input.n && *e->node->input.items[input];
}

bool cq_expansion_wants(const cq_expansion *e, size_t output)
{
    return output < e->node->output.n && *e->node->output.items[output];
}

const cq_onnx_attribute *cq_expansion_attr(const cq_expansion *e, const char *name)
{
    return cq_onnx_node_attr(e->node, name);
}

static const char *fallback(const cq_expansion *e, const char *name)
{
    const cq_onnx_schema_attribute *a = cq_onnx_schema_attr(e->schema, name);

    return a && a->fallback ? a->fallback : "";
}

int64_t cq_expansion_int(const cq_expansion *e, const char *name)
{
    const cq_onnx_attribute *a = cq_expansion_attr(e, name);

    return a ? a->i : strtoll(fallback(e, name), NULL, 10);
}

double cq_expansion_float(const cq_expansion *e, const char *name)
{
    const cq_onnx_attribute *a = cq_expansion_attr(e, name);

    return a ? (double)a->f : strtod(fallback(e, name), NULL);
}

bool cq_expansion_is(const cq_expansion *e, const char *name, const char *text)
{
    const cq_onnx_attribute *a = cq_expansion_attr(e, name);

    if (!a)
        return !strcmp(fallback(e, name), text);
    return a->s.size == strlen(text) && !memcmp(a->s.data, text, a->s.size);
}

/* ---- calls ---- */

/* "X", or "X3" of an input that there may be any number of. */
static void say_parameters(cq_expansion *e, const cq_onnx_parameter *list, size_t n, size_t n_given)
{
    for (size_t i = 0; i < n_given; i++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(list, n, i);

        cq_str_add(&e->text, i ? ", " : "");
        if (p && p->arity <= CQ_ONNX_OPTIONAL)
            cq_str_add(&e->text, p->name);
        else
            cq_str_printf(&e->text, "X%zu", i);
    }
}

/* A node without a domain is an experiment, or one that ONNX Runtime has among ONNX's own. */
static bool may_be_of(const cq_onnx_node *node, const struct family *family)
{
    if (node->domain && *node->domain)
        return !strcmp(node->domain, family->domain) &&
               strcmp(family->domain, CQ_ONNX_EXPERIMENTAL) != 0;
    return !strcmp(family->domain, CQ_ONNX_EXPERIMENTAL) ||
           !strcmp(node->op_type, "SimplifiedLayerNormalization");
}

static const cq_expansion_row *find_row(const cq_onnx_node *node, const char **domain)
{
    for (size_t i = 0; node->op_type && i < sizeof families / sizeof *families; i++)
        for (const cq_expansion_row *row = families[i].rows; row->op; row++)
            if (cq_is(row->op, node->op_type) && may_be_of(node, &families[i])) {
                *domain = families[i].domain;
                return row;
            }
    return NULL;
}

static cq_status refuse(const cq_expansion *e)
{
    const char *domain = e->node->domain ? e->node->domain : "";

    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s%s%s %s", e->node->op_type,
                   *domain ? " of " : "", domain, e->refusal);
}

static cq_status write(cq_expansion *e, const cq_expansion_row *row)
{
    for (uint32_t i = 0; i < e->node->attribute.n && !e->refusal; i++)
        if (e->node->attribute.items[i]->ref_attr_name)
            e->refusal = "takes no attributes from the function around it";
    for (size_t i = 0; i < e->schema->n_attributes; i++)
        if (e->schema->attributes[i].is_required &&
            !cq_expansion_attr(e, e->schema->attributes[i].name))
            e->refusal = "lacks an attribute that it must have";
    cq_str_printf(&e->text, "<opset_import: [\"\" : %d]>\n", CQ_EXPANSION_OPSET);
    cq_str_printf(&e->text, "%s (", row->op);
    say_parameters(e, e->schema->inputs, e->schema->n_inputs, e->node->input.n);
    cq_str_add(&e->text, ") => (");
    say_parameters(e, e->schema->outputs, e->schema->n_outputs, e->node->output.n);
    cq_str_add(&e->text, ") {\n");
    if (row->text)
        cq_say(e, "%s", row->text);
    else
        row->write(e);
    cq_str_add(&e->text, "}\n");
    return e->refusal ? refuse(e) : e->text.status;
}

cq_status cq_onnx_expand(const cq_onnx_function **out, cq_onnx_model **store,
                         const cq_onnx_node *node, int64_t version)
{
    const char             *domain;
    const cq_expansion_row *row = find_row(node, &domain);
    cq_expansion            e   = { .node = node };
    cq_onnx_function       *f;
    cq_status               status;

    *out = NULL;
    if (!row)
        return CQ_OK;
    CQ_TRY(cq_onnx_schema_find(&e.schema, domain, node->op_type, 1));
    if (!e.schema)
        return CQ_OK;
    if (node->domain && *node->domain)
        CQ_TRY(cq_onnx_schema_check_to_run(node, version));
    if (!*store)
        CQ_TRY(cq_onnx_model_new(store, ""));
    status = write(&e, row);
    if (status == CQ_OK)
        status = cq_onnx_parse_function(&f, *store, cq_str_text(&e.text), e.text.len);
    if (status == CQ_OK)
        *out = f;
    cq_str_clear(&e.text);
    return status;
}
