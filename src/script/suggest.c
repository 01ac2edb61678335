/* Suggests an --input for a method, from the types of its parameters, the sizes recorded in a
 * trace, and the weights. */
#include "script/suggest.h"

#include "base/str.h"
#include "script/python/python.h"

enum { MAX_DEPTH = 64 };

const char *cq_object_class_name(const cq_object *module)
{
    const char *name = module->qualified                   ? module->qualified
                       : module->type && module->type->cls ? module->type->cls->name
                                                           : "";
    const char *dot  = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

/* ---- tensors ---- */

/* The first matrix among the weights, usually of the module that is called first. */
typedef struct first_weight {
    const cq_tensor *tensor;
    const char      *class_name; /* of its module */
} first_weight;

static cq_status find_weight(void *user, cq_object *module, const char *path)
{
    first_weight  *found = user;
    const cq_dict *own   = module->type ? cq_python_tensors(module, true) : NULL;
    const size_t   n     = own ? own->n : module->attributes.n;

    (void)path;
    for (size_t i = 0; i < n && !found->tensor; i++) {
        const cq_val v = own ? own->entries[i].value : module->attributes.items[i].value;

        if (v.kind == CQ_VAL_TENSOR && v.u.tensor->storage && v.u.tensor->rank > 1)
            *found = (first_weight){ v.u.tensor, cq_object_class_name(module) };
    }
    return CQ_OK;
}

/* A tensor argument whose sizes match the first weight. */
static cq_guess guess_tensor(const first_weight *found)
{
    const cq_tensor *w        = found->tensor;
    const int64_t    channels = w ? w->sizes[1].value : 3;

    if (w && strstr(found->class_name, "Embedding"))
        return (cq_guess){ .dtype = CQ_DTYPE_I64, .rank = 2, .sizes = { 1, 8 } };
    if (w && w->rank == 2)
        return (cq_guess){ .dtype = CQ_DTYPE_F32, .rank = 2, .sizes = { 1, channels } };
    if (w && w->rank == 3)
        return (cq_guess){ .dtype = CQ_DTYPE_F32, .rank = 3, .sizes = { 1, channels, 64 } };
    if (w && w->rank == 5)
        return (cq_guess){ .dtype = CQ_DTYPE_F32, .rank = 5, .sizes = { 1, channels, 16, 64, 64 } };
    return (cq_guess){ .dtype = CQ_DTYPE_F32, .rank = 4, .sizes = { 1, channels, 224, 224 } };
}

/* The example input that the archive of a trace contains. */
static bool traced_input(cq_guess *out, const cq_script *s, size_t i)
{
    int64_t sizes[CQ_MAX_RANK];

    if (i >= cq_script_n_example_inputs(s) ||
        cq_script_example_input(s, i, &out->dtype, &out->rank, sizes) != CQ_OK ||
        out->rank > CQ_GUESS_MAX_RANK)
        return false;
    memcpy(out->sizes, sizes, out->rank * sizeof *sizes);
    return true;
}

/* 1x3x224x224, or int64[1,8]. */
static void add_tensor(cq_str *s, const cq_guess *g)
{
    const bool plain = g->dtype == CQ_DTYPE_F32 && g->rank;

    if (!plain)
        cq_str_printf(s, "%s[", cq_dtype_name(g->dtype));
    for (size_t i = 0; i < g->rank; i++)
        cq_str_printf(s, "%s%lld", !i ? "" : plain ? "x" : ",", (long long)g->sizes[i]);
    cq_str_add(s, plain ? "" : "]");
    /* Indices of zero are always in range. */
    if (cq_dtype_is_integer(g->dtype))
        cq_str_add(s, "=zeros");
}

/* ---- other values ---- */

static const struct {
    const char *type, *input, *json;
    cq_dtype    dtype; /* of a number */
} examples[] = {
    { "Optional[", "none", "null", CQ_DTYPE_NONE },
    { "int", "1", NULL, CQ_DTYPE_I64 },
    { "float", "1.0", NULL, CQ_DTYPE_F64 },
    { "bool", "true", NULL, CQ_DTYPE_BOOL },
    { "number", "1.0", NULL, CQ_DTYPE_F64 },
    { "str", "\"text\"", "{\"str\": \"text\"}", CQ_DTYPE_NONE },
};

/* Container types, and their syntax in --input and args.json. */
typedef struct container {
    const char *type, *begin, *between, *end, *json;
} container;

static const container *container_of(const char *type)
{
    static const container all[] = { { "List[", "[", ", ", "]", "list" },
                                     { "Tuple[", "(", ", ", ")", "tuple" },
                                     { "Dict[", "{", ": ", "}", "dict" } };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (cq_starts_with(type, all[i].type))
            return &all[i];
    return NULL;
}

/* The output: --input options and args.json. */
typedef struct writer {
    cq_suggestion *to;
    cq_str         text, json;
    size_t         n;        /* number of guesses so far */
    cq_guess       tensor;   /* template of a new guess */
    bool           is_first; /* guesses are created, not read */
    size_t         list_length;
    bool           is_unknown; /* a type cannot be an input */
} writer;

static const cq_guess *next_guess(writer *w, cq_guess own)
{
    if (w->n >= CQ_MAX_GUESSES) {
        w->is_unknown = true;
        return &w->to->guesses[0];
    }
    if (w->is_first) {
        w->to->guesses[w->n] = own;
        w->to->n             = w->n + 1;
    }
    return &w->to->guesses[w->n++];
}

static void write_leaf(writer *w, const char *type, const char *end)
{
    if (type == end || cq_starts_with(type, "Tensor")) {
        add_tensor(&w->text, next_guess(w, w->tensor));
        cq_str_printf(&w->json, "{\"tensor\": %zu}", w->n - 1);
        return;
    }
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        if (!cq_starts_with(type, examples[i].type))
            continue;
        cq_str_add(&w->text, examples[i].input);
        if (examples[i].json) {
            cq_str_add(&w->json, examples[i].json);
        } else {
            next_guess(w, (cq_guess){ .dtype = examples[i].dtype, .is_number = true, .number = 1 });
            cq_str_printf(&w->json, "{\"scalar\": %zu}", w->n - 1);
        }
        return;
    }
    cq_str_add(&w->text, "…");
    w->is_unknown = true;
}

