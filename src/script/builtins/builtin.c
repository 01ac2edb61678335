/* The table of builtins: looks a name up, matches the signature and calls the row. */
#include "script/builtins/builtin.h"
#include "script/python/python.h"
#include "script/values/sequence.h"
#include "base/lock.h"
#include "base/pytext.h"
#include "base/str.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the table ---- */

static const cq_builtin *const families[] = {
    cq_builtins_of_sequences, cq_builtins_sequence, cq_builtins_number,    cq_builtins_compare,
    cq_builtins_math,         cq_builtins_item,     cq_builtins_entry,     cq_builtins_list,
    cq_builtins_dict,         cq_builtins_text,     cq_builtins_tensor,    cq_builtins_python,
    cq_builtins_marks,        cq_builtins_objects,  cq_builtins_iteration, cq_builtins_values,
    cq_builtins_natives,      cq_builtins_random
};
enum {
    OF_SEQUENCES = 0,
    OF_ITEMS     = 5,
    OF_ENTRIES   = 6,
    OF_OBJECTS   = 13,
    N_FAMILIES   = sizeof families / sizeof *families
};

/* A parameter of a signature: "list self", "idx?". */
typedef struct parameter {
    const char *name;
    size_t      len;
    unsigned    kinds; /* bit set of accepted value kinds */
    bool        is_optional, is_sequence;
} parameter;

enum { MAX_PARAMETERS = 6, MAX_ENTRIES = 640, N_SLOTS = 1024 };

/* A row with its parsed signature. */
typedef struct entry {
    const cq_builtin *row;
    size_t            name_len, family, n, n_required;
    parameter         parameters[MAX_PARAMETERS];
    bool              takes_more;
    struct entry     *next; /* next row with the same name, in table order */
} entry;

static cq_once_flag once = CQ_ONCE_FLAG_INIT;
static entry        entries[MAX_ENTRIES];
static entry       *slots[N_SLOTS]; /* hash table by name: the first row of each name */

static entry **slot_of(const char *name, size_t len)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    while (slots[hash % N_SLOTS]) {
        const entry *e = slots[hash % N_SLOTS];

        if (e->name_len == len && memcmp(e->row->signature, name, len) == 0)
            break;
        hash++;
    }
    return &slots[hash % N_SLOTS];
}

#define BIT(kind) (1u << CQ_VAL_##kind)

static unsigned kinds_of(const char *type, size_t len)
{
    static const struct {
        const char *type;
        unsigned    kinds;
    } types[] = {
        { "str", BIT(STR) },       { "list", BIT(LIST) },
        { "sequence", BIT(LIST) }, { "items", BIT(LIST) | BIT(TUPLE) },
        { "dict", BIT(DICT) },     { "num", BIT(INT) | BIT(FLOAT) | BIT(BOOL) | BIT(COMPLEX) },
        { "int", BIT(INT) },       { "tensor", BIT(TENSOR) },
        { "object", BIT(OBJECT) },
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].type) == len && memcmp(types[i].type, type, len) == 0)
            return types[i].kinds;
    return ~0u;
}

static void read_signature(entry *e)
{
    const char *p = e->row->signature + e->name_len + 1;
    size_t      type;

    for (; *p && *p != ')' && *p != '.'; p += strcspn(p, ",)"), p += strspn(p, ", ")) {
        parameter *to = &e->parameters[e->n++];

        assert(e->n <= MAX_PARAMETERS);
        to->name        = p;
        to->len         = strcspn(p, "?,)");
        to->is_optional = p[to->len] == '?';
        to->kinds       = ~0u;
        type            = strcspn(p, " ");
        if (type < to->len) {
            to->kinds       = kinds_of(p, type) | (to->is_optional ? BIT(NONE) : 0);
            to->is_sequence = cq_starts_with(p, "sequence ");
            to->name += type + 1;
            to->len -= type + 1;
        }
        e->n_required += !to->is_optional;
    }
    e->takes_more = *p == '.';
}

