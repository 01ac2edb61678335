/* Operators whose meaning has changed since a file was written: the version of an archive says
 * which meaning its program has. PyTorch bumps the version when it changes an operator; below
 * that a call is rewritten here, before an overload is looked for.
 *
 * Not here: changes that PyTorch made without a new version (floor_divide rounded toward zero
 * before 1.13). It reads old files with the new meaning, and so does calque. */
#include "script/upgrade.h"

#include <string.h>

enum { MAX_ARGS = 16, DEFAULT_STEPS = 100 };

/* A call, as it is changed. */
typedef struct call {
    cq_eval    *ev;
    cq_val      args[MAX_ARGS], kw[MAX_ARGS];
    const char *names[MAX_ARGS];
    size_t      n, n_kw;
} call;

/* The argument at a position, or by its name; NULL if it is not given. */
static cq_val *argument(call *c, size_t position, const char *name)
{
    if (position < c->n)
        return &c->args[position];
    for (size_t i = 0; i < c->n_kw; i++)
        if (strcmp(c->names[i], name) == 0)
            return &c->kw[i];
    return NULL;
}

static void add_keyword(call *c, const char *name, cq_val v)
{
    c->names[c->n_kw] = cq_name(c->ev->program, name);
    c->kw[c->n_kw++]  = v;
}

static bool is_integral(const cq_val *v)
{
    return v && (v->kind == CQ_VAL_TENSOR ? !cq_dtype_is_float(v->u.tensor->dtype) &&
                                                !cq_dtype_is_complex(v->u.tensor->dtype)
                                          : v->kind == CQ_VAL_INT || v->kind == CQ_VAL_BOOL);
}

/* Integers were divided as in C. */
static cq_status old_div(call *c)
{
    if (!argument(c, MAX_ARGS, "rounding_mode") && is_integral(argument(c, 0, "self")) &&
        is_integral(argument(c, 1, "other")) && c->args[0].kind == CQ_VAL_TENSOR)
        add_keyword(c, "rounding_mode", cq_str_val(c->ev->cx, "trunc"));
    return c->ev->cx->status;
}

/* Without a dtype the result was float, whatever it was filled with. */
static cq_status old_full(call *c)
{
    cq_val *dtype = argument(c, MAX_ARGS, "dtype"), *fill = argument(c, 1, "fill_value");
    cq_val  given;
    bool    found;

    if (!fill || (dtype && dtype->kind != CQ_VAL_NONE) ||
        (fill->kind != CQ_VAL_INT && fill->kind != CQ_VAL_BOOL))
        return CQ_OK;
    given = *fill;
    return cq_eval_builtin(c->ev, "aten::Float", &given, 1, NULL, NULL, 0, fill, &found);
}

/* The number of steps could be left out. */
static cq_status old_steps(call *c)
{
    cq_val *steps = argument(c, 2, "steps");

    if (!steps)
        add_keyword(c, "steps", cq_val_of_i64(DEFAULT_STEPS));
    else if (steps->kind == CQ_VAL_NONE)
        *steps = cq_val_of_i64(DEFAULT_STEPS);
    return CQ_OK;
}

static const struct row {
    const char *name;
    int         until; /* the last version with the old meaning */
    cq_status (*change)(call *c);
} rows[] = {
    { "aten::div", 3, old_div },        { "aten::div_", 3, old_div },
    { "aten::full", 4, old_full },      { "aten::linspace", 7, old_steps },
    { "aten::logspace", 8, old_steps },
};

static const struct row *find(const cq_eval *ev, const char *name)
{
    if (ev->program->version > 8) /* most files */
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ev->program->version <= rows[i].until && strcmp(name, rows[i].name) == 0)
            return &rows[i];
    return NULL;
}

cq_status cq_eval_versioned(cq_eval *ev, const char *name, const cq_val *args, size_t n_args,
                            const char *const *names, const cq_val *kw, size_t n_kw, cq_val *out)
{
    const struct row *row = find(ev, name);
    call              c   = { .ev = ev, .n = n_args, .n_kw = n_kw };

    if (!row || n_args > MAX_ARGS || n_kw >= MAX_ARGS)
        return cq_eval_operator(ev, name, args, n_args, names, kw, n_kw, out);
    for (size_t i = 0; i < n_args; i++)
        c.args[i] = args[i];
    for (size_t i = 0; i < n_kw; i++) {
        c.names[i] = names[i];
        c.kw[i]    = kw[i];
    }
    CQ_TRY(row->change(&c));
    return cq_eval_operator(ev, name, c.args, c.n, c.names, c.kw, c.n_kw, out);
}
