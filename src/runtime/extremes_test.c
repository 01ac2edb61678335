/* Extreme numbers that a model file may contain although no real model does. For every version of
 * every executable operator, random nodes are generated from its schema until some of them run.
 * Then every integer of their attributes and inputs, one at a time, is replaced by the limits of
 * its range, and every float by values that no integer can hold. A node may fail; it must not
 * overflow, crash, or hang. Only a sanitized build detects all errors. Related tests:
 * tests/ops/extremes_test.c for ATen and script/extremes_test.c for TorchScript. Each schema runs
 * in a separate process, so that a crash is attributed to it. */
#define _XOPEN_SOURCE 700 /* alarm, fork */
#include "extremes.h"
#include "onnx/schema.h"
#include "runtime/rows.h"

#include <calque/tensor.h>

enum {
    TRIES       = 6000, /* attempts to find nodes that run */
    BASES       = 3,    /* number of nodes whose numbers are changed */
    MAX_INPUTS  = 12,
    MAX_RANK    = 4,
    MAX_ATTRS   = 32,
    MAX_NUMBERS = 8 /* of a list or tensor: only the first numbers are changed */
};

/* ---- a node ---- */

typedef struct number {
    int64_t i;
    double  f;
} number;

typedef struct input {
    bool    given, is_sequence;
    int32_t type; /* cq_onnx_data_type */
    size_t  rank;
    int64_t sizes[MAX_RANK];
    number  head[MAX_NUMBERS];
} input;

typedef struct attribute {
    bool        given;
    size_t      n;
    number      v[MAX_NUMBERS];
    const char *text;
} attribute;

typedef struct candidate {
    const cq_onnx_schema *schema;
    input                 inputs[MAX_INPUTS];
    size_t                n_inputs, n_outputs;
    attribute             attrs[MAX_ATTRS];
    bool                  is_constant; /* inputs are initializers */
} candidate;

static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* ---- random nodes ---- */

/* Shapes of the first, second, third and all other inputs that usually fit together. A digit is a
 * size; "" is a scalar. */
static const char *const layouts[][4] = {
    { "23", "23", "23", "23" },
    { "4", "4", "4", "4" },
    { "", "", "", "" },
    { "1466", "4433", "4", "4" },
    { "1466", "4133", "4", "4" },
    { "146", "443", "4", "4" },
    { "1466", "4", "4", "4" },
    { "1444", "1444", "1444", "1444" },
    { "23", "3", "3", "3" },
    { "234", "234", "234", "234" },
    { "314", "144", "144", "18" },
    { "314", "1g4", "1g4", "1w" },
    { "314", "1c4", "1c4", "1o" },
    { "23", "34", "24", "2" },
    { "23", "2", "2", "2" },
    { "1444", "", "", "" },
    { "1466", "24", "2", "2" },
    { "23", "", "", "" },
    { "1466", "1332", "1", "1" },
    { "2344", "2", "2", "2" },
    { "145", "12", "1", "1" },
    { "134", "123", "123", "123" },
    { "1466", "1466", "1466", "4" },
    { "18", "34", "1", "1" },
    { "24", "24", "4", "4" },
    { "1412", "", "4", "4" },
    { "44", "44", "44", "44" },
    { "1244", "1i44", "8233", "8" },
    { "134", "22", "2", "2" },
    { "1424", "92", "92", "12" },
};

enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

static int64_t size_of_digit(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c - '0'; /* c is 12, g 16, o 24, w 32 */
}

static void set_shape(input *x, const char *layout)
{
    x->rank = strlen(layout);
    for (size_t i = 0; i < x->rank; i++)
        x->sizes[i] = size_of_digit(layout[i]);
}

static bool is_float(int32_t type)
{
    return type == CQ_ONNX_FLOAT || type == CQ_ONNX_DOUBLE || type == CQ_ONNX_FLOAT16;
}