static const char *write_value(writer *w, const char *type, const char *end, int depth);

/* Writes the key of a dict in args.json: a string or a number. */
static const char *write_key(writer *w, const char *type, const char *end)
{
    const bool is_text = cq_starts_with(type, "str");

    cq_str_add(&w->text, is_text ? "\"text\"" : "1");
    cq_str_add(&w->json, is_text ? "[\"text\"" : "[1");
    while (type < end && *type != ',')
        type++;
    return type;
}

static const char *write_items(writer *w, const container *c, const char *type, const char *end,
                               int depth)
{
    const bool is_dict = *c->begin == '{';

    w->to->has_lists |= *c->begin == '[';
    cq_str_add(&w->text, c->begin);
    cq_str_printf(&w->json, "{\"%s\": [", c->json);
    for (size_t i = 1; *c->begin == '[' && i < w->list_length; i++) {
        write_value(w, type, end, depth + 1);
        cq_str_add(&w->text, c->between);
        cq_str_add(&w->json, ", ");
    }
    for (bool first = true; type < end && *type != ']'; first = false) {
        type = is_dict && first ? write_key(w, type, end) : write_value(w, type, end, depth + 1);
        if (type < end && *type == ',') {
            cq_str_add(&w->text, c->between);
            cq_str_add(&w->json, ", ");
            type += 1 + strspn(type + 1, " ");
        }
    }
    cq_str_add(&w->text, c->end);
    cq_str_add(&w->json, is_dict ? "]]}" : "]}");
    return type < end ? type + 1 : end;
}

/* Writes a value of a type. The text of the type ends at a comma or bracket that is not nested.
 * Returns its end. */
static const char *write_value(writer *w, const char *type, const char *end, int depth)
{
    const container *c    = container_of(type);
    int              open = 0;

    if (c && depth < MAX_DEPTH)
        return write_items(w, c, type + strlen(c->type), end, depth);
    write_leaf(w, type, end);
    for (; type < end && (open || (*type != ',' && *type != ']')); type++)
        open += (*type == '[') - (*type == ']');
    return type;
}

/* ---- methods ---- */

/* Writes arguments for all parameters without a default. */
static void write_arguments(writer *w, const first_weight *found)
{
    const cq_suggestion *to    = w->to;
    bool                 first = true;

    cq_str_add(&w->json, "{\"args\": [");
    for (size_t i = to->is_method; i < to->def->n_params; i++) {
        const cq_ast_param *p      = &to->def->params[i];
        const char         *type   = p->type ? to->source->text + p->type->at.start : "";
        const size_t        len    = p->type ? p->type->at.end - p->type->at.start : 0;
        const bool          quoted = len && (container_of(type) || cq_starts_with(type, "str"));

        if (p->value || p->stars)
            continue;
        if (strcmp(to->def->name, "forward") != 0 ||
            !traced_input(&w->tensor, to->script, i - to->is_method))
            w->tensor = guess_tensor(found);
        cq_str_printf(&w->text, "%s--input %s", first ? "" : " ", quoted ? "'" : "");
        cq_str_add(&w->json, first ? "" : ", ");
        write_value(w, type, type + len, 0);
        cq_str_add(&w->text, quoted ? "'" : "");
        first = false;
    }
    cq_str_add(&w->json, "]}");
}

/* Tries arguments whose lists have this length. */
static bool suggest(cq_str *out, cq_suggestion *to, const first_weight *found, size_t list_length)
{
    writer w    = { .to = to, .is_first = true, .list_length = list_length };
    bool   fits = false;

    write_arguments(&w, found);
    if (w.json.status == CQ_OK && !w.is_unknown) {
        to->json   = cq_str_text(&w.json);
        fits       = cq_suggestion_fit(to);
        w.n        = 0;
        w.is_first = false;
        cq_str_clear(&w.text);
        cq_str_clear(&w.json);
        write_arguments(&w, found);
    }
    if (fits)
        cq_str_add(out, cq_str_text(&w.text));
    if (w.text.status != CQ_OK || w.json.status != CQ_OK)
        out->status = CQ_E_NO_MEMORY;
    cq_str_clear(&w.text);
    cq_str_clear(&w.json);
    return fits;
}

void cq_script_suggest(cq_str *out, cq_script *s, const cq_ast_def *def, const cq_source *source,
                       bool is_method)
{
    cq_suggestion to    = { .script = s, .def = def, .source = source, .is_method = is_method };
    first_weight  found = { 0 };

    (void)cq_script_each_module(s, find_weight, &found);
    if (!suggest(out, &to, &found, 1) && to.has_lists)
        suggest(out, &to, &found, 2);
}
