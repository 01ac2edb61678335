/* The keys of traits, and what their values mean. */
#include "aten/core/traits.h"
#include "base/str.h"

#include <stdlib.h>
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

static const char *const quantized_results[] = {
    [CQ_QUANTIZED_KEEP] = "keep",     [CQ_QUANTIZED_ROUND] = "round",
    [CQ_QUANTIZED_MEAN] = "mean",     [CQ_QUANTIZED_UNIT] = "unit",
    [CQ_QUANTIZED_SIGNED] = "signed", [CQ_QUANTIZED_PLAIN] = "plain",
    [CQ_QUANTIZED_STORED] = "stored",
};

static const char *const upgrades[] = {
    [CQ_UPGRADE_INTEGER_DIVISION] = "integer_division",
    [CQ_UPGRADE_FLOAT_FILL]       = "float_fill",
    [CQ_UPGRADE_OPTIONAL_STEPS]   = "optional_steps",
};

static const char *const size_operations[] = {
    [CQ_ON_SIZES_COPY] = "copy", [CQ_ON_SIZES_ADD] = "add",           [CQ_ON_SIZES_SUB] = "sub",
    [CQ_ON_SIZES_MUL] = "mul",   [CQ_ON_SIZES_FLOORDIV] = "floordiv", [CQ_ON_SIZES_MOD] = "mod",
};

typedef struct words {
    const char        *key;
    const char *const *items; /* the first is NULL */
    size_t             n;
} words;

#define WORDS(key, items) ((words){ key, items, sizeof items / sizeof *items })

static cq_status fail_value(const cq_decorator *d, const char *value, words w)
{
    cq_str    expected = { 0 };
    cq_status status   = CQ_E_NO_MEMORY;

    for (size_t i = 1; i < w.n; i++)
        cq_str_printf(&expected, "%s%s", i > 1 ? ", " : "", w.items[i]);
    if (expected.status == CQ_OK)
        status = cq_decorator_fail(d, "%s is \"%s\"; expected one of %s", w.key, value,
                                   cq_str_text(&expected));
    cq_str_clear(&expected);
    return status;
}

/* The number of the value of a key; unchanged without one. */
static cq_status read_word(unsigned *out, const cq_decorator *d, words w)
{
    const char *value = cq_decorator_value(d, w.key);

    for (size_t i = 1; value && i < w.n; i++)
        if (strcmp(w.items[i], value) == 0) {
            *out = (unsigned)i;
            return CQ_OK;
        }
    return value ? fail_value(d, value, w) : CQ_OK;
}

cq_status cq_op_traits_read(cq_op_traits *traits, const cq_decorator *d)
{
    const char *until    = cq_decorator_value(d, "until"), *reflected;
    unsigned    autocast = traits->autocast, vmap = traits->vmap, cost = traits->cost;
    unsigned quantized = traits->quantized, upgrade = traits->upgrade, on_sizes = traits->on_sizes;

    CQ_TRY(read_word(&autocast, d, WORDS("autocast", autocasts)));
    CQ_TRY(read_word(&vmap, d, WORDS("vmap", vmaps)));
    CQ_TRY(read_word(&cost, d, WORDS("cost", costs)));
    CQ_TRY(read_word(&quantized, d, WORDS("quantized", quantized_results)));
    CQ_TRY(read_word(&upgrade, d, WORDS("upgrade", upgrades)));
    CQ_TRY(read_word(&on_sizes, d, WORDS("on_sizes", size_operations)));
    reflected         = cq_decorator_value(d, "reflected");
    traits->autocast  = (cq_autocast)autocast;
    traits->vmap      = (cq_vmap)vmap;
    traits->cost      = (cq_cost)cost;
    traits->quantized = (cq_quantized_rule)quantized;
    traits->upgrade   = (cq_upgrade)upgrade;
    traits->on_sizes  = (cq_on_sizes)on_sizes;
    traits->until     = until ? atoi(until) : traits->until;
    traits->reflected = reflected ? reflected : traits->reflected;
    traits->complex_pairs |= cq_decorator_value(d, "complex_pairs") != NULL;
    traits->with_numbers |= cq_decorator_value(d, "with_numbers") != NULL;
    return CQ_OK;
}
