/* The globals that a pickle may name, and what calling them builds: tensors, storages, typed
 * lists, devices, members of enums. Another name is refused, or an opaque object. */
#include "archive/unpickler.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------ */

/* Kinds of arguments: t tensor, s storage, i int, f float, b bool, T tuple or list, x anything, S
 * text, N None, d dtype. Arguments after a bar are optional. */
static bool is_of_kind(cq_val v, char kind)
{
    switch (kind) {
    case 't': return v.kind == CQ_VAL_TENSOR;
    case 's': return cq_stored_of(v) != NULL;
    case 'i': return v.kind == CQ_VAL_INT;
    case 'f': return v.kind == CQ_VAL_FLOAT;
    case 'b': return v.kind == CQ_VAL_BOOL;
    case 'N': return v.kind == CQ_VAL_NONE;
    case 'd': return v.kind == CQ_VAL_INT || cq_global_of(v);
    case 'S': return v.kind == CQ_VAL_STR;
    case 'T': return v.kind == CQ_VAL_TUPLE || v.kind == CQ_VAL_LIST;
    default: return true;
    }
}

/* Checks arguments against kinds; *args points to the first, *n is how many there are. */
static cq_status open_args(const cq_unpickler *u, const char *name, cq_val tuple, const char *kinds,
                           const cq_val **args, size_t *n)
{
    const size_t least = strcspn(kinds, "|");
    size_t       most  = least;
    bool         fits;

    if (kinds[least])
        most += strlen(kinds + least + 1);
    fits  = tuple.kind == CQ_VAL_TUPLE && tuple.u.list->n >= least && tuple.u.list->n <= most;
    *n    = fits ? tuple.u.list->n : 0;
    *args = fits ? tuple.u.list->items : NULL;
    for (size_t i = 0; i < *n; i++)
        fits &= is_of_kind((*args)[i], kinds[i < least ? i : i + 1]);
    if (fits)
        return CQ_OK;
    return cq_unpickler_fail(u, CQ_E_FORMAT, "the file is damaged",
                             "%s is given arguments that it does not take", name);
}

/* ---- storages ------------------------------------------------------------------------------- */

static void stored_free(cq_box *box)
{
    cq_stored *s = (cq_stored *)box;

    cq_storage_release(s->bytes);
    cq_free(s);
}

cq_stored *cq_stored_of(cq_val v)
{
    return cq_box_of(v, stored_free);
}

/* The storage dtype of elements: integers for quantized tensors. */
static cq_dtype dtype_of_elements(int torch_dtype)
{
    switch (torch_dtype) {
    case 12: return CQ_DTYPE_I8;
    case 13: return CQ_DTYPE_U8;
    case 14: return CQ_DTYPE_I32;
    default: return cq_dtype_from_torch(torch_dtype);
    }
}

static cq_status swap_bytes(cq_storage **s, size_t item)
{
    cq_storage *copy;

    CQ_TRY(cq_storage_new(&copy, (*s)->size));
    for (size_t i = 0; i + item <= copy->size; i += item)
        for (size_t k = 0; k < item; k++)
            ((char *)copy->data)[i + k] = ((const char *)(*s)->data)[i + item - 1 - k];
    cq_storage_release(*s);
    *s = copy;
    return CQ_OK;
}

/* Fetches the bytes, if there should be any, and checks that they are enough. */
static cq_status load_bytes(cq_unpickler *u, cq_stored *s, const char *key)
{
    const cq_dtype dtype = dtype_of_elements(s->torch_dtype);
    const size_t   item  = s->torch_dtype < 0 ? 1 : cq_dtype_size(dtype);

    if (s->torch_dtype >= 0 && dtype == CQ_DTYPE_NONE)
        return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL,
                                 "the tensors of storage %s have the unknown dtype %d of PyTorch's",
                                 key, s->torch_dtype);
    if (s->numel > INT64_MAX / item)
        return cq_unpickler_fail(u, CQ_E_FORMAT, "the file is damaged",
                                 "storage %s has %" PRIu64 " elements", key, s->numel);
    CQ_TRY(u->source->storage(u->source->user, key, s->numel * item, &s->bytes));
    if (s->bytes->size == 0 && u->source->may_lack_data) {
        cq_storage_release(s->bytes);
        s->bytes = NULL;
        return CQ_OK;
    }
    if (s->bytes->size / item < s->numel)
        return cq_unpickler_fail(u, CQ_E_FORMAT, "the file is damaged",
                                 "storage %s should have %" PRIu64
                                 " elements of %zu bytes, but has "
                                 "%zu bytes",
                                 key, s->numel, item, s->bytes->size);
    if (u->source->is_big_endian && item > 1)
        return swap_bytes(&s->bytes, cq_dtype_is_complex(dtype) ? item / 2 : item);
    return CQ_OK;
}

