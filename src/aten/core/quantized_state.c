/* Packed weights in archives. The state of a linear layer is its weight and bias. That of a
 * convolution is a list of numbers: the number of axes, then stride, padding, dilation and output
 * padding of each, then groups, and whether it is transposed; as a tensor followed by the weight
 * ("2"), or as a list (3). PyTorch 1.5 had a tensor for each number instead. */
#include "aten/ops/quantized.h"
#include "base/str.h"

enum { MAX_AXES = 3, MAX_NUMBERS = 1 + 4 * MAX_AXES + 2 };

typedef struct conv_state {
    int64_t numbers[MAX_NUMBERS];
    size_t  n;
    cq_val  weight, bias;
} conv_state;

static cq_status damaged(const char *class_name)
{
    return cq_fail(CQ_E_FORMAT, class_name, NULL,
                   "packed weights have a state that calque cannot read");
}

/* The items of a list or tuple; none for anything else. */
static size_t items_of(cq_val v, const cq_val **items)
{
    bool is_list = v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE;

    *items = is_list ? v.u.list->items : NULL;
    return is_list ? v.u.list->n : 0;
}

/* Appends the numbers of a list of tensors of one element each; returns how many. */
static size_t read_singles(conv_state *c, cq_val list)
{
    const cq_val *items;
    size_t        n = items_of(list, &items);

    for (size_t i = 0; i < n && c->n < MAX_NUMBERS; i++) {
        bool is_number = items[i].kind == CQ_VAL_TENSOR && !cq_tensor_is_fake(items[i].u.tensor) &&
                         cq_tensor_numel(items[i].u.tensor) == 1;

        c->numbers[c->n++] = is_number ? cq_tensor_get_i64(items[i].u.tensor, 0) : -1;
    }
    return n;
}

/* (weight, bias, [stride], [padding], [dilation], groups); none was transposed. */
static bool read_first(conv_state *c, const cq_val *state)
{
    cq_list groups = { .n = 1, .items = (cq_val *)&state[5] };
    size_t  axes;

    c->weight = state[0];
    c->bias   = state[1];
    c->n      = 1;
    axes      = read_singles(c, state[2]);
    if (read_singles(c, state[3]) != axes || read_singles(c, state[4]) != axes || axes > MAX_AXES)
        return false;
    c->numbers[0] = (int64_t)axes;
    for (size_t i = 0; i < axes; i++)
        c->numbers[c->n++] = 0; /* output padding */
    read_singles(c, cq_val_of_list(&groups));
    c->numbers[c->n++] = 0;
    return true;
}

/* ("2", [numbers, weight], [bias]) */
static bool read_second(conv_state *c, const cq_val *state)
{
    const cq_val *fixed, *maybe;

    if (items_of(state[1], &fixed) != 2 || items_of(state[2], &maybe) != 1 ||
        fixed[0].kind != CQ_VAL_TENSOR || cq_tensor_is_fake(fixed[0].u.tensor))
        return false;
    c->n = (size_t)cq_tensor_numel(fixed[0].u.tensor);
    for (size_t i = 0; i < c->n && i < MAX_NUMBERS; i++)
        c->numbers[i] = cq_tensor_get_i64(fixed[0].u.tensor, (int64_t)i);
    c->weight = fixed[1];
    c->bias   = maybe[0];
    return true;
}

/* (3, numbers, [None, weight, bias]) */
static bool read_third(conv_state *c, const cq_val *state)
{
    const cq_val *numbers, *tensors;

    c->n = items_of(state[1], &numbers);
    if (items_of(state[2], &tensors) != 3)
        return false;
    for (size_t i = 0; i < c->n && i < MAX_NUMBERS; i++)
        c->numbers[i] = numbers[i].kind == CQ_VAL_INT ? numbers[i].u.i.value : -1;
    c->weight = tensors[1];
    c->bias   = tensors[2];
    return true;
}

static cq_status put_ints(cq_val *out, const int64_t *numbers, size_t n)
{
    cq_list *list;

    CQ_TRY(cq_list_new(&list, n));
    for (size_t i = 0; i < n; i++)
        list->items[i] = cq_val_of_i64(numbers[i]);
    *out = cq_val_of_list(list);
    return CQ_OK;
}

static cq_status pack_conv(cq_list *to, const conv_state *c)
{
    size_t         n  = (size_t)c->numbers[0];
    const int64_t *at = c->numbers + 1;

    CQ_TRY(put_ints(&to->items[CQ_PACKED_STRIDE], at, n));
    CQ_TRY(put_ints(&to->items[CQ_PACKED_PADDING], at + n, n));
    CQ_TRY(put_ints(&to->items[CQ_PACKED_DILATION], at + 2 * n, n));
    to->items[CQ_PACKED_GROUPS] = cq_val_of_i64(at[4 * n]);
    if (at[4 * n + 1])
        CQ_TRY(put_ints(&to->items[CQ_PACKED_OUTPUT_PADDING], at + 3 * n, n));
    return CQ_OK;
}

cq_status cq_packed_weights_of(cq_val *out, const char *class_name, cq_val state)
{
    bool          conv = strstr(class_name, "Conv") != NULL;
    conv_state    c    = { .weight = CQ_NONE, .bias = CQ_NONE };
    const cq_val *items;
    size_t        n = items_of(state, &items);
    cq_list      *list;
    cq_status     status = CQ_OK;

    *out = CQ_NONE;
    if (n != (conv ? 3 : 2) && !(conv && n == 6))
        return damaged(class_name);
    if (!conv) {
        c.weight = items[0];
        c.bias   = items[1];
    } else if (!(n == 6                        ? read_first
                 : items[0].kind == CQ_VAL_STR ? read_second
                                               : read_third)(&c, items) ||
               c.numbers[0] < 1 || c.numbers[0] > MAX_AXES ||
               c.n != 1 + 4 * (size_t)c.numbers[0] + 2) {
        return damaged(class_name);
    }
    if (c.weight.kind != CQ_VAL_TENSOR ||
        (c.bias.kind != CQ_VAL_TENSOR && c.bias.kind != CQ_VAL_NONE))
        return damaged(class_name);
    CQ_TRY(cq_list_new(&list, conv ? CQ_PACKED_CONV : CQ_PACKED_LINEAR));
    *out                          = (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = list };
    list->items[CQ_PACKED_WEIGHT] = cq_val_retain(c.weight);
    list->items[CQ_PACKED_BIAS]   = cq_val_retain(c.bias);
    if (conv)
        status = pack_conv(list, &c);
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}
