/* Packs sequences of different lengths, and pads them again. */
#include "aten/ops/packed.h"
#include "kernel/elementwise.h"

void cq_packed_clear(cq_packed_sequence *p)
{
    cq_free(p->batch_sizes);
    cq_free(p->lengths);
    p->batch_sizes = p->lengths = NULL;
}

static cq_status allocate(cq_packed_sequence *p)
{
    p->batch_sizes = cq_alloc_array((size_t)p->steps, sizeof *p->batch_sizes);
    p->lengths     = cq_alloc_array((size_t)p->batch, sizeof *p->lengths);
    return p->batch_sizes && p->lengths ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_packed_read(const cq_opcall *c, cq_packed_sequence *out, const cq_tensor *batch_sizes,
                         int64_t total)
{
    int64_t sum = 0;

    memset(out, 0, sizeof *out);
    if (batch_sizes->rank != 1 || batch_sizes->dtype != CQ_DTYPE_I64 ||
        batch_sizes->sizes[0].value < 1)
        return cq_call_fail(c, CQ_E_TYPE, "\"batch_sizes\" should be a row of int64 numbers");
    out->steps = batch_sizes->sizes[0].value;
    out->batch = cq_tensor_get_i64(batch_sizes, 0);
    out->total = total;
    if (out->batch < 1 || out->batch > total)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld sequences cannot have %lld steps",
                            (long long)out->batch, (long long)total);
    CQ_TRY(allocate(out));
    for (int64_t t = 0, before = out->batch; t < out->steps; t++) {
        int64_t n = cq_tensor_get_i64(batch_sizes, t);

        if (n < 1 || n > before || n > total - sum)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "\"batch_sizes\" should fall from step to step and add up to %lld",
                                (long long)total);
        for (int64_t b = 0; b < n; b++)
            out->lengths[b] = t + 1;
        out->batch_sizes[t] = before = n;
        sum += n;
    }
    if (sum != total)
        return cq_call_fail(c, CQ_E_ARGUMENT, "\"batch_sizes\" add up to %lld, not to %lld",
                            (long long)sum, (long long)total);
    return CQ_OK;
}

/* Copies all steps between data [total, …] and spread [steps, batch, …]. */
static cq_status copy_steps(const cq_packed_sequence *p, const cq_tensor *data,
                            const cq_tensor *spread, bool to_spread)
{
    cq_int    sizes[CQ_MAX_RANK];
    int64_t   at     = data->offset;
    cq_status status = CQ_OK;

    memcpy(sizes, data->sizes, data->rank * sizeof *sizes);
    for (int64_t t = 0; t < p->steps && status == CQ_OK; t++) {
        cq_tensor *a = NULL, *b = NULL;

        sizes[0] = cq_i(p->batch_sizes[t]);
        status   = cq_tensor_new_view(&a, data, data->dtype, data->rank, sizes, data->strides, at);
        if (status == CQ_OK)
            status =
                cq_tensor_new_view(&b, spread, spread->dtype, data->rank, sizes,
                                   spread->strides + 1, spread->offset + t * spread->strides[0]);
        if (status == CQ_OK)
            status = to_spread ? cq_tensor_copy_into(b, a) : cq_tensor_copy_into(a, b);
        cq_tensor_release(a);
        cq_tensor_release(b);
        at += p->batch_sizes[t] * data->strides[0];
    }
    return status;
}

cq_status cq_packed_spread(cq_opcall *c, const cq_packed_sequence *p, cq_tensor **out,
                           const cq_tensor *data, double padding)
{
    int64_t sizes[CQ_MAX_RANK];

    sizes[0] = p->steps;
    sizes[1] = p->batch;
    for (size_t i = 1; i < data->rank; i++)
        sizes[i + 1] = data->sizes[i].value;
    CQ_TRY(cq_tensor_new_uninit(out, data->dtype, data->rank + 1, sizes));
    *out = cq_ctx_own_tensor(c->cx, *out);
    CQ_TRY(c->cx->status);
    CQ_TRY(cq_kernel_fill_f64(*out, padding));
    return copy_steps(p, data, *out, true);
}

