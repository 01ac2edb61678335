/* A program of torch.export that can be called: with the user's inputs, for real or into a graph.
 */
#ifndef CQ_PT2_MODEL_H
#define CQ_PT2_MODEL_H

#include "pt2/run.h"

#include <calque/pt2.h>

/* What a symbol of the file is called in a graph. */
typedef struct cq_pt2_shown {
    char symbol[64], name[64];
} cq_pt2_shown;

struct cq_pt2 {
    cq_pt2_program *program;
    cq_script      *script;       /* the text of higher-order operators, and definitions of users */
    CQ_VEC(uint32_t) user;        /* inputs of the graph that the user gives */
    CQ_VEC(cq_tensor *) examples; /* one each */
    CQ_VEC(cq_pt2_shown) shown;   /* dynamic sizes of the last capture */
    CQ_VEC(const char *) output_names; /* of the user's outputs but None; NULL: none */
    CQ_VEC(const char *)
    output_paths;                     /* where they are in the result, even if that is not a name */
    CQ_VEC(const char *) input_names; /* as deployed_names.c has them; none: the file's */
    bool has_cross;                   /* among the past is what an encoder gave */
};

typedef cq_status (*cq_pt2_weight_fn)(void *user, const char *name, cq_tensor *t,
                                      bool is_parameter);
cq_status cq_pt2_each_weight(cq_pt2 *model, cq_pt2_weight_fn fn, void *user);

/* Where inputs come from and outputs go to. */
typedef struct cq_pt2_ends {
    const char *(*name)(void *user, const char *own); /* of the next input of a capture */
    const char *(*axis_name)(void *user, const char *input, size_t rank, size_t axis);
    cq_tensor *(*input)(void *user, cq_tensor *example); /* of a run */
    cq_status (*output)(void *user, cq_tensor *t);
    bool (*has_rule)(void *user, const char *op);
    void *user;
    bool  is_static;      /* all sizes are those of the example */
    bool  keep_mutations; /* what the program changes is an output, too */
} cq_pt2_ends;

cq_status cq_pt2_call_through(cq_ctx *cx, cq_pt2 *model, cq_tensor *const *inputs, size_t n_inputs,
                              const cq_pt2_ends *ends);

/* outputs.c: what the outputs are called, by the structure of the result. */
cq_status cq_pt2_name_outputs(cq_pt2 *model);

/* deployed_names.c: what people call a size of an input; NULL: nothing. */
const char *cq_pt2_deployed_axis(const cq_pt2 *model, size_t input, size_t axis);

/* examples.c: fills model->examples. */
cq_status cq_pt2_make_examples(cq_pt2 *model);

#endif
