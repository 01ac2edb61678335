/* The different elements of a tensor. */
#include "aten/core/ctx.h"
#include "kernel/sort.h"

/* The request of a row to the kernel. */
typedef struct request {
    int64_t dim; /* -1: of the whole */
    bool    consecutive, indices, counts;
} request;

static bool flag(const cq_opcall *c, const char *name)
{
    return cq_schema_find(c->op->schema, name) >= 0 && cq_arg_bool(c, name);
}

/* .variant of the rows: whether only neighbours are joined. */
static request read_request(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    bool       whole =
        cq_schema_find(c->op->schema, "dim") < 0 || cq_arg_is_none(c, "dim") || self->rank == 0;

    return (request){ .dim         = whole ? -1 : cq_arg_dim(c, "dim", self->rank),
                      .consecutive = c->op->def->variant,
                      .indices     = flag(c, "return_inverse"),
                      .counts      = flag(c, "return_counts") };
}

/* The number of unique elements: of the example if its data is available, otherwise the number
 * of elements. */
static cq_int count_different(cq_opcall *c, const request *r, cq_tensor *self)
{
    int64_t    n    = r->dim < 0 ? cq_tensor_numel(self) : self->sizes[r->dim].value;
    cq_tensor *data = self, *values = NULL;

    if ((!cq_tensor_is_fake(self) || c->cx->listener) && cq_call_data(c, &data, self) == CQ_OK &&
        cq_kernel_unique(&values, NULL, NULL, NULL, data, r->dim, r->consecutive) == CQ_OK)
        n = values->sizes[r->dim < 0 ? 0 : r->dim].value;
    cq_tensor_release(values);
    return cq_tensor_is_fake(self) ? cq_unknown_size(c, n) : cq_i(n);
}

/* Results that are not requested are empty, except that unique_dim and the indices of _unique2 are
 * always computed, as in PyTorch. */
static cq_status unique_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    request    r    = read_request(c);
    cq_int     n = count_different(c, &r, self), none = cq_i(0), sizes[CQ_MAX_RANK];
    size_t     rank = r.dim < 0 ? 1 : self->rank;

    for (size_t i = 0; i < rank; i++)
        sizes[i] = r.dim < 0 || (int64_t)i == r.dim ? n : self->sizes[i];
    cq_result(c, 0, self->dtype, rank, sizes);
    if (r.dim >= 0)
        cq_result(c, 1, CQ_DTYPE_I64, 1, &self->sizes[r.dim]);
    else if (r.indices)
        cq_result_like(c, 1, self, CQ_DTYPE_I64);
    else
        cq_result(c, 1, CQ_DTYPE_I64, 1, &none);
    if (c->op->schema->n_results > 2)
        cq_result(c, 2, CQ_DTYPE_I64, 1, r.counts || r.dim >= 0 ? &n : &none);
    return c->cx->status;
}

static cq_status unique_run(cq_opcall *c)
{
    cq_tensor *made[3] = { NULL };
    request    r       = read_request(c);
    size_t     n       = c->op->schema->n_results;
    bool       all     = r.dim >= 0;
    cq_int     none    = cq_i(0);

    CQ_TRY(cq_kernel_unique(&made[0], r.indices || all ? &made[1] : NULL,
                            n > 2 && (r.counts || all) ? &made[2] : NULL, NULL,
                            cq_arg_tensor(c, "self"), r.dim, r.consecutive));
    for (size_t i = 0; i < n; i++)
        if (made[i])
            cq_result_set(c, i, cq_ctx_own(c->cx, cq_val_of_tensor(made[i])));
        else
            cq_result(c, i, CQ_DTYPE_I64, 1, &none);
    return c->cx->status;
}

#define UNIQUE(schema_text, about_text, neighbours)                                                \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .shape = unique_shape, .run = unique_run,      \
        .flags = CQ_OP_DYNAMIC, .variant = neighbours                                              \
    }

const cq_op_def cq_ops_unique[] = {
    UNIQUE("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, "
           "Tensor)",
           "the unique elements", false),
    UNIQUE("aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
           "return_counts=False) -> (Tensor, Tensor, Tensor)",
           "the unique elements, the index of each element among them, and counts", false),
    UNIQUE("aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
           "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
           "the unique slices along a dimension", false),
    UNIQUE("aten::unique_consecutive(Tensor self, bool return_inverse=False, bool "
           "return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
           "elements without consecutive duplicates", true),
    UNIQUE("aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool "
           "return_counts=False) -> (Tensor, Tensor, Tensor)",
           "slices along a dimension without consecutive duplicates", true),
    { 0 }
};
