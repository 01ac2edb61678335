/* The usual names of deployed language models, those of Hugging Face: past keys and values are
 * past_key_values.0.key, and present.0.key as outputs; a decoder with an encoder has
 * past_key_values.0.decoder.key and past_key_values.0.encoder.key. They are derived from the names
 * in the program, which follow the nesting of a tuple, a list or a cache: past_key_values_0_1,
 * past_key_values_key_cache_0. */
#include "pt2/model.h"

#include <stdio.h>
#include <stdlib.h>

/* Which tensor of a cache. */
typedef struct argument_slot {
    long layer;
    bool is_value, is_cross; /* cross: of the encoder's states */
} argument_slot;

typedef CQ_VEC(argument_slot) argument_slots;

static const char *const roots[] = { "past_key_values", "past_key_value",      "present_key_values",
                                     "present",         "decoder_past_values", "past" };

static const struct word {
    const char *text;
    int         is_value, is_cross; /* -1: unknown */
} words[] = {
    { "key", 0, -1 },    { "keys", 0, -1 },       { "value", 1, -1 },   { "values", 1, -1 },
    { "self", -1, 0 },   { "decoder", -1, 0 },    { "cross", -1, 1 },   { "encoder", -1, 1 },
    { "cache", -1, -1 }, { "attention", -1, -1 }, { "states", -1, -1 }, { "layers", -1, -1 },
};

static const struct word *word_of(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].text) == len && memcmp(words[i].text, text, len) == 0)
            return &words[i];
    return NULL;
}

/* The part after the root: the word key or value and one number, the layer; or two numbers, the
 * layer and the index of its two or four tensors. */
static bool read_words(const char *rest, argument_slot *out)
{
    long numbers[2];
    int  n = 0, is_value = -1, is_cross = -1;

    for (size_t len; *rest == '_' || *rest == '.'; rest += len) {
        const struct word *w;

        len = strcspn(++rest, "_.");
        w   = word_of(rest, len);
        if (w) {
            is_value = w->is_value >= 0 ? w->is_value : is_value;
            is_cross = w->is_cross >= 0 ? w->is_cross : is_cross;
        } else if (len && len < 6 && strspn(rest, "0123456789") == len && n < 2) {
            numbers[n++] = strtol(rest, NULL, 10);
        } else {
            return false;
        }
    }
    if (*rest || n != (is_value < 0 ? 2 : 1) || (n == 2 && numbers[1] > 3))
        return false;
    *out = (argument_slot){ numbers[0], n == 2 ? numbers[1] % 2 : is_value,
                            n == 2 ? numbers[1] > 1 : is_cross == 1 };
    return true;
}

static bool read_name(const char *name, argument_slot *out)
{
    for (size_t i = 0; name && i < sizeof roots / sizeof *roots; i++)
        if (strncmp(name, roots[i], strlen(roots[i])) == 0 &&
            read_words(name + strlen(roots[i]), out))
            return true;
    return false;
}

static cq_status set_name(cq_pt2 *p, const char **slot, const char *root, const argument_slot *at)
{
    const char *half = !p->has_cross ? "" : at->is_cross ? ".encoder" : ".decoder";
    char        name[64];

    snprintf(name, sizeof name, "%s.%ld%s.%s", root, at->layer, half,
             at->is_value ? "value" : "key");
    *slot = cq_arena_strdup(p->program->archive->arena, name);
    return *slot ? CQ_OK : CQ_E_NO_MEMORY;
}

/* Fills past; *named: outputs have names that identify them. */
static cq_status find(cq_pt2 *p, argument_slots *past, bool *named)
{
    argument_slot at;

    for (size_t i = 0; i < p->user.n; i++)
        if (read_name(cq_pt2_input_name(p, i), &at)) {
            CQ_TRY(cq_vec_push(past, at));
            p->has_cross |= at.is_cross;
        }
    for (size_t i = 0; i < p->output_paths.n; i++)
        if (read_name(p->output_paths.items[i], &at)) {
            p->has_cross |= at.is_cross;
            *named = true;
        }
    return CQ_OK;
}

static cq_status name_inputs(cq_pt2 *p)
{
    argument_slot at;

    for (size_t i = 0; i < p->user.n; i++) {
        const char *own = cq_pt2_input_name(p, i);

        CQ_TRY(cq_vec_push(&p->input_names, own));
        if (read_name(own, &at))
            CQ_TRY(set_name(p, &p->input_names.items[i], "past_key_values", &at));
    }
    return CQ_OK;
}

/* Outputs without names, those of a tuple, are the logits and then the past in the order of the
 * inputs. */
static cq_status name_outputs(cq_pt2 *p, const argument_slots *past, bool named)
{
    const size_t  n = p->output_names.n, first = n > past->n ? n - past->n : n;
    argument_slot at;

    for (size_t i = 0; i < n; i++) {
        const char **name = &p->output_names.items[i];

        if (read_name(p->output_paths.items[i], &at))
            CQ_TRY(set_name(p, name, "present", &at));
        else if (!named && !*name && i >= first)
            CQ_TRY(set_name(p, name, "present", &past->items[i - first]));
        else if (!named && !*name && past->n && first == 1)
            *name = "logits";
    }
    return CQ_OK;
}

CQ_API cq_status cq_pt2_name_as(cq_pt2 *p, const char *convention)
{
    argument_slots past  = { 0 };
    bool           named = false;
    cq_status      status;

    CQ_NEED(p && convention);
    if (strcmp(convention, "hf") != 0)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "names can be hf, not '%s'", convention);
    if (p->input_names.n)
        return CQ_OK;
    status = find(p, &past, &named);
    if (status == CQ_OK)
        status = name_inputs(p);
    if (status == CQ_OK)
        status = name_outputs(p, &past, named);
    if (status == CQ_OK)
        status = cq_pt2_take_names(p);
    cq_vec_clear(&past);
    return status;
}

/* ---- sizes ---- */

static const struct axis {
    const char *input; /* "x.": all whose names begin so */
    size_t      axis;
    const char *name;
} axes[] = {
    { "input_ids", 0, "batch_size" },
    { "input_ids", 1, "sequence_length" },
    { "inputs_embeds", 0, "batch_size" },
    { "inputs_embeds", 1, "sequence_length" },
    { "decoder_input_ids", 0, "batch_size" },
    { "decoder_input_ids", 1, "decoder_sequence_length" },
    { "past_key_values.", 0, "batch_size" },
    { "past_key_values.", 2, "past_sequence_length" },
    { "encoder_hidden_states", 1, "encoder_sequence_length" },
    { "attention_mask", 1, "total_sequence_length" },
};

const char *cq_pt2_deployed_axis(const cq_pt2 *p, size_t input, size_t axis)
{
    const char *name = input < p->input_names.n ? p->input_names.items[input] : NULL;

    if (name && axis == 2 && strstr(name, ".encoder."))
        return "encoder_sequence_length";
    for (size_t i = 0; name && i < sizeof axes / sizeof *axes; i++) {
        const size_t len  = strlen(axes[i].input);
        const bool   many = axes[i].input[len - 1] == '.';

        if (axes[i].axis == axis && strncmp(axes[i].input, name, len) == 0 && (many || !name[len]))
            return axes[i].name;
    }
    return NULL;
}
