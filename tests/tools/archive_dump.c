/* Lists the contents of a TorchScript archive or a file of torch.save: values with their types, and
 * for tensors dtype, sizes, strides and a sum. Reads paths from standard input; each listing ends
 * in a line "end". Used by tests/peer/archive.py and tests/peer/weights.py. */
#include "archive/torchscript.h"
#include "archive/weights.h"
#include "base/str.h"
#include "tensor/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void show(const char *name, cq_val v);

static double sum_of(const cq_tensor *t)
{
    double sum = 0;

    for (int64_t i = 0; cq_tensor_has_data(t) && i < cq_tensor_numel(t); i++)
        sum += cq_dtype_is_complex(t->dtype) ? 0 : cq_tensor_get_f64(t, i) * (double)(i % 7 + 1);
    return sum;
}

static void show_tensor(const char *name, const cq_tensor *t)
{
    printf("%s\ttensor %s (", name, cq_dtype_name(t->dtype));
    for (size_t i = 0; i < t->rank; i++)
        printf(" %" PRIi64 ":%" PRIi64, cq_tensor_size(t, i), cq_tensor_stride(t, i));
    printf(" ) %.9g %s\n", sum_of(t), cq_tensor_has_data(t) ? "" : "fake");
}

static void show_in(const char *name, const char *inner, cq_val v)
{
    char full[4096];

    snprintf(full, sizeof full, "%s.%s", name, inner);
    show(full, v);
}

static void show_object(const char *name, cq_val v)
{
    const cq_instance    *o = cq_instance_of(v);
    const cq_quantized   *q = cq_quantized_of(v);
    const cq_enum_member *m = cq_enum_member_of(v);

    if (o) {
        printf("%s\tobject %s\n", name, o->class_name);
        if (o->args.kind != CQ_VAL_NONE)
            show_in(name, "<args>", o->args);
        if (o->items)
            show_in(name, "<items>", cq_val_of_list(o->items));
        if (o->pairs)
            show_in(name, "<pairs>", cq_val_of_dict(o->pairs));
        for (size_t i = 0; i < o->attrs->n; i++)
            show_in(name, o->attrs->entries[i].key.u.text->text, o->attrs->entries[i].value);
        if (o->state.kind != CQ_VAL_DICT)
            show_in(name, "<state>", o->state);
    } else if (q) {
        printf("%s\tquantized %d %.9g %" PRIi64 "\n", name, q->torch_dtype, q->scale,
               q->zero_point);
        show_in(name, "<values>", cq_val_of_tensor(q->values));
    } else if (m) {
        printf("%s\tenum %s\n", name, m->class_name);
        show_in(name, "<value>", m->value);
    } else {
        printf("%s\tsparse\n", name);
        show_in(name, "<values>", cq_val_of_tensor(cq_sparse_of(v)->values));
    }
}

static void show(const char *name, cq_val v)
{
    char index[32];

    switch (v.kind) {
    case CQ_VAL_NONE: printf("%s\tNone\n", name); break;
    case CQ_VAL_TENSOR: show_tensor(name, v.u.tensor); break;
    case CQ_VAL_INT: printf("%s\tint %" PRIi64 "\n", name, v.u.i.value); break;
    case CQ_VAL_FLOAT: printf("%s\tfloat %.17g\n", name, v.u.f.value); break;
    case CQ_VAL_BOOL: printf("%s\tbool %d\n", name, v.u.b.value); break;
    case CQ_VAL_COMPLEX: printf("%s\tcomplex %.17g %.17g\n", name, v.u.c.re, v.u.c.im); break;
    case CQ_VAL_STR: printf("%s\tstr %zu\n", name, v.u.text->len); break;
    case CQ_VAL_DEVICE: printf("%s\tdevice %s\n", name, v.u.text->text); break;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        printf("%s\t%s %zu\n", name, v.kind == CQ_VAL_LIST ? "list" : "tuple", v.u.list->n);
        for (size_t i = 0; i < v.u.list->n; i++) {
            snprintf(index, sizeof index, "%zu", i);
            show_in(name, index, v.u.list->items[i]);
        }
        break;
    case CQ_VAL_DICT:
        printf("%s\tdict %zu\n", name, v.u.dict->n);
        for (size_t i = 0; i < v.u.dict->n; i++) {
            const cq_val key = v.u.dict->entries[i].key;

            snprintf(index, sizeof index, "%zu", i);
            show_in(name, key.kind == CQ_VAL_STR ? key.u.text->text : index,
                    v.u.dict->entries[i].value);
        }
        break;
    case CQ_VAL_OBJECT: show_object(name, v); break;
    }
}

static cq_status dump_state(const char *path)
{
    cq_weights *w;

    CQ_TRY(cq_weights_open(&w, path));
    for (size_t i = 0; i < w->items.n; i++)
        show(w->items.items[i].name, w->items.items[i].value);
    cq_weights_free(w);
    return CQ_OK;
}

/* All values of a file of weights, as torch.load returns them. */
static cq_status dump_values(const char *path)
{
    cq_weights_file f;
    cq_status       status = cq_weights_read(&f, path);

    if (status == CQ_OK)
        show("root", f.root);
    cq_weights_file_clear(&f);
    return status;
}

static cq_status dump_torchscript(const char *path)
{
    cq_storage     *bytes;
    cq_torchscript *t;
    cq_status       status;

    CQ_TRY(cq_storage_open(&bytes, path));
    status = cq_torchscript_open_bytes(&t, bytes, path);
    cq_storage_release(bytes);
    CQ_TRY(status);
    printf("version\t%d\n", t->version);
    show("root", t->root);
    show("constants", t->constants);
    show("traced_inputs", t->traced_inputs);
    for (size_t i = 0; status == CQ_OK && cq_torchscript_code_at(t, i); i++) {
        const cq_code     *code;
        cq_python_location origin;
        char               name[4096];
        uint32_t           at = 0;

        snprintf(name, sizeof name, "%s.X", cq_torchscript_code_at(t, i));
        status = cq_torchscript_code(&code, t, name);
        if (status != CQ_OK)
            break;
        printf("code\t%s %zu\n", cq_torchscript_code_at(t, i), code->len);
        while (at + 7 < code->len && memcmp(code->text + at, " torch.", 7) != 0)
            at++;
        origin = cq_torchscript_origin(t, code, at + 1);
        if (origin.file)
            printf("origin\t%s:%" PRIi64 "\n", origin.file, origin.line);
    }
    cq_torchscript_free(t);
    return status;
}

int main(void)
{
    char line[4096];

    while (fgets(line, sizeof line, stdin)) {
        cq_status status;

        line[strcspn(line, "\n")] = '\0';
        status                    = cq_starts_with(line, "state ")    ? dump_state(line + 6)
                                    : cq_starts_with(line, "values ") ? dump_values(line + 7)
                                                                      : dump_torchscript(line);
        if (status != CQ_OK)
            printf("error\t%s: %s\nhint\t%s\nwhere\t%s\n", cq_status_name(status),
                   cq_last_error()->message, cq_last_error()->hint, cq_last_error()->where);
        puts("end");
        fflush(stdout);
    }
    return 0;
}
