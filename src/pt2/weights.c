/* Replaces the weights of a program of torch.export by those of a file. */
#include "archive/weights.h"
#include "pt2/model.h"

typedef struct collected {
    cq_weights_slots slots;
    const cq_pt2    *program;
} collected;

/* Constants and buffers that are not persistent are not part of a state dict. */
static cq_status add_slot(void *user, const char *name, cq_tensor *t, bool is_parameter)
{
    collected *c = user;

    (void)is_parameter;
    return cq_weights_add_slot(&c->slots, name, t,
                               !cq_map_has(&c->program->program->archive->weights, name));
}

CQ_API cq_status cq_pt2_load_weights(cq_pt2 *program, cq_weights *weights, uint32_t flags)
{
    CQ_NEED(program && weights);
    collected c = { .program = program };
    cq_status status;

    CQ_TRY_OR_DONE(cq_pt2_each_weight(program, add_slot, &c));
    CQ_TRY_OR_DONE(cq_weights_fit(weights, &c.slots, "the program", flags));
    for (size_t i = 0; i < c.slots.n; i++)
        if (c.slots.items[i].found)
            CQ_TRY_OR_DONE(
                cq_pt2_set_tensor(program, c.slots.items[i].name, c.slots.items[i].found));
done:
    cq_weights_slots_clear(&c.slots);
    return status;
}