cq_status cq_packed_gather(const cq_packed_sequence *p, cq_tensor *data, const cq_tensor *spread)
{
    return copy_steps(p, data, spread, false);
}

/* ---- _pack_padded_sequence(input, lengths, batch_first) -> (data, batch_sizes) ---- */

static cq_status read_lengths(const cq_opcall *c, cq_packed_sequence *p, const cq_tensor *lengths,
                              int64_t steps)
{
    memset(p, 0, sizeof *p);
    p->batch = lengths->sizes[0].value;
    p->steps = steps;
    if (p->batch < 1)
        return cq_call_fail(c, CQ_E_ARGUMENT, "no sequence to pack");
    CQ_TRY(allocate(p));
    memset(p->batch_sizes, 0, (size_t)p->steps * sizeof *p->batch_sizes);
    for (int64_t b = 0; b < p->batch; b++) {
        int64_t n = p->lengths[b] = cq_tensor_get_i64(lengths, b);

        if (n < 1 || n > steps || (b > 0 && n > p->lengths[b - 1]))
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "length %lld of sequence %lld: lengths should fall from at most "
                                "%lld to at least 1",
                                (long long)n, (long long)b, (long long)steps);
        for (int64_t t = 0; t < n; t++)
            p->batch_sizes[t]++;
        p->total += n;
    }
    p->steps = p->lengths[0];
    return CQ_OK;
}

static cq_status check_pack(const cq_opcall *c, const cq_tensor *x, const cq_tensor *lengths)
{
    size_t batch_axis = cq_arg_bool(c, "batch_first") ? 0 : 1;

    if (x->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "the input needs at least 2 dimensions but has %u",
                            x->rank);
    if (lengths->rank != 1 || lengths->dtype != CQ_DTYPE_I64 ||
        lengths->sizes[0].value != x->sizes[batch_axis].value)
        return cq_call_fail(c, CQ_E_TYPE, "\"lengths\" should be %lld int64 numbers",
                            (long long)x->sizes[batch_axis].value);
    return CQ_OK;
}

/* x with steps first. */
static cq_status steps_first(cq_opcall *c, cq_tensor **out, cq_tensor *x)
{
    cq_int  sizes[CQ_MAX_RANK];
    int64_t strides[CQ_MAX_RANK];

    *out = x;
    if (!cq_arg_bool(c, "batch_first"))
        return CQ_OK;
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    memcpy(strides, x->strides, x->rank * sizeof *strides);
    sizes[0]   = x->sizes[1];
    sizes[1]   = x->sizes[0];
    strides[0] = x->strides[1];
    strides[1] = x->strides[0];
    CQ_TRY(cq_tensor_new_view(out, x, x->dtype, x->rank, sizes, strides, x->offset));
    *out = cq_ctx_own_tensor(c->cx, *out);
    return c->cx->status;
}

static cq_status pack_results(cq_opcall *c, const cq_tensor *x, cq_int total, cq_int steps)
{
    cq_int sizes[CQ_MAX_RANK];

    sizes[0] = total;
    memcpy(sizes + 1, x->sizes + 2, (x->rank - 2) * sizeof *sizes);
    cq_result(c, 0, x->dtype, x->rank - 1, sizes);
    return cq_result(c, 1, CQ_DTYPE_I64, 1, &steps);
}

static cq_status pack_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *lengths = cq_arg_tensor(c, "lengths");
    size_t     batch_axis = cq_arg_bool(c, "batch_first") ? 0 : 1;
    int64_t    steps;

    CQ_TRY(check_pack(c, x, lengths));
    steps = x->sizes[1 - batch_axis].value;
    CQ_TRY(pack_results(c, x, cq_unknown_size(c, steps * lengths->sizes[0].value),
                        cq_unknown_size(c, steps)));
    return cq_tensor_set_known(cq_result_tensor(c, 1), &x->sizes[batch_axis], 1);
}

