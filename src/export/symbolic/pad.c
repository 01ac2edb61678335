/* Padding. Pad takes floats until opset 10 and ONNX Runtime not every type later; what it
 * does not take is put together from pieces, as is padding from the other side, which ONNX
 * does not know. */
#include "export/symbolic/places.h"

typedef struct pads {
    int    rank;
    cq_int before[CQ_MAX_RANK], after[CQ_MAX_RANK];
    bool   plain, none;
} pads;

static pads read_pads(cq_sym *s, const char *arg, const cq_value *x)
{
    pads   p = { .rank = cq_sym_rank(s, x), .plain = true, .none = true };
    cq_int given[CQ_MAX_RANK];
    size_t n = cq_sym_ints(s, arg, given, CQ_MAX_RANK);

    for (int i = 0; i < p.rank && s->status == CQ_OK; i++) {
        size_t at   = 2 * (size_t)(p.rank - 1 - i);
        p.before[i] = at < n ? given[at] : cq_i(0);
        p.after[i]  = at < n ? given[at + 1] : cq_i(0);
        p.plain &= !p.before[i].expr && !p.after[i].expr;
        p.none &= cq_int_is(p.before[i], 0) && cq_int_is(p.after[i], 0);
    }
    return p;
}

/* Takes away what negative pads say, which then are 0. */
static cq_value *crop(cq_sym *s, cq_value *x, pads *p)
{
    const cq_value *self = cq_sym_in(s, "self");

    for (int i = 0; i < p->rank && s->status == CQ_OK; i++) {
        int64_t start = p->before[i].value < 0 ? -p->before[i].value : 0;
        int64_t end   = p->after[i].value < 0 ? p->after[i].value : INT64_MAX;

        if (start || end < 0)
            x = cq_sym_slice(s, x, i, cq_i(start), cq_i(end), 1);
        if (x && self->type.rank == p->rank && start + (end < 0 ? -end : 0)) {
            cq_int sizes[CQ_MAX_RANK]; /* the size is sure: both ends are cut off */

            memcpy(sizes, self->type.sizes, (size_t)p->rank * sizeof *sizes);
            for (int k = 0; k <= i; k++)
                sizes[k] = cq_int_add(CQ_SYMBOLS(s), sizes[k],
                                      cq_i((p->before[k].value < 0 ? p->before[k].value : 0) +
                                           (p->after[k].value < 0 ? p->after[k].value : 0)));
            cq_sym_set_type(s, x, x->type.dtype, (size_t)p->rank, sizes);
        }
    }
    for (int i = 0; i < p->rank; i++) {
        p->before[i] = p->before[i].value < 0 ? cq_i(0) : p->before[i];
        p->after[i]  = p->after[i].value < 0 ? cq_i(0) : p->after[i];
    }
    return x;
}

/* The same without a word of the sizes: those of the operator's result are known. */
static cq_value *cut(cq_sym *s, cq_value *x, const pads *p)
{
    for (int i = 0; i < p->rank && s->status == CQ_OK; i++) {
        int64_t start = p->before[i].value < 0 ? -p->before[i].value : 0;
        int64_t end   = p->after[i].value < 0 ? p->after[i].value : INT64_MAX;

        if (start || end < 0)
            x = cq_sym_slice(s, x, i, cq_i(start), cq_i(end), 1);
    }
    return x;
}

static cq_value *pad_op(cq_sym *s, cq_value *x, const char *mode, const pads *p, cq_value *value)
{
    int64_t   plain[2 * CQ_MAX_RANK];
    cq_int    list[2 * CQ_MAX_RANK];
    cq_value *v;

    for (int i = 0; i < p->rank; i++) {
        list[i]           = p->before[i];
        list[p->rank + i] = p->after[i];
    }
    for (int i = 0; i < 2 * p->rank; i++)
        plain[i] = list[i].value;
    if (p->plain || cq_sym_opset(s) < 11)
        return cq_sym_pad(s, x, mode, plain, 2 * (size_t)p->rank, value);
    v = cq_sym_op(s, "Pad", CQ_IN(x, cq_sym_of_ints(s, list, 2 * (size_t)p->rank), value),
                  CQ_ATTR(cq_attr_s("mode", mode)));
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
    return v;
}

/* ---- with a value ---- */