static void build(void)
{
    size_t n = 0;

    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const cq_builtin *b = families[f]; b->signature; b++) {
            const size_t name_len = strcspn(b->signature, "(");
            entry      **to = slot_of(b->signature, name_len), *e = &entries[n++];

            assert(n < MAX_ENTRIES);
            e->row      = b;
            e->name_len = name_len;
            e->family   = f;
            read_signature(e);
            while (*to)
                to = &(*to)->next;
            *to = e;
        }
}

/* ---- helpers of builtins ---- */

cq_status cq_builtin_text(cq_eval *ev, const char *text, size_t len, cq_val *out)
{
    cq_text *t;

    if (len > CQ_EVAL_MAX_TEXT)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the string is longer than %d bytes",
                       CQ_EVAL_MAX_TEXT);
    CQ_TRY(cq_text_new(&t, text, len));
    return cq_eval_own(ev, cq_val_of_text(t), out);
}

static bool has_sequence(const cq_val *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cq_sequence_of(args[i]))
            return true;
    return false;
}

/* Whether a value is a data-dependent string, or a list or tuple that contains one. All items of a
 * list have one type, so a list that begins with another type contains no string. */
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
    return cq_fail(CQ_E_UNSUPPORTED, what,
                   "compute with the numbers themselves: ONNX cannot format them as a string",
                   "a string of data-dependent numbers cannot be inspected");
}

cq_status cq_builtin_no_key(cq_eval *ev, const char *function, cq_val key)
{
    const bool is_text = key.kind == CQ_VAL_STR;

    if (ev->program->python)
        CQ_TRY(cq_python_note_exception(ev, "KeyError", key));
    return cq_fail(CQ_E_NOT_FOUND, function, NULL, "the dict has no such key%s%s",
                   is_text ? ": " : "", is_text ? key.u.text->text : "");
}

/* Whether the equality of a key is that of a class: of an instance, also in a tuple. */
static bool has_own_equality(cq_eval *ev, cq_val key, int depth)
{
    const cq_object *t = cq_object_of(key);

    if (t && t->kind == CQ_OBJECT_INSTANCE && t->type)
        return cq_python_has_special(ev, key, "__eq__");
    if (t && t->kind == CQ_OBJECT_NAMED)
        return true;
    for (size_t i = 0; key.kind == CQ_VAL_TUPLE && depth < 4 && i < key.u.list->n; i++)
        if (has_own_equality(ev, key.u.list->items[i], depth + 1))
            return true;
    return false;
}

/* A dict finds instances by identity, so a key that is equal to one in the dict is replaced by
 * it. */
static cq_status find_equal_key(cq_eval *ev, const cq_dict *dict, cq_val *key)
{
    if (!has_own_equality(ev, *key, 0) || cq_dict_get(dict, *key))
        return CQ_OK;
    for (size_t i = 0; i < dict->n; i++) {
        const cq_val other = dict->entries[i].key;
        bool         known, equal;

        CQ_TRY(cq_eval_step(ev));
        if (other.kind != CQ_VAL_OBJECT && other.kind != CQ_VAL_TUPLE &&
            !cq_object_as(*key, CQ_OBJECT_INSTANCE))
            continue;
        CQ_TRY(cq_builtin_equal(ev, other, *key, &known, &equal));
        if (known && equal) {
            *key = other;
            return CQ_OK;
        }
    }
    return CQ_OK;
}

static bool is_unhashable(cq_eval *ev, cq_val key)
{
    cq_object *t = cq_object_as(key, CQ_OBJECT_INSTANCE);

    if (key.kind == CQ_VAL_LIST || key.kind == CQ_VAL_DICT)
        return true;
    return t && t->type && strcmp(t->type->cls->name, "set") == 0 &&
           cq_python_has_special(ev, key, "intersection_update");
}

cq_status cq_builtin_key_of(cq_eval *ev, const cq_dict *dict, cq_val *key)
{
    CQ_TRY(cq_builtin_key(ev, key));
    if (!ev->program->python)
        return CQ_OK;
    if (is_unhashable(ev, *key))
        return cq_python_raise(ev, "TypeError", "unhashable type: '%s'",
                               key->kind == CQ_VAL_LIST   ? "list"
                               : key->kind == CQ_VAL_DICT ? "dict"
                                                          : "set");
    return find_equal_key(ev, dict, key);
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
                       "a dict with a data-dependent key cannot be exported");
    return CQ_OK;
}

