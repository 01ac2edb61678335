/* The list that the checker fills, and the locations of its entries. */
#include "onnx/check/check.h"

#include "base/str.h"

struct cq_onnx_findings {
    cq_arena *arena;
    CQ_VEC(cq_onnx_finding) list;
};

static const struct {
    const char *code, *hint;
} rules[] = {
#define RULE_ROW(name, code, hint) [CQ_ONNX_RULE_##name] = { code, hint },
    CQ_ONNX_RULES(RULE_ROW)
#undef RULE_ROW
};

cq_status cq_onnx_findings_new(cq_onnx_findings **out)
{
    cq_onnx_findings *findings = *out = cq_zalloc(sizeof *findings);

    if (findings)
        findings->arena = cq_arena_new();
    if (findings && findings->arena)
        return CQ_OK;
    cq_onnx_findings_free(findings);
    *out = NULL;
    return CQ_E_NO_MEMORY;
}

CQ_API void cq_onnx_findings_free(cq_onnx_findings *findings)
{
    if (!findings)
        return;
    cq_vec_clear(&findings->list);
    cq_arena_free(findings->arena);
    cq_free(findings);
}

CQ_API size_t cq_onnx_findings_count(const cq_onnx_findings *findings)
{
    CQ_NEED_ELSE(findings, 0);
    return findings->list.n;
}

CQ_API const cq_onnx_finding *cq_onnx_findings_at(const cq_onnx_findings *findings, size_t index)
{
    CQ_NEED_ELSE(findings, NULL);
    return index < findings->list.n ? &findings->list.items[index] : NULL;
}

void cq_onnx_enter(cq_onnx_check *c, cq_onnx_location *location, const char *kind, const char *name,
                   size_t index)
{
    *location =
        (cq_onnx_location){ .parent = c->location, .kind = kind, .name = name, .index = index };
    c->location = location;
}

void cq_onnx_leave(cq_onnx_check *c)
{
    c->location = c->location->parent;
}

/* Appends locations, outermost first: "graph main > node /conv/Conv (Conv)". The recursion is
 * bounded by the nesting limit of messages. */
static void add_location(cq_str *s, const cq_onnx_location *location)
{
    if (location->parent) {
        add_location(s, location->parent);
        cq_str_add(s, " > ");
    }
    if (location->name && *location->name)
        cq_str_printf(s, "%s %s", location->kind, location->name);
    else
        cq_str_printf(s, "%s #%zu", location->kind, location->index);
    if (location->extra && *location->extra)
        cq_str_printf(s, " (%s)", location->extra);
}

/* Escapes line breaks, so that every finding is one line. */
static const char *in_arena(cq_onnx_check *c, cq_str *s)
{
    char *copy = cq_arena_strdup(c->findings->arena, cq_str_text(s));

    for (char *p = copy; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    if (s->status != CQ_OK || !copy)
        c->status = CQ_E_NO_MEMORY;
    cq_str_clear(s);
    return copy;
}

/* Whether onnx.checker 1.12 lacks the rule. A model that only violates such rules is valid for it,
 * so they are warnings. */
static bool is_newer(cq_onnx_rule rule)
{
    switch (rule) {
    case CQ_ONNX_RULE_OUTPUT_UNDEFINED:
    case CQ_ONNX_RULE_TENSOR_DATA_SIZE:
    case CQ_ONNX_RULE_TENSOR_DIMS_INVALID:
    case CQ_ONNX_RULE_TENSOR_TYPE_UNKNOWN:
    case CQ_ONNX_RULE_FUNCTION_DUPLICATE:
    case CQ_ONNX_RULE_FUNCTION_RECURSIVE: return true;
    default: return false;
    }
}

static void add_finding(cq_onnx_check *c, cq_onnx_rule rule, bool is_warning, const char *format,
                        va_list args) __attribute__((format(printf, 4, 0)));

static void add_finding(cq_onnx_check *c, cq_onnx_rule rule, bool is_warning, const char *format,
                        va_list args)
{
    bool            is_last = c->findings->list.n == CQ_ONNX_MAX_FINDINGS;
    cq_onnx_finding finding;
    cq_str          where = { 0 }, what = { 0 };

    if (c->status != CQ_OK || c->findings->list.n > CQ_ONNX_MAX_FINDINGS)
        return;
    rule = is_last ? CQ_ONNX_RULE_TOO_MANY : rule;
    if (c->location)
        add_location(&where, c->location);
    else
        cq_str_add(&where, "model");
    if (is_last)
        cq_str_printf(&what, "more than %d findings", CQ_ONNX_MAX_FINDINGS);
    else
        cq_str_vprintf(&what, format, args);
    finding = (cq_onnx_finding){ .code       = rules[rule].code,
                                 .where      = in_arena(c, &where),
                                 .what       = in_arena(c, &what),
                                 .hint       = rules[rule].hint,
                                 .is_warning = is_warning };
    if (c->status == CQ_OK)
        c->status = cq_vec_push(&c->findings->list, finding);
}

void cq_onnx_report(cq_onnx_check *c, cq_onnx_rule rule, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_finding(c, rule, is_newer(rule), format, args);
    va_end(args);
}

void cq_onnx_warn(cq_onnx_check *c, cq_onnx_rule rule, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_finding(c, rule, true, format, args);
    va_end(args);
}
