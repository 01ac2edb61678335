/* torch.save: values as a zip file of torch.save, which PyTorch and torch.load read. Dicts, lists,
 * tuples, texts, numbers, tensors and parameters are pickled (protocol 2); each storage is an entry
 * of the archive, shared by the tensors on it. */
#include "py/py.h"
#include "script/builtins/number.h"

#include <stdio.h>
#include <zlib.h>

enum { MAX_DEPTH = 100, ALIGNMENT = 64 };

/* ---- pickle ---- */

typedef struct pickler {
    cq_eval *ev;
    cq_str   text;
    CQ_VEC(cq_storage *) storages; /* borrowed: the values hold them */
    cq_ptr_map indices;            /* storage -> its index + 1 */
} pickler;

static void put(pickler *p, const char *bytes, size_t n)
{
    cq_str_add_n(&p->text, bytes, n);
}

static void put_le(cq_str *s, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_str_add_char(s, (char)(v >> (8 * i)));
}

static void put_global(pickler *p, const char *module, const char *name)
{
    cq_str_printf(&p->text, "c%s\n%s\n", module, name);
}

static void put_text(pickler *p, const char *text, size_t n)
{
    put(p, "X", 1);
    put_le(&p->text, n, 4);
    put(p, text, n);
}

static void put_int(pickler *p, int64_t i)
{
    if (i == (int32_t)i) {
        put(p, "J", 1);
        put_le(&p->text, (uint32_t)i, 4);
    } else {
        put(p, "\x8a\x08", 2);
        put_le(&p->text, (uint64_t)i, 8);
    }
}

static void put_float(pickler *p, double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    put(p, "G", 1);
    for (int i = 7; i >= 0; i--)
        cq_str_add_char(&p->text, (char)(bits >> (8 * i)));
}

static const char *storage_class(cq_dtype dtype)
{
    switch (dtype) {
    case CQ_DTYPE_F32: return "FloatStorage";
    case CQ_DTYPE_F64: return "DoubleStorage";
    case CQ_DTYPE_F16: return "HalfStorage";
    case CQ_DTYPE_BF16: return "BFloat16Storage";
    case CQ_DTYPE_I64: return "LongStorage";
    case CQ_DTYPE_I32: return "IntStorage";
    case CQ_DTYPE_I16: return "ShortStorage";
    case CQ_DTYPE_I8: return "CharStorage";
    case CQ_DTYPE_U8: return "ByteStorage";
    case CQ_DTYPE_BOOL: return "BoolStorage";
    case CQ_DTYPE_C64: return "ComplexFloatStorage";
    case CQ_DTYPE_C128: return "ComplexDoubleStorage";
    default: return NULL;
    }
}

static cq_status storage_index(pickler *p, cq_storage *s, size_t *out)
{
    *out = (size_t)(uintptr_t)cq_ptr_map_get(&p->indices, s);
    if (!*out) {
        CQ_TRY(cq_vec_push(&p->storages, s));
        *out = p->storages.n;
        CQ_TRY(cq_ptr_map_set(&p->indices, s, (void *)(uintptr_t)*out));
    }
    --*out;
    return CQ_OK;
}

/* _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks) */
static cq_status put_tensor(pickler *p, const cq_tensor *t)
{
    const char *cls = storage_class(t->dtype);
    char        key[32];
    size_t      index;

    if (!cls || t->qparams || cq_tensor_is_fake(t))
        return cq_python_raise(p->ev, "NotImplementedError", "torch.save of a tensor of %s",
                               cq_dtype_name(t->dtype));
    CQ_TRY(storage_index(p, t->storage, &index));
    snprintf(key, sizeof key, "%zu", index);
    put_global(p, "torch._utils", "_rebuild_tensor_v2");
    put(p, "((", 2);
    put_text(p, "storage", 7);
    put_global(p, "torch", cls);
    put_text(p, key, strlen(key));
    put_text(p, "cpu", 3);
    put_int(p, (int64_t)(t->storage->size / cq_dtype_size(t->dtype)));
    put(p, "tQ", 2);
    put_int(p, t->offset);
    put(p, "(", 1);
    for (size_t i = 0; i < t->rank; i++)
        put_int(p, t->sizes[i].value);
    put(p, "t(", 2);
    for (size_t i = 0; i < t->rank; i++)
        put_int(p, t->strides[i]);
    put(p, t->requires_grad && !t->is_parameter ? "t\x88" : "t\x89", 2);
    put_global(p, "collections", "OrderedDict");
    put(p, ")RtR", 4);
    return CQ_OK;
}