static cq_status new_stored(cq_unpickler *u, cq_stored **out, const char *key, int torch_dtype,
                            int64_t numel, bool is_meta)
{
    cq_stored *s = *out = cq_box_new(sizeof *s, stored_free);
    cq_status  status   = CQ_OK;

    if (!s)
        return CQ_E_NO_MEMORY;
    s->torch_dtype = torch_dtype;
    s->numel       = (uint64_t)numel;
    if (!numel)
        status = cq_storage_new(&s->bytes, 0); /* its record need not be read */
    else if (!is_meta)
        status = load_bytes(u, s, key);
    if (status == CQ_OK)
        status = cq_unpickler_keep(u, cq_val_of_box(&s->box));
    if (status == CQ_OK)
        status = cq_map_set(&u->storages, key, s);
    if (status == CQ_OK)
        return CQ_OK;
    cq_val_release(cq_val_of_box(&s->box));
    *out = NULL;
    return status;
}

/* A part of a storage: (key, first element, elements), as PyTorch before 0.4 wrote it. */
static cq_status take_part(cq_unpickler *u, cq_val part, const cq_stored *whole, cq_stored **out)
{
    const size_t item =
        whole->torch_dtype < 0 ? 1 : cq_dtype_size(dtype_of_elements(whole->torch_dtype));
    const cq_val *args;
    size_t        n;
    cq_stored    *s;

    CQ_TRY(open_args(u, "a part of a storage", part, "Sii", &args, &n));
    if (args[1].u.i.value < 0 || args[2].u.i.value < 0 ||
        (uint64_t)args[1].u.i.value > whole->numel ||
        (uint64_t)args[2].u.i.value > whole->numel - (uint64_t)args[1].u.i.value)
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "a part of a storage is outside of it");
    s = *out = cq_box_new(sizeof *s, stored_free);
    if (!s)
        return CQ_E_NO_MEMORY;
    s->bytes       = cq_storage_retain(whole->bytes);
    s->torch_dtype = whole->torch_dtype;
    s->numel       = (uint64_t)args[2].u.i.value;
    s->from        = whole->from + (uint64_t)args[1].u.i.value * item;
    return CQ_OK;
}

/* ("module", class, file, source): PyTorch before 1.6 saved a module's source beside its class. */
static cq_status module_class(cq_val id, cq_val *out)
{
    if (id.kind != CQ_VAL_TUPLE || id.u.list->n < 2 || id.u.list->items[0].kind != CQ_VAL_STR ||
        strcmp(id.u.list->items[0].u.text->text, "module") != 0 ||
        !cq_global_of(id.u.list->items[1]))
        return CQ_E_NOT_FOUND;
    *out = cq_val_retain(id.u.list->items[1]);
    return CQ_OK;
}

/* ("storage", torch.FloatStorage, key, location, numel). Equal keys are the same bytes. PyTorch
 * before 1.6 wrote a sixth item: None, or a part of the storage. */
cq_status cq_stored_load(cq_unpickler *u, cq_val id, cq_val *out)
{
    const cq_val    *args;
    const cq_global *type;
    cq_stored       *s, *part;
    size_t           n;
    cq_status        status;

    *out = CQ_NONE;
    if (u->source->any_class && module_class(id, out) == CQ_OK)
        return CQ_OK;
    CQ_TRY(open_args(u, "a persistent id", id, u->source->any_class ? "SxSSi|x" : "SxSSi|N", &args,
                     &n));
    type = cq_global_of(args[1]);
    if (strcmp(args[0].u.text->text, "storage") != 0 || !type || !type->row || type->row->reduce ||
        args[4].u.i.value < 0)
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "a persistent id is not that of a storage");
    s = cq_map_get(&u->storages, args[2].u.text->text);
    if (s && (s->torch_dtype != type->row->number || s->numel != (uint64_t)args[4].u.i.value))
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "storage %s is described in two ways",
                                 args[2].u.text->text);
    if (s)
        cq_val_retain(cq_val_of_box(&s->box));
    else
        CQ_TRY(new_stored(u, &s, args[2].u.text->text, type->row->number, args[4].u.i.value,
                          strcmp(args[3].u.text->text, "meta") == 0));
    if (n == 6 && args[5].kind != CQ_VAL_NONE) {
        status = take_part(u, args[5], s, &part);
        cq_val_release(cq_val_of_box(&s->box));
        CQ_TRY(status);
        s = part;
    }
    *out = cq_val_of_box(&s->box);
    return CQ_OK;
}

