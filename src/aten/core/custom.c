/* Custom functions: each becomes an operator composed by its forward, so that it can be captured as
 * a whole, decomposed, and exported by a symbolic function. */
#include "aten/core/ctx.h"
#include "aten/core/custom.h"
#include "base/lock.h"
#include "base/sized.h"
#include "base/str.h"

typedef struct custom {
    cq_op_def   def; /* first: an operator's def leads back here */
    cq_op       op;
    cq_function function;
} custom;

static cq_mutex   lock = CQ_MUTEX_INIT;
static cq_ptr_map known; /* function -> custom; lives as long as the program */
static cq_arena  *arena;

static cq_status compose(cq_opcall *c)
{
    const cq_function *f = &((const custom *)c->op->def)->function;
    cq_tensor         *in[CQ_FUNCTION_MAX_TENSORS], *out[CQ_FUNCTION_MAX_TENSORS] = { 0 };

    for (size_t i = 0; i < f->n_in; i++)
        in[i] = c->args[i].u.tensor;
    f->forward(c->cx, f->user, in, out);
    for (size_t i = 0; i < f->n_out; i++) {
        if (!out[i] && c->cx->status == CQ_OK)
            return cq_call_fail(c, CQ_E_ARGUMENT, "forward did not set result %zu", i);
        cq_result_set_tensor(c, i, out[i]);
    }
    return c->cx->status;
}

const cq_function *cq_op_function(const cq_op *op)
{
    return op && op->def->compose == compose ? &((const custom *)op->def)->function : NULL;
}

static void write_list(cq_str *s, size_t n, const char *format)
{
    cq_str_add_char(s, '(');
    for (size_t i = 0; i < n; i++) {
        cq_str_add(s, i ? ", Tensor" : "Tensor");
        if (format)
            cq_str_printf(s, " x%zu", i);
    }
    cq_str_add_char(s, ')');
}

static cq_status check(const cq_function *f)
{
    if (!f->name || !strstr(f->name, "::") || f->n_in > CQ_FUNCTION_MAX_TENSORS || !f->n_in ||
        !f->n_out || f->n_out > CQ_FUNCTION_MAX_TENSORS || !f->forward)
        return cq_fail(CQ_E_ARGUMENT, f->name, NULL,
                       "a custom function expects a name with a domain, a forward, and 1 to %d "
                       "inputs and outputs",
                       CQ_FUNCTION_MAX_TENSORS);
    return CQ_OK;
}

static cq_status make(custom **out, const cq_function *given)
{
    cq_function own = { CQ_SIZED(cq_function) }, *f = &own;
    custom     *c      = NULL;
    cq_str      s      = { 0 };
    cq_schema  *schema = NULL;
    cq_status   status;

    CQ_TRY(cq_sized_take(&own, given, "cq_function"));
    CQ_TRY(check(&own));
    if (!arena && !(arena = cq_arena_new()))
        return CQ_E_NO_MEMORY;
    c = cq_arena_zalloc(arena, sizeof *c);
    cq_str_add(&s, f->name);
    write_list(&s, f->n_in, "");
    cq_str_add(&s, " -> ");
    write_list(&s, f->n_out, NULL);
    status = c && s.status == CQ_OK ? cq_schema_parse(&schema, arena, s.text) : CQ_E_NO_MEMORY;
    if (status == CQ_OK) {
        c->function    = own;
        c->def.compose = compose;
        c->def.schema  = cq_arena_strdup(arena, s.text);
        c->op.def      = &c->def;
        c->op.schema   = schema;
        status         = cq_ptr_map_set(&known, given, c);
    }
    cq_str_clear(&s);
    *out = c;
    return status;
}

CQ_API void cq_apply(cq_ctx *cx, const cq_function *f, cq_tensor *const *in, cq_tensor **out)
{
    CQ_NEED_ELSE(cx, );
    cq_val    args[CQ_FUNCTION_MAX_TENSORS], results[CQ_FUNCTION_MAX_TENSORS];
    custom   *c;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < f->n_out && i < CQ_FUNCTION_MAX_TENSORS; i++)
        out[i] = NULL;
    if (cx->status != CQ_OK)
        return;
    cq_mutex_lock(&lock);
    c = cq_ptr_map_get(&known, f);
    if (!c)
        status = make(&c, f);
    cq_mutex_unlock(&lock);
    if (status != CQ_OK) {
        cq_ctx_fail(cx, status);
        return;
    }
    for (size_t i = 0; i < f->n_in; i++)
        args[i] = TENSOR(in[i]);
    if (cq_op_call(cx, &c->op, args, f->n_in, results, f->n_out) != CQ_OK)
        return;
    for (size_t i = 0; i < f->n_out; i++)
        out[i] = results[i].kind == CQ_VAL_TENSOR ? results[i].u.tensor : NULL;
}
