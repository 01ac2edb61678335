/* Rows, scores and labels of ai.onnx.ml. Where the specification is silent, behaviour follows ONNX
 * Runtime. */
#include "runtime/kernels/ml.h"

#include "onnx/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

cq_status cq_ml_rows_open(cq_ml_rows *rows, const cq_tensor *x)
{
    *rows = (cq_ml_rows){ .s = { .compute = CQ_DTYPE_F64 } };
    if (x->rank != 1 && x->rank != 2)
        return cq_rt_misfit(x, NULL);
    rows->n     = x->rank == 1 ? 1 : cq_size_of(x, 0);
    rows->width = cq_size_of(x, x->rank - 1);
    rows->at    = cq_operands_in(&rows->s, x);
    return rows->s.status;
}

/* ---- scores ---- */

cq_status cq_ml_transform_of(cq_ml_transform *out, const cq_rt *rt)
{
    static const char *const names[] = { "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT" };

    int found;

    CQ_TRY(cq_rt_choose(&found, rt, "post_transform", names, 5));
    *out = (cq_ml_transform)found;
    return CQ_OK;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* Giles' approximation, as in ONNX Runtime: sign(x) sqrt(sqrt(a² - log(1-x²) / 0.147) - a). */
static double inverse_erf(double x)
{
    double log_part = log((1 - x) * (1 + x));
    double a        = 2 / (3.14159 * 0.147) + 0.5 * log_part;

    return (x < 0 ? -1 : 1) * sqrt(sqrt(a * a - log_part / 0.147) - a);
}

static void softmax(double *scores, int64_t n, bool skips_zeros)
{
    double highest = -INFINITY, sum = 0;

    for (int64_t i = 0; i < n; i++)
        highest = fmax(highest, scores[i]);
    for (int64_t i = 0; i < n; i++)
        if (skips_zeros && fabs(scores[i]) <= 1e-7)
            scores[i] *= exp(-highest);
        else
            sum += scores[i] = exp(scores[i] - highest);
    for (int64_t i = 0; i < n; i++)
        scores[i] /= sum;
}

/* As in ONNX Runtime, a single score is only transformed by PROBIT. */
void cq_ml_transform_row(double *scores, int64_t n, cq_ml_transform how)
{
    if (n == 1 && how != CQ_ML_PROBIT)
        return;
    for (int64_t i = 0; i < n && how == CQ_ML_LOGISTIC; i++)
        scores[i] = logistic(scores[i]);
    for (int64_t i = 0; i < n && how == CQ_ML_PROBIT; i++)
        scores[i] = 1.41421356 * inverse_erf(2 * scores[i] - 1);
    if (how == CQ_ML_SOFTMAX || how == CQ_ML_SOFTMAX_ZERO)
        softmax(scores, n, how == CQ_ML_SOFTMAX_ZERO);
}

void cq_ml_second_score(double scores[2], bool is_signed, cq_ml_transform how)
{
    double s = scores[0];

    if (how == CQ_ML_LOGISTIC) {
        scores[0] = logistic(-s);
        scores[1] = logistic(s);
        return;
    }
    scores[0] = is_signed ? -s : 1 - s;
    scores[1] = s;
}

int64_t cq_ml_greatest(const double *scores, int64_t n)
{
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++)
        best = scores[i] > scores[best] ? i : best;
    return best;
}

/* ---- labels ---- */

int64_t cq_ml_n_labels(const cq_rt *rt, const char *ints)
{
    const cq_onnx_attribute *texts = cq_rt_attr_given(rt, "classlabels_strings");
    const cq_onnx_attribute *whole = cq_rt_attr_given(rt, ints);

    return texts && texts->strings.n ? texts->strings.n : whole ? whole->ints.n : 0;
}

cq_status cq_ml_set_labels(cq_rt *rt, const char *ints, const int64_t *which, int64_t n)
{
    const cq_onnx_attribute *names = cq_rt_attr_given(rt, "classlabels_strings");
    const cq_onnx_attribute *whole = cq_rt_attr_given(rt, ints);
    cq_tensor               *y;
    cq_texts                *texts;

    if (names && names->strings.n) {
        CQ_TRY(cq_texts_new(&texts, 1, &n));
        CQ_TRY(cq_rt_set(rt, 0, cq_val_of_texts(texts)));
        for (int64_t i = 0; i < n; i++)
            CQ_TRY(cq_texts_set(texts, (size_t)i, names->strings.items[which[i]].data,
                                names->strings.items[which[i]].size));
        return CQ_OK;
    }
    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_I64, 1, &n));
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)cq_tensor_data(y))[i] =
            whole && whole->ints.n ? whole->ints.items[which[i]] : which[i];
    return CQ_OK;
}

cq_status cq_ml_floats(double **out, int64_t *n, const cq_rt *rt, const char *name)
{
    const cq_onnx_attribute *list = cq_rt_attr_given(rt, name), *tensor;
    char                     other[64];
    cq_tensor               *t = NULL;

    snprintf(other, sizeof other, "%s_as_tensor", name);
    tensor = cq_rt_attr_given(rt, other);
    *out   = NULL;
    *n     = list ? list->floats.n : 0;
    if (tensor && tensor->t) {
        CQ_TRY(cq_onnx_tensor_to_tensor(&t, rt->step->model, tensor->t));
        *n = cq_tensor_numel(t);
    }
    *out = cq_alloc_array((size_t)*n + 1, sizeof **out);
    for (int64_t i = 0; *out && i < *n; i++)
        (*out)[i] = t ? cq_tensor_get_f64(t, i) : (double)list->floats.items[i];
    cq_tensor_release(t);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}