static cq_status pack_run(cq_opcall *c)
{
    cq_tensor         *x = cq_arg_tensor(c, "input"), *lengths = cq_arg_tensor(c, "lengths");
    cq_packed_sequence p = { 0 };
    cq_status          status;

    CQ_TRY(check_pack(c, x, lengths));
    CQ_TRY(steps_first(c, &x, x));
    status = read_lengths(c, &p, lengths, x->sizes[0].value);
    if (status == CQ_OK)
        status = pack_results(c, x, cq_i(p.total), cq_i(p.steps));
    if (status == CQ_OK)
        status = cq_packed_gather(&p, cq_result_tensor(c, 0), x);
    if (status == CQ_OK)
        memcpy(cq_tensor_bytes(cq_result_tensor(c, 1)), p.batch_sizes,
               (size_t)p.steps * sizeof *p.batch_sizes);
    cq_packed_clear(&p);
    return status;
}

/* ---- _pad_packed_sequence(data, batch_sizes, …, total_length) -> (padded, lengths) ---- */

static cq_status pad_results(cq_opcall *c, const cq_tensor *data, cq_int steps, cq_int batch)
{
    bool   batch_first = cq_arg_bool(c, "batch_first");
    cq_int sizes[CQ_MAX_RANK];

    sizes[batch_first ? 1 : 0] = steps;
    sizes[batch_first ? 0 : 1] = batch;
    memcpy(sizes + 2, data->sizes + 1, (data->rank - 1) * sizeof *sizes);
    cq_result(c, 0, data->dtype, data->rank + 1, sizes);
    return cq_result(c, 1, CQ_DTYPE_I64, 1, &batch);
}

/* The batch size is an element of a tensor: without data, its value on the example is used. */
static cq_status pad_shape(cq_opcall *c)
{
    cq_tensor *data = cq_arg_tensor(c, "data"), *sizes = cq_arg_tensor(c, "batch_sizes"), *known;
    cq_int     total_length = cq_arg_int(c, "total_length"), steps = sizes->sizes[0];
    int64_t    batch = 1;

    if (c->cx->listener) {
        CQ_TRY(cq_call_data(c, &known, sizes));
        batch = cq_tensor_get_i64(known, 0);
    }
    if (total_length.value > 0)
        steps = total_length;
    return pad_results(c, data, steps, cq_unknown_size(c, batch));
}

static cq_status pad_run(cq_opcall *c)
{
    cq_tensor         *data         = cq_arg_tensor(c, "data"), *spread;
    int64_t            total_length = cq_arg_i64(c, "total_length");
    cq_packed_sequence p            = { 0 };
    cq_status          status;

    status = cq_packed_read(c, &p, cq_arg_tensor(c, "batch_sizes"), data->sizes[0].value);
    if (status == CQ_OK && total_length > 0 && total_length < p.steps)
        status = cq_call_fail(c, CQ_E_ARGUMENT, "total_length %lld is less than %lld steps",
                              (long long)total_length, (long long)p.steps);
    if (status == CQ_OK)
        status =
            pad_results(c, data, cq_i(total_length > 0 ? total_length : p.steps), cq_i(p.batch));
    if (status == CQ_OK)
        status = cq_kernel_fill_f64(cq_result_tensor(c, 0), cq_arg_f64(c, "padding_value"));
    if (status == CQ_OK)
        status = steps_first(c, &spread, cq_result_tensor(c, 0));
    if (status == CQ_OK)
        status = copy_steps(&p, data, spread, true);
    if (status == CQ_OK)
        memcpy(cq_tensor_bytes(cq_result_tensor(c, 1)), p.lengths,
               (size_t)p.batch * sizeof *p.lengths);
    cq_packed_clear(&p);
    return status;
}

const cq_op_def cq_ops_packed[] = {
    { .schema = "aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) "
                "-> (Tensor, Tensor)",
      .about  = "sequences packed without their padding",
      .shape  = pack_shape,
      .run    = pack_run,
      .flags  = CQ_OP_DYNAMIC },
    { .schema = "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
                "Scalar padding_value, int total_length) -> (Tensor, Tensor)",
      .about  = "packed sequences as a padded tensor",
      .shape  = pad_shape,
      .run    = pad_run,
      .flags  = CQ_OP_DYNAMIC },
    { 0 }
};