/* ---- dtypes ---------------------------------------------------------------------------------- */

/* dtypes are plain numbers in TorchScript; pickles of Python name them. */
static const struct dtype_name {
    const char *name;
    int         number;
} dtype_names[] = {
    { "uint8", 0 },          { "int8", 1 },      { "int16", 2 },       { "int32", 3 },
    { "int64", 4 },          { "float16", 5 },   { "float32", 6 },     { "float64", 7 },
    { "complex32", 8 },      { "complex64", 9 }, { "complex128", 10 }, { "bool", 11 },
    { "qint8", 12 },         { "quint8", 13 },   { "qint32", 14 },     { "bfloat16", 15 },
    { "uint16", 27 },        { "uint32", 28 },   { "uint64", 29 },     { "float8_e5m2", 23 },
    { "float8_e4m3fn", 24 },
};

/* PyTorch's number of a dtype; -1: unknown. */
static int dtype_named(const char *name)
{
    for (size_t i = 0; name && i < sizeof dtype_names / sizeof *dtype_names; i++)
        if (strcmp(name, dtype_names[i].name) == 0)
            return dtype_names[i].number;
    return -1;
}

/* ---- tensors -----------------------------------------------------------------------------------
 */

static cq_status take_ints(const cq_unpickler *u, cq_val v, int64_t out[CQ_MAX_RANK], size_t *n)
{
    *n = v.u.list->n;
    if (*n > CQ_MAX_RANK)
        return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL,
                                 "a tensor has %zu dimensions, more than %d", *n, CQ_MAX_RANK);
    for (size_t i = 0; i < *n; i++) {
        if (v.u.list->items[i].kind != CQ_VAL_INT || v.u.list->items[i].u.i.value < 0)
            return cq_unpickler_fail(u, CQ_E_FORMAT, NULL,
                                     "a size or stride of a tensor is negative "
                                     "or no integer");
        out[i] = v.u.list->items[i].u.i.value;
    }
    return CQ_OK;
}

/* args: storage, offset, sizes, strides */
static cq_status make_tensor(cq_unpickler *u, const cq_val *args, int torch_dtype, cq_tensor **out)
{
    const cq_stored *s     = cq_stored_of(args[0]);
    const cq_dtype   dtype = dtype_of_elements(torch_dtype);
    int64_t          sizes[CQ_MAX_RANK], strides[CQ_MAX_RANK], offset;
    cq_int           plain[CQ_MAX_RANK];
    size_t           rank, n_strides;
    cq_status        status;

    *out = NULL;
    CQ_TRY(take_ints(u, args[2], sizes, &rank));
    CQ_TRY(take_ints(u, args[3], strides, &n_strides));
    if (rank != n_strides || args[1].u.i.value < 0 || dtype == CQ_DTYPE_NONE ||
        s->from % cq_dtype_size(dtype) ||
        __builtin_add_overflow(args[1].u.i.value, (int64_t)(s->from / cq_dtype_size(dtype)),
                               &offset))
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL,
                                 "a tensor has %zu sizes, %zu strides, the "
                                 "offset %" PRIi64 " and dtype %d",
                                 rank, n_strides, args[1].u.i.value, torch_dtype);
    if (s->bytes) {
        status = cq_tensor_new_on(out, s->bytes, dtype, rank, sizes, strides, offset);
    } else {
        for (size_t i = 0; i < rank; i++)
            plain[i] = cq_i(sizes[i]);
        status = cq_tensor_new_fake(out, dtype, rank, plain);
        if (status == CQ_OK)
            memcpy((*out)->strides, strides, rank * sizeof *strides);
    }
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", u->source->where);
}