static bool asks_for_none(const char *name)
{
    return cq_starts_with(name, "__is") && (!strcmp(name, "__is__") || !strcmp(name, "__isnot__"));
}

/* ---- calls ---- */

/* Most builtins iterate over all of their arguments, and hash or look up each entry of a dict. Item
 * access does not, although removing an entry from a dict moves others. */
static uint64_t items_of(cq_val v, bool all)
{
    if (v.kind == CQ_VAL_STR)
        return v.u.text->len;
    if (v.kind == CQ_VAL_DICT)
        return v.u.dict->n * (all ? CQ_EVAL_STEP_ITEMS : 1u);
    return all && cq_val_is_list(v) ? v.u.list->n : 0;
}

static cq_status spend_on(const cq_fncall *c, size_t family)
{
    uint64_t items = 0;

    for (size_t i = 0; i < c->n; i++)
        items += items_of(c->args[i], family != OF_ITEMS && family != OF_ENTRIES);
    return cq_eval_spend(c->ev, items);
}

static cq_status call_row(cq_fncall *c, const entry *e)
{
    if (c->n < e->n_required || (c->n > e->n && !e->takes_more))
        return cq_fncall_decline(c);
    for (size_t i = 0; i < c->n && i < e->n; i++)
        if (!(e->parameters[i].kinds >> c->args[i].kind & 1) ||
            (e->parameters[i].is_sequence && !cq_sequence_of(c->args[i])))
            return cq_fncall_decline(c);
    CQ_TRY(spend_on(c, e->family));
    c->row = e->row;
    return e->row->fn(c);
}

/* The index of the keyword argument for a parameter; n_kw if there is none. */
static size_t keyword_of(const cq_fncall *c, const parameter *p)
{
    size_t k = 0;

    while (k < c->n_kw && (strncmp(c->names[k], p->name, p->len) != 0 || c->names[k][p->len]))
        k++;
    return k;
}

/* Moves keyword arguments to the positions that the signature gives them. */
static cq_status call_with_keywords(cq_fncall *c, const entry *e)
{
    cq_val    args[MAX_PARAMETERS];
    cq_fncall to     = *c;
    size_t    n_used = 0, k;

    if (e->takes_more && c->n >= e->n)
        return call_row(c, e);
    for (size_t i = 0; i < e->n; i++) {
        args[i] = cq_builtin_arg(c, i);
        k       = i < c->n ? c->n_kw : keyword_of(c, &e->parameters[i]);
        if (k == c->n_kw && i >= c->n && !e->parameters[i].is_optional)
            return cq_fncall_decline(c);
        if (k < c->n_kw) {
            args[i] = c->kw[k];
            to.n    = i + 1;
            n_used++;
        }
    }
    if (n_used < c->n_kw && !e->takes_more)
        return cq_fncall_decline(c);
    to.args = args;
    if (n_used == c->n_kw)
        to.n_kw = 0;
    CQ_TRY(call_row(&to, e));
    c->declined = to.declined;
    c->result   = to.result;
    return CQ_OK;
}

/* Calls the first row of the name that does not decline. Lists of data-dependent length are passed
 * only to rows that support them. */
static cq_status call_rows(cq_fncall *c, const entry *e, bool open_ended)
{
    for (; e; e = e->next) {
        if (((e->family == OF_SEQUENCES) != open_ended && !e->row->of_all_lists) ||
            e->family >= OF_OBJECTS)
            continue;
        c->declined = false;
        c->result   = CQ_NONE;
        CQ_TRY(c->n_kw ? call_with_keywords(c, e) : call_row(c, e));
        if (!c->declined)
            return CQ_OK;
    }
    return cq_fncall_decline(c);
}

bool cq_builtin_exists(const char *name)
{
    cq_once_do(&once, build);
    return *slot_of(name, strlen(name)) != NULL;
}

