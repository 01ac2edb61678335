/* The roles of a program's inputs and outputs: weights, user inputs and outputs, and new values of
 * mutated ones. */
#include "pt2/program.h"

#include <string.h>

typedef struct role_row {
    const char *key, *name; /* the field that names the weight */
    cq_pt2_role role;
} role_row;

static const role_row input_roles[] = {
    { "user_input", NULL, CQ_PT2_USER },
    { "parameter", "parameter_name", CQ_PT2_PARAMETER },
    { "buffer", "buffer_name", CQ_PT2_BUFFER },
    { "tensor_constant", "tensor_constant_name", CQ_PT2_CONSTANT },
    { "constant_input", "name", CQ_PT2_FIXED },
    { "custom_obj", "custom_obj_name", CQ_PT2_OTHER },
    { "token", NULL, CQ_PT2_OTHER },
};

static const role_row output_roles[] = {
    { "user_output", NULL, CQ_PT2_USER },
    { "loss_output", NULL, CQ_PT2_USER },
    { "buffer_mutation", "buffer_name", CQ_PT2_MUTATION },
    { "parameter_mutation", "parameter_name", CQ_PT2_MUTATION },
    { "user_input_mutation", "user_input_name", CQ_PT2_MUTATION },
    { "gradient_to_parameter", NULL, CQ_PT2_OTHER },
    { "gradient_to_user_input", NULL, CQ_PT2_OTHER },
    { "token", NULL, CQ_PT2_OTHER },
};

static cq_status read_spec(const cq_pt2_program *p, const cq_json *spec, const role_row *rows,
                           size_t n, cq_pt2_port *out)
{
    const cq_json_member *m = cq_json_union(spec);

    for (size_t i = 0; m && i < n; i++) {
        if (strcmp(rows[i].key, m->key) != 0)
            continue;
        out->role = rows[i].role;
        out->name = rows[i].name ? cq_json_text(cq_json_get(&m->value, rows[i].name), "") : "";
        if (out->role == CQ_PT2_BUFFER && !cq_json_bool(cq_json_get(&m->value, "persistent"), true))
            out->role = CQ_PT2_CONSTANT;
        return CQ_OK;
    }
    return cq_fail(CQ_E_UNSUPPORTED, p->archive->path, "a newer calque may read it",
                   "an input or output of the program is of the unknown kind %s",
                   m ? m->key : "null");
}

static cq_status read_specs(const cq_pt2_program *p, const cq_json *specs, const role_row *rows,
                            size_t n_rows, size_t n, const cq_pt2_port **out)
{
    cq_pt2_port *ports = cq_arena_array(p->archive->arena, n, sizeof *ports);

    *out = ports;
    if (!ports)
        return CQ_E_NO_MEMORY;
    if (cq_json_length(specs) != n)
        return cq_pt2_bad(p, "the signature tells of %zu inputs or outputs, the graph has %zu",
                          cq_json_length(specs), n);
    for (size_t i = 0; i < n; i++)
        CQ_TRY(read_spec(p, cq_json_at(specs, i), rows, n_rows, &ports[i]));
    return CQ_OK;
}

/* ---- the signature of schema 1 ---- */

static const char *slot_name(const cq_pt2_graph *g, const cq_pt2_arg *a)
{
    return a->kind == CQ_PT2_SLOT ? g->slots[a->u.slot] : "";
}

static cq_status read_first_schema(cq_pt2_program *p, const cq_json *signature)
{
    static const struct {
        const char *key;
        cq_pt2_role role;
    } maps[] = {
        { "inputs_to_parameters", CQ_PT2_PARAMETER },
        { "inputs_to_buffers", CQ_PT2_BUFFER },
        { "inputs_to_lifted_tensor_constants", CQ_PT2_CONSTANT },
    };
    const cq_pt2_graph *g       = p->graph;
    const cq_json      *mutated = cq_json_get(signature, "buffers_to_mutate");
    cq_pt2_port        *inputs  = cq_arena_array(p->archive->arena, g->n_inputs, sizeof *inputs);
    cq_pt2_port        *outputs = cq_arena_array(p->archive->arena, g->n_outputs, sizeof *outputs);

    p->inputs  = inputs;
    p->outputs = outputs;
    if (!inputs || !outputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < g->n_inputs; i++) {
        inputs[i].name = "";
        for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
            const char *weight = cq_json_text(
                cq_json_get(cq_json_get(signature, maps[k].key), slot_name(g, &g->inputs[i])),
                NULL);

            if (weight)
                inputs[i] = (cq_pt2_port){ maps[k].role, weight };
        }
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        const char *buffer = cq_json_text(cq_json_get(mutated, slot_name(g, &g->outputs[i])), NULL);

        outputs[i] =
            buffer ? (cq_pt2_port){ CQ_PT2_MUTATION, buffer } : (cq_pt2_port){ CQ_PT2_USER, "" };
    }
    return CQ_OK;
}

/* ---- ranges ---- */

static int64_t limit_of(const cq_json *range, const char *key, const char *old, int64_t otherwise)
{
    const cq_json *v = cq_json_get(range, key);

    return cq_json_int(v, cq_json_int(cq_json_get(range, old), otherwise));
}

static cq_status read_ranges(cq_pt2_program *p, const cq_json *ranges)
{
    size_t        n   = ranges->kind == CQ_JSON_OBJECT ? ranges->n : 0;
    cq_pt2_range *out = cq_arena_array(p->archive->arena, n, sizeof *out);

    p->ranges   = out;
    p->n_ranges = n;
    if (!out)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const cq_json_member *m = &ranges->u.members[i];

        out[i] = (cq_pt2_range){ m->key, limit_of(&m->value, "min_val", "min", INT64_MIN),
                                 limit_of(&m->value, "max_val", "max", INT64_MAX) };
        CQ_TRY(cq_map_set(&p->range_of, m->key, &out[i]));
    }
    return CQ_OK;
}

cq_status cq_pt2_read_signature(cq_pt2_program *p, const cq_json *program)
{
    const cq_json *signature = cq_json_get(cq_json_get(program, "graph_module"), "signature");
    const cq_json *inputs    = cq_json_get(signature, "input_specs");

    CQ_TRY(read_ranges(p, cq_json_get(program, "range_constraints")));
    if (inputs->kind != CQ_JSON_LIST)
        return read_first_schema(p, signature);
    CQ_TRY(read_specs(p, inputs, input_roles, sizeof input_roles / sizeof *input_roles,
                      p->graph->n_inputs, &p->inputs));
    return read_specs(p, cq_json_get(signature, "output_specs"), output_roles,
                      sizeof output_roles / sizeof *output_roles, p->graph->n_outputs, &p->outputs);
}
