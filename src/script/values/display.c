/* Displays: literal lists, tuples, dicts and f-strings; and comprehensions. */
#include "script/builtins/builtin.h"
#include "script/python/python.h"
#include "base/str.h"

cq_status cq_eval_items_of(cq_eval *ev, const cq_ast_exprs *exprs, cq_val_kind kind, cq_val *out)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, kind, out));
    for (size_t i = 0; i < exprs->n; i++) {
        const cq_ast_expr *x       = exprs->items[i];
        const bool         starred = x->kind == CQ_X_STARRED;
        cq_list           *items;
        cq_val             v;

        CQ_TRY(cq_eval_expr(ev, starred ? x->u.operand : x, &v));
        if (starred && ev->frame)
            ev->frame->n_effects++;
        if (starred)
            CQ_TRY(cq_eval_known_items(ev, v, NULL, &items));
        CQ_TRY(starred ? cq_list_add(out->u.list, items) : cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

cq_status cq_eval_dict(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; i < x->u.dict.n; i++) {
        cq_val key, value;

        if (x->u.dict.keys[i]) {
            CQ_TRY(cq_eval_expr(ev, x->u.dict.keys[i], &key));
            CQ_TRY(cq_eval_expr(ev, x->u.dict.values[i], &value));
            CQ_TRY(cq_builtin_key_of(ev, out->u.dict, &key));
            CQ_TRY(cq_dict_set(out->u.dict, key, value));
            continue;
        }
        CQ_TRY(cq_eval_expr(ev, x->u.dict.values[i], &value));
        value = cq_python_native(value);
        if (value.kind != CQ_VAL_DICT)
            return cq_eval_fail(ev, x->at, CQ_E_TYPE, "'**' expects a dict, got %s",
                                cq_eval_type_name(value));
        CQ_TRY(cq_eval_spend(ev, value.u.dict->n * CQ_EVAL_STEP_ITEMS));
        CQ_TRY(cq_dict_add(out->u.dict, value.u.dict));
    }
    return CQ_OK;
}

/* {value!r:spec} */
static cq_status eval_python_field(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_str    s = { 0 };
    cq_val    spec;
    cq_status status = CQ_OK;

    CQ_TRY(cq_eval_expr(ev, x->u.field.value, out));
    if (x->u.field.conversion) {
        status = cq_eval_format(ev, &s, *out, x->u.field.conversion != 's');
        if (status == CQ_OK)
            status = cq_builtin_text(ev, cq_str_text(&s), s.len, out);
        cq_str_clear(&s);
        CQ_TRY(status);
    }
    if (!x->u.field.spec && !x->u.field.conversion && cq_object_as(*out, CQ_OBJECT_INSTANCE)) {
        bool found;

        CQ_TRY(cq_builtin_text(ev, "", 0, &spec));
        CQ_TRY(cq_python_special(ev, *out, "__format__", &spec, 1, &spec, &found));
        *out = found ? spec : *out;
    }
    if (!x->u.field.spec)
        return CQ_OK;
    CQ_TRY(cq_eval_expr(ev, x->u.field.spec, &spec));
    status = cq_python_format_spec(ev, &s, *out, spec.u.text->text, spec.u.text->len);
    if (status == CQ_OK)
        status = cq_builtin_text(ev, cq_str_text(&s), s.len, out);
    cq_str_clear(&s);
    return status;
}

/* A field of an f-string, formatted as by str(). */
static cq_status eval_field(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    if (x->kind == CQ_X_FIELD && ev->program->python)
        return eval_python_field(ev, x, out);
    if (x->kind == CQ_X_FIELD && !x->u.field.spec && !x->u.field.conversion)
        return cq_eval_expr(ev, x->u.field.value, out);
    return cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
}

cq_status cq_eval_fstring(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_str    s      = { 0 };
    cq_status status = CQ_OK;
    cq_text  *text   = NULL;
    bool      open   = false;

    for (size_t i = 0; i < x->u.items.n && status == CQ_OK; i++) {
        const cq_ast_expr *part = x->u.items.items[i];
        cq_val             v;

        if (part->kind == CQ_X_STR && !part->flags) {
            cq_str_add_n(&s, part->u.str.text, part->u.str.len);
            continue;
        }
        status           = eval_field(ev, part, &v);
        ev->text_is_open = false;
        if (status == CQ_OK)
            status = cq_eval_format(ev, &s, v, false);
        open |= ev->text_is_open || (v.kind == CQ_VAL_STR && v.u.text->open);
    }
    if (status == CQ_OK)
        status = s.status;
    if (status == CQ_OK)
        status = cq_text_new(&text, cq_str_text(&s), s.len);
    if (text)
        text->open = open;
    cq_str_clear(&s);
    *out = cq_ctx_own(ev->cx, cq_val_of_text(text));
    return status == CQ_OK ? ev->cx->status : status;
}

/* A comprehension over a value of data-dependent length is a loop that appends to an anonymous
 * list. Conditions become ifs, further loops are nested. */
static cq_status open_comp(cq_eval *ev, const cq_ast_expr *x, size_t loop, cq_val iterable,
                           cq_val result)
{
    const cq_ast_for *f      = &x->u.comp.loops[loop];
    const char       *name   = cq_name(ev->program, "%list");
    cq_ast_expr       list   = { .kind = CQ_X_NAME, .at = x->at, .u.name = name };
    cq_ast_expr       append = { .kind = CQ_X_ATTR, .at = x->at };
    cq_ast_arg        arg    = { .value = x->u.comp.value };
    cq_ast_expr       call   = { .kind = CQ_X_CALL, .at = x->at };
    cq_ast_stmt       inner  = { .kind = CQ_S_EXPR, .at = x->at, .u.value = &call };
    cq_ast_stmt       test   = { .kind = CQ_S_IF, .at = x->at };
    cq_ast_stmt       s      = { .kind = CQ_S_FOR, .at = x->at };
    cq_ast_stmt      *items = &inner, *body = f->tests.n ? &test : &inner;

    if (x->u.comp.key || loop + 1 < x->u.comp.n || f->tests.n > 1)
        return cq_eval_fail(
            ev, f->iter->at, CQ_E_UNSUPPORTED,
            "a comprehension over an iterable of data-dependent length cannot be exported");
    append.u.attr.object = &list;
    append.u.attr.name   = cq_name(ev->program, "append");
    call.u.call.function = &append;
    call.u.call.args     = &arg;
    call.u.call.n        = 1;
    test.u.branch.test   = f->tests.n ? f->tests.items[0] : NULL;
    test.u.branch.then   = (cq_ast_block){ &items, 1 };
    s.u.loop.target      = f->target;
    s.u.loop.test        = f->iter;
    s.u.loop.body        = (cq_ast_block){ &body, 1 };
    CQ_TRY(cq_frame_set(ev, ev->frame, name, result));
    return cq_eval_open_loop(ev, &s, iterable);
}

static cq_status eval_comp_loop(cq_eval *ev, const cq_ast_expr *x, size_t loop, cq_val result);

static cq_status eval_comp_item(cq_eval *ev, const cq_ast_expr *x, size_t loop, cq_val item,
                                cq_val result)
{
    const cq_ast_for *f    = &x->u.comp.loops[loop];
    cq_val            test = cq_val_of_bool(true);

    CQ_TRY(cq_eval_assign(ev, f->target, item));
    for (size_t k = 0; k < f->tests.n && test.u.b.value; k++) {
        CQ_TRY(cq_eval_expr(ev, f->tests.items[k], &test));
        CQ_TRY(cq_eval_truth(ev, test, &test));
        if (test.u.b.origin)
            return cq_eval_fail(ev, f->tests.items[k]->at, CQ_E_UNSUPPORTED,
                                "a condition in a comprehension must be known");
    }
    return test.u.b.value ? eval_comp_loop(ev, x, loop + 1, result) : CQ_OK;
}

static cq_status eval_comp_items(cq_eval *ev, const cq_ast_expr *x, size_t loop, cq_val items,
                                 cq_val result)
{
    for (size_t i = 0; i < items.u.list->n; i++)
        CQ_TRY(eval_comp_item(ev, x, loop, items.u.list->items[i], result));
    return CQ_OK;
}

/* The items of a generator are requested one by one. */
static cq_status eval_comp_lazily(cq_eval *ev, const cq_ast_expr *x, size_t loop, cq_val iterable,
                                  cq_val result)
{
    cq_val iterator, item;
    bool   over;

    CQ_TRY(cq_python_iter(ev, iterable, &iterator));
    for (;;) {
        CQ_TRY(cq_eval_step(ev));
        CQ_TRY(cq_python_next(ev, iterator, &item, &over));
        if (over)
            return CQ_OK;
        if (!x->u.comp.key && result.u.list->n >= CQ_EVAL_MAX_ITEMS)
            return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED,
                                "a comprehension makes more than %d items", CQ_EVAL_MAX_ITEMS);
        CQ_TRY(eval_comp_item(ev, x, loop, item, result));
    }
}