/* Rows for Python source. */
static cq_status call_object_rows(cq_fncall *c, const entry *e)
{
    c->declined = true;
    for (; e && c->declined; e = e->next) {
        if (e->family < OF_OBJECTS ||
            ((has_sequence(c->args, c->n) || has_sequence(c->kw, c->n_kw)) &&
             !e->row->of_all_lists))
            continue;
        c->declined = false;
        c->result   = CQ_NONE;
        CQ_TRY(c->n_kw && !e->takes_more ? call_with_keywords(c, e) : call_row(c, e));
    }
    return CQ_OK;
}

cq_status cq_resolve_builtin(cq_fncall *c)
{
    const char *key = c->name;
    bool        open_ended, open_text;
    entry      *first;

    cq_once_do(&once, build);
    if (cq_starts_with(key, "aten::") || cq_starts_with(key, "prim::"))
        key += 6;
    if (c->ev->program->python) {
        CQ_TRY(call_object_rows(c, *slot_of(key, strlen(key))));
        if (!c->declined)
            return CQ_OK;
    }
    if (!asks_for_none(key))
        CQ_TRY(cq_fncall_unwrap(c));
    first      = *slot_of(key, strlen(key));
    open_ended = has_sequence(c->args, c->n) || has_sequence(c->kw, c->n_kw);
    open_text =
        first && c->ev->capture && (has_open_text(c->args, c->n) || has_open_text(c->kw, c->n_kw));
    c->ev->text_is_open = open_text;
    CQ_TRY(call_rows(c, first, open_ended));
    if (c->declined && open_ended)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "%s of a list of data-dependent length cannot be exported", key);
    if (c->declined)
        return CQ_OK;
    if (c->result.kind == CQ_VAL_STR && c->ev->text_is_open)
        c->result.u.text->open = true;
    else if (open_text && c->result.kind != CQ_VAL_NONE) /* printed values are not inspected */
        return cq_builtin_open_text(c->name);
    return CQ_OK;
}

/* ---- iteration of for statements ---- */

/* Lists the modules of a ModuleList in order, or all modules of a ModuleDict. */
static cq_status children(cq_eval *ev, cq_object *t, cq_val object, cq_val *list)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
    for (size_t i = 0; i < t->attributes.n; i++) {
        cq_val v;

        if (!cq_object_as(t->attributes.items[i].value, CQ_OBJECT_INSTANCE))
            continue;
        CQ_TRY(cq_eval_attribute(ev, object, t->attributes.items[i].name, &v));
        CQ_TRY(cq_list_push(list->u.list, v));
    }
    return CQ_OK;
}

static cq_status items_of_range(cq_eval *ev, const cq_object *r, cq_val *list, bool *known)
{
    *known = !r->start.expr && !r->stop.expr && !r->step.expr;
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
    for (int64_t i = r->start.value, over = 0;
         *known && !over && (r->step.value > 0 ? i < r->stop.value : i > r->stop.value);
         over = __builtin_add_overflow(i, r->step.value, &i)) {
        if (list->u.list->n >= CQ_EVAL_MAX_ITEMS)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a range has more than %d items",
                           CQ_EVAL_MAX_ITEMS);
        CQ_TRY(cq_list_push(list->u.list, cq_val_of_i64(i)));
    }
    return CQ_OK;
}

static cq_status items_of_object(cq_eval *ev, cq_val object, cq_val *list, bool *known)
{
    cq_object *t = cq_object_of(object);

    *list = object;
    if (t && ev->program->python && t->kind == CQ_OBJECT_LAZY) {
        CQ_TRY(cq_lazy_resolve(ev, object, &object));
        return cq_eval_items(ev, object, list, known);
    }
    if (t && t->kind == CQ_OBJECT_GENERATOR) {
        CQ_TRY(cq_generator_items(ev, t, list));
        *known = cq_val_is_list(*list);
        return CQ_OK;
    }
    if (t && (t->kind == CQ_OBJECT_ITERATOR || (t->type && t->kind != CQ_OBJECT_NAMED) ||
              (t->type && cq_python_has_special(ev, object, "__iter__"))))
        return cq_python_items(ev, object, list);
    switch (t ? t->kind : CQ_OBJECT_UNDEFINED) {
    case CQ_OBJECT_NAMED: *list = t->self; return CQ_OK;
    case CQ_OBJECT_ZIP: *known = false; return CQ_OK;
    case CQ_OBJECT_INSTANCE: return children(ev, t, object, list);
    case CQ_OBJECT_RANGE: return items_of_range(ev, t, list, known);
    default:
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be iterated over",
                       cq_eval_type_name(object));
    }
}

