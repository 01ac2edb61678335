/* Methods of dicts only, and the construction of dicts. Data-dependent keys are an error. */
#include "script/builtins/builtin.h"

enum { KEYS = 1, VALUES = 2 };

/* Converts a ModuleDict to a dict. */
static cq_status dict_of_modules(cq_eval *ev, cq_val object, cq_val *out)
{
    const cq_object *t = cq_object_of(object);

    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; i < t->attributes.n; i++) {
        const char *name = t->attributes.items[i].name;
        cq_val      key, module;

        if (!cq_object_as(t->attributes.items[i].value, CQ_OBJECT_INSTANCE))
            continue;
        CQ_TRY(cq_builtin_text(ev, name, strlen(name), &key));
        CQ_TRY(cq_eval_attribute(ev, object, name, &module));
        CQ_TRY(cq_dict_set(out->u.dict, key, module));
    }
    return CQ_OK;
}

static cq_status dict_parts(cq_fncall *c)
{
    const bool keys = c->row->how & KEYS, values = c->row->how & VALUES;
    cq_val     from = c->args[0];

    if (cq_object_as(from, CQ_OBJECT_INSTANCE))
        CQ_TRY(dict_of_modules(c->ev, from, &from));
    if (from.kind != CQ_VAL_DICT)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t i = 0; i < from.u.dict->n; i++) {
        const cq_val pair[2] = { from.u.dict->entries[i].key, from.u.dict->entries[i].value };
        cq_val       item    = keys ? pair[0] : pair[1];

        if (keys && values)
            CQ_TRY(cq_eval_list(c->ev, pair, 2, CQ_VAL_TUPLE, &item));
        CQ_TRY(cq_list_push(c->result.u.list, item));
    }
    return CQ_OK;
}

static cq_status dict_get(cq_fncall *c)
{
    cq_val *v, key = c->args[1];

    CQ_TRY(cq_builtin_key_of(c->ev, c->args[0].u.dict, &key));
    v         = cq_dict_get(c->args[0].u.dict, key);
    c->result = v ? *v : cq_builtin_arg(c, 2);
    return CQ_OK;
}

static cq_status dict_setdefault(cq_fncall *c)
{
    cq_val *v, key = c->args[1];

    CQ_TRY(cq_builtin_key_of(c->ev, c->args[0].u.dict, &key));
    v = cq_dict_get(c->args[0].u.dict, key);
    if (!v) {
        CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[2]));
        CQ_TRY(cq_dict_set(c->args[0].u.dict, key, c->args[2]));
    }
    c->result = v ? *v : c->args[2]; /* NaN is never found, because it is not equal to itself */
    return CQ_OK;
}

static cq_status dict_update(cq_fncall *c)
{
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    if (c->args[1].u.dict != c->args[0].u.dict)
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[1]));
    return cq_dict_add(c->args[0].u.dict, c->args[1].u.dict);
}

static cq_status dict_popitem(cq_fncall *c)
{
    cq_dict              *dict = c->args[0].u.dict;
    struct cq_dict_entry *last = dict->entries + dict->n - 1;

    if (!dict->n)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_will_change(c->ev, c->args[0]));
    CQ_TRY(cq_eval_list(c->ev, (cq_val[]){ last->key, last->value }, 2, CQ_VAL_TUPLE, &c->result));
    cq_dict_remove(dict, c->result.u.list->items[0]);
    return CQ_OK;
}

static cq_status add_pairs(cq_fncall *c)
{
    cq_list *items;

    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "dict", &items));
    for (size_t i = 0; i < items->n; i++) {
        cq_val pair = items->items[i], key;

        if (!cq_val_is_list(pair) || pair.u.list->n != 2)
            return cq_fail(CQ_E_TYPE, "dict", NULL, "expected pairs of keys and values");
        key = pair.u.list->items[0];
        CQ_TRY(cq_builtin_key_of(c->ev, c->result.u.dict, &key));
        CQ_TRY(cq_dict_set(c->result.u.dict, key, pair.u.list->items[1]));
    }
    return CQ_OK;
}

static cq_status new_dict(cq_fncall *c)
{
    cq_val key;

    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    if (c->n && c->args[0].kind == CQ_VAL_DICT)
        CQ_TRY(cq_dict_add(c->result.u.dict, c->args[0].u.dict));
    else if (c->n)
        CQ_TRY(add_pairs(c));
    for (size_t i = 0; i < c->n_kw; i++) {
        CQ_TRY(cq_builtin_text(c->ev, c->names[i], strlen(c->names[i]), &key));
        CQ_TRY(cq_dict_set(c->result.u.dict, key, c->kw[i]));
    }
    return CQ_OK;
}

const cq_builtin cq_builtins_entry[] = {
    { "get(dict self, key, default_value?)", .fn = dict_get },
    { "setdefault(dict self, key, default_value)", .fn = dict_setdefault },
    { "popitem(dict self)", .fn = dict_popitem },
    { 0 },
};

const cq_builtin cq_builtins_dict[] = {
    { "keys(self)", .fn = dict_parts, .how = KEYS },
    { "values(self)", .fn = dict_parts, .how = VALUES },
    { "items(self)", .fn = dict_parts, .how = KEYS | VALUES },
    { "update(dict self, dict to_add)", .fn = dict_update },
    { "dict(...)", .fn = new_dict },
    { 0 },
};