cq_status cq_eval_comp_items(cq_eval *ev, const cq_ast_expr *x, cq_val items, cq_val result)
{
    bool known;

    if (cq_python_is_lazy_iterable(ev, items))
        return eval_comp_lazily(ev, x, 0, items, result);
    CQ_TRY(cq_eval_items(ev, items, &items, &known));
    return known ? eval_comp_items(ev, x, 0, items, result) : open_comp(ev, x, 0, items, result);
}

static cq_status eval_comp_loop(cq_eval *ev, const cq_ast_expr *x, size_t loop, cq_val result)
{
    const cq_ast_for *f;
    cq_val            iterable, items;
    bool              known;

    if (loop == x->u.comp.n) {
        cq_val key, value;

        CQ_TRY(cq_eval_expr(ev, x->u.comp.value, &value));
        if (!x->u.comp.key)
            return cq_list_push(result.u.list, value);
        CQ_TRY(cq_eval_expr(ev, x->u.comp.key, &key));
        CQ_TRY(cq_builtin_key_of(ev, result.u.dict, &key));
        return cq_dict_set(result.u.dict, key, value);
    }
    f = &x->u.comp.loops[loop];
    if (f->is_async)
        return cq_eval_unsupported(ev, f->target->at, "'async for'");
    CQ_TRY(cq_eval_expr(ev, f->iter, &iterable));
    if (ev->program->python && cq_python_is_lazy_iterable(ev, iterable))
        return eval_comp_lazily(ev, x, loop, iterable, result);
    CQ_TRY(cq_eval_items(ev, iterable, &items, &known));
    return known ? eval_comp_items(ev, x, loop, items, result)
                 : open_comp(ev, x, loop, iterable, result);
}

