/* Building, changing and walking graphs. Builder calls keep the first failure in the graph
 * and let later ones fall through. */
#include "ir/graph.h"

static void *failed(cq_graph *g)
{
    if (g->status == CQ_OK)
        g->status = CQ_E_NO_MEMORY;
    return NULL;
}

cq_status cq_graph_new(cq_graph **out)
{
    cq_graph *g = *out = cq_zalloc(sizeof *g);

    if (!g)
        return CQ_E_NO_MEMORY;
    g->arena = cq_arena_new();
    if (g->arena) {
        cq_symbols_init(&g->symbols, g->arena);
        g->top = cq_ir_block_new(g, NULL);
    }
    if (!g->top) {
        cq_graph_free(g);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

void cq_graph_free(cq_graph *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->blocks.n; i++) {
        cq_vec_clear(&g->blocks.items[i]->params);
        cq_vec_clear(&g->blocks.items[i]->returns);
    }
    for (size_t i = 0; i < g->tensors.n; i++)
        cq_tensor_release(g->tensors.items[i]);
    cq_vec_clear(&g->blocks);
    cq_vec_clear(&g->tensors);
    cq_vec_clear(&g->constants);
    cq_vec_clear(&g->baked);
    cq_vec_clear(&g->called);
    cq_vec_clear(&g->return_names);
    cq_vec_clear(&g->named_outputs);
    cq_vec_clear(&g->states);
    cq_vec_clear(&g->checks);
    cq_symbols_clear(&g->symbols);
    cq_intern_clear(&g->names);
    cq_arena_free(g->arena);
    cq_free(g);
}

const char *cq_ir_text(cq_graph *g, const char *text)
{
    const char *interned = text ? cq_intern_text(&g->names, text) : NULL;

    if (text && !interned)
        failed(g);
    return interned ? interned : text ? "" : NULL;
}

cq_status cq_ir_keep_tensor(cq_graph *g, cq_tensor *t)
{
    CQ_TRY(cq_vec_push(&g->tensors, t));
    cq_tensor_retain(t);
    return CQ_OK;
}

cq_status cq_ir_name_return(cq_graph *g, size_t index, const char *name)
{
    while (g->return_names.n <= index)
        CQ_TRY(cq_vec_push(&g->return_names, NULL));
    g->return_names.items[index] = cq_ir_text(g, name);
    return g->status;
}

cq_status cq_ir_note_state(cq_graph *g, const char *input, const char *output, cq_tensor *initial)
{
    CQ_TRY(cq_ir_keep_tensor(g, initial));
    return cq_vec_push(&g->states,
                       (cq_state_pair){ cq_ir_text(g, input), cq_ir_text(g, output), initial });
}

cq_block *cq_ir_block_new(cq_graph *g, cq_node *owner)
{
    cq_block *b = cq_arena_zalloc(g->arena, sizeof *b);

    if (!b || cq_vec_push(&g->blocks, b) != CQ_OK)
        return failed(g);
    b->graph = g;
    b->owner = owner;
    return b;
}

cq_value *cq_ir_value_new(cq_graph *g, cq_type type)
{
    cq_value *v = cq_arena_zalloc(g->arena, sizeof *v);

    if (!v)
        return failed(g);
    v->id   = g->n_values++;
    v->type = type;
    return v;
}

cq_value *cq_ir_param_new(cq_block *b, cq_type type)
{
    cq_value *v = cq_ir_value_new(b->graph, type);

    if (!v)
        return NULL;
    v->block = b;
    v->index = (uint32_t)b->params.n;
    if (cq_vec_push(&b->params, v) != CQ_OK)
        return failed(b->graph);
    return v;
}

cq_value *cq_ir_constant_new(cq_graph *g, cq_tensor *data, bool is_weight)
{
    cq_value *v = cq_ir_value_new(g, cq_ir_type_of(g, data));

    if (!v || cq_vec_push(&g->constants, v) != CQ_OK || cq_ir_keep_tensor(g, data) != CQ_OK)
        return failed(g);
    v->data      = data;
    v->is_weight = is_weight;
    v->position  = v->id;
    v->block     = g->top;
    return v;
}

cq_operand cq_ir_copy_operand(cq_graph *g, cq_operand o)
{
    cq_operand *items;

    switch (o.kind) {
    case CQ_OPERAND_STR: o.u.s = cq_ir_text(g, o.u.s); break;
    case CQ_OPERAND_TENSOR:
        if (cq_ir_keep_tensor(g, o.u.tensor) != CQ_OK)
            failed(g);
        break;
    case CQ_OPERAND_LIST:
        items = cq_arena_array(g->arena, o.u.list.n, sizeof *items);
        if (!items) {
            failed(g);
            return (cq_operand){ 0 };
        }
        for (size_t i = 0; i < o.u.list.n; i++)
            items[i] = cq_ir_copy_operand(g, o.u.list.items[i]);
        o.u.list.items = items;
        break;
    default: break;
    }
    return o;
}

void cq_ir_move_before(cq_node *n, cq_block *b, cq_node *before)
{
    n->block                                = b;
    n->next                                 = before;
    n->prev                                 = before ? before->prev : b->last;
    *(n->prev ? &n->prev->next : &b->first) = n;
    *(n->next ? &n->next->prev : &b->last)  = n;
}

void cq_ir_unlink(cq_node *n)
{
    cq_block *b = n->block;

    *(n->prev ? &n->prev->next : &b->first) = n->next;
    *(n->next ? &n->next->prev : &b->last)  = n->prev;
    n->prev = n->next = NULL;
    n->block          = NULL;
}

cq_node *cq_ir_node_new(cq_block *b, cq_node *before, const char *op, const cq_operand *inputs,
                        size_t n_inputs, size_t n_outputs)
{
    cq_graph *g = b->graph;
    cq_node  *n;

    if (g->status != CQ_OK)
        return NULL;
    n = cq_arena_zalloc(g->arena, sizeof *n);
    if (!n)
        return failed(g);
    n->op        = cq_ir_text(g, op);
    n->n_inputs  = n_inputs;
    n->n_outputs = n_outputs;
    n->inputs    = cq_arena_array(g->arena, n_inputs, sizeof *n->inputs);
    n->outputs   = cq_arena_array(g->arena, n_outputs, sizeof *n->outputs);
    if (!n->inputs || !n->outputs)
        return failed(g);
    for (size_t i = 0; i < n_inputs; i++)
        n->inputs[i] = cq_ir_copy_operand(g, inputs[i]);
    for (size_t i = 0; i < n_outputs; i++) {
        n->outputs[i] = cq_ir_value_new(g, (cq_type){ .rank = -1 });
        if (!n->outputs[i])
            return NULL;
        n->outputs[i]->node  = n;
        n->outputs[i]->index = (uint32_t)i;
        n->outputs[i]->block = b;
    }
    if (g->status != CQ_OK)
        return NULL;
    cq_ir_move_before(n, b, before);
    return n;
}

const cq_operand *cq_ir_attr(const cq_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0)
            return &n->attrs[i].value;
    return NULL;
}

