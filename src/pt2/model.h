/* A program of torch.export that can be called: with the user's inputs, for real or into a graph.
 */
#ifndef CQ_PT2_MODEL_H
#define CQ_PT2_MODEL_H

#include "pt2/run.h"
#include "pt2/structure.h"

#include <calque/pt2.h>

/* The name in the graph of a symbol of the file. */
typedef struct cq_pt2_shown {
    char symbol[64], name[64];
} cq_pt2_shown;

/* A condition on the sizes of inputs that PyTorch relied on when it made the program. In its
 * expressions "i3a2" is axis 2 of input 3. */
typedef struct cq_pt2_guard {
    const char *left, *right, *relation; /* "==", "<=", ">=", "<", ">" */
} cq_pt2_guard;

/* A symbol of the file with its value on the example and another one. */
typedef struct cq_pt2_sized {
    char    symbol[64];
    int64_t example, size, max;
} cq_pt2_sized;

struct cq_pt2 {
    cq_pt2_program *program;
    cq_pt2_tree     arguments, results; /* how they nest */
    cq_script      *script;       /* the text of higher-order operators, and definitions of users */
    CQ_VEC(uint32_t) user;        /* inputs of the graph that the user gives */
    CQ_VEC(cq_tensor *) examples; /* one each */
    CQ_VEC(cq_pt2_shown) shown;   /* dynamic sizes of the last capture */
    CQ_VEC(const char *) output_names; /* of the user's outputs except None; NULL: unnamed */
    CQ_VEC(const char *)
    output_paths;                     /* their paths in the result, even if these are not names */
    CQ_VEC(const char *) input_names; /* as deployed_names.c has them; none: the file's */
    CQ_VEC(cq_pt2_guard) guards;
    size_t guards_len;        /* of their texts */
    CQ_VEC(uint32_t) changed; /* mutations.c: inputs of the graph that operators change in place */
    CQ_VEC(cq_pt2_sized) larger; /* larger.c: sizes to try */
    cq_map sized;                /* their symbols, to their number + 1 */
    size_t work;                 /* characters of guards that were computed to choose them */
    cq_map taken;         /* names of inputs and outputs, with the number of further requests */
    cq_map changed_names; /* of mutated values, to the name of the new value */
    bool   has_cross;     /* among the past is what an encoder gave */

    /* state.c: the weights and user inputs that a call mutates, as found by captures. */
    CQ_VEC(bool) is_state; /* by inputs of the graph */
    bool has_state;        /* the last capture had it as inputs and outputs */
    bool unsettled;        /* and found more than it had */
};

typedef cq_status (*cq_pt2_weight_fn)(void *user, const char *name, cq_tensor *t,
                                      bool is_parameter);
cq_status cq_pt2_each_weight(cq_pt2 *model, cq_pt2_weight_fn fn, void *user);

/* Calls the program through a port, for real or into the capture of cx. */
cq_status cq_pt2_call_through(cq_ctx *cx, cq_pt2 *model, cq_tensor *const *inputs, size_t n_inputs,
                              cq_port *port);

/* state.c: forgets the state that captures found; warns about state that is not among inputs and
 * outputs, with the names separated by commas. */
cq_status cq_pt2_forget_state(cq_pt2 *model);
void      cq_pt2_warn_of_state(const cq_pt2 *model);

/* cq_pt2_state_value returns the argument that replaces t, an input that is state, in the call
 * of a graph. cq_pt2_finish_state takes their final values from the results of the call. next:
 * the number of requested values so far. */
cq_status cq_pt2_state_value(cq_pt2 *model, cq_eval *ev, cq_port *port, size_t input, cq_tensor *t,
                             size_t *next, cq_val *out);
cq_status cq_pt2_finish_state(cq_pt2 *model, cq_eval *ev, cq_port *port, const cq_val *args,
                              const cq_val *results);

/* outputs.c: names the outputs by the structure of the result. */
cq_status cq_pt2_name_outputs(cq_pt2 *model);
cq_status cq_pt2_take_names(cq_pt2 *model); /* marks the current names as taken */

/* A free name for the new value of a mutated input: cache_out, then cache_out_2. NULL: no memory.
 */
const char *cq_pt2_changed_name(cq_pt2 *model, const char *name);

/* mutations.c: fills model->changed. */
cq_status cq_pt2_find_changes(cq_pt2 *model);

/* guards.c: reads the conditions; unsupported ones are omitted. */
cq_status cq_pt2_read_guards(cq_pt2 *model);

/* The first guard that does not hold for the sizes, or NULL. size returns that of an input's axis.
 */
typedef cq_int (*cq_pt2_size_fn)(void *user, size_t input, size_t axis);
const cq_pt2_guard *cq_pt2_broken_guard(const cq_pt2 *model, cq_pt2_size_fn size, void *user);

/* A side of a guard for messages: "past.size(2) + ids.size(1)". */
void cq_pt2_show_side(const cq_pt2 *model, const char *side, char *text, size_t size);

/* The value of a side of a guard; false: it cannot be computed. */
bool cq_pt2_guard_side(const char *side, cq_symbols *table, cq_pt2_size_fn size, void *user,
                       cq_int *out);

/* deployed_names.c: the usual name of a size of an input; NULL: it has none. */
const char *cq_pt2_deployed_axis(const cq_pt2 *model, size_t input, size_t axis);

/* examples.c: fills model->examples. */
cq_status cq_pt2_make_examples(cq_pt2 *model);

#endif
