/* The inside of a module. */
#ifndef CQ_NN_MODULE_H
#define CQ_NN_MODULE_H

#include "aten/core/ctx.h"
#include "base/vec.h"

#include <calque/module.h>

typedef struct cq_module_state {
    char      *name;
    cq_tensor *tensor; /* NULL: not there */
    bool       is_buffer;
} cq_module_state;

struct cq_module {
    const cq_class *cls;       /* &own_class */
    cq_class        own_class; /* all fields, whatever the caller knew of */
    void           *self;
    cq_module      *parent;
    char           *name;
    bool            training;
    cq_status       status;
    CQ_VEC(cq_module_state) state;
    CQ_VEC(cq_module *) children;
    CQ_VEC(char *) qualified; /* names of all state of the tree, computed on first use */
};

/* Calls fn for every parameter and buffer of the tree with its qualified name. */
cq_status cq_module_each_state(const cq_module *m,
                               cq_status (*fn)(void *user, const char *name,
                                               cq_module_state *state),
                               void *user);

/* The generator of this thread for initial values (init.c). */
struct cq_random *cq_init_random(void);

/* For the end of a constructor: m, or NULL if something of it could not be made. */
cq_module *cq_module_or_free(cq_module *m, bool made);

#endif
