/* Numbers that a file may contain but no example does: in the cases of data/FAMILY.json every
 * integer argument, and every integer in a list, is replaced by the limits of its range, every
 * float by values that no integer can hold. A call may fail; it must not overflow, crash, or hang.
 * Only a sanitized build detects all errors.
 *
 *     extremes_test FILE…
 *
 * A case is a separate process: a crash is one failed test. Prints TAP. */
#include "fixture.h"

#include "base/map.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 30, CASES_PER_OPERATOR = 3, MEMORY = 1 << 28 };

static const int64_t integers[] = { INT64_MIN, INT64_MIN + 1,    -((int64_t)1 << 62), -1,
                                    0,         (int64_t)1 << 31, (int64_t)1 << 62,    INT64_MAX };
static const double  floats[]   = { INFINITY, -INFINITY, NAN, 1e300, -1e300, 9.3e18 };

/* The at-th number of a value, counted down in *at; NULL if it is further on. */
static cq_val *number_at(cq_val *v, size_t *at)
{
    cq_val *found = NULL;

    if (v->kind == CQ_VAL_INT || v->kind == CQ_VAL_FLOAT)
        return (*at)-- == 0 ? v : NULL;
    for (size_t i = 0; v->kind == CQ_VAL_LIST && i < v->u.list->n && !found; i++)
        found = number_at(&v->u.list->items[i], at);
    return found;
}

/* Calls with one number replaced; false after the last number and value. */
static bool call_with(const json_t *one, const cq_op *op, size_t number, size_t value, bool fake)
{
    cq_val  args[CQ_FIXTURE_MAX_ARGS], got[CQ_MAX_RESULTS], *found = NULL;
    cq_ctx *cx;
    size_t  n, n_values = 0;

    if (cq_ctx_new(&cx) != CQ_OK)
        exit(1);
    if (cq_fixture_args(cx, args, &n, one) == CQ_OK)
        for (size_t i = 0; i < n && !found; i++)
            found = number_at(&args[i], &number);
    if (found && found->kind == CQ_VAL_INT) {
        n_values = sizeof integers / sizeof *integers;
        if (value < n_values)
            *found = cq_val_of_i64(integers[value]);
    } else if (found) {
        n_values = sizeof floats / sizeof *floats;
        if (value < n_values)
            *found = cq_val_of_f64(floats[value]);
    }
    cx->fake = fake;
    if (value < n_values)
        (void)cq_op_call(cx, op, args, n, got, CQ_MAX_RESULTS);
    cq_ctx_free(cx);
    return value < n_values;
}

static void try_all(const json_t *one, const cq_op *op)
{
    cq_alloc_set_budget((cq_alloc_budget){ .limit = MEMORY });
    alarm(SECONDS);
    for (size_t number = 0; call_with(one, op, number, 0, false); number++)
        for (size_t value = 0; call_with(one, op, number, value, false); value++)
            (void)call_with(one, op, number, value, true);
}

/* Why a case fails, NULL if it does not. */
static const char *run_apart(const json_t *one, const cq_op *op)
{
    static char why[80];
    int         status;
    pid_t       child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        try_all(one, op);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return "cannot start a process";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return "it takes too long";
    snprintf(why, sizeof why, "it died, status %d", status);
    return status ? why : NULL;
}

int main(int argc, char **argv)
{
    static const char *const times[CASES_PER_OPERATOR + 1] = { "", "1", "2", "3" };
    cq_map                   seen                          = { 0 };
    int                      n_tests = 0, n_failed = 0;
    json_t                  *cases, *one;
    size_t                   i;

    for (int a = 1; a < argc; a++) {
        if (cq_fixture_load(&cases, argv[a]) != CQ_OK)
            return 1;
        json_array_foreach(cases, i, one)
        {
            const char  *name = json_string_value(json_object_get(one, "op")), *why;
            const char  *last = cq_map_get(&seen, name);
            const size_t n    = last ? (size_t)atoi(last) : 0;
            const cq_op *op   = cq_op_find(name);
            cq_str       text = { 0 };

            if (!op || n == CASES_PER_OPERATOR)
                continue;
            cq_map_set(&seen, name, (void *)times[n + 1]);
            cq_fixture_describe(&text, one);
            why = run_apart(one, op);
            printf("%sok %d - %s\n", why ? "not " : "", ++n_tests, cq_str_text(&text));
            if (why)
                printf("# %s\n", why);
            n_failed += why != NULL;
            cq_str_clear(&text);
        }
        json_decref(cases);
    }
    cq_map_clear(&seen);
    printf("1..%d\n", n_tests);
    return n_failed != 0;
}
