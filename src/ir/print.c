/* A graph as text, in the style of PyTorch's documentation:
 *
 *     graph(%x : Float(10, 3, 224, 224)
 *           %w : Float(64, 3, 11, 11)) {
 *       %2 : Float(10, 64, 55, 55) = onnx::Conv[group=1, strides=[4, 4]](%x, %w), scope: Net
 *       return (%2);
 *     }
 *
 * Values without a name are numbered in the order in which they are made. */
#include "ir/graph.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_ELEMENTS = 16 };

typedef struct printer {
    cq_str     out;
    cq_ptr_map numbers; /* value -> its number + 1 */
    size_t     next;
} printer;

static void print_value(printer *p, const cq_value *v)
{
    size_t number;

    if (v->name) {
        cq_str_printf(&p->out, "%%%s", v->name);
        return;
    }
    number = (size_t)(uintptr_t)cq_ptr_map_get(&p->numbers, v);
    if (number)
        cq_str_printf(&p->out, "%%%zu", number - 1);
    else
        cq_str_add(&p->out, "%?");
}

static void number_value(printer *p, const cq_value *v)
{
    cq_status status = cq_ptr_map_set(&p->numbers, v, (void *)(uintptr_t)++p->next);

    if (status != CQ_OK && p->out.status == CQ_OK)
        p->out.status = status;
}

static void print_type(printer *p, cq_type t)
{
    char buffer[24];

    switch (t.kind) {
    case CQ_TYPE_TENSOR:
        if (t.rank < 0) {
            cq_str_printf(&p->out, "%s(*)", cq_dtype_torch_name(t.dtype));
            return;
        }
        cq_str_printf(&p->out, "%s(", cq_dtype_torch_name(t.dtype));
        for (int i = 0; i < t.rank; i++)
            cq_str_printf(&p->out, i ? ", %s" : "%s", cq_int_text(t.sizes[i], buffer));
        cq_str_add_char(&p->out, ')');
        break;
    case CQ_TYPE_INT: cq_str_add(&p->out, "int"); break;
    case CQ_TYPE_FLOAT: cq_str_add(&p->out, "float"); break;
    case CQ_TYPE_BOOL: cq_str_add(&p->out, "bool"); break;
    case CQ_TYPE_LIST: cq_str_add(&p->out, "Tensor[]"); break;
    case CQ_TYPE_OPTIONAL: cq_str_add(&p->out, "Tensor?"); break;
    case CQ_TYPE_NONE: cq_str_add(&p->out, "None"); break;
    case CQ_TYPE_UNKNOWN: cq_str_add(&p->out, "Dynamic"); break;
    }
}

static void print_number(cq_str *s, double f)
{
    char text[32];

    snprintf(text, sizeof text, "%.15g", f);
    if (strtod(text, NULL) != f)
        snprintf(text, sizeof text, "%.17g", f);
    cq_str_add(s, text);
    if (isfinite(f) && !strpbrk(text, ".en"))
        cq_str_add_char(s, '.');
}

static void print_tensor(printer *p, const cq_tensor *t)
{
    char    text[CQ_DESCRIBE_SIZE];
    int64_t n = cq_tensor_numel(t);

    if (!t->storage || n > SHOWN_ELEMENTS) {
        cq_str_printf(&p->out, "<%s>", cq_tensor_describe(t, text, sizeof text));
        return;
    }
    cq_str_add_char(&p->out, '{');
    for (int64_t i = 0; i < n; i++) {
        if (i)
            cq_str_add(&p->out, ", ");
        if (cq_dtype_is_float(t->dtype))
            print_number(&p->out, cq_tensor_get_f64(t, i));
        else
            cq_str_printf(&p->out, "%lld", (long long)cq_tensor_get_i64(t, i));
    }
    cq_str_add_char(&p->out, '}');
}

static void print_operand(printer *p, const cq_operand *o)
{
    char buffer[24];

    switch (o->kind) {
    case CQ_OPERAND_OPAQUE: cq_str_add(&p->out, "..."); break;
    case CQ_OPERAND_NONE: cq_str_add(&p->out, "None"); break;
    case CQ_OPERAND_VALUE: print_value(p, o->u.value); break;
    case CQ_OPERAND_INT: cq_str_add(&p->out, cq_int_text(o->u.i, buffer)); break;
    case CQ_OPERAND_FLOAT: print_number(&p->out, o->u.f); break;
    case CQ_OPERAND_BOOL: cq_str_add(&p->out, o->u.b ? "True" : "False"); break;
    case CQ_OPERAND_COMPLEX:
        cq_str_add_char(&p->out, '(');
        print_number(&p->out, o->u.c.re);
        cq_str_add_char(&p->out, '+');
        print_number(&p->out, o->u.c.im);
        cq_str_add(&p->out, "j)");
        break;
    case CQ_OPERAND_STR: cq_str_printf(&p->out, "\"%s\"", o->u.s); break;
    case CQ_OPERAND_TENSOR: print_tensor(p, o->u.tensor); break;
    case CQ_OPERAND_BLOCK: cq_str_add(&p->out, "<block>"); break;
    case CQ_OPERAND_LIST:
        cq_str_add_char(&p->out, '[');
        for (size_t i = 0; i < o->u.list.n; i++) {
            if (i)
                cq_str_add(&p->out, ", ");
            print_operand(p, &o->u.list.items[i]);
        }
        cq_str_add_char(&p->out, ']');
        break;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const cq_attr *const *)a)->name, (*(const cq_attr *const *)b)->name);
}