/* A generator expression whose length is data-dependent is evaluated at once. */
static cq_status eval_generator(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_val items, list;
    bool   known = true;

    if (x->u.comp.loops[0].is_async)
        return cq_eval_unsupported(ev, x->u.comp.loops[0].target->at, "'async for'");
    CQ_TRY(cq_eval_expr(ev, x->u.comp.loops[0].iter, &items));
    if (!cq_python_is_lazy_iterable(ev, items) && !cq_object_as(items, CQ_OBJECT_ITERATOR)) {
        CQ_TRY(cq_eval_items(ev, items, &list, &known));
        items = known ? list : items;
    }
    CQ_TRY(cq_generator_of_comp(ev, x, items, out));
    return known ? CQ_OK : cq_generator_items(ev, cq_object_of(*out), out);
}

/* Comprehensions of Python source have their own scope. */
static cq_status eval_python_comp(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_frame *outer = ev->frame, *f;
    cq_status status;

    CQ_TRY(
        cq_frame_new(&f, &(cq_object){ .unit = outer->unit, .def = outer->def, .closure = outer }));
    f->is_comprehension = true;
    f->owner            = outer->owner;
    ev->frame           = f;
    status              = eval_comp_loop(ev, x, 0, *out);
    ev->frame           = outer;
    cq_frame_end(ev, f);
    outer->n_effects++;
    return status;
}

cq_status cq_eval_comp(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    if (ev->program->python && x->kind == CQ_X_GENERATOR)
        return eval_generator(ev, x, out);
    if (ev->program->python) {
        CQ_TRY(x->u.comp.key ? cq_eval_new_dict(ev, out)
                             : cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, out));
        return eval_python_comp(ev, x, out);
    }
    CQ_TRY(x->u.comp.key ? cq_eval_new_dict(ev, out) : cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, out));
    return eval_comp_loop(ev, x, 0, *out);
}