/* Chooses an allowed type that is common: floats first, integers first, or any. */
static int32_t choose_type(const cq_onnx_types *types, uint32_t taste)
{
    static const int32_t orders[][6] = {
        { CQ_ONNX_FLOAT, CQ_ONNX_INT64, CQ_ONNX_INT32, CQ_ONNX_UINT8, CQ_ONNX_BOOL,
          CQ_ONNX_STRING },
        { CQ_ONNX_INT64, CQ_ONNX_INT32, CQ_ONNX_UINT8, CQ_ONNX_FLOAT, CQ_ONNX_BOOL,
          CQ_ONNX_STRING },
        { CQ_ONNX_INT32, CQ_ONNX_INT8, CQ_ONNX_UINT64, CQ_ONNX_DOUBLE, CQ_ONNX_BOOL,
          CQ_ONNX_FLOAT },
        { CQ_ONNX_STRING, CQ_ONNX_BOOL, CQ_ONNX_UINT8, CQ_ONNX_INT64, CQ_ONNX_FLOAT16,
          CQ_ONNX_FLOAT },
    };
    const uint32_t bits = types->of[CQ_ONNX_WRAP_TENSOR] | types->of[CQ_ONNX_WRAP_SEQUENCE];

    for (size_t i = 0; i < 6; i++)
        if (bits >> orders[taste][i] & 1)
            return orders[taste][i];
    return CQ_ONNX_UNDEFINED;
}

/* Integers that are sizes, indices or counts: short lists of small numbers. */
static void make_integers(input *x, size_t length)
{
    static const int64_t usual[] = { 0, 1, 1, 2, 2, 3, 4, -1 };
    const uint32_t       how     = draw(4);

    x->rank     = length ? 1 : 0;
    x->sizes[0] = (int64_t)(length ? length : 1);
    for (size_t i = 0; i < MAX_NUMBERS; i++)
        x->head[i].i = how == 0 ? 0 : how == 1 ? 1 : how == 2 ? (int64_t)i : usual[draw(8)];
}

static void make_input(candidate *c, size_t i, const char *const layout[4], uint32_t taste,
                       size_t length)
{
    const cq_onnx_parameter *p = cq_onnx_parameter_at(c->schema->inputs, c->schema->n_inputs, i);
    input                   *x = &c->inputs[i];

    *x      = (input){ .given       = p->arity == CQ_ONNX_SINGLE || i == 0 || draw(3) > 0,
                       .is_sequence = !p->types.of[CQ_ONNX_WRAP_TENSOR] };
    x->type = choose_type(&p->types, p->constraint == 0 || p->constraint == -1 ? taste : 0);
    set_shape(x, layout[i < 3 ? i : 3]);
    for (size_t k = 0; k < MAX_NUMBERS; k++)
        x->head[k] = (number){ (int64_t)draw(3), (double)draw(9) / 4 - 0.75 };
    if (!is_float(x->type) && x->type != CQ_ONNX_STRING && x->type != CQ_ONNX_BOOL && i > 0)
        if (draw(3))
            make_integers(x, length);
    if (i == 0 && !is_float(x->type) && c->schema->n_inputs < 4 && draw(4) == 0)
        make_integers(x, length);
}

static void make_attribute(attribute *a, const cq_onnx_schema_attribute *s, size_t length)
{
    static const int64_t     usual[] = { 0, 1, 1, 1, 2, 2, 3, 4 };
    static const char *const words[] = {
        "linear", "SUM", "forward", "ij,jk->ik", "a", "BRANCH_LEQ"
    };
    const uint32_t how = draw(3);

    *a      = (attribute){ .given = s->is_required || draw(3) == 0 };
    a->n    = length;
    a->text = s->fallback ? s->fallback : words[draw(6)];
    for (size_t i = 0; i < MAX_NUMBERS; i++)
        a->v[i] = (number){ how == 0   ? 1
                            : how == 1 ? (int64_t)i
                                       : usual[draw(8)],
                            (double)draw(5) / 4 + 0.25 };
}

static void make_up(candidate *c, const cq_onnx_schema *s)
{
    const char *const *layout = layouts[draw(N_LAYOUTS)];
    const uint32_t     taste  = draw(4);
    const size_t       length = draw(9), list = draw(4) ? 1 + draw(4) : 8;
    const size_t       most = s->max_inputs < MAX_INPUTS ? s->max_inputs : MAX_INPUTS;

    *c = (candidate){ .schema = s, .is_constant = draw(2) };
    c->n_inputs =
        s->min_inputs + (most > s->min_inputs ? draw((uint32_t)(most - s->min_inputs) + 1) : 0);
    c->n_inputs  = c->n_inputs > MAX_INPUTS ? MAX_INPUTS : c->n_inputs;
    c->n_outputs = s->max_outputs == SIZE_MAX || draw(2) ? s->min_outputs : s->max_outputs;
    c->n_outputs += s->max_outputs == SIZE_MAX ? draw(4) : 0;
    for (size_t i = 0; i < c->n_inputs; i++)
        make_input(c, i, layout, taste, draw(3) ? length : draw(9));
    for (size_t i = 0; i < s->n_attributes && i < MAX_ATTRS; i++)
        make_attribute(&c->attrs[i], &s->attributes[i], list);
}

