/* Programs that change tensors through views (data.json, made by make.py with PyTorch): each is run
 * with data, and captured without, and at the end all its tensors are compared with PyTorch's. In
 * the capture nothing shares memory: the value of a view after a change was written through, and is
 * computed from the graph.
 *
 *     mutation_test data.json
 *
 * Prints TAP. */
#include "capture/capture.h"
#include "fixture.h"

#include <stdio.h>

enum { MAX_REGISTERS = 32 };

typedef struct machine {
    cq_ctx     *cx;
    cq_capture *cap; /* NULL: with data */
    cq_val      registers[MAX_REGISTERS];
    size_t      n;
} machine;

static cq_status value_of(machine *m, cq_val *out, const json_t *j)
{
    const json_t *r = json_object_get(j, "r"), *item = json_object_get(j, "i"), *each;
    cq_list      *list;
    size_t        i;

    if (r) {
        *out = m->registers[json_integer_value(r)];
        if (item)
            *out = out->u.list->items[json_integer_value(item)];
        return CQ_OK;
    }
    if (!json_is_array(j))
        return cq_fixture_val(m->cx, out, j);
    CQ_TRY(cq_list_new(&list, json_array_size(j)));
    *out = cq_ctx_own(m->cx, cq_val_of_list(list));
    json_array_foreach(j, i, each)
    {
        CQ_TRY(value_of(m, &list->items[i], each));
        cq_val_retain(list->items[i]);
    }
    return CQ_OK;
}

static cq_status run_calls(machine *m, const json_t *calls)
{
    const json_t *call;
    size_t        i;

    json_array_foreach(calls, i, call)
    {
        const json_t *given = json_object_get(call, "args");
        const char   *name  = json_string_value(json_object_get(call, "op"));
        const cq_op  *op    = cq_op_find(name);
        cq_val        args[16];

        if (!op || json_array_size(given) > 16 || m->n == MAX_REGISTERS)
            return cq_fail(CQ_E_NOT_FOUND, name, NULL, "the call cannot be made");
        for (size_t k = 0; k < json_array_size(given); k++)
            CQ_TRY(value_of(m, &args[k], json_array_get(given, k)));
        CQ_TRY(cq_op_call(m->cx, op, args, json_array_size(given), &m->registers[m->n], 1));
        m->n++;
    }
    return CQ_OK;
}

/* ---- comparing ---- */

static cq_status compare(machine *m, cq_val got, cq_val want, size_t number)
{
    cq_tensor *t = got.u.tensor, *w = want.u.tensor;
    bool       same;

    if (got.kind != want.kind || (got.kind == CQ_VAL_LIST && got.u.list->n != want.u.list->n))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "register %zu holds something else", number);
    if (got.kind == CQ_VAL_LIST) {
        for (size_t i = 0; i < want.u.list->n; i++)
            CQ_TRY(compare(m, got.u.list->items[i], want.u.list->items[i], number));
        return CQ_OK;
    }
    if (m->cap)
        CQ_TRY(m->cx->listener->materialize(m->cap, m->cx, &t, t));
    same = t->dtype == w->dtype && t->rank == w->rank;
    for (size_t i = 0; same && i < w->rank; i++)
        same = t->sizes[i].value == w->sizes[i].value;
    for (int64_t i = 0; same && i < cq_tensor_numel(w); i++)
        if (cq_tensor_get_f64(t, i) != cq_tensor_get_f64(w, i))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "element %lld of register %zu is %g, expected %g",
                           (long long)i, number, cq_tensor_get_f64(t, i), cq_tensor_get_f64(w, i));
    return same ? CQ_OK : cq_fail(CQ_E_TYPE, NULL, NULL, "register %zu has other sizes", number);
}

static cq_status compare_all(machine *m, const json_t *want)
{
    cq_val value;

    for (size_t i = 0; i < m->n; i++) {
        CQ_TRY(cq_fixture_val(m->cx, &value, json_array_get(want, i)));
        CQ_TRY(compare(m, m->registers[i], value, i));
    }
    return CQ_OK;
}

/* ---- one program ---- */

static cq_status run(const json_t *one, cq_capture *cap, bool dynamic)
{
    machine     m = { .cap = cap, .n = 1 };
    const char *axes[CQ_MAX_RANK];
    char        names[CQ_MAX_RANK][32];
    cq_status   status;

    CQ_TRY(cq_ctx_new(&m.cx));
    status = cq_fixture_val(m.cx, &m.registers[0], json_object_get(one, "x"));
    if (status == CQ_OK && cap) {
        cq_tensor *x = m.registers[0].u.tensor;

        for (size_t i = 0; i < x->rank; i++) {
            snprintf(names[i], sizeof names[i], "d%lld", (long long)x->sizes[i].value);
            axes[i] = dynamic && x->sizes[i].value > 1 ? names[i] : NULL;
        }
        cq_capture_start(cap, m.cx);
        m.registers[0] = cq_val_of_tensor(cq_capture_input(cap, m.cx, x, "x", axes));
    }
    if (status == CQ_OK)
        status = run_calls(&m, json_object_get(one, "calls"));
    if (status == CQ_OK)
        status = compare_all(&m, json_object_get(one, "want"));
    cq_ctx_free(m.cx);
    return status;
}

static cq_status captured(const json_t *one, bool dynamic)
{
    cq_capture *cap;
    cq_status   status;

    CQ_TRY(cq_capture_new(&cap));
    status = run(one, cap, dynamic);
    cq_capture_free(cap);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const how[] = { "with data", "captured", "captured with dynamic sizes" };
    json_t                  *programs, *one;
    size_t                   i;
    int                      n = 0, failed = 0;

    if (argc != 2 || cq_fixture_load(&programs, argv[1]) != CQ_OK) {
        fprintf(stderr, "usage: mutation_test DATA.json\n");
        return 1;
    }
    json_array_foreach(programs, i, one) for (int k = 0; k < 3; k++)
    {
        cq_status status = k == 0 ? run(one, NULL, false) : captured(one, k == 2);

        printf("%sok %d - %s, %s\n", status == CQ_OK ? "" : "not ", ++n,
               json_string_value(json_object_get(one, "name")), how[k]);
        failed += status != CQ_OK;
        if (status != CQ_OK)
            printf("# %s (%s)\n", cq_last_error()->message, cq_last_error()->where);
    }
    json_decref(programs);
    printf("1..%d\n", n);
    return failed != 0;
}
