/* Calls an operator: checks the arguments against the schema, lets the row compute the results,
 * informs the listener. Real and fake tensors take the same path. */
#include "aten/core/body.h"
#include "aten/core/complex.h"
#include "aten/ops/quantized.h"
#include "aten/core/work.h"
#include "base/cancel.h"

/* ---- arguments ---- */

/* Converts v to the expected type; false if that is impossible. */
static bool convert(cq_val *v, const cq_schema_type *want)
{
    if (!cq_schema_accepts(want, v, CQ_MATCH_CALL))
        return false;
    if (v->kind == CQ_VAL_INT && !want->list_depth && want->base == CQ_SCHEMA_FLOAT)
        *v = cq_val_of_f64((double)v->u.i.value);
    if (v->kind == CQ_VAL_INT && !want->list_depth && want->base == CQ_SCHEMA_BOOL)
        *v = cq_val_of_bool(v->u.i.value != 0);
    return true;
}

static cq_status fill_args(cq_ctx *cx, const cq_op *op, cq_val *out, const cq_val *args,
                           size_t n_args)
{
    const cq_schema *s = op->schema;

    if (n_args > s->n_args)
        return cq_fail(CQ_E_ARGUMENT, s->full, NULL, "takes %zu arguments but got %zu", s->n_args,
                       n_args);
    for (size_t i = 0; i < s->n_args; i++) {
        const cq_schema_arg *a = &s->args[i];

        if (i < n_args) {
            out[i] = args[i];
        } else if (a->has_default) {
            out[i] = a->default_value;
        } else if (a->type.optional) {
            out[i] = CQ_NONE;
        } else {
            return cq_fail(CQ_E_ARGUMENT, s->full, NULL, "argument \"%s\" is missing", a->name);
        }
        if (!convert(&out[i], &a->type))
            return cq_fail(CQ_E_TYPE, s->full, NULL, "argument \"%s\" expects %s but got %s",
                           a->name, a->type.name, cq_val_kind_name(out[i].kind));
    }
    (void)cx;
    return CQ_OK;
}

bool cq_op_accepts(const cq_op *op, const cq_val *args, size_t n_args)
{
    const cq_schema *s = op->schema;

    if (n_args > s->n_args)
        return false;
    for (size_t i = 0; i < s->n_args; i++) {
        if (i < n_args ? !cq_schema_accepts(&s->args[i].type, &args[i], CQ_MATCH_CALL)
                       : !s->args[i].has_default && !s->args[i].type.optional)
            return false;
    }
    return true;
}

/* ---- tensors among the arguments ---- */

typedef cq_status (*tensor_visitor)(cq_ctx *cx, cq_tensor *t, void *user);

static cq_status each_tensor(cq_ctx *cx, const cq_val *args, size_t n, tensor_visitor visit,
                             void *user)
{
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CQ_VAL_TENSOR)
            CQ_TRY(visit(cx, args[i].u.tensor, user));
        else if (args[i].kind == CQ_VAL_LIST || args[i].kind == CQ_VAL_TUPLE)
            CQ_TRY(each_tensor(cx, args[i].u.list->items, args[i].u.list->n, visit, user));
    }
    return CQ_OK;
}

typedef struct seen {
    bool fake, quantized, complex;
} seen;

static cq_status note(cq_ctx *cx, cq_tensor *t, void *user)
{
    seen *s = user;

    (void)cx;
    s->fake |= cq_tensor_is_fake(t);
    s->quantized |= t->qparams != NULL;
    s->complex |= cq_dtype_is_complex(t->dtype);
    return CQ_OK;
}

static cq_status refresh(cq_ctx *cx, cq_tensor *t, void *user)
{
    (void)user;
    return cx->listener->refresh(cx->listener_self, cx, t);
}

/* ---- making the results ---- */

bool cq_op_is_composed(const cq_op *op)
{
    return op->body || op->def->compose;
}

cq_status cq_op_compose(cq_opcall *c)
{
    return c->op->body ? cq_body_run(c->op->body, c) : c->op->def->compose(c);
}

/* Composed operators run their parts under the same context. A listener that records the whole
 * operator is not informed about the parts. */
static cq_status run_composed(cq_opcall *c, cq_status (*compose)(cq_opcall *c), bool heard)
{
    cq_ctx            *cx       = c->cx;
    const cq_listener *listener = cx->listener;
    cq_status          status;

    if (cx->depth == CQ_MAX_CALL_DEPTH)
        return cq_fail(CQ_E_INTERNAL, c->op->schema->full, NULL,
                       "operators are nested more than %d deep", CQ_MAX_CALL_DEPTH);
    if (heard)
        cx->listener = NULL;
    cx->depth++;
    status = compose(c);
    cx->depth--;
    cx->listener = listener;
    return status == CQ_OK ? cx->status : status;
}

