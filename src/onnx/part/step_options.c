/* Parses the text of a step, NAME[:KEY=VALUE]…. The key of one number may be omitted: topk:5. */
#include "onnx/part/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1024 };

typedef enum step_kind { TEXT, NUMBER, COUNT, NUMBERS, LAYOUT, FORMAT } step_kind;

static const struct step_row {
    const char *key, *steps; /* the steps that accept the option */
    step_kind   kind;
    size_t      offset;
} rows[] = {
    { "input", "image", TEXT, offsetof(cq_step_options, value) },
    { "output", "softmax argmax topk", TEXT, offsetof(cq_step_options, value) },
    { "boxes", "nms", TEXT, offsetof(cq_step_options, boxes) },
    { "scores", "nms", TEXT, offsetof(cq_step_options, scores) },
    { "mean", "image", NUMBERS, offsetof(cq_step_options, mean) },
    { "std", "image", NUMBERS, offsetof(cq_step_options, std) },
    { "scale", "image", NUMBER, offsetof(cq_step_options, scale) },
    { "layout", "image", LAYOUT, offsetof(cq_step_options, nhwc) },
    { "axis", "softmax argmax topk", COUNT, offsetof(cq_step_options, axis) },
    { "k", "topk", COUNT, offsetof(cq_step_options, k) },
    { "iou", "nms", NUMBER, offsetof(cq_step_options, iou) },
    { "score", "nms", NUMBER, offsetof(cq_step_options, score) },
    { "max", "nms", COUNT, offsetof(cq_step_options, max) },
    { "boxformat", "nms", FORMAT, offsetof(cq_step_options, center) },
};

static bool read_number(double *out, const char **text)
{
    char *end;

    *out = strtod(*text, &end);
    if (end == *text || !isfinite(*out))
        return false;
    *text = end;
    return true;
}

static bool read_numbers(cq_step_numbers *out, const char *text)
{
    out->n = 0;
    do {
        if (out->n == CQ_STEP_MAX_NUMBERS || !read_number(&out->items[out->n++], &text))
            return false;
    } while (*text++ == ',');
    return text[-1] == 0;
}

static bool read_choice(bool *out, const char *text, const char *no, const char *yes)
{
    *out = strcmp(text, yes) == 0;
    return *out || strcmp(text, no) == 0;
}

static bool read_value(void *to, step_kind kind, const char *text)
{
    double number;
    char  *end;

    switch (kind) {
    case TEXT:
        if (strlen(text) >= CQ_STEP_NAME_SIZE || !*text)
            return false;
        strcpy(to, text);
        return true;
    case NUMBER:
        if (!read_number(&number, &text) || *text)
            return false;
        *(double *)to = number;
        return true;
    case COUNT: *(int64_t *)to = strtoll(text, &end, 10); return end != text && !*end;
    case NUMBERS: return read_numbers(to, text);
    case LAYOUT: return read_choice(to, text, "NCHW", "NHWC");
    case FORMAT: return read_choice(to, text, "corners", "center");
    }
    return false;
}

static const struct step_row *find_row(const char *step, const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0 && strstr(rows[i].steps, step))
            return &rows[i];
    return NULL;
}

static cq_status read_pair(cq_step_options *o, char *pair)
{
    char                  *value = strchr(pair, '=');
    const struct step_row *row;

    if (value)
        *value++ = 0;
    row = find_row(o->name, value ? pair : "k");
    if (!row)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "step %s has no option '%s'", o->name, pair);
    value = value ? value : pair;
    if (!read_value((char *)o + row->offset, row->kind, value))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "invalid value '%s' for %s of step %s", value,
                       row->key, o->name);
    return CQ_OK;
}

static cq_status check(const cq_step_options *o)
{
    for (size_t i = 0; i < o->std.n; i++)
        if (o->std.items[i] == 0)
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "std must not be 0");
    if (o->scale == 0)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "scale must not be 0");
    return CQ_OK;
}

cq_status cq_step_options_read(cq_step_options *out, const char *text)
{
    char  copy[MAX_TEXT];
    char *next, *colon;

    *out = (cq_step_options){ .mean  = { { 0 }, 1 },
                              .std   = { { 1 }, 1 },
                              .scale = 255,
                              .iou   = 0.5,
                              .score = 0.25,
                              .axis  = -1,
                              .max   = 100,
                              .nhwc  = true };
    if (strlen(text) >= sizeof copy)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a step has more than %d characters", MAX_TEXT);
    strcpy(copy, text);
    colon = strchr(copy, ':');
    if (colon)
        *colon = 0;
    if (strlen(copy) >= sizeof out->name || !*copy)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "unknown step '%s'", copy);
    strcpy(out->name, copy);
    for (next = colon; next; next = colon) {
        colon = strchr(next + 1, ':');
        if (colon)
            *colon = 0;
        CQ_TRY(read_pair(out, next + 1));
    }
    return check(out);
}