static cq_status letters(cq_eval *ev, const cq_text *text, cq_val *list)
{
    cq_val one;

    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
    for (size_t i = 0; i < text->len; i++) {
        CQ_TRY(cq_builtin_text(ev, text->text + i, 1, &one));
        CQ_TRY(cq_list_push(list->u.list, one));
    }
    return CQ_OK;
}

cq_status cq_eval_items(cq_eval *ev, cq_val iterable, cq_val *list, bool *known)
{
    cq_val v = cq_val_unwrap(iterable);

    *known = true;
    *list  = v;
    switch (v.kind) {
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: *known = cq_val_is_list(v); return CQ_OK;
    case CQ_VAL_DICT:
        CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
        for (size_t i = 0; i < v.u.dict->n; i++)
            CQ_TRY(cq_list_push(list->u.list, v.u.dict->entries[i].key));
        return CQ_OK;
    case CQ_VAL_STR: return letters(ev, v.u.text, list);
    case CQ_VAL_TENSOR:
        CQ_TRY(cq_eval_no_guess(ev, v));
        if (!v.u.tensor->rank)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "a 0-d tensor cannot be iterated over");
        *known = ev->tracing || !v.u.tensor->sizes[0].expr;
        return *known ? cq_eval_operator(ev, "aten::unbind", &v, 1, list) : CQ_OK;
    default: return items_of_object(ev, v, list, known);
    }
}

cq_status cq_eval_known_items(cq_eval *ev, cq_val iterable, const char *name, cq_list **out)
{
    cq_val items;
    bool   known;

    CQ_TRY(cq_eval_items(ev, iterable, &items, &known));
    *out = items.u.list;
    return known ? CQ_OK
                 : cq_fail(CQ_E_UNSUPPORTED, name, NULL, "the length of a list is not known here");
}

/* Whether the number depends on tensor data, not only on sizes. */
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

/* An instance with __index__, or of a class that extends int, as an index. */
cq_status cq_eval_index_of(cq_eval *ev, cq_val *v)
{
    bool   found;
    cq_val index;

    if (!cq_object_as(*v, CQ_OBJECT_INSTANCE))
        return CQ_OK;
    CQ_TRY(cq_python_special(ev, *v, "__index__", NULL, 0, &index, &found));
    *v = found ? index : cq_python_native(*v);
    return CQ_OK;
}

cq_status cq_eval_int(cq_eval *ev, cq_val v, cq_int *out)
{
    if (v.kind == CQ_VAL_OBJECT && ev->program->python)
        CQ_TRY(cq_eval_index_of(ev, &v));
    if (v.kind == CQ_VAL_TENSOR || v.kind == CQ_VAL_BOOL)
        CQ_TRY(CQ_CALL(ev, &v, "aten::Int", v));
    if (v.kind != CQ_VAL_INT)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected an int, got %s", cq_eval_type_name(v));
    *out = v.u.i;
    return CQ_OK;
}

cq_status cq_eval_plain(cq_eval *ev, cq_val v, int64_t *out)
{
    cq_int i;

    CQ_TRY(cq_eval_int(ev, v, &i));
    if (is_of_data(i) && ev->capture && !ev->tracing)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a number must be known during the export, but it is data-dependent");
    if (i.expr && ev->cx->listener)
        ev->cx->listener->baked(ev->cx->listener_self, ev->cx, i.expr->text, i);
    *out = i.value;
    return CQ_OK;
}

/* ---- str() ---- */

