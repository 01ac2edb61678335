/* Symbolic functions that users add: in C, by cq_symbolic_register, and in a Python file:
 *
 *     @symbolic("aten::silu", opset=7)
 *     def silu(self):
 *         return self * Sigmoid(self)
 *
 * docs/symbolic-functions.md is the reference. */
#include "export/symbolic/host.h"
#include "base/lock.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
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

/* "::silu" is aten's. The domain onnx is rejected: its operators are the results of symbolic
 * functions. */
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
                       "expected an operator with its domain, as in aten::silu, got \"%.100s\"",
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

/* ---- functions in a file ---- */

static const char new_form[] = "write @symbolic(\"aten::silu\", opset=9) and below it def "
                               "silu(self): return self * Sigmoid(self)";

/* aten::silu 9: self * Sigmoid(self), as older versions had it. */
static bool is_old_rule(const char *line)
{
    size_t n = strcspn(line, " \t\n\"'(#");

    for (size_t i = 0; i + 1 < n; i++)
        if (line[i] == ':' && line[i + 1] == ':')
            return line[n] == ' ' || line[n] == '\t' || line[n] == '\n' || !line[n];
    return false;
}

static cq_status check_form(const char *name, const char *text)
{
    for (int line = 1; *text; line++) {
        if (is_old_rule(text))
            return cq_error_add_where(cq_fail(CQ_E_SYNTAX, NULL, new_form,
                                              "one-line rules were replaced by Python functions"),
                                      "%s:%d", name, line);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return CQ_OK;
}

static cq_status add_row(cq_exporter *ex, const cq_decorator *d, cq_symbolic row)
{
    char     *full   = full_name(row.name);
    cq_status status = full ? check_name(full) : CQ_E_NO_MEMORY;

    row.name = status == CQ_OK ? cq_ir_text(ex->graph, full) : NULL;
    cq_free(full);
    if (status == CQ_E_ARGUMENT)
        return cq_decorator_fail(d, "expected the name of an operator with its domain, as in "
                                    "\"aten::silu\"");
    CQ_TRY(status);
    return cq_vec_push(&ex->user_rows, row);
}

static cq_status collect_symbolic(const cq_decorator *d, void *user)
{
    cq_symbolic row;

    CQ_TRY(cq_decorator_check_keys(d));
    CQ_TRY(cq_symbolic_of_decorator(&row, d));
    return add_row(user, d, row);
}

/* register_custom_op_symbolic("mylib::scale", scale, 9), as PyTorch has it. */
static cq_status collect_registration(const cq_decorator *d, void *user)
{
    const char *function = cq_decorator_at(d, 0), *opset = cq_decorator_at(d, 1);
    cq_symbolic row = { .name = d->text };

    CQ_TRY(cq_library_parse_imports(d->file));
    function     = function ? function : cq_decorator_value(d, "symbolic_fn");
    opset        = opset ? opset : cq_decorator_value(d, "opset_version");
    row.function = function ? cq_library_find(d->file, function) : NULL;
    row.since    = opset ? atoi(opset) : 0;
    if (!row.function || row.since < 1)
        return cq_decorator_fail(d, "expected an operator, a function of this file and an opset");
    return add_row(user, d, row);
}

/* Decorators without effect: calque checks no annotations, and symbolic functions see quantized
 * tensors as float tensors. parse_args is read when the function is called. */
static bool is_known_decorator(const cq_decorator *d)
{
    static const char *const names[] = { "parse_args", "quantized_args", "beartype" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cq_decorator_is(d, names[i]))
            return true;
    return false;
}

static cq_status unknown_name(const cq_decorator *d)
{
    if (d->function)
        return cq_decorator_fail(d, "unknown decorator @%.*s; expected @symbolic or @parse_args",
                                 MAX_NAME, d->name);
    return cq_decorator_fail(d,
                             "unknown call %.*s(); expected symbolic() or "
                             "register_custom_op_symbolic()",
                             MAX_NAME, d->name);
}

static cq_status collect_one(const cq_decorator *d, void *user)
{
    if (strcmp(d->name, "symbolic") == 0)
        return collect_symbolic(d, user);
    if (d->function)
        return is_known_decorator(d) ? cq_sym_check_parse_args(d) : unknown_name(d);
    if (cq_decorator_is(d, "register_custom_op_symbolic"))
        return collect_registration(d, user);
    return unknown_name(d);
}

static cq_status collect_file(cq_exporter *ex, const char *name, const char *text)
{
    name = name ? name : "<symbolics>";
    CQ_TRY(check_form(name, text));
    CQ_TRY(cq_library_ready());
    CQ_TRY(cq_lib_file_open(&ex->user_file, name, text, strlen(text)));
    return cq_lib_file_each(ex->user_file, NULL, collect_one, ex);
}

/* Whether a text has the first len bytes of a name in quotes. */
static bool has_quoted(const char *text, const char *name, size_t len)
{
    for (const char *at = text; (at = strchr(at, name[0])); at++)
        if (at > text && (at[-1] == '"' || at[-1] == '\'') && strncmp(at, name, len) == 0 &&
            at[len] == at[-1])
            return true;
    return false;
}

/* Whether a registered name, the first len bytes of it, is op's, or that of all its overloads. */
static bool names_op(const char *name, size_t len, const char *op)
{
    return strncmp(name, op, len) == 0 && (!op[len] || op[len] == '.');
}

bool cq_symbolics_has(const cq_export_options *o, const char *op)
{
    bool found = o->symbolics && (has_quoted(o->symbolics, op, strlen(op)) ||
                                  has_quoted(o->symbolics, op, strcspn(op, ".")));

    cq_mutex_lock(&lock);
    for (size_t i = 0; i < registered.n && !found; i++)
        found = names_op(registered.items[i].name, strlen(registered.items[i].name), op);
    cq_mutex_unlock(&lock);
    return found;
}

/* The rows of a name are a linked list, in order; this walks from the last one. */
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
        CQ_TRY(collect_file(ex, ex->options.symbolics_name, ex->options.symbolics));
    CQ_TRY(collect_registered(ex));
    CQ_TRY(index_by_name(ex));
    return ex->graph->status;
}