static void print_attrs(printer *p, const cq_node *n)
{
    size_t          count  = n->n_attrs;
    const cq_attr **sorted = cq_alloc_array(count, sizeof *sorted);

    if (!sorted)
        p->out.status = CQ_E_NO_MEMORY;
    if (!sorted || (!count && !n->n_notes)) {
        cq_free(sorted);
        return;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &n->attrs[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    cq_str_add_char(&p->out, '[');
    for (size_t i = 0; i < count; i++) {
        cq_str_printf(&p->out, i ? ", %s=" : "%s=", sorted[i]->name);
        print_operand(p, &sorted[i]->value);
    }
    for (size_t i = 0; i < n->n_notes; i++) {
        cq_str_printf(&p->out, count + i ? ", %s=" : "%s=", n->notes[i].name);
        print_operand(p, &n->notes[i].value);
    }
    cq_str_add_char(&p->out, ']');
    cq_free(sorted);
}

static void print_scope(printer *p, const cq_origin *o)
{
    if (o->parent) {
        print_scope(p, o->parent);
        cq_str_printf(&p->out, "/%s[%s]", o->class_name, o->name);
    } else {
        cq_str_add(&p->out, o->class_name);
    }
}

static void print_list(printer *p, const cq_operand *items, size_t n)
{
    cq_str_add_char(&p->out, '(');
    for (size_t i = 0; i < n; i++) {
        if (i)
            cq_str_add(&p->out, ", ");
        print_operand(p, &items[i]);
    }
    cq_str_add_char(&p->out, ')');
}

static void print_block(printer *p, const cq_block *b, int indent);

static void print_node(printer *p, const cq_node *n, int indent)
{
    char location[CQ_LOCATION_SIZE];

    cq_str_printf(&p->out, "%*s", indent, "");
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (i)
            cq_str_add(&p->out, ", ");
        number_value(p, n->outputs[i]);
        print_value(p, n->outputs[i]);
        cq_str_add(&p->out, " : ");
        print_type(p, n->outputs[i]->type);
    }
    cq_str_printf(&p->out, n->n_outputs ? " = %s" : "%s", n->op);
    print_attrs(p, n);
    print_list(p, n->inputs, n->n_inputs);
    if (n->origin) {
        cq_str_add(&p->out, ", scope: ");
        print_scope(p, n->origin);
    }
    if (n->location.source)
        cq_str_printf(&p->out, " # %s", cq_location_text(n->location, location));
    cq_str_add_char(&p->out, '\n');
    for (size_t i = 0; i < n->n_blocks; i++) {
        const cq_block *b = n->blocks[i];

        cq_str_printf(&p->out, "%*sblock%zu(", indent + 2, "", i);
        for (size_t k = 0; k < b->params.n; k++) {
            if (k)
                cq_str_add(&p->out, ", ");
            number_value(p, b->params.items[k]);
            print_value(p, b->params.items[k]);
            cq_str_add(&p->out, " : ");
            print_type(p, b->params.items[k]->type);
        }
        cq_str_add(&p->out, ") {\n");
        print_block(p, b, indent + 4);
        cq_str_printf(&p->out, "%*s-> ", indent + 4, "");
        print_list(p, b->returns.items, b->returns.n);
        cq_str_printf(&p->out, "\n%*s}\n", indent + 2, "");
    }
}

static void print_block(printer *p, const cq_block *b, int indent)
{
    for (const cq_node *n = b->first; n; n = n->next)
        print_node(p, n, indent);
}

static void print_param(printer *p, const cq_value *v, bool *first)
{
    cq_str_add(&p->out, *first ? "" : "\n      ");
    *first = false;
    number_value(p, v);
    print_value(p, v);
    cq_str_add(&p->out, " : ");
    print_type(p, v->type);
}

cq_status cq_ir_print(char **out, const cq_graph *g)
{
    printer p     = { 0 };
    bool    first = true;

    cq_ir_count_uses((cq_graph *)g);
    cq_str_add(&p.out, "graph(");
    for (size_t i = 0; i < g->top->params.n; i++)
        print_param(&p, g->top->params.items[i], &first);
    for (size_t i = 0; i < g->constants.n; i++)
        if (g->constants.items[i]->n_uses)
            print_param(&p, g->constants.items[i], &first);
    cq_str_add(&p.out, ") {\n");
    print_block(&p, g->top, 2);
    cq_str_add(&p.out, "  return ");
    print_list(&p, g->top->returns.items, g->top->returns.n);
    cq_str_add(&p.out, ";\n}\n");
    cq_ptr_map_clear(&p.numbers);
    *out = cq_str_take(&p.out);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}
