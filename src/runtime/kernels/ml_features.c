/* Operators of ai.onnx.ml that preprocess features. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/ml.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static cq_status wrong_length(const char *name, int64_t n, int64_t wanted)
{
    return cq_fail(CQ_E_INVALID, NULL, NULL,
                   "%s has %" PRId64 " numbers, expected 1 or %" PRId64 ", one for each feature",
                   name, n, wanted);
}

/* (x - offset) * scale; each has one element for all features, or one per feature. */
static cq_status scaler(cq_rt *rt)
{
    const cq_tensor *x      = cq_rt_in(rt, 0);
    double          *offset = NULL, *scale = NULL, *to;
    cq_operands      s = { .compute = CQ_DTYPE_F64 };
    int64_t          n_offset, n_scale, width = x->rank ? cq_size_of(x, x->rank - 1) : 1;
    const double    *from;
    cq_rt_sizes      sizes;
    cq_tensor       *y;
    cq_status        status;

    CQ_TRY_OR_DONE(cq_ml_floats(&offset, &n_offset, rt, "offset"));
    CQ_TRY_OR_DONE(cq_ml_floats(&scale, &n_scale, rt, "scale"));
    if (n_offset != 1 && n_offset != width)
        CQ_TRY_OR_DONE(wrong_length("offset", n_offset, width));
    if (n_scale != 1 && n_scale != width)
        CQ_TRY_OR_DONE(wrong_length("scale", n_scale, width));
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY_OR_DONE(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    from = cq_operands_in(&s, x);
    to   = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < cq_tensor_numel(x); i++)
        to[i] =
            (from[i] - offset[n_offset == 1 ? 0 : i % width]) * scale[n_scale == 1 ? 0 : i % width];
    status = cq_operands_close(&s);
done:
    cq_free(offset);
    cq_free(scale);
    return status;
}

/* Replaces elements equal to replaced_value by the imputed value of their feature. */
static cq_status imputer(cq_rt *rt)
{
    const cq_tensor         *x        = cq_rt_in(rt, 0);
    bool                     is_float = cq_dtype_is_float(x->dtype);
    const cq_onnx_attribute *whole    = cq_rt_attr_given(rt, "imputed_value_int64s");
    double                  *values   = NULL, *to, replaced;
    const double            *from;
    cq_operands              s = { .compute = CQ_DTYPE_F64 };
    int64_t                  n, width = x->rank ? cq_size_of(x, x->rank - 1) : 1;
    cq_tensor               *y;
    cq_status                status;

    replaced = is_float ? cq_rt_float(rt, "replaced_value_float")
                        : (double)cq_rt_int(rt, "replaced_value_int64");
    CQ_TRY_OR_DONE(cq_ml_floats(&values, &n, rt, "imputed_value_floats"));
    n = is_float ? n : whole ? whole->ints.n : 0;
    if (n != 1 && n != width)
        CQ_TRY_OR_DONE(wrong_length("imputed_value", n, width));
    CQ_TRY_OR_DONE(cq_rt_out_like(&y, rt, 0, x));
    from = cq_operands_in(&s, x);
    to   = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < cq_tensor_numel(x); i++) {
        bool    is_it = isnan(replaced) ? isnan(from[i]) : from[i] == replaced;
        int64_t k     = n == 1 ? 0 : i % width;

        to[i] = !is_it ? from[i] : is_float ? values[k] : (double)whole->ints.items[k];
    }
    status = cq_operands_close(&s);
done:
    cq_free(values);
    return status;
}

/* Concatenates inputs; each is cut or padded with zeros to its number of features in
 * inputdimensions. */