/* A piece of the value before and after, dimension by dimension. */
static cq_value *pad_by_pieces(cq_sym *s, cq_value *x, pads *p, cq_value *value)
{
    x = crop(s, x, p);
    for (int i = 0; i < p->rank && s->status == CQ_OK; i++) {
        cq_value *parts[3];
        cq_int    sizes[CQ_MAX_RANK];
        size_t    n = 0;

        memcpy(sizes, x->type.sizes, (size_t)p->rank * sizeof *sizes);
        sizes[i] = p->before[i];
        if (!cq_int_is(p->before[i], 0))
            parts[n++] = cq_sym_expand_any(s, value, sizes, (size_t)p->rank);
        parts[n++] = x;
        sizes[i]   = p->after[i];
        if (!cq_int_is(p->after[i], 0))
            parts[n++] = cq_sym_expand_any(s, value, sizes, (size_t)p->rank);
        for (size_t k = 0; k < n; k++)
            if (parts[k] && parts[k] != x) {
                sizes[i] = k == 0 ? p->before[i] : p->after[i];
                cq_sym_set_type(s, parts[k], x->type.dtype, (size_t)p->rank, sizes);
            }
        if (s->status == CQ_OK && n > 1)
            x = cq_sym_concat(s, parts, n, i);
    }
    return x;
}

static bool pad_takes(const cq_sym *s, cq_dtype d)
{
    if (d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64)
        return true;
    return cq_sym_opset(s) >= 11 && (d == CQ_DTYPE_I64 || d == CQ_DTYPE_I32);
}

static cq_status constant_pad(cq_sym *s)
{
    cq_value *x     = cq_sym_in(s, "self");
    cq_dtype  dtype = cq_sym_dtype(s, x);
    pads      p     = read_pads(s, "pad", x);
    cq_value *value = cq_sym_in_as(s, "value", dtype);

    if (s->status != CQ_OK || p.none)
        return cq_sym_done(s, x);
    if (pad_takes(s, dtype) && (p.plain || cq_sym_opset(s) >= 11))
        return cq_sym_done(s, pad_op(s, x, "constant", &p, value));
    return cq_sym_done(s, pad_by_pieces(s, x, &p, value));
}

/* ---- with the tensor's own elements ---- */

/* Where one side is cut and the other grows, the edge that grows may be all that there was; so an
 * edge is repeated first, and what repeats no edge is cut first. */
static cq_status own_pad(cq_sym *s, const char *mode)
{
    cq_value *x     = cq_sym_in(s, "self");
    cq_dtype  dtype = cq_sym_dtype(s, x);
    pads      p     = read_pads(s, "padding", x);
    bool      edge  = strcmp(mode, "edge") == 0;

    if (!edge)
        x = crop(s, x, &p);
    if (!pad_takes(s, dtype))
        x = cq_sym_cast(s, x, cq_dtype_is_float(dtype) ? CQ_DTYPE_F32 : CQ_DTYPE_F64);
    if (edge) {
        pads grown = p;

        for (int i = 0; i < p.rank; i++) {
            grown.before[i] = p.before[i].value < 0 ? cq_i(0) : p.before[i];
            grown.after[i]  = p.after[i].value < 0 ? cq_i(0) : p.after[i];
        }
        x = pad_op(s, x, mode, &grown, NULL);
        return cq_sym_done(s, cut(s, x, &p));
    }
    return cq_sym_done(s, pad_op(s, x, mode, &p, NULL));
}

static cq_status reflection_pad(cq_sym *s)
{
    return own_pad(s, "reflect");
}

static cq_status replication_pad(cq_sym *s)
{
    return own_pad(s, "edge");
}

static cq_status circular_pad(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self");
    pads      p = read_pads(s, "pad", x);

    if (s->status == CQ_OK && !p.plain)
        return cq_sym_no(s, 0, "its padding is not fixed");
    x = crop(s, x, &p);
    for (int i = 0; i < p.rank && s->status == CQ_OK; i++) {
        int64_t   before = p.before[i].value, after = p.after[i].value;
        cq_value *parts[3];
        size_t    n = 0;

        if (before > 0)
            parts[n++] = cq_sym_slice(s, x, i, cq_i(-before), cq_i(INT64_MAX), 1);
        parts[n++] = x;
        if (after > 0)
            parts[n++] = cq_sym_slice(s, x, i, cq_i(0), cq_i(after), 1);
        x = n > 1 && s->status == CQ_OK ? cq_sym_concat(s, parts, n, i) : parts[0];
    }
    return cq_sym_done(s, x);
}

const cq_symbolic cq_symbolics_pad[] = {
    { "aten::constant_pad_nd", 7, .fn = constant_pad },
    { "aten::reflection_pad1d", 7, .fn = reflection_pad },
    { "aten::reflection_pad2d", 7, .fn = reflection_pad },
    { "aten::reflection_pad3d", 7, .fn = reflection_pad },
    { "aten::replication_pad1d", 7, .fn = replication_pad },
    { "aten::replication_pad2d", 7, .fn = replication_pad },
    { "aten::replication_pad3d", 7, .fn = replication_pad },
    { "aten::_pad_circular", 7, .fn = circular_pad },
    { 0 },
};
