/* Sequential and ModuleList. */
#include "nn/module.h"

#include <calque/layers.h>

#include <stdio.h>

typedef struct container {
    cq_module *module;
} container;

static cq_tensor *sequential_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    const cq_module *m = ((container *)self)->module;

    for (size_t i = 0; i < m->children.n; i++)
        x = cq_call(cx, m->children.items[i], x);
    return x;
}

static cq_module *container_new(const cq_class *cls)
{
    cq_module *m = cq_module_new(cls);

    if (m)
        ((container *)m->self)->module = m;
    return m;
}

CQ_API cq_module *cq_sequential_new(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Sequential",
                                  .self_size = sizeof(container), .forward = sequential_forward };

    return container_new(&cls);
}

CQ_API cq_module *cq_module_list_new(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "ModuleList",
                                  .self_size = sizeof(container) };

    return container_new(&cls);
}

CQ_API cq_module *cq_sequential_add(cq_module *sequential, cq_module *m)
{
    char name[24];

    snprintf(name, sizeof name, "%zu", sequential ? sequential->children.n : 0);
    return cq_module_add(sequential, name, m);
}

CQ_API cq_module *cq_sequential_of(size_t n, cq_module *const *modules)
{
    CQ_NEED_ELSE(modules || !n, NULL);
    cq_module *m = cq_sequential_new();

    for (size_t i = 0; i < n; i++)
        cq_sequential_add(m, modules[i]);
    return m;
}
