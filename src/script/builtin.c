/* Looking builtins up, and what they share. */
#include "script/foreign.h"
#include "script/builtin.h"
#include "script/sequence.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const cq_builtin *const families[] = {
    cq_builtins_of_sequences, cq_builtins_sequence, cq_builtins_number, cq_builtins_compare,
    cq_builtins_math,         cq_builtins_item,     cq_builtins_list,   cq_builtins_dict,
    cq_builtins_text,         cq_builtins_tensor,   cq_builtins_python
};
enum { OF_SEQUENCES = 0, OF_ITEMS = 5, N_FAMILIES = sizeof families / sizeof *families };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cq_map         tables[N_FAMILIES]; /* a name may be in several; the first that does not
                                             decline counts */

static void build(void)
{
    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const cq_builtin *b = families[f]; b->name; b++)
            if (cq_map_set(&tables[f], b->name, (void *)b) != CQ_OK)
                abort();
}

cq_val cq_builtin_arg(const cq_builtin_call *c, size_t i, const char *name)
{
    if (i < c->n)
        return c->args[i];
    for (size_t k = 0; k < c->n_kw; k++)
        if (strcmp(c->kw_names[k], name) == 0)
            return c->kw[k];
    return CQ_NONE;
}

cq_status cq_builtin_text(cq_builtin_call *c, const char *text, size_t len, cq_val *out)
{
    cq_text *t;

    if (len > CQ_EVAL_MAX_TEXT)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "a text is longer than %d bytes",
                       CQ_EVAL_MAX_TEXT);
    CQ_TRY(cq_text_new(&t, text, len));
    *out = cq_ctx_own(c->ev->cx, cq_val_of_text(t));
    return c->ev->cx->status;
}

static bool has_sequence(const cq_val *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cq_sequence_of(args[i]))
            return true;
    return false;
}

/* A text, or a list of them: its items are all of one type, those of a tuple are not. */
static bool is_open_text(cq_val v)
{
    if (v.kind == CQ_VAL_STR)
        return v.u.text->open;
    if (!cq_val_is_list(v))
        return false;
    for (size_t i = 0; i < v.u.list->n; i++) {
        if (v.u.list->items[i].kind == CQ_VAL_STR ? v.u.list->items[i].u.text->open
                                                  : v.kind == CQ_VAL_LIST)
            return v.u.list->items[i].kind == CQ_VAL_STR;
    }
    return false;
}

static bool has_open_text(const cq_val *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_open_text(args[i]))
            return true;
    return false;
}

cq_status cq_builtin_open_text(const char *what)
{
    return cq_fail(CQ_E_UNSUPPORTED, what, NULL,
                   "a text is looked at whose numbers only the run tells");
}

cq_status cq_builtin_key(cq_eval *ev, cq_val *key)
{
    if (key->kind == CQ_VAL_STR && key->u.text->open)
        return cq_builtin_open_text(NULL);
    if (key->kind == CQ_VAL_INT && key->u.i.expr && (!ev->capture || ev->tracing)) {
        int64_t i;

        CQ_TRY(cq_eval_plain(ev, *key, &i));
        *key = cq_val_of_i64(i);
    }
    if (cq_val_is_symbolic(*key))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a key of a dict that only the run tells cannot be exported");
    return CQ_OK;
}

static bool asks_for_none(const char *name)
{
    return strcmp(name, "__is__") == 0 || strcmp(name, "__isnot__") == 0;
}

const cq_val *cq_eval_unwrapped(cq_eval *ev, const cq_val *args, size_t n)
{
    cq_val list;

    for (size_t i = 0; i < n; i++) {
        if (!cq_thing_as(args[i], CQ_THING_OPTIONAL))
            continue;
        if (cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &list) != CQ_OK)
            return args;
        for (i = 0; i < n; i++)
            if (cq_list_push(list.u.list, cq_val_unwrap(args[i])) != CQ_OK)
                return args;
        return list.u.list->items;
    }
    return args;
}

/* Most builtins go through all of their arguments; of dicts, each does so to find a key. */
static cq_status spend_on(cq_eval *ev, size_t family, const cq_val *args, size_t n)
{
    uint64_t items = 0;

    for (size_t i = 0; i < n; i++)
        items += args[i].kind == CQ_VAL_STR                      ? args[i].u.text->len
                 : args[i].kind == CQ_VAL_DICT                   ? args[i].u.dict->n
                 : cq_val_is_list(args[i]) && family != OF_ITEMS ? args[i].u.list->n
                                                                 : 0;
    return cq_eval_spend(ev, items);
}