static cq_status put_parameter(pickler *p, const cq_tensor *t)
{
    put_global(p, "torch._utils", "_rebuild_parameter");
    put(p, "(", 1);
    CQ_TRY(put_tensor(p, t));
    put(p, t->requires_grad ? "\x88" : "\x89", 1);
    put_global(p, "collections", "OrderedDict");
    put(p, ")RtR", 4);
    return CQ_OK;
}

static cq_status put_value(pickler *p, cq_val v, int depth);

static cq_status put_dict(pickler *p, const cq_dict *dict, int depth)
{
    put(p, "(", 1);
    for (size_t i = 0; i < dict->n; i++) {
        CQ_TRY(put_value(p, dict->entries[i].key, depth));
        CQ_TRY(put_value(p, dict->entries[i].value, depth));
    }
    put(p, "u", 1);
    return CQ_OK;
}

static cq_status put_items(pickler *p, const cq_list *list, int depth)
{
    put(p, "(", 1);
    for (size_t i = 0; i < list->n; i++)
        CQ_TRY(put_value(p, list->items[i], depth));
    return CQ_OK;
}

static cq_status put_object(pickler *p, cq_val v, int depth)
{
    const cq_dict *dict = cq_python_dict_of(v);

    if (cq_python_is_module(v))
        return cq_python_raise(
            p->ev, "NotImplementedError",
            "torch.save of a module is not implemented; save model.state_dict()");
    if (!dict)
        return cq_python_raise(p->ev, "NotImplementedError",
                               "torch.save takes dicts, lists, tensors, numbers and texts, got %s",
                               cq_eval_type_name(v));
    put_global(p, "collections", "OrderedDict");
    put(p, ")R", 2);
    return put_dict(p, dict, depth);
}

static cq_status put_value(pickler *p, cq_val v, int depth)
{
    if (depth == MAX_DEPTH)
        return cq_python_raise(p->ev, "RecursionError", "values are nested more than %d deep",
                               MAX_DEPTH);
    CQ_TRY(cq_eval_step(p->ev));
    if (cq_val_is_symbolic(v))
        return cq_python_raise(p->ev, "TypeError", "torch.save of a number that is not known");
    switch (v.kind) {
    case CQ_VAL_NONE: put(p, "N", 1); return CQ_OK;
    case CQ_VAL_BOOL: put(p, v.u.b.value ? "\x88" : "\x89", 1); return CQ_OK;
    case CQ_VAL_INT: put_int(p, v.u.i.value); return CQ_OK;
    case CQ_VAL_FLOAT: put_float(p, v.u.f.value); return CQ_OK;
    case CQ_VAL_STR: put_text(p, v.u.text->text, v.u.text->len); return CQ_OK;
    case CQ_VAL_TENSOR:
        return (v.u.tensor->is_parameter ? put_parameter : put_tensor)(p, v.u.tensor);
    case CQ_VAL_LIST:
        put(p, "]", 1);
        CQ_TRY(put_items(p, v.u.list, depth + 1));
        put(p, "e", 1);
        return CQ_OK;
    case CQ_VAL_TUPLE:
        CQ_TRY(put_items(p, v.u.list, depth + 1));
        put(p, "t", 1);
        return CQ_OK;
    case CQ_VAL_DICT: put(p, "}", 1); return put_dict(p, v.u.dict, depth + 1);
    default: return put_object(p, v, depth + 1);
    }
}

/* ---- zip ---- */

typedef struct zip_writer {
    cq_out *out;
    cq_str  directory;
    size_t  n_entries;
} zip_writer;

static cq_status check_size(uint64_t size)
{
    return size < UINT32_MAX
               ? CQ_OK
               : cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "torch.save writes at most 4 GiB");
}

