/* Methods that only dicts have, and how they are made. A key is a known value: one that is
 * data-dependent is refused. */
#include "script/builtin.h"

enum { KEYS = 1, VALUES = 2 };

static cq_status dict_parts(cq_fncall *c)
{
    const bool keys = c->row->how & KEYS, values = c->row->how & VALUES;
    cq_dict   *dict;

    if (cq_object_as(c->args[0], CQ_OBJECT_INSTANCE)) { /* a ModuleDict */
        cq_object *t = cq_object_of(c->args[0]);

        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
        for (size_t i = 0; i < t->attributes.n; i++) {
            cq_val pair[2], item;

            if (!cq_object_as(t->attributes.items[i].value, CQ_OBJECT_INSTANCE))
                continue;
            CQ_TRY(cq_builtin_text(c->ev, t->attributes.items[i].name,
                                   strlen(t->attributes.items[i].name), &pair[0]));
            CQ_TRY(cq_eval_attribute(c->ev, c->args[0], t->attributes.items[i].name, &pair[1]));
            item = keys ? pair[0] : pair[1];
            if (keys && values)
                CQ_TRY(cq_eval_list(c->ev, pair, 2, CQ_VAL_TUPLE, &item));
            CQ_TRY(cq_list_push(c->result.u.list, item));
        }
        return CQ_OK;
    }
    if (c->args[0].kind != CQ_VAL_DICT)
        return cq_fncall_decline(c);
    dict = c->args[0].u.dict;
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t i = 0; i < dict->n; i++) {
        cq_val item = keys ? dict->entries[i].key : dict->entries[i].value;

        if (keys && values)
            CQ_TRY(cq_eval_list(c->ev, (cq_val[]){ dict->entries[i].key, dict->entries[i].value },
                                2, CQ_VAL_TUPLE, &item));
        CQ_TRY(cq_list_push(c->result.u.list, item));
    }
    return CQ_OK;
}

static cq_status dict_get(cq_fncall *c)
{
    cq_val *v, key = c->args[1];

    CQ_TRY(cq_builtin_key(c->ev, &key));
    v         = cq_dict_get(c->args[0].u.dict, key);
    c->result = v ? *v : cq_builtin_arg(c, 2);
    return CQ_OK;
}

static cq_status dict_setdefault(cq_fncall *c)
{
    cq_val *v, key = c->args[1];

    CQ_TRY(cq_builtin_key(c->ev, &key));
    v = cq_dict_get(c->args[0].u.dict, key);
    if (!v) {
        CQ_TRY(cq_eval_will_change_dict(c->ev, c->args[0].u.dict));
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[2]));
        CQ_TRY(cq_dict_set(c->args[0].u.dict, key, c->args[2]));
    }
    c->result = v ? *v : c->args[2]; /* a key that is not equal to itself is never found */
    return CQ_OK;
}

static cq_status dict_update(cq_fncall *c)
{
    CQ_TRY(cq_eval_will_change_dict(c->ev, c->args[0].u.dict));
    if (c->args[1].u.dict != c->args[0].u.dict)
        CQ_TRY(cq_eval_will_hold(c->ev, c->args[0], c->args[1]));
    for (size_t i = 0; i < c->args[1].u.dict->n; i++)
        CQ_TRY(cq_dict_set(c->args[0].u.dict, c->args[1].u.dict->entries[i].key,
                           c->args[1].u.dict->entries[i].value));
    return CQ_OK;
}

static cq_status dict_popitem(cq_fncall *c)
{
    cq_dict *dict;

    if (!c->args[0].u.dict->n)
        return cq_fncall_decline(c);
    dict = c->args[0].u.dict;
    CQ_TRY(cq_eval_will_change_dict(c->ev, dict));
    CQ_TRY(cq_eval_list(
        c->ev, (cq_val[]){ dict->entries[dict->n - 1].key, dict->entries[dict->n - 1].value }, 2,
        CQ_VAL_TUPLE, &c->result));
    cq_dict_remove(dict, c->result.u.list->items[0]);
    return CQ_OK;
}

static cq_status new_dict(cq_fncall *c)
{
    cq_dict *dict;
    cq_val   items = CQ_NONE;
    bool     known;

    CQ_TRY(cq_dict_new(&dict));
    c->result = cq_ctx_own(c->ev->cx, cq_val_of_dict(dict));
    CQ_TRY(c->ev->cx->status);
    if (c->n && c->args[0].kind == CQ_VAL_DICT) {
        for (size_t i = 0; i < c->args[0].u.dict->n; i++)
            CQ_TRY(cq_dict_set(dict, c->args[0].u.dict->entries[i].key,
                               c->args[0].u.dict->entries[i].value));
    } else if (c->n) {
        CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
        for (size_t i = 0; known && i < items.u.list->n; i++) {
            cq_val pair = items.u.list->items[i], key;

            if (!cq_val_is_list(pair) || pair.u.list->n != 2)
                return cq_fail(CQ_E_TYPE, "dict", NULL, "wants pairs of keys and values");
            key = pair.u.list->items[0];
            CQ_TRY(cq_builtin_key(c->ev, &key));
            CQ_TRY(cq_dict_set(dict, key, pair.u.list->items[1]));
        }
    }
    for (size_t i = 0; i < c->n_kw; i++) {
        cq_val key;

        CQ_TRY(cq_builtin_text(c->ev, c->names[i], strlen(c->names[i]), &key));
        CQ_TRY(cq_dict_set(dict, key, c->kw[i]));
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
