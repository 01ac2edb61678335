/* The keys of traits, and what their values mean. */
#include "aten/core/traits.h"

#include <string.h>

static const char *const autocasts[] = {
    [CQ_AUTOCAST_LOWER]   = "lower",
    [CQ_AUTOCAST_FLOAT32] = "float32",
    [CQ_AUTOCAST_WIDEST]  = "widest",
};

static const char *const vmaps[] = {
    [CQ_VMAP_ELEMENTWISE] = "elementwise",
    [CQ_VMAP_BY_AXES]     = "by_axes",
    [CQ_VMAP_BY_SHAPE]    = "by_shape",
    [CQ_VMAP_JOINED]      = "joined",
    [CQ_VMAP_PRODUCT]     = "product",
    [CQ_VMAP_LINEAR]      = "linear",
    [CQ_VMAP_TURNED]      = "turned",
    [CQ_VMAP_LAST]        = "last",
    [CQ_VMAP_LAYER]       = "layer",
};

static const char *const costs[] = {
    [CQ_COST_FETCHED]        = "fetched",
    [CQ_COST_FUNCTION]       = "function",
    [CQ_COST_PICKED]         = "picked",
    [CQ_COST_SORTED]         = "sorted",
    [CQ_COST_MATRIX_PRODUCT] = "matrix_product",
    [CQ_COST_CONVOLUTION]    = "convolution",
    [CQ_COST_POOL]           = "pool",
    [CQ_COST_RECURRENT]      = "recurrent",
    [CQ_COST_BY_LAST_SIZE]   = "by_last_size",
    [CQ_COST_PAIRS_OF_BOXES] = "pairs_of_boxes",
    [CQ_COST_REGIONS]        = "regions",
};

typedef struct words {
    const char        *key;
    const char *const *items; /* the first is NULL */
    size_t             n;
} words;

/* The number of the value of a key; 0 without one. */
static cq_status read_word(unsigned *out, const cq_decorator *d, words w)
{
    const char *value = cq_decorator_value(d, w.key);

    for (size_t i = 1; value && i < w.n; i++)
        if (strcmp(w.items[i], value) == 0) {
            *out = (unsigned)i;
            return CQ_OK;
        }
    return value ? cq_decorator_fail(d, "a trait has a value that is not known") : CQ_OK;
}

cq_status cq_op_traits_read(cq_op_traits *traits, const cq_decorator *d)
{
    unsigned autocast = traits->autocast, vmap = traits->vmap, cost = traits->cost;

    CQ_TRY(read_word(&autocast, d,
                     (words){ "autocast", autocasts, sizeof autocasts / sizeof *autocasts }));
    CQ_TRY(read_word(&vmap, d, (words){ "vmap", vmaps, sizeof vmaps / sizeof *vmaps }));
    CQ_TRY(read_word(&cost, d, (words){ "cost", costs, sizeof costs / sizeof *costs }));
    traits->autocast = (cq_autocast)autocast;
    traits->vmap     = (cq_vmap)vmap;
    traits->cost     = (cq_cost)cost;
    traits->complex_pairs |= cq_decorator_value(d, "complex_pairs") != NULL;
    return CQ_OK;
}
