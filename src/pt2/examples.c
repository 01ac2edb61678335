/* The inputs that a program was made with: from its sample, or, if that holds objects that only
 * Python knows, made up in the sizes that the program notes. */
#include "pt2/model.h"

enum { UNKNOWN_SIZE = 2 };

/* ---- made up ---- */

/* Numbers from 0 to 1 without a pattern; of other types than float32 they are zeros. */
static cq_status make_floats(cq_tensor **out, size_t rank, const int64_t *sizes)
{
    cq_status status = cq_tensor_new(out, CQ_DTYPE_F32, rank, sizes, NULL);

    for (int64_t i = 0; status == CQ_OK && i < cq_tensor_numel(*out); i++) {
        double x = (double)(i + 1) * 0.6180339887498949;

        ((float *)cq_tensor_bytes(*out))[i] = (float)(x - (double)(int64_t)x);
    }
    return status;
}

static cq_status make_tensor(cq_tensor **out, const cq_pt2_meta *m)
{
    int64_t sizes[CQ_MAX_RANK];

    if (m->rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "an input has %zu dimensions", m->rank);
    for (size_t i = 0; i < m->rank; i++) {
        sizes[i] = m->sizes[i].has_value ? m->sizes[i].value : UNKNOWN_SIZE;
        if (sizes[i] < 0)
            return cq_fail(CQ_E_FORMAT, NULL, NULL, "an input has a negative size");
    }
    if (m->dtype == CQ_DTYPE_F32)
        return make_floats(out, m->rank, sizes);
    return cq_tensor_new(out, m->dtype, m->rank, sizes, NULL);
}

/* ---- one input ---- */

static bool fits(const cq_tensor *t, const cq_pt2_meta *m)
{
    return t->storage && t->dtype == m->dtype && t->rank == m->rank;
}

static cq_status make_example(const cq_pt2 *p, uint32_t input, const cq_val *sample,
                              cq_tensor **out)
{
    const cq_pt2_graph *g    = p->program->graph;
    const uint32_t      slot = g->inputs[input].u.slot;
    const cq_pt2_meta  *m    = &g->metas[slot];

    *out = NULL;
    if (m->dtype == CQ_DTYPE_NONE && m->sizes)
        return cq_fail(CQ_E_UNSUPPORTED, g->slots[slot], NULL,
                       "the program takes a tensor of a dtype that is not known");
    if (m->dtype == CQ_DTYPE_NONE)
        return cq_args_tensor_of(out,
                                 sample && sample->kind != CQ_VAL_TENSOR
                                     ? *sample
                                     : cq_val_of_i64(g->numbers[slot].value),
                                 false);
    if (sample && sample->kind == CQ_VAL_TENSOR && fits(sample->u.tensor, m))
        *out = cq_tensor_retain(sample->u.tensor);
    else
        CQ_TRY(make_tensor(out, m));
    cq_tensor_set_made_up(*out); /* so is a sample: a few bytes can describe a tensor of any size */
    return CQ_OK;
}

/* ---- all of them ---- */

cq_status cq_pt2_make_examples(cq_pt2 *p)
{
    const cq_pt2_graph *g     = p->program->graph;
    cq_pt2_leaves       all   = { 0 };
    size_t              n_all = 0, next = 0;
    cq_status           status = cq_pt2_flatten(&all, p->program->archive->sample);

    for (size_t i = 0; i < g->n_inputs; i++)
        n_all +=
            p->program->inputs[i].role == CQ_PT2_USER || p->program->inputs[i].role == CQ_PT2_FIXED;
    for (size_t i = 0; i < g->n_inputs && status == CQ_OK; i++) {
        const cq_pt2_role role = p->program->inputs[i].role;
        cq_tensor        *t;

        if (role == CQ_PT2_USER && g->inputs[i].kind == CQ_PT2_SLOT) {
            status = make_example(p, (uint32_t)i, all.n == n_all ? &all.items[next] : NULL, &t);
            if (status == CQ_OK)
                status = cq_vec_push(&p->user, (uint32_t)i);
            if (status == CQ_OK)
                status = cq_vec_push(&p->examples, t);
        }
        next += role == CQ_PT2_USER || role == CQ_PT2_FIXED;
    }
    cq_vec_clear(&all);
    return status;
}
