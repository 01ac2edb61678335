/* match statements: the first case runs whose pattern matches and whose guard is true. */
#include "script/python/python.h"
#include "script/builtins/builtin.h"

enum { MAX_DEPTH = 100 };

static cq_status matches(cq_eval *ev, const cq_ast_pattern *p, cq_val v, int depth, bool *out);

static cq_status truth_of(cq_eval *ev, cq_span at, cq_val v, bool *out)
{
    CQ_TRY(cq_eval_truth(ev, v, &v));
    *out = v.u.b.value;
    return v.u.b.origin ? cq_eval_fail(ev, at, CQ_E_UNSUPPORTED,
                                       "a match whose result is data-dependent cannot be exported")
                        : CQ_OK;
}

static cq_status match_value(cq_eval *ev, const cq_ast_pattern *p, cq_val v, bool *out)
{
    const cq_ast_expr_kind kind = p->value->kind;
    cq_val                 expected, same;
    bool                   found;

    CQ_TRY(cq_eval_expr(ev, p->value, &expected));
    if (kind == CQ_X_NONE || kind == CQ_X_TRUE || kind == CQ_X_FALSE) {
        CQ_TRY(CQ_CALL(ev, &same, "aten::__is__", v, expected));
        return truth_of(ev, p->at, same, out);
    }
    CQ_TRY(cq_python_binary(ev, CQ_AST_EQ, v, expected, &same, &found));
    if (!found)
        CQ_TRY(CQ_CALL(ev, &same, "aten::eq", v, expected));
    return truth_of(ev, p->at, same, out);
}

static cq_status bind_name(cq_eval *ev, const char *name, cq_val v)
{
    return name ? cq_frame_set(ev, ev->frame, name, v) : CQ_OK;
}

static cq_status match_sequence(cq_eval *ev, const cq_ast_pattern *p, cq_val v, int depth,
                                bool *out)
{
    const cq_object *named = cq_object_as(v, CQ_OBJECT_NAMED);
    size_t           star  = p->n, n;
    cq_val           rest;

    *out = false;
    v    = named ? named->self : cq_python_native(v);
    if (!cq_val_is_list(v))
        return CQ_OK;
    n = v.u.list->n;
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i]->kind == CQ_P_STAR)
            star = i;
    if (star == p->n ? n != p->n : n + 1 < p->n)
        return CQ_OK;
    *out = true;
    for (size_t i = 0; i < p->n && *out; i++) {
        if (i == star) {
            CQ_TRY(cq_eval_list(ev, v.u.list->items + i, n + 1 - p->n, CQ_VAL_LIST, &rest));
            CQ_TRY(bind_name(ev, p->items[i]->name, rest));
        } else {
            CQ_TRY(matches(ev, p->items[i], v.u.list->items[i > star ? n - (p->n - i) : i],
                           depth + 1, out));
        }
    }
    return CQ_OK;
}

static cq_status match_mapping(cq_eval *ev, const cq_ast_pattern *p, cq_val v, int depth, bool *out)
{
    const cq_dict *dict = cq_python_dict_of(v);
    cq_val         rest, key;

    *out = dict != NULL;
    if (!dict)
        return CQ_OK;
    CQ_TRY(cq_eval_new_dict(ev, &rest));
    CQ_TRY(cq_dict_add(rest.u.dict, dict));
    for (size_t i = 0; i < p->n && *out; i++) {
        const cq_val *found;

        CQ_TRY(cq_eval_expr(ev, p->keys[i], &key));
        found = cq_dict_get(dict, key);
        *out  = found != NULL;
        if (found)
            CQ_TRY(matches(ev, p->items[i], *found, depth + 1, out));
        cq_dict_remove(rest.u.dict, key);
    }
    return *out ? bind_name(ev, p->name, rest) : CQ_OK;
}

/* Reads the attribute of a positional pattern, which __match_args__ names; int(x) matches the
 * value. */
