/* The index of kernel rows, built on first use. */
#include "runtime/rows.h"

#include "base/map.h"
#include "base/once.h"
#include "runtime/kernels/families.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char      *domain;
    const cq_rt_row *rows;
} families[] = {
    { "", cq_rt_rows_elementwise },
    { "", cq_rt_rows_shape },
    { "", cq_rt_rows_create },
    { "", cq_rt_rows_math },
    { "", cq_rt_rows_einsum },
    { "", cq_rt_rows_index },
    { "", cq_rt_rows_reduce },
    { "", cq_rt_rows_window },
    { "", cq_rt_rows_norm },
    { "", cq_rt_rows_control },
    { "", cq_rt_rows_sequence },
    { "", cq_rt_rows_random },
    { "", cq_rt_rows_quantize },
    { "", cq_rt_rows_rnn },
    { "", cq_rt_rows_loss },
    { "", cq_rt_rows_resize },
    { "", cq_rt_rows_image },
    { "", cq_rt_rows_signal },
    { "", cq_rt_rows_text },
    { "", cq_rt_rows_cast },
    { "", cq_rt_rows_attention },
    { "", cq_rt_rows_linear_attention },
    { "", cq_rt_rows_deform },
    { "com.microsoft", cq_rt_rows_microsoft },
    { "ai.onnx.preview.training", cq_rt_rows_training },
    { "ai.onnx.ml", cq_rt_rows_ml },
    { "ai.onnx.ml", cq_rt_rows_ml_linear },
    { "ai.onnx.ml", cq_rt_rows_ml_trees },
    { "ai.onnx.ml", cq_rt_rows_ml_features },
    { "ai.onnx.ml", cq_rt_rows_ml_maps },
};

#define N_FAMILIES (sizeof families / sizeof *families)

static const char *own_domain(const char *domain)
{
    return !domain || !strcmp(domain, "ai.onnx") ? "" : domain;
}

/* Maps "domain:op" to the first row of an operator; rows of an operator are adjacent, oldest
 * first. */
static struct {
    cq_once once;
    cq_map  first;
} table = { .once = CQ_ONCE_INIT };

static void make_key(char *key, size_t size, const char *domain, const char *op)
{
    snprintf(key, size, "%s:%s", domain, op);
}

enum { KEY_SIZE = 256 };

static cq_status build(void)
{
    cq_status status = CQ_OK;

    for (size_t i = 0; i < N_FAMILIES; i++)
        for (const cq_rt_row *row = families[i].rows; row->op && status == CQ_OK; row++) {
            char key[KEY_SIZE];

            make_key(key, sizeof key, families[i].domain, row->op);
            if (!cq_map_has(&table.first, key))
                status = cq_map_set(&table.first, key, (void *)row);
        }
    if (status != CQ_OK)
        cq_map_clear(&table.first);
    return status;
}

cq_status cq_rt_row_find(const cq_rt_row **out, const char *domain, const char *op, int64_t version)
{
    const cq_rt_row *row;
    char             key[KEY_SIZE];

    *out = NULL;
    CQ_TRY(cq_once_call(&table.once, build));
    make_key(key, sizeof key, own_domain(domain), op);
    row = cq_map_get(&table.first, key);
    for (; row && row->op && !strcmp(row->op, op); row++)
        if (row->since <= version)
            *out = row;
    return CQ_OK;
}