/* ---- running a node ---- */

static cq_tensor *tensor_of_input(const input *x, int seed)
{
    cq_tensor *wide = NULL, *t = NULL;
    const bool real = is_float(x->type);
    int64_t    n;

    CHECK_OK(cq_tensor_new(&wide, real ? CQ_DTYPE_F64 : CQ_DTYPE_I64, x->rank, x->sizes, NULL));
    n = cq_tensor_numel(wide);
    for (int64_t i = 0; i < n; i++) {
        const number v = i < MAX_NUMBERS
                             ? x->head[i]
                             : (number){ (7 * i + seed) % 3, (double)((7 * i) % 11 - 5) / 4 };

        if (real)
            ((double *)cq_tensor_data(wide))[i] = v.f;
        else
            ((int64_t *)cq_tensor_data(wide))[i] = v.i;
    }
    CHECK_OK(cq_tensor_clone(&t, wide, cq_dtype_from_onnx(x->type)));
    cq_tensor_release(wide);
    return t;
}

static cq_onnx_value *value_of_input(const input *x)
{
    static const char *const texts[64] = { "a", "b c", "", "1", "ab", "a" };
    const char              *all[64];
    cq_onnx_value           *value = NULL, *items[2], *sequence;
    cq_tensor               *t     = NULL;

    for (size_t i = 0; i < 64; i++)
        all[i] = texts[i % 6];
    if (x->type == CQ_ONNX_STRING) {
        input small = *x;

        set_shape(&small, x->rank == 1 ? "4" : x->rank ? "23" : "");
        CHECK_OK(cq_onnx_value_new_strings(&value, small.rank, small.sizes, all, NULL));
    } else {
        t = tensor_of_input(x, 0);
        CHECK_OK(cq_onnx_value_new_tensor(&value, t));
        cq_tensor_release(t);
    }
    if (!x->is_sequence)
        return value;
    items[0] = items[1] = value;
    CHECK_OK(cq_onnx_value_new_sequence(&sequence, items, 2));
    cq_onnx_value_release(value);
    return sequence;
}

static void add_attribute(cq_onnx_model *m, cq_onnx_node *node, const cq_onnx_schema_attribute *s,
                          const attribute *a)
{
    const char *words[MAX_NUMBERS];
    int64_t     integers[MAX_NUMBERS];
    float       floats[MAX_NUMBERS];

    for (size_t i = 0; i < MAX_NUMBERS; i++) {
        integers[i] = a->v[i].i;
        floats[i]   = (float)a->v[i].f;
        words[i]    = a->text;
    }
    if (s->type == CQ_ONNX_ATTR_INT)
        cq_onnx_attr_int(m, node, s->name, integers[0]);
    else if (s->type == CQ_ONNX_ATTR_INTS)
        cq_onnx_attr_ints(m, node, s->name, integers, a->n);
    else if (s->type == CQ_ONNX_ATTR_FLOAT)
        cq_onnx_attr_float(m, node, s->name, floats[0]);
    else if (s->type == CQ_ONNX_ATTR_FLOATS)
        cq_onnx_attr_floats(m, node, s->name, floats, a->n);
    else if (s->type == CQ_ONNX_ATTR_STRING)
        cq_onnx_attr_string(m, node, s->name, a->text);
    else if (s->type == CQ_ONNX_ATTR_STRINGS)
        cq_onnx_attr_strings(m, node, s->name, words, a->n);
}

static void add_input(cq_onnx_model *m, const candidate *c, size_t i, const char *name,
                      cq_onnx_value **values, size_t *n_values)
{
    const input  *x    = &c->inputs[i];
    cq_onnx_type *type = cq_onnx_type_new_tensor(m, x->type, 0, NULL);
    cq_tensor    *t;

    if (c->is_constant && !x->is_sequence && x->type != CQ_ONNX_STRING) {
        t = tensor_of_input(x, (int)i);
        cq_onnx_graph_add_initializer(m, NULL, name, t);
        cq_tensor_release(t);
        return;
    }
    cq_onnx_add_value(m, &m->graph->input, name,
                      x->is_sequence ? cq_onnx_type_new_sequence(m, type) : type);
    values[(*n_values)++] = value_of_input(x);
}