static cq_status feature_vectorizer(cq_rt *rt)
{
    const cq_onnx_attribute *dims = cq_rt_attr_given(rt, "inputdimensions");
    int64_t                  rows = 0, width = 0, at = 0;
    cq_tensor               *y;
    float                   *to;

    if (!dims || dims->ints.n != rt->n_in)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "inputdimensions has %u numbers, expected %zu",
                       dims ? dims->ints.n : 0, rt->n_in);
    for (size_t i = 0; i < rt->n_in; i++) {
        const cq_tensor *x = cq_rt_in(rt, i);
        int64_t          n = x->rank == 2 ? cq_size_of(x, 0) : 1;

        if ((x->rank != 1 && x->rank != 2) || (i && n != rows) || dims->ints.items[i] < 0 ||
            dims->ints.items[i] > INT32_MAX)
            return cq_rt_misfit(x, NULL);
        rows = n;
        width += dims->ints.items[i];
    }
    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, 2, (int64_t[]){ rows, width }));
    to = cq_tensor_data(y);
    for (size_t i = 0; i < rt->n_in; i++) {
        const cq_tensor *x = cq_rt_in(rt, i);
        int64_t          n = cq_size_of(x, x->rank - 1), m = dims->ints.items[i];

        for (int64_t row = 0; row < rows; row++)
            for (int64_t k = 0; k < m; k++)
                to[row * width + at + k] = k < n ? (float)cq_tensor_get_f64(x, row * n + k) : 0;
        at += m;
    }
    return CQ_OK;
}

/* The category of an element; -1: none. */
static int64_t category(cq_val x, int64_t i, const cq_onnx_attribute *texts,
                        const cq_onnx_attribute *whole)
{
    const cq_texts *t = cq_val_texts(x);
    uint32_t        n = t ? texts->strings.n : whole->ints.n;

    for (uint32_t k = 0; k < n; k++)
        if (t ? texts->strings.items[k].size == cq_texts_len(t, (size_t)i) &&
                    !memcmp(texts->strings.items[k].data, cq_texts_at(t, (size_t)i),
                            cq_texts_len(t, (size_t)i))
              : whole->ints.items[k] == (int64_t)cq_tensor_get_f64(x.u.tensor, i))
            return k;
    return -1;
}

/* Adds a last axis with 1 at the index of the category. */
static cq_status one_hot_encoder(cq_rt *rt)
{
    const cq_onnx_attribute *texts = cq_rt_attr_given(rt, "cats_strings");
    const cq_onnx_attribute *whole = cq_rt_attr_given(rt, "cats_int64s");
    const cq_texts          *t     = cq_val_texts(rt->in[0]);
    int64_t                  n     = 1, n_categories;
    cq_rt_sizes              sizes = { 0 };
    cq_tensor               *y;

    if (t ? !texts : !whole)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "OneHotEncoder has no categories of X's type");
    n_categories = t ? texts->strings.n : whole->ints.n;
    if (t) {
        sizes.rank = t->rank;
        memcpy(sizes.at, t->sizes, t->rank * sizeof *sizes.at);
    } else {
        cq_rt_sizes_of(&sizes, rt->in[0].u.tensor);
    }
    if (sizes.rank == CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "X has too many dimensions");
    for (uint32_t i = 0; i < sizes.rank; i++)
        n *= sizes.at[i];
    sizes.at[sizes.rank++] = n_categories;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    CQ_TRY(cq_kernel_fill_f64(y, 0));
    for (int64_t i = 0; i < n; i++) {
        int64_t k = category(rt->in[0], i, texts, whole);

        if (k >= 0)
            ((float *)cq_tensor_data(y))[i * n_categories + k] = 1;
        else if (!cq_rt_int(rt, "zeros"))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "element %" PRId64 " of X is of no category", i);
    }
    return CQ_OK;
}

const cq_rt_row cq_rt_rows_ml_features[] = {
    { "FeatureVectorizer", 1, feature_vectorizer, 0, 0 },
    { "Imputer", 1, imputer, 0, 0 },
    { "OneHotEncoder", 1, one_hot_encoder, CQ_RT_TEXT_OWN, 0 },
    { "Scaler", 1, scaler, 0, 0 },
    { 0 },
};