cq_status cq_eval_builtin(cq_eval *ev, const char *name, const cq_val *args, size_t n_args,
                          const char *const *kw_names, const cq_val *kw_args, size_t n_kw,
                          cq_val *out, bool *found)
{
    const char *key = name;
    bool        open_ended, open_text;

    pthread_once(&once, build);
    *found    = false;
    open_text = ev->capture && (has_open_text(args, n_args) || has_open_text(kw_args, n_kw));
    if (cq_starts_with(name, "aten::") || cq_starts_with(name, "prim::"))
        key = name + 6;
    if (!asks_for_none(key))
        args = cq_eval_unwrapped(ev, args, n_args);
    open_ended = has_sequence(args, n_args) || has_sequence(kw_args, n_kw);
    for (size_t f = open_ended ? OF_SEQUENCES : OF_SEQUENCES + 1;
         f < (open_ended ? OF_SEQUENCES + 1 : N_FAMILIES); f++) {
        const cq_builtin *b      = cq_map_get(&tables[f], key);
        cq_builtin_call   c      = { ev, name, args, kw_args, kw_names, n_args, n_kw, false };
        cq_val            result = CQ_NONE;

        if (!b || n_args + n_kw < b->min_args)
            continue;
        CQ_TRY(spend_on(ev, f, args, n_args));
        ev->text_is_open = open_text;
        CQ_TRY(b->fn(&c, &result));
        if (c.declined)
            continue;
        if (result.kind == CQ_VAL_STR && ev->text_is_open)
            result.u.text->open = true;
        else if (open_text && result.kind != CQ_VAL_NONE) /* what is printed is not looked at */
            return cq_builtin_open_text(name);
        *out   = result;
        *found = true;
        return CQ_OK;
    }
    if (open_ended)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "%s of a list whose length only the run tells cannot be exported", key);
    return CQ_OK;
}

/* ---- what a for statement goes through ---- */

/* The modules of a ModuleList, in order; of a ModuleDict all its modules. */
static cq_status children(cq_eval *ev, cq_thing *t, cq_val object, cq_val *list)
{
    cq_list *items;

    CQ_TRY(cq_list_new(&items, 0));
    *list = cq_ctx_own(ev->cx, cq_val_of_list(items));
    CQ_TRY(ev->cx->status);
    for (size_t i = 0; i < t->attributes.n; i++) {
        cq_val v;

        if (!cq_thing_as(t->attributes.items[i].value, CQ_THING_OBJECT))
            continue;
        CQ_TRY(cq_eval_attribute(ev, object, t->attributes.items[i].name, &v));
        CQ_TRY(cq_list_push(items, v));
    }
    return CQ_OK;
}

cq_status cq_eval_items(cq_eval *ev, cq_val iterable, cq_val *list, bool *known)
{
    cq_thing *t;
    cq_list  *items;

    *known = true;
    *list = iterable = cq_val_unwrap(iterable);
    t                = cq_thing_of(iterable);
    if (cq_val_is_list(iterable))
        return CQ_OK;
    if (t && t->kind == CQ_THING_NAMED) {
        *list = t->self;
        return CQ_OK;
    }
    if (cq_sequence_of(iterable) || (t && t->kind == CQ_THING_ZIP)) {
        *known = false;
        return CQ_OK;
    }
    if (t && t->kind == CQ_THING_OBJECT)
        return children(ev, t, iterable, list);
    CQ_TRY(cq_list_new(&items, 0));
    *list = cq_ctx_own(ev->cx, cq_val_of_list(items));
    CQ_TRY(ev->cx->status);
    if (t && t->kind == CQ_THING_RANGE) {
        if (t->start.expr || t->stop.expr || t->step.expr) {
            *known = false;
            return CQ_OK;
        }
        for (int64_t i = t->start.value; t->step.value > 0 ? i < t->stop.value : i > t->stop.value;
             i += t->step.value) {
            if (items->n >= CQ_EVAL_MAX_ITEMS)
                return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a range has more than %d items",
                               CQ_EVAL_MAX_ITEMS);
            CQ_TRY(cq_list_push(items, cq_val_of_i64(i)));
        }
        return CQ_OK;
    }
    if (iterable.kind == CQ_VAL_DICT) {
        for (size_t i = 0; i < iterable.u.dict->n; i++)
            CQ_TRY(cq_list_push(items, iterable.u.dict->entries[i].key));
        return CQ_OK;
    }
    if (iterable.kind == CQ_VAL_STR) {
        cq_builtin_call c = { .ev = ev, .name = "str" };

        for (size_t i = 0; i < iterable.u.text->len; i++) {
            cq_val one;

            CQ_TRY(cq_builtin_text(&c, iterable.u.text->text + i, 1, &one));
            CQ_TRY(cq_list_push(items, one));
        }
        return CQ_OK;
    }
    CQ_TRY(cq_eval_no_guess(ev, iterable));
    if (iterable.kind == CQ_VAL_TENSOR && iterable.u.tensor->rank) {
        cq_int n = iterable.u.tensor->sizes[0];

        if (n.expr && !ev->tracing) {
            *known = false;
            return CQ_OK;
        }
        return cq_eval_operator(ev, "aten::unbind", &iterable, 1, NULL, NULL, 0, list);
    }
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be iterated over",
                   cq_eval_type_name(iterable));
}