static cq_onnx_model *model_of(const candidate *c, cq_onnx_value **values, size_t *n_values)
{
    const cq_onnx_schema *s = c->schema;
    cq_onnx_model        *m;
    cq_onnx_node         *node;
    char                  name[32];

    *n_values = 0;
    CHECK_OK(cq_onnx_model_new(&m, "g"));
    cq_onnx_model_set_ir_version(m, 10);
    cq_onnx_model_add_opset(m, s->domain, s->since);
    node = cq_onnx_graph_add_node(m, NULL, s->name, s->domain, "n");
    for (size_t i = 0; i < c->n_inputs; i++) {
        snprintf(name, sizeof name, "x%zu", i);
        cq_onnx_node_add_input(m, node, c->inputs[i].given ? name : "");
        if (c->inputs[i].given)
            add_input(m, c, i, name, values, n_values);
    }
    for (size_t i = 0; i < c->n_outputs; i++) {
        snprintf(name, sizeof name, "y%zu", i);
        cq_onnx_node_add_output(m, node, name);
        cq_onnx_add_value(m, &m->graph->output, name, NULL);
    }
    for (size_t i = 0; i < s->n_attributes && i < MAX_ATTRS; i++)
        if (c->attrs[i].given)
            add_attribute(m, node, &s->attributes[i], &c->attrs[i]);
    CHECK_OK(m->status);
    return m;
}

static void print_candidate(const candidate *c)
{
    fprintf(stderr, "  %s %d%s:", c->schema->name, c->schema->since,
            c->is_constant ? " const" : "");
    for (size_t i = 0; i < c->n_inputs; i++) {
        fprintf(stderr, " x%zu:", i);
        for (size_t k = 0; k < c->inputs[i].rank && c->inputs[i].given; k++)
            fprintf(stderr, "%s%lld", k ? "," : "", (long long)c->inputs[i].sizes[k]);
        fprintf(stderr, "/%d(%lld %lld %g)", c->inputs[i].type, (long long)c->inputs[i].head[0].i,
                (long long)c->inputs[i].head[1].i, c->inputs[i].head[0].f);
    }
    for (size_t i = 0; i < c->schema->n_attributes && i < MAX_ATTRS; i++)
        if (c->attrs[i].given)
            fprintf(stderr, " %s=%lld,%lld[%zu]", c->schema->attributes[i].name,
                    (long long)c->attrs[i].v[0].i, (long long)c->attrs[i].v[1].i, c->attrs[i].n);
    fprintf(stderr, "\n");
}

static cq_status run(const candidate *c)
{
    cq_onnx_value *values[MAX_INPUTS];
    size_t         n_values;
    cq_onnx_model *m      = model_of(c, values, &n_values);
    const double   begin  = extremes_now();
    cq_status      status = extremes_run(m, values, n_values);

    if (status == CQ_OK)
        (void)cq_onnx_model_infer(m, 0);
    for (size_t i = 0; i < n_values; i++)
        cq_onnx_value_release(values[i]);
    cq_onnx_model_free(m);
    if (extremes_now() - begin > SLOW) {
        print_candidate(c);
        exit(1);
    }
    return status;
}

/* ---- changing a node ---- */

/* The number with index `at` among those that can be changed; NULL after the last. */
static number *number_at(candidate *c, size_t at, bool *real)
{
    for (size_t i = 0; i < c->n_inputs; i++) {
        const input *x = &c->inputs[i];
        size_t       n = 1;

        for (size_t k = 0; k < x->rank; k++)
            n *= (size_t)x->sizes[k];
        n = !x->given || x->type == CQ_ONNX_STRING ? 0 : n > MAX_NUMBERS ? 2 : n;
        if (at < n) {
            *real = is_float(x->type);
            return &c->inputs[i].head[at];
        }
        at -= n;
    }
    for (size_t i = 0; i < c->schema->n_attributes && i < MAX_ATTRS; i++) {
        const cq_onnx_attribute_type type = c->schema->attributes[i].type;
        const bool is_list = type == CQ_ONNX_ATTR_INTS || type == CQ_ONNX_ATTR_FLOATS;
        size_t     n       = is_list ? c->attrs[i].n : 1;

        *real = type == CQ_ONNX_ATTR_FLOAT || type == CQ_ONNX_ATTR_FLOATS;
        if (type != CQ_ONNX_ATTR_INT && type != CQ_ONNX_ATTR_INTS && !*real)
            continue;
        if (at < n) {
            c->attrs[i].given = true; /* also change attributes that had their default */
            return &c->attrs[i].v[at];
        }
        at -= n;
    }
    return NULL;
}

