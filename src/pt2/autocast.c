/* Autocast: what a program does inside of wrap_with_autocast. The graph has no casts there, but
 * PyTorch's dispatcher makes them, by lists of operators. These are its lists for the CPU. */
#include "pt2/run.h"

typedef enum policy { P_LOWER, P_FLOAT32, P_WIDEST } policy;

static const struct {
    const char *op; /* of any overload */
    policy      policy;
} rows[] = {
    { "aten::conv1d", P_LOWER },
    { "aten::conv2d", P_LOWER },
    { "aten::conv3d", P_LOWER },
    { "aten::conv_tbc", P_LOWER },
    { "aten::conv_transpose1d", P_LOWER },
    { "aten::conv_transpose2d", P_LOWER },
    { "aten::conv_transpose3d", P_LOWER },
    { "aten::convolution", P_LOWER },
    { "aten::bmm", P_LOWER },
    { "aten::mm", P_LOWER },
    { "aten::mv", P_LOWER },
    { "aten::baddbmm", P_LOWER },
    { "aten::addmm", P_LOWER },
    { "aten::addbmm", P_LOWER },
    { "aten::linear", P_LOWER },
    { "aten::matmul", P_LOWER },
    { "aten::linalg_matmul", P_LOWER },
    { "aten::linalg_vecdot", P_LOWER },
    { "aten::linalg_multi_dot", P_LOWER },
    { "aten::scaled_dot_product_attention", P_LOWER },
    { "aten::_native_multi_head_attention", P_LOWER },
    { "aten::avg_pool3d", P_FLOAT32 },
    { "aten::binary_cross_entropy", P_FLOAT32 },
    { "aten::grid_sampler", P_FLOAT32 },
    { "aten::grid_sampler_2d", P_FLOAT32 },
    { "aten::grid_sampler_3d", P_FLOAT32 },
    { "aten::prod", P_FLOAT32 },
    { "aten::quantile", P_FLOAT32 },
    { "aten::nanquantile", P_FLOAT32 },
    { "aten::cdist", P_FLOAT32 },
    { "aten::trace", P_FLOAT32 },
    { "aten::cholesky", P_FLOAT32 },
    { "aten::cholesky_inverse", P_FLOAT32 },
    { "aten::cholesky_solve", P_FLOAT32 },
    { "aten::inverse", P_FLOAT32 },
    { "aten::mse_loss", P_FLOAT32 },
    { "aten::cosine_embedding_loss", P_FLOAT32 },
    { "aten::nll_loss", P_FLOAT32 },
    { "aten::nll_loss2d", P_FLOAT32 },
    { "aten::hinge_embedding_loss", P_FLOAT32 },
    { "aten::poisson_nll_loss", P_FLOAT32 },
    { "aten::smooth_l1_loss", P_FLOAT32 },
    { "aten::cross_entropy_loss", P_FLOAT32 },
    { "aten::l1_loss", P_FLOAT32 },
    { "aten::huber_loss", P_FLOAT32 },
    { "aten::margin_ranking_loss", P_FLOAT32 },
    { "aten::soft_margin_loss", P_FLOAT32 },
    { "aten::triplet_margin_loss", P_FLOAT32 },
    { "aten::multi_margin_loss", P_FLOAT32 },
    { "aten::ctc_loss", P_FLOAT32 },
    { "aten::kl_div", P_FLOAT32 },
    { "aten::multilabel_margin_loss", P_FLOAT32 },
    { "aten::binary_cross_entropy_with_logits", P_FLOAT32 },
    { "aten::linalg_inv", P_FLOAT32 },
    { "aten::linalg_cholesky", P_FLOAT32 },
    { "aten::linalg_solve", P_FLOAT32 },
    { "aten::cat", P_WIDEST },
    { "aten::stack", P_WIDEST },
    { "aten::index_copy", P_WIDEST },
};

/* Doubles are left alone, as in PyTorch. */
static bool is_eligible(const cq_tensor *t)
{
    return cq_dtype_is_float(t->dtype) && t->dtype != CQ_DTYPE_F64;
}

static cq_dtype widest(const cq_val *args, size_t n, cq_dtype so_far)
{
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CQ_VAL_LIST || args[i].kind == CQ_VAL_TUPLE)
            so_far = widest(args[i].u.list->items, args[i].u.list->n, so_far);
        else if (args[i].kind == CQ_VAL_TENSOR && is_eligible(args[i].u.tensor))
            so_far = cq_dtype_promote(so_far, args[i].u.tensor->dtype);
    }
    return so_far;
}

static cq_status cast(cq_pt2_run *r, cq_dtype to, cq_val *args, size_t n)
{
    cq_ctx *cx = r->ev->cx;

    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CQ_VAL_LIST) {
            CQ_TRY(cq_eval_list(r->ev, args[i].u.list->items, args[i].u.list->n, CQ_VAL_LIST,
                                &args[i]));
            for (size_t k = 0; k < args[i].u.list->n; k++) {
                cq_val item = args[i].u.list->items[k];

                CQ_TRY(cast(r, to, &item, 1));
                cq_val_retain(item);
                cq_val_release(args[i].u.list->items[k]);
                args[i].u.list->items[k] = item;
            }
        } else if (args[i].kind == CQ_VAL_TENSOR && is_eligible(args[i].u.tensor) &&
                   args[i].u.tensor->dtype != to) {
            args[i] =
                cq_val_of_tensor(CQ_OP(cx, "aten::to.dtype", TENSOR(args[i].u.tensor), DTYPE(to)));
        }
    }
    return cx->status;
}

cq_status cq_pt2_autocast(cq_pt2_run *r, const char *op, cq_val *args, size_t n)
{
    size_t len = strcspn(op, "."); /* of the name without its overload */

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].op) == len && memcmp(rows[i].op, op, len) == 0)
            return cast(r,
                        rows[i].policy == P_LOWER     ? r->autocast
                        : rows[i].policy == P_FLOAT32 ? CQ_DTYPE_F32
                                                      : widest(args, n, r->autocast),
                        args, n);
    return CQ_OK;
}