/* Views compute nothing, but are objects: a chunk of a tensor can be a million of them. */
static cq_status make_views(cq_opcall *c)
{
    uint64_t n = 1;

    CQ_TRY(c->op->def->view(c));
    for (size_t i = 0; i < c->n_results; i++)
        n += c->results[i].kind == CQ_VAL_LIST ? c->results[i].u.list->n : 0;
    return c->cx->spend && c->real ? c->cx->spend(c->cx->spender, n * CQ_WORK_CALL) : CQ_OK;
}

static cq_status make_results(cq_opcall *c, bool heard)
{
    const cq_op_def *def = c->op->def;

    if (def->view)
        return make_views(c);
    if (cq_op_is_composed(c->op) && !(def->shape && !c->real))
        return run_composed(c, cq_op_compose, heard);
    if (!c->real || !(def->flags & CQ_OP_DYNAMIC)) {
        if (!def->shape)
            return cq_fail(CQ_E_INTERNAL, c->op->schema->full, NULL, "the row has no shape rule");
        CQ_TRY(def->shape(c));
    }
    if (!c->real || c->cx->status != CQ_OK)
        return c->cx->status;
    if (c->cx->spend)
        CQ_TRY(c->cx->spend(c->cx->spender, cq_op_work(c)));
    return def->run ? def->run(c) : CQ_OK;
}

/* Computes the results and informs the listener. */
static cq_status make_and_notify(cq_opcall *c)
{
    cq_ctx            *cx = c->cx;
    const cq_listener *to = cx->listener;
    cq_status (*parts)(cq_opcall * c) =
        to && to->parts_of ? to->parts_of(cx->listener_self, c->op) : NULL;
    bool heard =
        to && !parts && (!cq_op_is_composed(c->op) || to->wants_whole(cx->listener_self, c));

    c->n_results = c->op->schema->n_results;
    CQ_TRY(parts ? run_composed(c, parts, false) : make_results(c, heard));
    CQ_TRY(cx->status);
    return heard ? to->called(cx->listener_self, c) : CQ_OK;
}

/* The same with quantized tensors. Only the outermost operator handles their quantization
 * parameters: its parts compute in floats. */
static cq_status make_quantized(cq_opcall *c)
{
    cq_ctx           *cx = c->cx;
    cq_quantized_rule rule;
    cq_qparams       *like;
    cq_status         status;

    cx->in_grid = true;
    status      = cq_quantized_before(c, &rule, &like);
    if (status == CQ_OK)
        status = make_and_notify(c);
    if (status == CQ_OK)
        status = cq_quantized_after(c, rule, like);
    cx->in_grid = false;
    return status;
}

/* The same with complex tensors: in terms of pairs of real numbers, if there is a rule for it. */
static cq_status make_complex(cq_opcall *c)
{
    cq_complex_rule *rule = cq_complex_rule_of(c->op);

    c->n_results = c->op->schema->n_results;
    if (rule)
        return run_composed(c, rule, false);
    if (cq_takes_complex(c->op))
        return make_and_notify(c);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "not implemented for complex tensors");
}

/* Whether a complex number or dtype among the arguments makes the results complex. */
static bool makes_complex(const cq_opcall *c)
{
    const cq_schema *s     = c->op->schema;
    const int        dtype = cq_schema_find(s, "dtype");

    for (size_t i = 0; i < s->n_args; i++)
        if (c->args[i].kind == CQ_VAL_COMPLEX)
            return true;
    return dtype >= 0 && c->args[dtype].kind == CQ_VAL_INT &&
           cq_dtype_is_complex(cq_dtype_from_torch(c->args[dtype].u.i.value));
}

/* In-place casts that PyTorch does silently: not a fraction to an integer, not numbers to bool. */
static bool can_cast(cq_dtype from, cq_dtype to)
{
    if (cq_dtype_is_complex(from) && !cq_dtype_is_complex(to))
        return false;
    if (cq_dtype_is_float(from) && !cq_dtype_is_float(to) && !cq_dtype_is_complex(to))
        return false;
    return to != CQ_DTYPE_BOOL || from == CQ_DTYPE_BOOL;
}