static void change_all(const candidate *base)
{
    for (size_t at = 0;; at++)
        for (size_t value = 0; value < N_ENDS; value++) {
            candidate c = *base;
            bool      real;
            number   *n = number_at(&c, at, &real);

            if (!n)
                return;
            *n = (number){ ends[value], odd[value % N_ODD] };
            if ((at + value) % 3 == 0)
                c.is_constant = !c.is_constant;
            (void)run(&c);
        }
}

static bool needs_graph(const cq_onnx_schema *s)
{
    for (size_t i = 0; i < s->n_attributes; i++)
        if (s->attributes[i].is_required && (s->attributes[i].type == CQ_ONNX_ATTR_GRAPH ||
                                             s->attributes[i].type == CQ_ONNX_ATTR_GRAPHS))
            return true;
    return false;
}

static int sweep(const void *schema)
{
    const cq_onnx_schema *s = schema;
    candidate             c;
    int                   n = 0;

    state = (uint32_t)s->since * 977u;
    for (const char *p = s->name; *p; p++)
        state = state * 31u + (uint32_t)*p;
    for (int i = 0; i < TRIES && n < BASES; i++) {
        make_up(&c, s);
        if (run(&c) != CQ_OK)
            continue;
        change_all(&c);
        n++;
    }
    return n ? 0 : NO_BASE;
}

/* Operators that random generation does not find, and the tests that cover them. */
static const struct {
    const char *op, *where;
} elsewhere[] = {
    { "BitShift", "extremes_written_test.c" },
    { "CausalConvWithState", "extremes_written_test.c" },
    { "Col2Im", "extremes_written_test.c" },
    { "DeformConv", "extremes_written_test.c" },
    { "LinearAttention", "extremes_written_test.c" },
    { "MaxRoiPool", "extremes_written_test.c" },
    { "OneHot", "extremes_written_test.c" },
    { "QLinearConv", "extremes_written_test.c" },
    { "STFT", "extremes_written_test.c" },
    { "TreeEnsemble", "extremes_written_test.c" },
    { "TreeEnsembleClassifier", "extremes_written_test.c" },
    { "TreeEnsembleRegressor", "extremes_written_test.c" },
    { "Cast", "nowhere: its first version names the type by a text" },
    { "Constant", "nowhere: its first versions have a tensor and nothing else" },
    { "ImageDecoder", "fuzz/image.c: its input is a file" },
    { "CastMap", "kernels/ml_maps_test.c: maps cannot be constants" },
    { "DictVectorizer", "kernels/ml_maps_test.c" },
};

static bool is_elsewhere(const char *op)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i].op, op) == 0)
            return true;
    return false;
}

static bool can_run(const cq_onnx_schema *s)
{
    const cq_rt_row *row = NULL;

    return !s->is_deprecated && !needs_graph(s) &&
           cq_rt_row_find(&row, s->domain, s->name, s->since) == CQ_OK && row;
}

TEST(extremes, no_number_makes_an_operator_crash)
{
    const char           *only = getenv("CALQUE_EXTREMES");
    const cq_onnx_schema *s;
    int                   failed = 0, n = 0;

    for (size_t i = 0; cq_onnx_schema_at(&s, i) == CQ_OK; i++)
        if (can_run(s) && (!only || strcmp(only, s->name) == 0)) {
            const int code = extremes_apart(sweep, s);

            failed += !(code == NO_BASE && is_elsewhere(s->name)) &&
                      extremes_failed(code, s->name, s->since);
            n++;
        }
    CHECK(n > 0);
    CHECK_INT(0, failed);
}

RUN_TESTS(TEST_OF(extremes, no_number_makes_an_operator_crash))
