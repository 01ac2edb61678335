/* Exceptions of Python source. While an exception is raised, functions return a failure, and the
 * evaluator holds the exception: an instance from a raise statement, or the class that corresponds
 * to a failure in C, which is instantiated if an except clause needs it. Not every failure is an
 * exception. Limits of steps and memory, and unsupported features, cannot be caught, because a
 * model that continued would compute something else. */
#include "script/python/python.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

cq_status cq_python_raise(cq_eval *ev, const char *class_name, const char *format, ...)
{
    char    message[CQ_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ev->raised_class = class_name;
    return cq_fail(strcmp(class_name, "TypeError") == 0 ? CQ_E_TYPE : CQ_E_NOT_FOUND, NULL, NULL,
                   "%s", message);
}

void cq_eval_forget_failure(cq_eval *ev)
{
    cq_val_set(&ev->raised, CQ_NONE);
    ev->raised_class = NULL;
    ev->cx->status   = CQ_OK;
}

/* The exception class for a failure in C; NULL if it cannot be caught. */
static const char *class_of(const cq_eval *ev, cq_status status)
{
    if (ev->raised_class)
        return ev->raised_class;
    if (status == CQ_E_ARGUMENT && cq_ends_with(cq_last_error()->message, "is not a number"))
        return "ValueError"; /* from int("x") */
    switch (status) {
    case CQ_E_TYPE: return "TypeError";
    case CQ_E_NOT_FOUND: return "AttributeError";
    case CQ_E_ARGUMENT: return "RuntimeError";
    default: return NULL;
    }
}

static cq_status builtin_class(cq_eval *ev, const char *name, cq_val *out)
{
    bool found;

    CQ_TRY(cq_python_builtin(ev, cq_name(ev->program, name), out, &found));
    return found ? CQ_OK : cq_fail(CQ_E_INTERNAL, name, NULL, "builtins.py lacks the class");
}

cq_status cq_python_note_exception(cq_eval *ev, const char *class_name, cq_val argument)
{
    cq_val cls, exception;

    CQ_TRY(builtin_class(ev, class_name, &cls));
    CQ_TRY(cq_eval_call(ev, cls, &argument, 1, &exception));
    cq_val_set(&ev->raised, exception);
    ev->raised_class = NULL;
    return CQ_OK;
}

/* The exception instance for a failure; None if it cannot be caught. */
cq_status cq_python_exception(cq_eval *ev, cq_status status, cq_val *out)
{
    const char *name = class_of(ev, status);
    cq_text    *text;
    cq_val      cls, message;
    char        copy[CQ_ERROR_MESSAGE_SIZE];

    *out = CQ_NONE;
    if (ev->raised.kind != CQ_VAL_NONE) {
        *out = cq_ctx_own(ev->cx, cq_val_retain(ev->raised));
        return CQ_OK;
    }
    if (!name)
        return CQ_OK;
    snprintf(copy, sizeof copy, "%s", cq_last_error()->message);
    ev->cx->status = CQ_OK;
    CQ_TRY(builtin_class(ev, name, &cls));
    CQ_TRY(cq_text_new(&text, copy, strlen(copy)));
    CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &message));
    return cq_eval_call(ev, cls, &message, 1, out);
}

/* ---- raise ---- */

cq_status cq_python_fail_with(cq_eval *ev, cq_span at, cq_val exception)
{
    cq_str    text = { 0 };
    cq_status status;
    cq_val    kept = cq_val_retain(exception);

    status = cq_eval_format(ev, &text, exception, false);
    if (status == CQ_OK)
        status =
            cq_eval_fail(ev, at, CQ_E_UNSUPPORTED, "the model raises %s%s%s",
                         cq_eval_type_name(exception), text.len ? ": " : "", cq_str_text(&text));
    cq_str_clear(&text);
    cq_val_set(&ev->raised, kept);
    cq_val_release(kept);
    ev->raised_class = NULL;
    return status;
}

