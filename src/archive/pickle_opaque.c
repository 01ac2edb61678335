/* Objects of classes that only Python knows: optimizers, namespaces, numpy arrays, modules of
 * users. A pickle names a class and lists the values that its objects were made of. They are kept
 * under that name and never interpreted or run; readers such as `info` and the evaluator decide
 * about them. */
#include "archive/unpickler.h"

#include <stdio.h>
#include <string.h>

bool cq_global_is_opaque(const cq_global *g)
{
    return g && !g->row && strncmp(g->name, "__torch__.", 10) != 0;
}

/* Takes over *out, which is released if it cannot be kept. */
static cq_status keep(cq_unpickler *u, cq_val *out)
{
    const cq_status status = cq_unpickler_keep(u, *out);

    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

/* set([1, 2]): protocols before 4 call the class, later ones add items. */
static void take_set_items(cq_instance *o)
{
    const bool is_set = strcmp(o->class_name, "builtins.set") == 0 ||
                        strcmp(o->class_name, "builtins.frozenset") == 0;
    cq_val args = o->args;

    if (!is_set || args.kind != CQ_VAL_TUPLE || args.u.list->n != 1 ||
        args.u.list->items[0].kind != CQ_VAL_LIST)
        return;
    o->items = cq_val_retain(args.u.list->items[0]).u.list;
    o->args  = CQ_NONE;
    cq_val_release(args);
}

cq_status cq_opaque_new(cq_unpickler *u, const char *class_name, cq_instance_kind kind, cq_val args,
                        cq_val *out)
{
    cq_instance *o;

    *out = CQ_NONE;
    CQ_TRY(cq_instance_new(&o, class_name));
    o->kind = kind;
    o->args = cq_val_retain(args);
    take_set_items(o);
    *out = cq_val_of_box(&o->box);
    return keep(u, out);
}

cq_status cq_opaque_bytes(cq_unpickler *u, const char *class_name, const void *bytes, size_t n,
                          cq_val *out)
{
    cq_list  *args;
    cq_text  *text;
    cq_val    tuple;
    cq_status status;

    *out = CQ_NONE;
    CQ_TRY(cq_list_new(&args, 1));
    tuple  = (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = args };
    status = cq_text_new(&text, bytes, n);
    if (status == CQ_OK) {
        args->items[0] = cq_val_of_text(text);
        status         = cq_opaque_new(u, class_name, CQ_INSTANCE_CALL, tuple, out);
    }
    cq_val_release(tuple);
    return status;
}

cq_status cq_opaque_append(cq_unpickler *u, cq_instance *o, const cq_val *values, size_t n)
{
    if (!o->items) {
        CQ_TRY(cq_list_new(&o->items, 0));
        CQ_TRY(cq_unpickler_keep(u, cq_val_of_list(o->items)));
    }
    for (size_t i = 0; i < n; i++)
        CQ_TRY(cq_list_push(o->items, values[i]));
    return CQ_OK;
}

cq_status cq_opaque_set_items(cq_unpickler *u, cq_instance *o, const cq_val *values, size_t n)
{
    if (!o->pairs) {
        CQ_TRY(cq_dict_new(&o->pairs));
        CQ_TRY(cq_unpickler_keep(u, cq_val_of_dict(o->pairs)));
    }
    for (size_t i = 0; i + 1 < n; i += 2)
        CQ_TRY(cq_dict_push(o->pairs, values[i], values[i + 1]));
    return CQ_OK;
}

/* "collections OrderedDict" of a row is written as other classes are. */
static void name_of(cq_val v, char *out, size_t size)
{
    const cq_global   *g = cq_global_of(v);
    const cq_instance *o = cq_instance_of(v);
    const cq_stored   *s = cq_stored_of(v);

    snprintf(out, size, "%s",
             g   ? g->name
             : o ? o->class_name
             : s ? "torch.storage.UntypedStorage"
                 : "builtins.object");
    if (g && strchr(out, ' '))
        *strchr(out, ' ') = '.';
}

cq_status cq_opaque_replace(cq_unpickler *u, cq_val *slot)
{
    const void *container = slot->u.box;
    char        name[2100];
    cq_val      v;

    name_of(*slot, name, sizeof name);
    CQ_TRY(cq_opaque_new(u, name,
                         cq_global_of(*slot)   ? CQ_INSTANCE_CLASS
                         : cq_stored_of(*slot) ? CQ_INSTANCE_OBJECT
                                               : CQ_INSTANCE_CYCLE,
                         CQ_NONE, &v));
    if (cq_instance_of(v)->kind == CQ_INSTANCE_CYCLE)
        cq_instance_of(v)->around = container;
    cq_val_set(slot, v);
    cq_val_release(v);
    return cq_ptr_map_set(&u->seen, slot->u.box, (void *)(uintptr_t)CQ_SEEN_DONE);
}