/* {"conj": True}: a view with conjugated elements, which calque's tensors cannot represent. */
static cq_status check_metadata(const cq_unpickler *u, cq_val v)
{
    for (size_t i = 0; v.kind == CQ_VAL_DICT && i < v.u.dict->n; i++)
        if (v.u.dict->entries[i].value.kind == CQ_VAL_BOOL && v.u.dict->entries[i].value.u.b.value)
            return cq_unpickler_fail(u, CQ_E_UNSUPPORTED,
                                     "save the tensor after .resolve_conj().resolve_neg()",
                                     "a tensor is a conjugated or negated view of another");
    return CQ_OK;
}

static cq_status new_tensor(cq_unpickler *u, const cq_val *args, int torch_dtype, cq_val metadata,
                            cq_val *out)
{
    cq_tensor *t;

    CQ_TRY(check_metadata(u, metadata));
    CQ_TRY(make_tensor(u, args, torch_dtype, &t));
    t->requires_grad = args[4].u.b.value;
    *out             = cq_val_of_tensor(t);
    return CQ_OK;
}

/* (storage, offset, sizes, strides, requires_grad, hooks[, metadata]) */
static cq_status rebuild_tensor(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    const int torch_dtype = cq_stored_of(args[0])->torch_dtype;

    if (torch_dtype >= 12 && torch_dtype <= 14)
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "a quantized tensor lacks its scale");
    return new_tensor(u, args, torch_dtype, n > 6 ? args[6] : CQ_NONE, out);
}

/* (storage, offset, sizes, strides): PyTorch before 0.4. */
static cq_status rebuild_old_tensor(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    const cq_val all[] = { args[0], args[1], args[2], args[3], cq_val_of_bool(false) };

    (void)n;
    return new_tensor(u, all, cq_stored_of(args[0])->torch_dtype, CQ_NONE, out);
}

/* (storage, offset, sizes, strides, requires_grad, hooks, dtype[, metadata]) */
static cq_status rebuild_tensor_v3(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    const cq_global *dtype  = cq_global_of(args[6]);
    const int        number = !dtype ? (int)args[6].u.i.value
                              : cq_starts_with(dtype->name, "torch.")
                                  ? dtype_named(dtype->name + strlen("torch."))
                                  : -1;

    return new_tensor(u, args, number, n > 7 ? args[7] : CQ_NONE, out);
}

/* (per_tensor_affine, scale, zero point) or (per_channel_affine, scales, zero points, axis) */
static cq_status take_qparams(const cq_unpickler *u, cq_quantized *q, cq_val tuple)
{
    const cq_global *scheme = tuple.u.list->n ? cq_global_of(tuple.u.list->items[0]) : NULL;
    const cq_val    *args;
    size_t           n;

    if (scheme && strcmp(scheme->name, "torch per_tensor_affine") == 0) {
        CQ_TRY(open_args(u, scheme->name, tuple, "xfi", &args, &n));
        q->scale      = args[1].u.f.value;
        q->zero_point = args[2].u.i.value;
        return CQ_OK;
    }
    if (!scheme || !cq_starts_with(scheme->name, "torch per_channel_affine"))
        return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL,
                                 "a tensor is quantized in an unknown way");
    CQ_TRY(open_args(u, scheme->name, tuple, "xtti", &args, &n));
    q->scales            = cq_tensor_retain(args[1].u.tensor);
    q->zero_points       = cq_tensor_retain(args[2].u.tensor);
    q->axis              = args[3].u.i.value;
    q->float_zero_points = cq_ends_with(scheme->name, "float_qparams");
    return CQ_OK;
}

static cq_status rebuild_quantized(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    cq_quantized *q;
    cq_tensor    *t;
    cq_status     status;

    (void)n;
    CQ_TRY(make_tensor(u, args, cq_stored_of(args[0])->torch_dtype, &t));
    status = cq_quantized_new(&q, t, cq_stored_of(args[0])->torch_dtype);
    cq_tensor_release(t);
    CQ_TRY(status);
    *out = cq_val_of_box(&q->box);
    return take_qparams(u, q, args[4]);
}

/* (1, sizes, requires_grad, indices, values, hooks): by coordinates;
 * (2, sizes, requires_grad, row starts, columns, values, hooks): by rows. */