cq_status cq_eval_raise(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val v;

    if (!s->u.raise.value) {
        if (ev->handled.kind == CQ_VAL_NONE)
            return cq_python_raise(ev, "RuntimeError", "No active exception to reraise");
        return cq_python_fail_with(ev, s->at, ev->handled);
    }
    CQ_TRY(cq_eval_expr(ev, s->u.raise.value, &v));
    if (cq_object_as(v, CQ_OBJECT_CLASS))
        CQ_TRY(cq_eval_call(ev, v, NULL, 0, &v));
    if (s->u.raise.cause && cq_object_as(v, CQ_OBJECT_INSTANCE)) {
        cq_val cause;

        CQ_TRY(cq_eval_expr(ev, s->u.raise.cause, &cause));
        CQ_TRY(cq_object_set(ev, v, cq_name(ev->program, "__cause__"), cause));
    }
    return cq_python_fail_with(ev, s->at, v);
}

/* ---- try ---- */

static cq_status matches(cq_eval *ev, const cq_ast_handler *h, cq_val exception, bool *out)
{
    cq_val type;

    *out = true;
    if (!h->type)
        return CQ_OK;
    CQ_TRY(cq_eval_expr(ev, h->type, &type));
    return cq_python_is_instance(ev, exception, type, out);
}

static cq_status run_handler(cq_eval *ev, const cq_ast_handler *h, cq_val exception)
{
    cq_val    outer = ev->handled;
    cq_status status;

    ev->handled = cq_val_retain(exception);
    status      = h->name ? cq_frame_set(ev, ev->frame, h->name, exception) : CQ_OK;
    if (status == CQ_OK)
        status = cq_eval_block(ev, &h->body);
    cq_val_release(ev->handled);
    ev->handled = outer;
    return status;
}

cq_status cq_python_find_handler(cq_eval *ev, const cq_ast_try *t, cq_status failure,
                                 const cq_ast_handler **handler, cq_val *exception)
{
    cq_error_record saved;

    *handler = NULL;
    cq_error_save(&saved);
    CQ_TRY(cq_python_exception(ev, failure, exception));
    if (exception->kind == CQ_VAL_NONE)
        return failure;
    for (size_t i = 0; i < t->n_handlers; i++) {
        bool is_it;

        CQ_TRY(matches(ev, &t->handlers[i], *exception, &is_it));
        if (!is_it)
            continue;
        *handler = &t->handlers[i];
        cq_eval_forget_failure(ev);
        return CQ_OK;
    }
    cq_val_set(&ev->raised, *exception);
    cq_error_restore(&saved);
    return failure;
}

/* Runs the except clause that matches a failure of the body. */
static cq_status handle(cq_eval *ev, const cq_ast_try *t, cq_status failure)
{
    const cq_ast_handler *handler;
    cq_val                exception;

    CQ_TRY(cq_python_find_handler(ev, t, failure, &handler, &exception));
    return run_handler(ev, handler, exception);
}

static cq_status run_try(cq_eval *ev, const cq_ast_try *t)
{
    cq_status status;

    ev->n_tries += t->n_handlers != 0;
    status = cq_eval_block(ev, &t->body);
    ev->n_tries -= t->n_handlers != 0;
    if (status != CQ_OK && t->n_handlers)
        return handle(ev, t, status);
    return status == CQ_OK ? cq_eval_block(ev, &t->other) : status;
}

cq_status cq_python_finally(cq_eval *ev, const cq_ast_try *t, cq_status status)
{
    cq_status       last;
    cq_error_record saved;
    cq_val          raised;
    const char     *raised_class;

    if (!t->finally.n)
        return status;
    cq_error_save(&saved);
    raised           = ev->raised;
    raised_class     = ev->raised_class;
    ev->raised       = CQ_NONE;
    ev->raised_class = NULL;
    if (status != CQ_OK)
        ev->cx->status = CQ_OK;
    last = cq_eval_block(ev, &t->finally);
    if (last != CQ_OK) {
        cq_val_release(raised);
        return last;
    }
    cq_val_release(ev->raised);
    ev->raised       = raised;
    ev->raised_class = raised_class;
    if (status != CQ_OK)
        cq_error_restore(&saved);
    return status;
}