/* The parts without the ".0" of whole numbers, as Python prints them. */
static void format_complex(cq_str *s, double re, double im)
{
    const bool both = re != 0 || signbit(re);
    cq_str     part = { 0 };

    for (int i = !both; i < 2; i++) {
        cq_str_add_py_float(&part, i ? im : re);
        if (i && both && cq_str_text(&part)[0] != '-')
            cq_str_add_char(s, '+');
        else if (!i)
            cq_str_add_char(s, '(');
        cq_str_add_n(s, cq_str_text(&part),
                     cq_ends_with(cq_str_text(&part), ".0") ? part.len - 2 : part.len);
        cq_str_clear(&part);
        part = (cq_str){ 0 };
    }
    cq_str_add(s, both ? "j)" : "j");
}

static cq_status format_list(cq_eval *ev, cq_str *s, cq_val v)
{
    const bool is_size = v.kind == CQ_VAL_TUPLE && v.u.list->is_size;

    cq_str_add(s, is_size ? "torch.Size([" : v.kind == CQ_VAL_LIST ? "[" : "(");
    for (size_t i = 0; i < v.u.list->n && s->len < CQ_EVAL_MAX_TEXT; i++) {
        cq_str_add(s, i ? ", " : "");
        CQ_TRY(cq_eval_format(ev, s, v.u.list->items[i], true));
    }
    if (v.kind == CQ_VAL_TUPLE && v.u.list->n == 1 && !is_size)
        cq_str_add_char(s, ',');
    cq_str_add(s, is_size ? "])" : v.kind == CQ_VAL_LIST ? "]" : ")");
    return s->status;
}

static cq_status format_dict(cq_eval *ev, cq_str *s, const cq_dict *dict)
{
    cq_str_add_char(s, '{');
    for (size_t i = 0; i < dict->n && s->len < CQ_EVAL_MAX_TEXT; i++) {
        cq_str_add(s, i ? ", " : "");
        CQ_TRY(cq_eval_format(ev, s, dict->entries[i].key, true));
        cq_str_add(s, ": ");
        CQ_TRY(cq_eval_format(ev, s, dict->entries[i].value, true));
    }
    cq_str_add_char(s, '}');
    return s->status;
}

static cq_status format_value(cq_eval *ev, cq_str *s, cq_val v, bool quoted)
{
    char       buffer[CQ_DESCRIBE_SIZE];
    cq_object *t;
    bool       found;

    if (v.kind == CQ_VAL_OBJECT && ev->program->python) {
        CQ_TRY(cq_python_format(ev, s, v, quoted, &found));
        if (found)
            return s->status;
    }

    if (ev->capture && !ev->tracing && (cq_val_is_symbolic(v) || v.kind == CQ_VAL_TENSOR))
        ev->text_is_open = true;
    switch (v.kind) {
    case CQ_VAL_NONE: cq_str_add(s, "None"); break;
    case CQ_VAL_BOOL: cq_str_add(s, v.u.b.value ? "True" : "False"); break;
    case CQ_VAL_INT: cq_str_add(s, cq_int_text(v.u.i, buffer)); break;
    case CQ_VAL_FLOAT: cq_str_add_py_float(s, v.u.f.value); break;
    case CQ_VAL_COMPLEX: format_complex(s, v.u.c.re, v.u.c.im); break;
    case CQ_VAL_STR:
        if (quoted && ev->program->python) {
            cq_str_add_py_text(s, v.u.text->text, v.u.text->len, SIZE_MAX);
            break;
        } /* fall through */
    case CQ_VAL_DEVICE:
        cq_str_add(s, quoted ? "'" : "");
        cq_str_add_n(s, v.u.text->text, v.u.text->len);
        cq_str_add(s, quoted ? "'" : "");
        break;
    case CQ_VAL_TENSOR: cq_str_add(s, cq_tensor_describe(v.u.tensor, buffer, sizeof buffer)); break;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: return format_list(ev, s, v);
    case CQ_VAL_DICT: return format_dict(ev, s, v.u.dict);
    case CQ_VAL_OBJECT:
        t = cq_object_of(v);
        if (t && t->kind == CQ_OBJECT_ENUM)
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

    CQ_TRY(status);
    status = format_value(ev, s, v, quoted);
    cq_eval_up(ev);
    return status;
}