static cq_status rebuild_sparse(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    const bool by_rows = n == 7;
    int64_t    sizes[CQ_MAX_RANK];
    cq_sparse *s;
    size_t     rank;

    if (args[0].u.i.value != (by_rows ? 2 : 1) || (by_rows && args[5].kind != CQ_VAL_TENSOR))
        return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, NULL,
                                 "a sparse tensor has the unknown layout %" PRIi64,
                                 args[0].u.i.value);
    CQ_TRY(take_ints(u, args[1], sizes, &rank));
    CQ_TRY(cq_sparse_new(&s, by_rows, args[1].u.list, args[3].u.tensor,
                         by_rows ? args[4].u.tensor : NULL, args[by_rows ? 5 : 4].u.tensor));
    *out = cq_val_of_box(&s->box);
    return CQ_OK;
}

/* ---- values -------------------------------------------------------------------------------------
 */

/* Wrappers of their first argument: typed lists, type tags. */
static cq_status first_of(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    (void)u;
    (void)n;
    *out = cq_val_retain(args[0]);
    return CQ_OK;
}

/* (tensor, requires_grad, hooks[, state]) */
static cq_status rebuild_parameter(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    args[0].u.tensor->requires_grad = args[1].u.b.value;
    args[0].u.tensor->is_parameter  = u->source->any_class;
    return first_of(u, args, n, out);
}

/* An empty one; its contents follow as items. Python may also write a list of pairs. */
static cq_status ordered_dict(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    cq_dict *dict;

    CQ_TRY(cq_dict_new(&dict));
    *out = cq_val_of_dict(dict);
    CQ_TRY(cq_unpickler_keep(u, *out));
    for (size_t i = 0; n && i < args[0].u.list->n; i++) {
        const cq_val pair = args[0].u.list->items[i];

        if (!is_of_kind(pair, 'T') || pair.u.list->n != 2)
            return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "an OrderedDict is made of no pairs");
        CQ_TRY(cq_dict_push(dict, pair.u.list->items[0], pair.u.list->items[1]));
    }
    return CQ_OK;
}

/* collections.defaultdict(factory), collections.Counter({...}): a dict. */
static cq_status other_dict(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    CQ_TRY(ordered_dict(u, NULL, 0, out));
    return n && args[0].kind == CQ_VAL_DICT ? cq_dict_add(out->u.dict, args[0].u.dict) : CQ_OK;
}

static cq_status make_device(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    cq_text  *text = NULL;
    cq_str    s    = { 0 };
    cq_status status;

    (void)u;
    cq_str_add_n(&s, args[0].u.text->text, args[0].u.text->len);
    if (n == 2)
        cq_str_printf(&s, ":%" PRIi64, args[1].u.i.value);
    status = s.status == CQ_OK ? cq_text_new(&text, cq_str_text(&s), s.len) : s.status;
    cq_str_clear(&s);
    if (text)
        *out = (cq_val){ .kind = CQ_VAL_DEVICE, .u.text = text };
    return status;
}

static cq_status make_complex(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    (void)u;
    (void)n;
    *out = (cq_val){ .kind = CQ_VAL_COMPLEX, .u.c = { args[0].u.f.value, args[1].u.f.value } };
    return CQ_OK;
}

/* ---- tensor subclasses ---- */

/* Whether it is a tensor, or the tensors of a subclass. */
static bool is_inner(cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        return true;
    for (size_t i = 0; v.kind == CQ_VAL_DICT && i < v.u.dict->n; i++)
        if (v.u.dict->entries[i].value.kind != CQ_VAL_TENSOR)
            return false;
    return v.kind == CQ_VAL_DICT && v.u.dict->n;
}

/* (function, class, arguments, state): a wrapper subclass becomes a dict of the tensors among its
 * attributes and those of its inner subclass, which is all that programs read. Any other subclass
 * becomes its tensor. */
static cq_status rebuild_from_type(cq_unpickler *u, const cq_val *args, size_t n, cq_val *out)
{
    const cq_global *function = cq_global_of(args[0]);
    cq_dict         *dict;

    (void)n;
    if (function && function->row && function->row->reduce)
        return cq_global_call(u, function, args[2], out);
    CQ_TRY(cq_dict_new(&dict));
    *out = cq_val_of_dict(dict);
    CQ_TRY(cq_unpickler_keep(u, *out));
    for (size_t i = 0; args[3].kind == CQ_VAL_DICT && i < args[3].u.dict->n; i++) {
        const cq_val key = args[3].u.dict->entries[i].key, value = args[3].u.dict->entries[i].value;

        if (key.kind == CQ_VAL_STR && is_inner(value))
            CQ_TRY(cq_dict_push(dict, key, value));
    }
    return CQ_OK;
}

