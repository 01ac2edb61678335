/* Random numbers: drawn anew whenever the model runs. */
#include "export/arith.h"
#include "export/exporter.h"

/* Random numbers of these sizes from op or, if they are not fixed, its relative for which a
 * tensor of zeros shows the sizes. */
static cq_value *draw(cq_sym *s, const char *op, cq_type type, cq_attr a, cq_attr b)
{
    cq_dtype  dtype = type.dtype == CQ_DTYPE_F64 ? CQ_DTYPE_F64 : CQ_DTYPE_F32;
    cq_attr   as    = cq_attr_i("dtype", cq_dtype_to_onnx(dtype));
    int64_t   sizes[CQ_MAX_RANK];
    bool      plain = true;
    cq_value *x;

    for (int i = 0; i < type.rank; i++) {
        sizes[i] = type.sizes[i].value;
        plain &= type.sizes[i].expr == NULL;
    }
    if (plain && type.rank) {
        x = cq_sym_op(s, op, CQ_NO_IN,
                      CQ_ATTR(a, b, as, cq_attr_is(s, "shape", sizes, (size_t)type.rank)));
    } else {
        char like[64] = "RandomUniformLike";

        if (op[6] == 'N')
            memcpy(like, "RandomNormalLike", sizeof "RandomNormalLike");
        if (type.rank && !cq_sym_since(s, 9, "random numbers of dynamic sizes need opset 9"))
            return NULL;
        x = cq_sym_const_f64(s, dtype, 0);
        if (type.rank)
            x = cq_sym_op(s, "ConstantOfShape",
                          CQ_IN(cq_sym_of_ints(s, type.sizes, (size_t)type.rank)), CQ_NO_ATTR);
        x = cq_sym_op(s, like, CQ_IN(x), CQ_ATTR(a, b, as));
    }
    cq_sym_set_type(s, x, dtype, (size_t)type.rank, type.sizes);
    return x;
}

static cq_value *uniform(cq_sym *s, cq_type type, double low, double high)
{
    return draw(s, "RandomUniform", type, cq_attr_f("low", low), cq_attr_f("high", high));
}

static cq_status rand_of(cq_sym *s)
{
    return cq_sym_done(s, uniform(s, cq_sym_result_type(s, 0), 0, 1));
}

static cq_status randn_of(cq_sym *s)
{
    return cq_sym_done(s, draw(s, "RandomNormal", cq_sym_result_type(s, 0), cq_attr_f("mean", 0),
                               cq_attr_f("scale", 1)));
}

/* Doubles hold every integer that may be asked for, up to 2 ** 53. */
static cq_status randint(cq_sym *s)
{
    cq_type type = cq_sym_result_type(s, 0), wide = type;
    int64_t low = cq_schema_find(s->op->schema, "low") >= 0 ? cq_sym_i64(s, "low") : 0;

    wide.dtype = CQ_DTYPE_F64;
    return cq_sym_done(s,
                       CQ_1("Floor", uniform(s, wide, (double)low, (double)cq_sym_i64(s, "high"))));
}

/* The positions of the n largest along the last axis. */
static cq_value *order(cq_sym *s, cq_value *x, cq_int n, int axis)
{
    cq_value *out[2];

    cq_sym_topk(s, x, n, axis, true, out);
    return out[1];
}

static cq_status randperm(cq_sym *s)
{
    cq_type type = cq_sym_result_type(s, 0), real = type;

    real.dtype = CQ_DTYPE_F32;
    return cq_sym_done(s, order(s, uniform(s, real, 0, 1), type.sizes[0], 0));
}

/* Without replacement: of all weights, raised by what the Gumbel distribution gives, the
 * largest ones. With it ONNX has an operator, for rows of logarithms. */
static cq_status multinomial(cq_sym *s)
{
    cq_value *p     = cq_sym_in_as(s, "self", CQ_DTYPE_F32), *noise;
    cq_type   type  = p ? p->type : (cq_type){ 0 };
    int       rank  = cq_sym_rank(s, p);
    int64_t   first = 0;

    if (!cq_sym_bool(s, "replacement")) {
        type.dtype = CQ_DTYPE_F32;
        noise      = CQ_1("Log", CQ_1("Neg", CQ_1("Log", uniform(s, type, 1e-20, 1))));
        p          = CQ_2("Sub", CQ_1("Log", p), noise);
        return cq_sym_done(s, order(s, p, cq_sym_int(s, "num_samples"), rank - 1));
    }
    p = CQ_1("Log", p);
    if (rank == 1)
        p = cq_sym_unsqueeze(s, p, &first, 1);
    p = cq_sym_op(s, "Multinomial", CQ_IN(p),
                  CQ_ATTR(cq_attr_i("dtype", cq_dtype_to_onnx(CQ_DTYPE_I64)),
                          cq_attr_i("sample_size", cq_sym_i64(s, "num_samples"))));
    cq_sym_set_type(s, p, CQ_DTYPE_I64, 2, (cq_int[]){ cq_i(1), cq_sym_int(s, "num_samples") });
    return cq_sym_done(s, rank == 1 ? cq_sym_squeeze(s, p, &first, 1) : p);
}

const cq_symbolic cq_symbolics_random[] = {
    { "aten::rand", 7, .fn = rand_of },
    { "aten::randn", 7, .fn = randn_of },
    { "aten::randint", 7, .fn = randint },
    { "aten::randperm", 7, .fn = randperm },
    { "aten::multinomial", 7, .fn = multinomial },
    { 0 },
};