cq_status cq_eval_try(cq_eval *ev, const cq_ast_stmt *s)
{
    const cq_ast_try *t = s->u.attempt;

    if (t->is_star)
        return cq_eval_unsupported(ev, s->at, "except*");
    return cq_python_finally(ev, t, run_try(ev, t));
}

bool cq_eval_catch(cq_eval *ev, cq_status status, const char *class_name)
{
    cq_val exception, type;
    bool   is_it = false;

    if (ev->raised.kind == CQ_VAL_NONE) {
        const char *name = class_of(ev, status);

        if (!name || strcmp(name, class_name) != 0)
            return false;
        cq_eval_forget_failure(ev);
        return true;
    }
    exception = ev->raised;
    if (builtin_class(ev, class_name, &type) != CQ_OK ||
        cq_python_is_instance(ev, exception, type, &is_it) != CQ_OK || !is_it)
        return false;
    cq_eval_forget_failure(ev);
    return true;
}

/* ---- with ---- */

static cq_status leave(cq_eval *ev, cq_val context, cq_val type, cq_val exception, bool *swallowed)
{
    cq_val args[3] = { type, exception, CQ_NONE }, answer = CQ_NONE;
    bool   found;

    CQ_TRY(cq_python_special(ev, context, "__exit__", args, 3, &answer, &found));
    CQ_TRY(cq_eval_truth(ev, answer, &answer));
    *swallowed = answer.u.b.value && !answer.u.b.origin;
    return CQ_OK;
}

cq_status cq_python_leave(cq_eval *ev, cq_val context, cq_status status)
{
    cq_val          exception, type = CQ_NONE;
    cq_error_record saved;
    bool            swallowed = false;

    if (status == CQ_OK)
        return leave(ev, context, CQ_NONE, CQ_NONE, &swallowed);
    cq_error_save(&saved);
    CQ_TRY(cq_python_exception(ev, status, &exception));
    if (exception.kind == CQ_VAL_NONE)
        return status;
    CQ_TRY(cq_python_type(ev, exception, &type));
    cq_eval_forget_failure(ev);
    CQ_TRY(leave(ev, context, type, exception, &swallowed));
    if (swallowed)
        return CQ_OK;
    cq_val_set(&ev->raised, exception);
    cq_error_restore(&saved);
    return status;
}

cq_status cq_python_enter(cq_eval *ev, cq_val context, const cq_ast_expr *target, bool *found)
{
    cq_val entered = CQ_NONE;

    CQ_TRY(cq_python_special(ev, context, "__enter__", NULL, 0, &entered, found));
    if (!*found && cq_object_as(context, CQ_OBJECT_INSTANCE))
        return cq_python_raise(ev, "TypeError", "'%s' object is not a context manager",
                               cq_eval_type_name(context));
    return target ? cq_eval_assign(ev, target, entered) : CQ_OK;
}

static cq_status with_items(cq_eval *ev, const cq_ast_stmt *s, size_t i)
{
    const cq_ast_with_item *item = &s->u.with.items[i];
    cq_val                  context, kept;
    bool                    found;
    cq_status               status;

    if (i == s->u.with.n)
        return cq_eval_block(ev, &s->u.with.body);
    CQ_TRY(cq_eval_expr(ev, item->context, &context));
    kept   = cq_val_retain(context);
    status = cq_python_enter(ev, context, item->target, &found);
    if (status == CQ_OK) {
        status = with_items(ev, s, i + 1);
        if (found)
            status = cq_python_leave(ev, context, status);
    }
    cq_val_release(kept);
    return status;
}

cq_status cq_eval_python_with(cq_eval *ev, const cq_ast_stmt *s)
{
    const bool no_grad = ev->cx->no_grad;
    cq_status  status  = with_items(ev, s, 0);

    ev->cx->no_grad = no_grad;
    return status;
}