/* self.op_(…): computes the plain operator and puts the result into self. */
static cq_status run_in_place(cq_opcall *c)
{
    cq_ctx    *cx     = c->cx;
    cq_tensor *self   = c->args[0].u.tensor;
    cq_val     result = CQ_NONE;
    cq_tensor *changed;

    CQ_TRY(cq_op_call(cx, c->op->inplace_of, c->args, c->op->schema->n_args, &result, 1));
    if (result.kind != CQ_VAL_TENSOR)
        return cx->status;
    changed = result.u.tensor;
    if (changed->rank != self->rank)
        return cq_fail(CQ_E_TYPE, c->op->schema->full, NULL,
                       "an in-place operator cannot change the shape of its tensor");
    for (size_t i = 0; i < self->rank; i++)
        if (self->sizes[i].value != changed->sizes[i].value)
            return cq_fail(CQ_E_TYPE, c->op->schema->full, NULL,
                           "an in-place operator cannot change the shape of its tensor");
    if (!can_cast(changed->dtype, self->dtype))
        return cq_fail(CQ_E_TYPE, c->op->schema->full, NULL,
                       "the result is of %s, which the %s tensor cannot hold",
                       cq_dtype_name(changed->dtype), cq_dtype_name(self->dtype));
    if (changed->dtype != self->dtype)
        changed = CQ_OP(cx, "aten::to.dtype", TENSOR(changed), DTYPE(self->dtype));
    CQ_TRY(cx->status);
    if (cx->will_write)
        CQ_TRY(cx->will_write(cx->will_write_user, self));
    if (cx->listener) {
        CQ_TRY(cx->listener->changed(cx->listener_self, cx, self, changed));
    } else if (self->storage && changed->storage) {
        CQ_TRY(cq_tensor_copy_into(self, changed));
    }
    c->results[0] = c->args[0];
    c->n_results  = 1;
    return CQ_OK;
}

/* v with copies of its tensors in place of them. */
static cq_val copied(cq_ctx *cx, cq_val v)
{
    cq_val one;

    if (v.kind == CQ_VAL_TENSOR)
        return TENSOR(CQ_OP(cx, "aten::clone", v, INT(0)));
    if (v.kind != CQ_VAL_LIST)
        return v;
    for (size_t i = 0; i < v.u.list->n; i++) {
        one = cq_val_retain(copied(cx, v.u.list->items[i]));
        cq_val_release(v.u.list->items[i]);
        v.u.list->items[i] = one;
    }
    return v;
}

/* expand_copy(…): the result of expand, in separate memory. */
static cq_status run_copy(cq_opcall *c)
{
    c->n_results = 1;
    CQ_TRY(cq_op_call(c->cx, c->op->copy_of, c->args, c->op->schema->n_args, c->results, 1));
    c->results[0] = copied(c->cx, c->results[0]);
    return c->cx->status;
}

cq_status cq_op_call(cq_ctx *cx, const cq_op *op, const cq_val *args, size_t n_args,
                     cq_val *results, size_t max_results)
{
    cq_val    filled[CQ_MAX_ARGS];
    cq_opcall c   = { .cx = cx, .op = op, .args = filled };
    seen      has = { .fake = cx->fake };
    cq_status status;

    for (size_t i = 0; i < max_results; i++)
        results[i] = CQ_NONE;
    CQ_TRY(cx->status);
    status = cq_check_cancelled();
    if (status == CQ_OK)
        status = fill_args(cx, op, filled, args, n_args);
    if (status == CQ_OK && cx->listener)
        status = each_tensor(cx, filled, op->schema->n_args, refresh, NULL);
    if (status != CQ_OK)
        return cq_ctx_fail(cx, status);
    each_tensor(cx, filled, op->schema->n_args, note, &has);
    has.complex |= makes_complex(&c);
    c.real = !has.fake;
    if (op->inplace_of)
        status = run_in_place(&c);
    else if (op->copy_of)
        status = run_copy(&c);
    else
        status = has.quantized && !cx->in_grid ? make_quantized(&c)
                 : has.complex                 ? make_complex(&c)
                                               : make_and_notify(&c);
    if (status != CQ_OK) {
        cq_error_add_where(status, "%s", op->schema->full);
        return cq_ctx_fail(cx, status);
    }
    for (size_t i = 0; i < max_results && i < c.n_results; i++)
        results[i] = c.results[i];
    return CQ_OK;
}

const cq_op *cq_op_or_fail(cq_ctx *cx, const char *full_name)
{
    const cq_op *op = cx && cx->status == CQ_OK ? cq_op_find(full_name) : NULL;

    if (!cx)
        cq_argument_missing(full_name, "cx");
    else if (!op && cx->status == CQ_OK)
        cq_ctx_fail(cx, cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "unknown operator %s", full_name));
    return op;
}

cq_tensor *cq_op_tensor(cq_ctx *cx, const char *full_name, const cq_val *args, size_t n_args)
{
    cq_tensor *result = NULL;

    cq_op_tensors(cx, full_name, args, n_args, &result, 1);
    return result;
}

void cq_op_tensors(cq_ctx *cx, const char *full_name, const cq_val *args, size_t n_args,
                   cq_tensor **results, size_t n_results)
{
    const cq_op *op = cq_op_or_fail(cx, full_name);
    cq_val       vals[CQ_MAX_RESULTS];

    for (size_t i = 0; i < n_results; i++)
        results[i] = NULL;
    if (!op || cq_op_call(cx, op, args, n_args, vals, n_results) != CQ_OK)
        return;
    for (size_t i = 0; i < n_results; i++)
        results[i] = vals[i].kind == CQ_VAL_TENSOR ? vals[i].u.tensor : NULL;
}
