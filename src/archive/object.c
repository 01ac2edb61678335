/* Boxes of archives. Which kind a box is, its free function tells. */
#include "archive/object.h"

/* ---- objects -------------------------------------------------------------------------------- */

static void object_free(cq_box *box)
{
    cq_instance *o = (cq_instance *)box;

    if (o->attrs)
        cq_val_release((cq_val){ .kind = CQ_VAL_DICT, .u.dict = o->attrs });
    cq_val_release(o->state);
    cq_val_release(o->args);
    cq_val_release(cq_val_of_list(o->items));
    cq_val_release(cq_val_of_dict(o->pairs));
    cq_free(o->class_name);
    cq_free(o);
}

cq_status cq_instance_new(cq_instance **out, const char *class_name)
{
    cq_instance *o = cq_box_new(sizeof *o, object_free);

    *out = NULL;
    if (!o)
        return CQ_E_NO_MEMORY;
    o->class_name = cq_strdup(class_name);
    if (!o->class_name || cq_dict_new(&o->attrs) != CQ_OK) {
        object_free(&o->box);
        return CQ_E_NO_MEMORY;
    }
    *out = o;
    return CQ_OK;
}

cq_instance *cq_instance_of(cq_val v)
{
    return cq_box_of(v, object_free);
}

/* ---- members of enums ----------------------------------------------------------------------- */

static void member_free(cq_box *box)
{
    cq_enum_member *m = (cq_enum_member *)box;

    cq_val_release(m->value);
    cq_free(m->class_name);
    cq_free(m);
}

cq_status cq_enum_member_new(cq_enum_member **out, const char *class_name, cq_val value)
{
    cq_enum_member *m = *out = cq_box_new(sizeof *m, member_free);

    if (!m)
        return CQ_E_NO_MEMORY;
    m->class_name = cq_strdup(class_name);
    m->value      = cq_val_retain(value);
    if (m->class_name)
        return CQ_OK;
    member_free(&m->box);
    *out = NULL;
    return CQ_E_NO_MEMORY;
}

cq_enum_member *cq_enum_member_of(cq_val v)
{
    return cq_box_of(v, member_free);
}

/* ---- quantized tensors ---------------------------------------------------------------------- */

static void quantized_free(cq_box *box)
{
    cq_quantized *q = (cq_quantized *)box;

    cq_tensor_release(q->values);
    cq_tensor_release(q->scales);
    cq_tensor_release(q->zero_points);
    cq_free(q);
}

cq_status cq_quantized_new(cq_quantized **out, cq_tensor *values, int torch_dtype)
{
    cq_quantized *q = *out = cq_box_new(sizeof *q, quantized_free);

    if (!q)
        return CQ_E_NO_MEMORY;
    q->values      = cq_tensor_retain(values);
    q->torch_dtype = torch_dtype;
    q->scale       = 1;
    return CQ_OK;
}

cq_quantized *cq_quantized_of(cq_val v)
{
    return cq_box_of(v, quantized_free);
}

/* ---- sparse tensors ----------------------------------------------------------------------------
 */

static void sparse_free(cq_box *box)
{
    cq_sparse *s = (cq_sparse *)box;

    cq_val_release(cq_val_of_list(s->sizes));
    cq_tensor_release(s->indices);
    cq_tensor_release(s->columns);
    cq_tensor_release(s->values);
    cq_free(s);
}

cq_status cq_sparse_new(cq_sparse **out, bool by_rows, cq_list *sizes, cq_tensor *indices,
                        cq_tensor *columns, cq_tensor *values)
{
    cq_sparse *s = *out = cq_box_new(sizeof *s, sparse_free);

    if (!s)
        return CQ_E_NO_MEMORY;
    s->by_rows = by_rows;
    s->sizes   = cq_val_retain(cq_val_of_list(sizes)).u.list;
    s->indices = cq_tensor_retain(indices);
    s->columns = cq_tensor_retain(columns);
    s->values  = cq_tensor_retain(values);
    return CQ_OK;
}

cq_sparse *cq_sparse_of(cq_val v)
{
    return cq_box_of(v, sparse_free);
}