cq_status cq_ir_attr_set(cq_node *n, const char *name, cq_operand value)
{
    cq_graph         *g   = n->block->graph;
    const cq_operand *old = cq_ir_attr(n, name);
    cq_attr          *grown;

    value = cq_ir_copy_operand(g, value);
    if (old) {
        *(cq_operand *)old = value;
        return g->status;
    }
    if ((n->n_attrs & (n->n_attrs - 1)) == 0) { /* the capacity is a power of two */
        grown = cq_arena_array(g->arena, n->n_attrs ? 2 * (size_t)n->n_attrs : 1, sizeof *grown);
        if (!grown) {
            failed(g);
            return g->status;
        }
        if (n->n_attrs)
            memcpy(grown, n->attrs, n->n_attrs * sizeof *grown);
        n->attrs = grown;
    }
    n->attrs[n->n_attrs++] = (cq_attr){ cq_ir_text(g, name), value };
    return g->status;
}

cq_status cq_ir_add_notes(cq_node *n, const cq_attr *notes, size_t n_notes, bool replace)
{
    cq_graph *g     = n->block->graph;
    cq_attr  *grown = cq_arena_array(g->arena, n->n_notes + n_notes, sizeof *grown);
    size_t    total = n->n_notes;

    if (!grown) {
        failed(g);
        return g->status;
    }
    if (n->n_notes)
        memcpy(grown, n->notes, n->n_notes * sizeof *grown);
    for (size_t i = 0; i < n_notes; i++) {
        size_t at = 0;

        while (at < total && strcmp(grown[at].name, notes[i].name) != 0)
            at++;
        if (at == total || replace)
            grown[at] = notes[i];
        total += at == total;
    }
    n->notes   = grown;
    n->n_notes = total;
    return CQ_OK;
}