static cq_status positional(cq_eval *ev, cq_val cls, size_t i, cq_val v, cq_val *out, bool *found)
{
    cq_object *t    = cq_object_as(cls, CQ_OBJECT_CLASS);
    cq_val    *args = t ? cq_class_find(t, cq_name(ev->program, "__match_args__"), NULL) : NULL;

    *found = true;
    *out   = v;
    if (!t && i == 0)
        return CQ_OK;
    if (t && t->cls->kind == CQ_CLASS_NAMED_TUPLE && i < t->cls->n_fields)
        return cq_eval_attribute(ev, v, cq_name(ev->program, t->cls->fields[i].name), out);
    if (!args || !cq_val_is_list(*args) || i >= args->u.list->n ||
        args->u.list->items[i].kind != CQ_VAL_STR)
        return cq_python_raise(ev, "TypeError", "%s() accepts fewer positional sub-patterns",
                               cq_eval_type_name(cls));
    return cq_eval_attribute(ev, v, cq_name(ev->program, args->u.list->items[i].u.text->text), out);
}

static cq_status match_class(cq_eval *ev, const cq_ast_pattern *p, cq_val v, int depth, bool *out)
{
    cq_val cls, part;
    bool   found;

    CQ_TRY(cq_eval_expr(ev, p->value, &cls));
    CQ_TRY(cq_python_is_instance(ev, v, cls, out));
    for (size_t i = 0; i < p->n && *out; i++) {
        if (p->names && p->names[i]) {
            cq_status status = cq_eval_attribute(ev, v, p->names[i], &part);

            found = status == CQ_OK;
            if (status != CQ_OK && !cq_eval_catch(ev, status, "AttributeError"))
                return status;
        } else {
            CQ_TRY(positional(ev, cls, i, v, &part, &found));
        }
        *out = found;
        if (found)
            CQ_TRY(matches(ev, p->items[i], part, depth + 1, out));
    }
    return CQ_OK;
}

static cq_status matches(cq_eval *ev, const cq_ast_pattern *p, cq_val v, int depth, bool *out)
{
    *out = true;
    if (depth > MAX_DEPTH)
        return cq_eval_fail(ev, p->at, CQ_E_UNSUPPORTED, "patterns are nested too deep");
    CQ_TRY(cq_eval_step(ev));
    switch (p->kind) {
    case CQ_P_VALUE: return match_value(ev, p, v, out);
    case CQ_P_CAPTURE: return bind_name(ev, p->name, v);
    case CQ_P_AS:
        CQ_TRY(matches(ev, p->items[0], v, depth + 1, out));
        return *out ? bind_name(ev, p->name, v) : CQ_OK;
    case CQ_P_OR:
        *out = false;
        for (size_t i = 0; i < p->n && !*out; i++)
            CQ_TRY(matches(ev, p->items[i], v, depth + 1, out));
        return CQ_OK;
    case CQ_P_SEQUENCE: return match_sequence(ev, p, v, depth, out);
    case CQ_P_MAPPING: return match_mapping(ev, p, v, depth, out);
    case CQ_P_CLASS: return match_class(ev, p, v, depth, out);
    case CQ_P_STAR: break;
    }
    return cq_eval_fail(ev, p->at, CQ_E_SYNTAX, "a starred pattern must be in a sequence");
}

cq_status cq_python_find_case(cq_eval *ev, const cq_ast_stmt *s, const cq_ast_case **out)
{
    cq_val subject;

    *out = NULL;
    CQ_TRY(cq_eval_expr(ev, s->u.match.subject, &subject));
    for (size_t i = 0; i < s->u.match.n; i++) {
        const cq_ast_case *c = &s->u.match.cases[i];
        bool               is_it;
        cq_val             guard;

        CQ_TRY(matches(ev, c->pattern, subject, 0, &is_it));
        if (is_it && c->guard) {
            CQ_TRY(cq_eval_expr(ev, c->guard, &guard));
            CQ_TRY(truth_of(ev, c->guard->at, guard, &is_it));
        }
        if (is_it) {
            *out = c;
            return CQ_OK;
        }
    }
    return CQ_OK;
}

cq_status cq_eval_match(cq_eval *ev, const cq_ast_stmt *s)
{
    const cq_ast_case *c;

    CQ_TRY(cq_python_find_case(ev, s, &c));
    return c ? cq_eval_block(ev, &c->body) : CQ_OK;
}