/* ---- the table
 * ------------------------------------------------------------------------------------ */

static const cq_global_row rows[] = {
    { "torch._utils _rebuild_tensor", rebuild_old_tensor, "siTT", 0 },
    { "torch._utils _rebuild_tensor_v2", rebuild_tensor, "siTTbx|x", 0 },
    { "torch._utils _rebuild_tensor_v3", rebuild_tensor_v3, "siTTbxd|x", 0 },
    { "torch._utils _rebuild_parameter", rebuild_parameter, "tbx|x", 0 },
    { "torch._utils _rebuild_parameter_with_state", rebuild_parameter, "tbx|x", 0 },
    { "torch._utils _rebuild_qtensor", rebuild_quantized, "siTTTbx", 0 },
    { "torch._utils _rebuild_sparse_tensor", rebuild_sparse, "iTbttx|x", 0 },
    { "torch._tensor _rebuild_from_type_v2", rebuild_from_type, "xxTx", 0 },
    { "collections OrderedDict", ordered_dict, "|T", 0 },
    { "collections defaultdict", other_dict, "|xx", 0 },
    { "collections Counter", other_dict, "|x", 0 },
    { "torch.nn.parameter Parameter", first_of, "t|xx", 0 },
    { "torch.autograd.variable Variable", first_of, "t|xx", 0 },
    { "torch.jit._pickle build_intlist", first_of, "T", 0 },
    { "torch.jit._pickle build_doublelist", first_of, "T", 0 },
    { "torch.jit._pickle build_boollist", first_of, "T", 0 },
    { "torch.jit._pickle build_tensorlist", first_of, "T", 0 },
    { "torch.jit._pickle restore_type_tag", first_of, "xS", 0 },
    { "torch Size", first_of, "T", 0 },
    { "torch device", make_device, "S|i", 0 },
    { "builtins complex", make_complex, "ff", 0 },
    { "__builtin__ complex", make_complex, "ff", 0 },
    { .name = "torch per_tensor_affine" },
    { .name = "torch per_channel_affine" },
    { .name = "torch per_channel_affine_float_qparams" },
    { .name = "torch ByteStorage" },
    { "torch CharStorage", .number = 1 },
    { "torch ShortStorage", .number = 2 },
    { "torch IntStorage", .number = 3 },
    { "torch LongStorage", .number = 4 },
    { "torch HalfStorage", .number = 5 },
    { "torch FloatStorage", .number = 6 },
    { "torch DoubleStorage", .number = 7 },
    { "torch ComplexHalfStorage", .number = 8 },
    { "torch ComplexFloatStorage", .number = 9 },
    { "torch ComplexDoubleStorage", .number = 10 },
    { "torch BoolStorage", .number = 11 },
    { "torch QInt8Storage", .number = 12 },
    { "torch QUInt8Storage", .number = 13 },
    { "torch QInt32Storage", .number = 14 },
    { "torch BFloat16Storage", .number = 15 },
    { "torch QUInt4x2Storage", .number = 16 },
    { "torch QUInt2x4Storage", .number = 17 },
    { "torch Float8_e5m2Storage", .number = 23 },
    { "torch Float8_e4m3fnStorage", .number = 24 },
    { "torch UInt16Storage", .number = 27 },
    { "torch UInt32Storage", .number = 28 },
    { "torch UInt64Storage", .number = 29 },
    { "torch.storage UntypedStorage", .number = -1 },
};

static void global_free(cq_box *box)
{
    cq_free(box);
}

cq_global *cq_global_of(cq_val v)
{
    return cq_box_of(v, global_free);
}

/* A class of the archive is called "module.name", a row "module name". */
static cq_status new_global(cq_val *out, const char *module, const char *name,
                            const cq_global_row *row)
{
    const size_t size = strlen(module) + strlen(name) + 2;
    cq_global   *g    = cq_box_new(sizeof *g + size, global_free);

    if (!g)
        return CQ_E_NO_MEMORY;
    g->row = row;
    snprintf(g->name, size, row ? "%s %s" : "%s.%s", module, name);
    *out = cq_val_of_box(&g->box);
    return CQ_OK;
}