/* Whether it is made of numbers that a run computes, and not only of sizes. */
static bool is_of_data(cq_int i)
{
    for (size_t t = 0; i.expr && t < i.expr->n_terms; t++)
        for (int k = 0; k < i.expr->terms[t].n_atoms; k++) {
            const cq_atom *a = i.expr->terms[t].atoms[k];

            if (a->kind == CQ_ATOM_SYMBOL && a->axis < 0)
                return true;
            for (size_t s = 0; s < a->n_symbols; s++)
                if (a->symbols[s]->axis < 0)
                    return true;
        }
    return false;
}

cq_status cq_eval_plain(cq_eval *ev, cq_val v, int64_t *out)
{
    bool   found;
    cq_val number = v;

    if (v.kind == CQ_VAL_TENSOR)
        CQ_TRY(cq_eval_builtin(ev, "aten::Int", &v, 1, NULL, NULL, 0, &number, &found));
    if (number.kind == CQ_VAL_BOOL)
        number = cq_val_of_i64(number.u.b.value);
    if (number.kind != CQ_VAL_INT)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "an int is wanted here, not %s",
                       cq_eval_type_name(v));
    if (is_of_data(number.u.i) && ev->capture && !ev->tracing)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "this wants a number that is known when the model is exported, and only the "
                       "run tells it");
    if (number.u.i.expr && ev->cx->listener)
        ev->cx->listener->baked(ev->cx->listener_self, ev->cx, number.u.i.expr->text, number.u.i);
    *out = number.u.i.value;
    return CQ_OK;
}

/* ---- str() ---- */

static void format_float(cq_str *s, double f)
{
    char text[40];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    cq_str_add(s, text);
    if (!strpbrk(text, ".eni"))
        cq_str_add(s, ".0");
}

static cq_status format_value(cq_eval *ev, cq_str *s, cq_val v, bool quoted)
{
    char      buffer[CQ_DESCRIBE_SIZE];
    cq_thing *t;

    if (ev->capture && !ev->tracing && (cq_val_is_symbolic(v) || v.kind == CQ_VAL_TENSOR))
        ev->text_is_open = true;
    switch (v.kind) {
    case CQ_VAL_NONE: cq_str_add(s, "None"); break;
    case CQ_VAL_BOOL: cq_str_add(s, v.u.b.value ? "True" : "False"); break;
    case CQ_VAL_INT: cq_str_add(s, cq_int_text(v.u.i, buffer)); break;
    case CQ_VAL_FLOAT: format_float(s, v.u.f.value); break;
    case CQ_VAL_COMPLEX:
        cq_str_add_char(s, '(');
        format_float(s, v.u.c.re);
        cq_str_add_char(s, '+');
        format_float(s, v.u.c.im);
        cq_str_add(s, "j)");
        break;
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE:
        if (quoted)
            cq_str_add_char(s, '\'');
        cq_str_add_n(s, v.u.text->text, v.u.text->len);
        if (quoted)
            cq_str_add_char(s, '\'');
        break;
    case CQ_VAL_TENSOR: cq_str_add(s, cq_tensor_describe(v.u.tensor, buffer, sizeof buffer)); break;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        cq_str_add_char(s, v.kind == CQ_VAL_LIST ? '[' : '(');
        for (size_t i = 0; i < v.u.list->n && s->len < CQ_EVAL_MAX_TEXT; i++) {
            cq_str_add(s, i ? ", " : "");
            CQ_TRY(cq_eval_format(ev, s, v.u.list->items[i], true));
        }
        if (v.kind == CQ_VAL_TUPLE && v.u.list->n == 1)
            cq_str_add_char(s, ',');
        cq_str_add_char(s, v.kind == CQ_VAL_LIST ? ']' : ')');
        break;
    case CQ_VAL_DICT:
        cq_str_add_char(s, '{');
        for (size_t i = 0; i < v.u.dict->n && s->len < CQ_EVAL_MAX_TEXT; i++) {
            cq_str_add(s, i ? ", " : "");
            CQ_TRY(cq_eval_format(ev, s, v.u.dict->entries[i].key, true));
            cq_str_add(s, ": ");
            CQ_TRY(cq_eval_format(ev, s, v.u.dict->entries[i].value, true));
        }
        cq_str_add_char(s, '}');
        break;
    case CQ_VAL_OBJECT:
        t = cq_thing_of(v);
        if (t && t->kind == CQ_THING_ENUM)
            cq_str_printf(s, "%s.%s", t->cls->name, t->text);
        else
            cq_str_printf(s, "<%s>", cq_eval_type_name(v));
        break;
    }
    return s->status;
}

cq_status cq_eval_format(cq_eval *ev, cq_str *s, cq_val v, bool quoted)
{
    cq_status status = cq_eval_down(ev, v);

    if (status != CQ_OK)
        return status;
    status = format_value(ev, s, v, quoted);
    cq_eval_up(ev);
    return status;
}
