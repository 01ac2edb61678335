/* @parse_args("v", "i", "is"): the arguments of a symbolic function for torch.onnx, by descriptor,
 * as torch.onnx.symbolic_helper converts them. A number that the descriptor requires must be known
 * at export; otherwise the operator is declined. */
#include "export/symbolic/host.h"

#include <math.h>

enum { MAX_LIST = 4096 };

static const char *descriptor(const cq_decorator *d, size_t i)
{
    return i == 0 ? *d->text ? d->text : NULL : cq_decorator_at(d, i - 1);
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

cq_status cq_sym_check_parse_args(const cq_decorator *d)
{
    static const char *const all[] = { "v", "i", "f", "b", "s", "is", "fs", "t", "none", NULL };

    if (!cq_decorator_is(d, "parse_args"))
        return CQ_OK;
    if (!descriptor(d, 0) && d->n_keys)
        return cq_decorator_fail(d, "expected descriptors of arguments, as in @parse_args(\"v\", "
                                    "\"i\")");
    for (size_t i = 0; i < d->n_keys + (*d->text != 0); i++) {
        const char *word = descriptor(d, i);

        if (!word || !is_one_of(word, all))
            return cq_decorator_fail(d, "unknown descriptor in @parse_args; expected one of v, i, "
                                        "f, b, s, is, fs, t, none");
    }
    return CQ_OK;
}

static cq_val of_kind(double f, char kind)
{
    switch (kind) {
    case 'i': return cq_val_of_i64((int64_t)f);
    case 'b': return cq_val_of_bool(f != 0);
    default: return cq_val_of_f64(f);
    }
}

/* An int64 beyond 2^53 is not a double: it is kept unchanged. */
static bool number_of_kind(cq_val v, char kind, cq_val *out)
{
    double f;

    if (kind == 'i' && v.kind == CQ_VAL_INT && !v.u.i.expr) {
        *out = v;
        return true;
    }
    if (!cq_sym_number_of(v, &f) || (kind == 'i' && !(fabs(f) < 0x1p63)))
        return false;
    *out = of_kind(f, kind);
    return true;
}

/* The elements of a list, or of a constant tensor of one dimension. */
static bool list_of_kind(cq_sym_run *r, cq_val v, char kind, cq_val *out)
{
    const cq_operand *o = cq_sym_operand_of(v);
    cq_tensor        *t = o ? cq_sym_data(o->u.value) : NULL;
    size_t            n;
    const cq_val     *items = cq_lang_items(&v, &n);

    if (t) {
        if (cq_tensor_rank(t) != 1 || cq_tensor_numel(t) > MAX_LIST)
            return false;
        n = (size_t)cq_tensor_numel(t);
    } else if (v.kind != CQ_VAL_LIST && v.kind != CQ_VAL_TUPLE) {
        return false;
    }
    *out = cq_lang_list(&r->lang, NULL, n);
    for (size_t i = 0; i < n && out->kind == CQ_VAL_LIST; i++)
        if (t)
            out->u.list->items[i] = of_kind(cq_tensor_get_f64(t, (int64_t)i), kind);
        else if (!number_of_kind(items[i], kind, &out->u.list->items[i]))
            return false;
    return true;
}

cq_val cq_sym_parse_arg(cq_sym_run *r, const cq_decorator *d, size_t i, cq_val v)
{
    const char *word = descriptor(d, i);
    cq_val      out  = v;
    bool        ok;

    if (!word) {
        cq_sym_fail(r->s,
                    cq_decorator_fail(d, "@parse_args has fewer descriptors than the operator "
                                         "has arguments"));
        return CQ_NONE;
    }
    if (v.kind == CQ_VAL_NONE || strcmp(word, "none") == 0 || word[0] == 'v' || word[0] == 't')
        return v;
    if (word[0] == 's')
        ok = v.kind == CQ_VAL_STR;
    else
        ok = word[1] ? list_of_kind(r, v, word[0], &out) : number_of_kind(v, word[0], &out);
    if (ok)
        return out;
    cq_sym_no(r->s, 0, "argument %zu must be known when the model is exported (parse_args: \"%s\")",
              i + 1, word);
    return CQ_NONE;
}
