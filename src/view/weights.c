/* Statistics of weights, read block by block from the mapped file. */
#include "view/view.h"

#include "base/map.h"
#include "base/mapping.h"
#include "onnx/tensor.h"
#include "tensor/convert.h"

#include <math.h>

enum { BLOCK = 1024, MIN_MEASURED = 64 << 20, TIMES_MEASURED = 16 };

cq_status cq_view_add_weight(cq_view *v, uint32_t value, const cq_onnx_tensor *tensor)
{
    cq_view_weight w = { .value = value, .tensor = tensor };

    if (v->values.items[value].weight != CQ_VIEW_NONE)
        return CQ_OK; /* the first definition of a name counts */
    v->values.items[value].weight = (uint32_t)v->weights.n;
    return cq_vec_push(&v->weights, w);
}

typedef struct sums {
    int64_t n_finite;
    double  sum, squares;
} sums;

static void note_range(cq_view_weight *w, sums *s, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            w->n_nan += isnan(x[i]) != 0;
            w->n_inf += isinf(x[i]) != 0;
            continue;
        }
        w->min = !s->n_finite || x[i] < w->min ? x[i] : w->min;
        w->max = !s->n_finite || x[i] > w->max ? x[i] : w->max;
        w->n_zero += !(x[i] < 0 || x[i] > 0);
        s->sum += x[i];
        s->n_finite++;
    }
}

static void note_bins(cq_view_weight *w, sums *s, const double *x, int64_t n)
{
    const double scale = w->max > w->min ? CQ_VIEW_BINS / (w->max - w->min) : 0;

    for (int64_t i = 0; i < n; i++) {
        int bin;

        if (!isfinite(x[i]))
            continue;
        bin = (int)((x[i] - w->min) * scale);
        w->bins[bin < CQ_VIEW_BINS ? bin : CQ_VIEW_BINS - 1]++;
        s->squares += (x[i] - w->mean) * (x[i] - w->mean);
    }
}

static void measure(cq_view_weight *w, cq_tensor *t)
{
    double block[BLOCK];
    sums   s = { 0 };

    w->has_data = true;
    for (int64_t i = 0; i < w->numel; i += BLOCK) {
        const int64_t n = w->numel - i < BLOCK ? w->numel - i : BLOCK;

        cq_tensor_get_f64_run(block, t, i, n);
        for (; w->n_first < 8 && w->n_first < w->numel; w->n_first++)
            w->first[w->n_first] = block[w->n_first];
        note_range(w, &s, block, n);
    }
    w->mean = s.n_finite ? s.sum / (double)s.n_finite : 0;
    for (int64_t i = 0; i < w->numel; i += BLOCK) {
        const int64_t n = w->numel - i < BLOCK ? w->numel - i : BLOCK;

        cq_tensor_get_f64_run(block, t, i, n);
        note_bins(w, &s, block, n);
    }
    w->std = s.n_finite ? sqrt(s.squares / (double)s.n_finite) : 0;
}

static bool is_complex(cq_dtype d)
{
    return d == CQ_DTYPE_C64 || d == CQ_DTYPE_C128 || d == CQ_DTYPE_C32;
}

/* The number of elements that are measured follows from the size of the files and of the memory
 * that holds weights: a small file can describe any number of tensors with the same bytes. */
typedef struct budget {
    cq_ptr_map storages; /* in memory, counted */
    double     elements, used;
} budget;

static cq_status spend(budget *b, const cq_tensor *t, int64_t numel, bool *allowed)
{
    cq_storage *s = t->storage;

    if (!s->mapped && !s->zeros && !cq_ptr_map_get(&b->storages, s)) {
        CQ_TRY(cq_ptr_map_set(&b->storages, s, s));
        b->elements += (double)s->size;
    }
    *allowed = b->used + (double)numel <=
               b->elements + (double)TIMES_MEASURED * (double)cq_mapping_n_read();
    b->used += *allowed ? (double)numel : 0;
    return CQ_OK;
}

/* Measures a weight. If its data is missing, as in a stripped model, or invalid, or if the weights
 * are too many for their files, only its shape is shown. */
static cq_status measure_weight(cq_view *v, cq_view_weight *w, budget *b)
{
    cq_tensor *t       = NULL;
    bool       allowed = false;
    cq_status  status;

    if (cq_onnx_tensor_numel(&w->numel, w->tensor) != CQ_OK)
        w->numel = 0;
    w->bytes = (uint64_t)w->numel * cq_dtype_size(cq_dtype_from_onnx(w->tensor->data_type));
    status   = cq_onnx_tensor_to_tensor(&t, v->model, w->tensor);
    if (status == CQ_E_NO_MEMORY)
        return status;
    if (status == CQ_OK && cq_tensor_has_data(t) && !is_complex(cq_tensor_dtype(t)))
        status = spend(b, t, w->numel, &allowed);
    if (allowed)
        measure(w, t);
    cq_tensor_release(t);
    return status == CQ_E_NO_MEMORY ? status : CQ_OK;
}

cq_status cq_view_weigh(cq_view *v)
{
    budget    b      = { .elements = MIN_MEASURED };
    cq_status status = CQ_OK;

    for (size_t i = 0; i < v->weights.n && status == CQ_OK; i++)
        status = measure_weight(v, &v->weights.items[i], &b);
    cq_ptr_map_clear(&b.storages);
    return status;
}
