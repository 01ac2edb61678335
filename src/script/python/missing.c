/* The names of a file that calque lacks, for one message: classes of library modules, as in
 * torch.nn.Foo or `from torch.nn import Bar`. They are found in the tokens of the file, because an
 * error ends the evaluation at the first of them. Functions of torch are operators, and unknown
 * operators are reported together by the export. */
#include "script/python/python.h"
#include "base/str.h"
#include "lang/token.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_NAMES = 16, NAME_SIZE = 512 };

typedef struct search {
    cq_eval       *ev;
    const cq_unit *unit;
    const char    *first; /* the name that the error is about */
    cq_str         names[MAX_NAMES];
    size_t         n;
    cq_str        *out;
} search;

static bool is_torch(const char *name)
{
    return strcmp(name, "torch") == 0 || cq_starts_with(name, "torch.");
}

/* Whether a module of the library lacks the name. The exception of the search is dropped. */
static bool lacks(search *s, cq_object *module, const char *name)
{
    cq_error_record saved;
    cq_status       status;
    cq_val          v;

    if (!module->file || !module->file->text ||
        (is_torch(module->text) && !isupper((unsigned char)name[0])))
        return false;
    cq_error_save(&saved);
    status = cq_python_member(s->ev, module, cq_name(s->ev->program, name), &v);
    if (status != CQ_OK)
        cq_eval_forget_failure(s->ev);
    cq_error_restore(&saved);
    return status != CQ_OK || cq_object_as(v, CQ_OBJECT_NAMESPACE);
}

static void add(search *s, const char *name, cq_span at)
{
    char text[CQ_LOCATION_SIZE];

    if (s->n == MAX_NAMES || strcmp(name, s->first) == 0)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(cq_str_text(&s->names[i]), name) == 0)
            return;
    cq_str_add(&s->names[s->n], name);
    cq_location_text((cq_location){ &s->unit->source.locations, at.start }, text);
    cq_str_printf(s->out, "%s%s (%s)", s->n ? ", " : "the file also uses ", name, text);
    s->n++;
}

static cq_status check(search *s, const char *module_name, const char *name, cq_span at)
{
    char       full[NAME_SIZE];
    cq_object *module;

    CQ_TRY(cq_python_module(s->ev->program, module_name, &module));
    if (!module || !lacks(s, module, name) || s->ev->program->max_steps <= s->ev->steps)
        return CQ_OK;
    snprintf(full, sizeof full, "%.250s.%.250s", module_name, name);
    add(s, full, at);
    return CQ_OK;
}

/* Appends a part to a dotted name. */
static bool extend(char *name, const char *text, size_t len)
{
    const size_t n = strlen(name);

    if (n + len + 2 > NAME_SIZE)
        return false;
    snprintf(name + n, NAME_SIZE - n, "%s%.*s", n ? "." : "", (int)len, text);
    return true;
}

/* The module that an import binds to the name, in *out; false if there is none. */
static bool module_of(const search *s, const char *text, size_t len, char *out)
{
    for (size_t i = 0; i < s->unit->n_imports; i++) {
        const cq_ast_import *m     = &s->unit->imports[i];
        const char          *bound = m->alias ? m->alias : m->name ? m->name : m->module;
        const size_t         n     = m->alias || m->name ? strlen(bound) : strcspn(bound, ".");

        if (m->module[0] == '.' || n != len || memcmp(bound, text, n) != 0)
            continue;
        out[0] = '\0';
        if (!m->alias && !m->name)
            return extend(out, m->module, n);
        return extend(out, m->module, strlen(m->module)) &&
               (!m->name || extend(out, m->name, strlen(m->name)));
    }
    return false;
}

/* a.b.C, whose first name is token i: the longest module, and the name behind it. */
static cq_status check_chain(search *s, const cq_tokens *tokens, size_t i)
{
    const char     *text = s->unit->source.text;
    const cq_token *t    = tokens->list.items;
    char            module[NAME_SIZE], full[NAME_SIZE];
    cq_object      *found;

    if (!module_of(s, text + t[i].at.start, t[i].at.end - t[i].at.start, module))
        return CQ_OK;
    CQ_TRY(cq_python_module(s->ev->program, module, &found));
    while (found && t[i + 1].kind == CQ_TOKEN_DOT && t[i + 2].kind == CQ_TOKEN_NAME) {
        const size_t len  = t[i + 2].at.end - t[i + 2].at.start;
        const char  *name = text + t[i + 2].at.start;

        i += 2;
        snprintf(full, sizeof full, "%s", module);
        if (!extend(full, name, len))
            return CQ_OK;
        CQ_TRY(cq_python_module(s->ev->program, full, &found));
        if (!found)
            return check(s, module, full + strlen(module) + 1, t[i].at);
        snprintf(module, sizeof module, "%s", full);
    }
    return CQ_OK;
}

static cq_status search_file(search *s)
{
    const cq_source *source = &s->unit->source;
    cq_tokens        tokens = { 0 };
    cq_status        status = CQ_OK;

    for (size_t i = 0; i < s->unit->n_imports && status == CQ_OK; i++) {
        const cq_ast_import *m = &s->unit->imports[i];

        if (m->name && m->name[0] != '*' && m->module[0] != '.')
            status = check(s, m->module, m->name, m->at);
    }
    if (status == CQ_OK)
        status = cq_lex(&tokens, source, (cq_span){ 0, (uint32_t)source->len }, false);
    for (size_t i = 0; i + 2 < tokens.list.n && status == CQ_OK && s->n < MAX_NAMES; i++) {
        const cq_token *t = &tokens.list.items[i];

        if (t->kind == CQ_TOKEN_NAME && t[1].kind == CQ_TOKEN_DOT &&
            (i == 0 || t[-1].kind != CQ_TOKEN_DOT))
            status = check_chain(s, &tokens, i);
    }
    cq_tokens_clear(&tokens);
    return status;
}

cq_status cq_python_add_missing(cq_eval *ev, const char *first, cq_status failure)
{
    cq_str          out = { 0 };
    search          s   = { .ev = ev, .first = first, .out = &out };
    cq_error_record saved;
    const char     *raised_class = ev->raised_class;
    cq_val          raised       = ev->raised;

    s.unit = ev->frame ? ev->frame->unit : NULL;
    if (!s.unit || ev->n_tries || ev->is_searching || !ev->program->python || !s.unit->globals)
        return failure;
    cq_error_save(&saved);
    ev->raised       = CQ_NONE;
    ev->is_searching = true;
    if (search_file(&s) != CQ_OK)
        cq_eval_forget_failure(ev);
    ev->is_searching = false;
    cq_val_release(ev->raised);
    ev->raised       = raised;
    ev->raised_class = raised_class;
    cq_error_restore(&saved);
    if (s.n)
        failure = cq_error_add_hint(failure, "%s; %s missing too", cq_str_text(&out),
                                    s.n == 1 ? "it is" : "they are");
    for (size_t i = 0; i < s.n; i++)
        cq_str_clear(&s.names[i]);
    cq_str_clear(&out);
    return failure;
}