cq_block *cq_ir_node_block(cq_node *n)
{
    cq_graph  *g     = n->block->graph;
    cq_block  *b     = cq_ir_block_new(g, n);
    cq_block **grown = cq_arena_array(g->arena, n->n_blocks + 1, sizeof *grown);

    if (!b || !grown)
        return failed(g);
    if (n->n_blocks)
        memcpy(grown, n->blocks, n->n_blocks * sizeof *grown);
    grown[n->n_blocks++] = b;
    n->blocks            = grown;
    return b;
}

cq_type cq_ir_tensor_type(cq_graph *g, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    cq_type t = { .kind = CQ_TYPE_TENSOR, .dtype = dtype, .rank = (int)rank };

    t.sizes = cq_arena_copy(g->arena, sizes, rank * sizeof *sizes);
    if (!t.sizes)
        failed(g);
    return t;
}

cq_type cq_ir_type_of(cq_graph *g, const cq_tensor *t)
{
    return cq_ir_tensor_type(g, t->dtype, t->rank, t->sizes);
}

/* ---- walking ---- */

static void each_symbol(cq_int i, void (*use)(cq_value *v, void *user), void *user)
{
    if (!i.expr)
        return;
    for (size_t t = 0; t < i.expr->n_terms; t++)
        for (int k = 0; k < i.expr->terms[t].n_atoms; k++) {
            const cq_atom *atom = i.expr->terms[t].atoms[k];

            for (size_t s = 0; s < atom->n_symbols; s++)
                if (atom->symbols[s]->origin)
                    use(atom->symbols[s]->origin, user);
        }
}

void cq_ir_each_use(const cq_operand *o, void (*use)(cq_value *v, void *user), void *user)
{
    switch (o->kind) {
    case CQ_OPERAND_VALUE: use(o->u.value, user); break;
    case CQ_OPERAND_INT: each_symbol(o->u.i, use, user); break;
    case CQ_OPERAND_LIST:
        for (size_t i = 0; i < o->u.list.n; i++)
            cq_ir_each_use(&o->u.list.items[i], use, user);
        break;
    default: break;
    }
}

cq_status cq_ir_each_node(cq_block *b, cq_status (*fn)(cq_node *n, void *user), void *user)
{
    for (cq_node *n = b->first, *next; n; n = next) {
        next = n->next;
        CQ_TRY(fn(n, user));
        if (n->block)
            for (size_t i = 0; i < n->n_blocks; i++)
                CQ_TRY(cq_ir_each_node(n->blocks[i], fn, user));
    }
    return CQ_OK;
}

/* A value that the current count has not met yet starts with no uses. Uses and values are met in
 * any order, so one walk is enough. */
static void meet(cq_value *v, uint32_t count)
{
    if (v->counted == count)
        return;
    v->counted = count;
    v->n_uses  = 0;
}

static void count_use(cq_value *v, void *user)
{
    meet(v, *(const uint32_t *)user);
    v->n_uses++;
}

static void count_ends(cq_block *b, uint32_t *count)
{
    for (size_t i = 0; i < b->params.n; i++)
        meet(b->params.items[i], *count);
    for (size_t i = 0; i < b->returns.n; i++)
        cq_ir_each_use(&b->returns.items[i], count_use, count);
}

static cq_status count_node(cq_node *n, void *user)
{
    for (size_t i = 0; i < n->n_outputs; i++)
        meet(n->outputs[i], *(uint32_t *)user);
    for (size_t i = 0; i < n->n_inputs; i++)
        cq_ir_each_use(&n->inputs[i], count_use, user);
    for (size_t i = 0; i < n->n_attrs; i++)
        cq_ir_each_use(&n->attrs[i].value, count_use, user);
    for (size_t i = 0; i < n->n_blocks; i++)
        count_ends(n->blocks[i], user);
    return CQ_OK;
}

void cq_ir_count_uses(cq_graph *g)
{
    uint32_t count = ++g->n_counts;

    for (size_t i = 0; i < g->constants.n; i++)
        meet(g->constants.items[i], count);
    cq_ir_each_node(g->top, count_node, &count);
    count_ends(g->top, &count);
}