/* An entry without compression, whose data begin at a multiple of 64, as PyTorch's do. */
static cq_status add_entry(zip_writer *z, const char *name, const void *data, size_t size)
{
    const uint64_t offset = cq_out_offset(z->out);
    const size_t   n      = strlen(name);
    const size_t   from   = (size_t)((offset + 30 + n + 4) % ALIGNMENT);
    const size_t   pad    = from ? ALIGNMENT - from : 0;
    cq_str         fields = { 0 }, local = { 0 };

    CQ_TRY(check_size(offset + size + 1024));
    put_le(&fields, 20, 2); /* version, flags, method, time, date */
    put_le(&fields, 0, 6);
    put_le(&fields, 0x21, 2);
    put_le(&fields, (uint32_t)crc32_z(0, data, size), 4);
    put_le(&fields, size, 4);
    put_le(&fields, size, 4);
    put_le(&fields, n, 2);
    cq_str_add_n(&local, "PK\3\4", 4);
    cq_str_add_n(&local, fields.text, fields.len);
    put_le(&local, pad + 4, 2);
    cq_str_add(&local, name);
    cq_str_add_n(&local, "FB", 2); /* an extra field that only pads */
    put_le(&local, pad, 2);
    for (size_t i = 0; i < pad; i++)
        cq_str_add_char(&local, 'Z');
    cq_out_write(z->out, local.text, local.len);
    cq_out_write(z->out, data, size);
    cq_str_add_n(&z->directory, "PK\1\2\0\0", 6);
    cq_str_add_n(&z->directory, fields.text, fields.len);
    put_le(&z->directory, 0, 6); /* extra, comment, disk */
    put_le(&z->directory, 0, 6); /* attributes */
    put_le(&z->directory, offset, 4);
    cq_str_add(&z->directory, name);
    z->n_entries++;
    cq_str_clear(&local);
    cq_str_clear(&fields);
    return CQ_OK;
}

static cq_status end_zip(zip_writer *z)
{
    const uint64_t offset = cq_out_offset(z->out);
    cq_str         end    = { 0 };

    if (z->n_entries > UINT16_MAX - 1)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "torch.save writes at most 65534 tensors");
    cq_str_add_n(&end, "PK\5\6\0\0\0\0", 8);
    put_le(&end, z->n_entries, 2);
    put_le(&end, z->n_entries, 2);
    put_le(&end, z->directory.len, 4);
    put_le(&end, offset, 4);
    put_le(&end, 0, 2);
    cq_out_write(z->out, z->directory.text, z->directory.len);
    cq_out_write(z->out, end.text, end.len);
    cq_str_clear(&end);
    return CQ_OK;
}

/* ---- the file ---- */

static cq_status write_archive(const pickler *p, cq_out *out)
{
    zip_writer z = { .out = out };
    char       name[64];
    cq_status  status;

    CQ_TRY_OR_DONE(add_entry(&z, "archive/data.pkl", p->text.text, p->text.len));
    CQ_TRY_OR_DONE(add_entry(&z, "archive/byteorder", "little", 6));
    for (size_t i = 0; i < p->storages.n; i++) {
        cq_storage *s = p->storages.items[i];

        if (atomic_load(&s->is_pending))
            cq_storage_make(s);
        snprintf(name, sizeof name, "archive/data/%zu", i);
        CQ_TRY_OR_DONE(cq_out_allow(cq_out_offset(out) + s->size, "torch.save"));
        CQ_TRY_OR_DONE(add_entry(&z, name, s->data, s->size));
    }
    CQ_TRY_OR_DONE(add_entry(&z, "archive/version", "3\n", 2));
    CQ_TRY_OR_DONE(end_zip(&z));
done:
    cq_str_clear(&z.directory);
    return status;
}

cq_status cq_py_write_values(cq_eval *ev, cq_val v, cq_out *out)
{
    pickler   p = { .ev = ev };
    cq_status status;

    put(&p, "\x80\x02", 2);
    CQ_TRY_OR_DONE(put_value(&p, v, 0));
    put(&p, ".", 1);
    status = p.text.status != CQ_OK ? p.text.status : write_archive(&p, out);
done:
    cq_str_clear(&p.text);
    cq_vec_clear(&p.storages);
    cq_ptr_map_clear(&p.indices);
    return status;
}
