/* Module calls from the module stack that the file records for each node. A program is one flat
 * graph; a module is entered when the stack of a node contains it and that of the previous node did
 * not, and is left when it is gone. Names, annotations and named outputs therefore follow modules,
 * as for any other model. */
#include "pt2/modules.h"

#include "aten/core/observe.h"
#include "base/str.h"

enum { CALL_TENSORS = 16 };

/* ---- the tensors of a node ---- */

typedef struct tensors {
    cq_tensor *items[CALL_TENSORS];
    uint32_t   slots[CALL_TENSORS];
    size_t     n;
} tensors;

static void find_tensors(const cq_pt2_run *r, const cq_pt2_arg *args, size_t n, tensors *t)
{
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CQ_PT2_LIST)
            find_tensors(r, args[i].u.list.items, args[i].u.list.n, t);
        else if (args[i].kind == CQ_PT2_SLOT && t->n < CALL_TENSORS &&
                 r->values[args[i].u.slot].kind == CQ_VAL_TENSOR) {
            t->slots[t->n]   = args[i].u.slot;
            t->items[t->n++] = r->values[args[i].u.slot].u.tensor;
        }
    }
}

/* An anchor replaces the first tensor. */
static cq_status set_first(cq_pt2_run *r, const tensors *t, cq_tensor *anchor)
{
    if (anchor && t->n) {
        cq_val old = r->values[t->slots[0]];

        r->values[t->slots[0]] = cq_val_retain(cq_val_of_tensor(anchor));
        cq_val_release(old);
    }
    return r->ev->cx->status;
}

/* ---- stacks ---- */

typedef struct frame {
    const char *path, *name, *class_name;
} frame;

/* "L__self___fc,fc,torch.nn.modules.linear.Linear": what PyTorch calls it, path, class. */
static bool read_frame(cq_eval *ev, const char *text, size_t len, frame *out)
{
    char        buffer[512];
    const char *dot;
    char       *path, *class_name;

    if (len >= sizeof buffer)
        return false;
    memcpy(buffer, text, len);
    buffer[len] = '\0';
    class_name  = strrchr(buffer, ',');
    if (!class_name)
        return false;
    *class_name++ = '\0';
    path          = strrchr(buffer, ',');
    if (!path || cq_starts_with(path + 1, "_empty_nn_module_stack"))
        return false;
    path++;
    if (strchr(path, '@')) /* a second call of a module */
        *strchr(path, '@') = '\0';
    out->path       = cq_name(ev->program, path);
    dot             = strrchr(out->path, '.');
    out->name       = dot ? dot + 1 : out->path;
    dot             = strrchr(class_name, '.');
    out->class_name = cq_name(ev->program, dot ? dot + 1 : class_name);
    return true;
}

static size_t read_stack(cq_eval *ev, const char *stack, frame *out)
{
    size_t n = 0;

    while (*stack && n < CQ_PT2_MAX_MODULES) {
        size_t len = strcspn(stack, ";");

        if (!read_frame(ev, stack, len, &out[n++]))
            return 0;
        stack += len + (stack[len] == ';');
    }
    return n;
}

/* ---- entering and leaving ---- */

static cq_status leave(cq_pt2_run *r, size_t down_to)
{
    cq_pt2_modules *m = r->modules;
    tensors         t = { .n = 0 };

    if (m->last && r->graph == m->graph)
        find_tensors(r, m->last->outputs, m->last->n_outputs, &t);
    while (m->n > down_to)
        CQ_TRY(set_first(r, &t, cq_scope_leave(r->ev->cx, &m->scopes[--m->n], t.items, t.n)));
    return CQ_OK;
}

cq_status cq_pt2_leave_modules(cq_pt2_run *r)
{
    return leave(r, 0);
}

cq_status cq_pt2_enter_node(cq_pt2_run *r, const cq_pt2_node *n)
{
    cq_pt2_modules *m = r->modules;
    frame           stack[CQ_PT2_MAX_MODULES];
    tensors         t    = { .n = 0 };
    size_t          same = 0, depth;

    if (n->module_stack[0] && (!m->stack || strcmp(n->module_stack, m->stack) != 0)) {
        depth = read_stack(r->ev, n->module_stack, stack);
        while (depth && same < depth && same < m->n && stack[same].path == m->scopes[same].path &&
               stack[same].class_name == m->scopes[same].class_name)
            same++;
        if (depth) {
            CQ_TRY(leave(r, same));
            find_tensors(r, n->inputs, n->n_inputs, &t);
            m->stack = n->module_stack;
        }
        for (size_t i = same; i < depth; i++) {
            m->scopes[i] = (cq_scope){ .path       = stack[i].path,
                                       .name       = stack[i].name,
                                       .class_name = stack[i].class_name };
            m->n++;
            CQ_TRY(set_first(r, &t, cq_scope_enter(r->ev->cx, &m->scopes[i], t.items, t.n)));
        }
    }
    m->last  = n;
    m->graph = r->graph;
    return CQ_OK;
}