static bool is_row(const cq_global_row *row, const char *module, const char *name)
{
    const size_t len = strlen(module);

    return strncmp(row->name, module, len) == 0 && row->name[len] == ' ' &&
           strcmp(row->name + len + 1, name) == 0;
}

static bool is_delegated(const char *module, const char *name)
{
    return cq_starts_with(module, "__torch__.torch.classes.__backends__") ||
           (strcmp(module, "torch.jit") == 0 && cq_ends_with(name, "LoweredModule"));
}

/* Names of Python 2, and storages of other devices, as Python 3 and PyTorch have them. */
static const char *modern_module(const cq_unpickler *u, const char *module, const char *name)
{
    static const struct {
        const char *old, *modern;
    } renamed[] = { { "__builtin__", "builtins" }, { "copy_reg", "copyreg" } };

    for (size_t i = 0; u->source->any_class && i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(module, renamed[i].old) == 0)
            return renamed[i].modern;
    return strcmp(module, "torch.cuda") == 0 && cq_ends_with(name, "Storage") ? "torch" : module;
}

cq_status cq_global_find(cq_unpickler *u, const char *module, const char *name, cq_val *out)
{
    module = modern_module(u, module, name);
    if (is_delegated(module, name))
        return cq_unpickler_fail(u, CQ_E_UNSUPPORTED, "export the model before it was lowered",
                                 "the model was handed to a backend (%s.%s), which has its code",
                                 module, name);
    if (strcmp(module, "__torch__") == 0 || cq_starts_with(module, "__torch__."))
        return new_global(out, module, name, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_row(&rows[i], module, name)) {
            u->has_subclasses |= rows[i].reduce == rebuild_from_type;
            return new_global(out, module, name, &rows[i]);
        }
    if (strcmp(module, "torch") == 0 && dtype_named(name) >= 0 && !u->source->any_class) {
        *out = cq_val_of_i64(dtype_named(name));
        return CQ_OK;
    }
    if (u->has_subclasses || u->source->any_class)
        return new_global(out, module, name, NULL);
    return cq_unpickler_fail(
        u, CQ_E_UNSUPPORTED,
        "only tensors, numbers, texts, lists, dicts and script objects are read; "
        "save a state_dict, or a model by torch.export.save",
        "the pickle names %s.%s, which is nothing that calque knows; it was not "
        "run",
        module, name);
}

/* copyreg._reconstructor(class, base, state): how protocol 1 makes an object. */
static cq_status opaque_call(cq_unpickler *u, const cq_global *g, cq_val args, cq_val *out)
{
    const cq_global *made = args.kind == CQ_VAL_TUPLE && args.u.list->n == 3
                                ? cq_global_of(args.u.list->items[0])
                                : NULL;

    if (made && strcmp(g->name, "copyreg._reconstructor") == 0)
        return cq_opaque_new(u, made->name, CQ_INSTANCE_OBJECT, CQ_NONE, out);
    return cq_opaque_new(u, g->name, CQ_INSTANCE_CALL, args, out);
}

static cq_status call_row(cq_unpickler *u, const cq_global *g, cq_val args, cq_val *out)
{
    const cq_val *items;
    size_t        n;
    cq_status     status;

    if (!g->row->reduce)
        return cq_unpickler_fail(u, CQ_E_FORMAT, NULL, "%s is called, but is not a function",
                                 g->name);
    CQ_TRY(open_args(u, g->name, args, g->row->kinds, &items, &n));
    status = g->row->reduce(u, items, n, out);
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

cq_status cq_global_call(cq_unpickler *u, const cq_global *g, cq_val args, cq_val *out)
{
    cq_enum_member *m;
    cq_status       status;

    if (g->row) {
        status = call_row(u, g, args, out);
        if (status != CQ_E_UNSUPPORTED || !u->source->any_class)
            return status;
        /* A layout that calque does not know. */
        return cq_opaque_new(u, g->name, CQ_INSTANCE_CALL, args, out);
    }
    if (u->source->any_class && cq_global_is_opaque(g))
        return opaque_call(u, g, args, out);
    CQ_TRY(cq_enum_member_new(&m, g->name, args)); /* a class of the archive: the bare value */
    *out = cq_val_of_box(&m->box);
    if (cq_unpickler_keep(u, *out) == CQ_OK)
        return CQ_OK;
    cq_val_release(*out);
    *out = CQ_NONE;
    return CQ_E_NO_MEMORY;
}
