/* torch.save: a zip file that PyTorch and torch.load read. pickle.c pickles the values; each
 * storage is an entry of the archive, shared by the tensors on it. */
#include "py/pickle.h"

#include <stdio.h>
#include <zlib.h>

enum { ALIGNMENT = 64 };

static void put_le(cq_str *s, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_str_add_char(s, (char)(v >> (8 * i)));
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

static cq_status write_archive(const cq_pickler *p, cq_out *out)
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
    cq_pickler p      = { .ev = ev };
    cq_status  status = cq_pickler_run(&p, v);

    if (status == CQ_OK)
        status = write_archive(&p, out);
    cq_pickler_clear(&p);
    return status;
}
