/* Rows that users add: functions that they registered, and rules as text:
 *
 *     # from opset 7 on
 *     aten::silu 7: Mul(self, Sigmoid(self))
 *     my::scale  9: com.example::Scale<factor = x1>(x0)
 *
 * docs/rules.md is their grammar. A rule may go on over several lines if those after the first are
 * indented. */
#include "export/symbolic/rule.h"
#include "base/lock.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_NAME = 200 };

/* ---- registered functions ---- */

typedef struct registration {
    char          *name;
    int            since;
    cq_symbolic_fn fn;
    void          *user;
} registration;

static cq_mutex lock = CQ_MUTEX_INIT;
static CQ_VEC(registration) registered;

/* "::silu" is aten's. The domain onnx is not for rules: its operators are the results. */
static char *full_name(const char *name)
{
    cq_str s = { 0 };

    if (cq_starts_with(name, "::"))
        cq_str_add(&s, "aten");
    cq_str_add(&s, name);
    return cq_str_take(&s);
}

static cq_status check_name(const char *name)
{
    const char *colons = strstr(name, "::");

    if (!colons || !colons[2] || strlen(name) > MAX_NAME || cq_starts_with(name, "onnx::"))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "a rule wants the name of an operator with its domain, as in aten::silu, "
                       "not \"%.100s\"",
                       name);
    return CQ_OK;
}

CQ_API cq_status cq_symbolic_register(const char *name, int32_t opset, cq_symbolic_fn fn,
                                      void *user)
{
    CQ_NEED(fn);
    char     *full;
    cq_status status;

    CQ_TRY(check_name(name));
    full = full_name(name);
    if (!full)
        return CQ_E_NO_MEMORY;
    cq_mutex_lock(&lock);
    status = cq_vec_push(&registered, (registration){ full, opset, fn, user });
    cq_mutex_unlock(&lock);
    if (status != CQ_OK)
        cq_free(full);
    return status;
}

CQ_API void cq_symbolic_unregister(const char *name, int32_t opset)
{
    size_t kept = 0;

    cq_mutex_lock(&lock);
    for (size_t i = 0; i < registered.n; i++) {
        registration *r    = &registered.items[i];
        bool          gone = r->since == opset &&
                    strcmp(cq_starts_with(name, "::") ? r->name + 4 : r->name, name) == 0;

        if (gone)
            cq_free(r->name);
        else
            registered.items[kept++] = *r;
    }
    registered.n = kept;
    if (!kept)
        cq_vec_clear(&registered);
    cq_mutex_unlock(&lock);
}

static cq_status collect_registered(cq_exporter *ex)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&lock);
    for (size_t i = 0; i < registered.n && status == CQ_OK; i++) {
        const registration *r = &registered.items[i];

        status = cq_vec_push(&ex->user_rows, (cq_symbolic){ .name  = cq_ir_text(ex->graph, r->name),
                                                            .since = r->since,
                                                            .user_fn = r->fn,
                                                            .user    = r->user });
    }
    cq_mutex_unlock(&lock);
    return status;
}

/* ---- rules as text ---- */

static cq_status bad_rule(int line, const char *wanted)
{
    cq_status status =
        cq_fail(CQ_E_SYNTAX, NULL, "a rule reads: aten::silu 7: Mul(self, Sigmoid(self))",
                "a rule for operators wants %s", wanted);

    return cq_error_add_where(status, "line %d of the rules", line);
}

/* One rule, without comments, continuation lines joined. */
static cq_status read_rule(cq_exporter *ex, const char *text, size_t len, int line)
{
    char       *copy = cq_arena_strndup(ex->graph->arena, text, len), *at = copy, *end, *name;
    cq_symbolic row = { .line = line };
    bool        is_each;
    cq_status   status;

    if (!copy)
        return CQ_E_NO_MEMORY;
    while (isspace((unsigned char)*at))
        at++;
    name = at;
    while (*at && !isspace((unsigned char)*at))
        at++;
    if (*at)
        *at++ = '\0';
    status = check_name(name);
    if (status != CQ_OK)
        return cq_error_add_where(status, "line %d of the rules", line);
    row.since = (int)strtol(at, &end, 10);
    if (end == at || row.since < 1)
        return bad_rule(line, "an opset after the name");
    at = end;
    while (isspace((unsigned char)*at))
        at++;
    is_each = strncmp(at, "each:", 5) == 0;
    at += is_each ? 4 : 0;
    if (*at != ':')
        return bad_rule(line, "a colon after the opset");
    row.name                         = cq_ir_text(ex->graph, name);
    *(is_each ? &row.each : &row.as) = at + 1;
    status                           = cq_rule_parse(&row.rule, ex->graph->arena, at + 1, NULL);
    if (status != CQ_OK)
        return cq_error_add_where(status, "line %d of the rules", line);
    return cq_vec_push(&ex->user_rows, row);
}

static cq_status collect_text(cq_exporter *ex, const char *text)
{
    cq_str    rule = { 0 };
    int       line = 0, first = 0;
    cq_status status = CQ_OK;

    while (*text && status == CQ_OK) {
        size_t len = strcspn(text, "\n"), used = strcspn(text, "#\n");
        bool   goes_on = text[0] == ' ' || text[0] == '\t';

        line++;
        if (rule.len && !goes_on && used) {
            status   = read_rule(ex, rule.text, rule.len, first);
            rule.len = 0;
        }
        while (used && isspace((unsigned char)text[used - 1]))
            used--;
        if (used) {
            if (!rule.len)
                first = line;
            cq_str_add_n(&rule, text, used);
            cq_str_add_char(&rule, ' ');
        }
        text += len + (text[len] == '\n');
    }
    if (status == CQ_OK && rule.len)
        status = read_rule(ex, rule.text, rule.len, first);
    if (status == CQ_OK)
        status = rule.status;
    cq_str_clear(&rule);
    return status;
}

/* Whether a rule's name, the first len bytes of it, is op's, or that of all its overloads. */
static bool names_op(const char *name, size_t len, const char *op)
{
    return strncmp(name, op, len) == 0 && (!op[len] || op[len] == '.');
}

bool cq_symbolics_has(const cq_export_options *o, const char *op)
{
    bool found = false;

    for (const char *at = o->symbolics; at && *at && !found; at += strspn(at, "\n")) {
        size_t len = strcspn(at, " \t\n");

        found = len && names_op(at, len, op);
        at += strcspn(at, "\n");
    }
    cq_mutex_lock(&lock);
    for (size_t i = 0; i < registered.n && !found; i++)
        found = names_op(registered.items[i].name, strlen(registered.items[i].name), op);
    cq_mutex_unlock(&lock);
    return found;
}

/* The rows of a name are a chain, in order; this goes through them from the last on. */
static cq_status index_by_name(cq_exporter *ex)
{
    for (size_t i = ex->user_rows.n; i-- > 0;) {
        cq_symbolic *row = &ex->user_rows.items[i];

        if (!row->name)
            return CQ_E_NO_MEMORY;
        row->next = cq_map_get(&ex->user_rows_by_name, row->name);
        CQ_TRY(cq_map_set(&ex->user_rows_by_name, row->name, row));
    }
    return CQ_OK;
}

cq_status cq_symbolics_collect(cq_exporter *ex)
{
    if (ex->options.symbolics)
        CQ_TRY(collect_text(ex, ex->options.symbolics));
    CQ_TRY(collect_registered(ex));
    CQ_TRY(index_by_name(ex));
    return ex->graph->status;
}
