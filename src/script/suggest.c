/* The --input to begin with: what could be given to a method, going by the types of its parameters,
 * the sizes that a trace has noted, and the weights. */
#include "script/script.h"

#include "base/str.h"

#include <stdio.h>

enum { MAX_DEPTH = 64 };

const char *cq_object_class_name(const cq_object *module)
{
    const char *name = module->qualified ? module->qualified : "";
    const char *dot  = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

/* ---- tensors ---- */

/* The first matrix among the weights, mostly of the module that is called first. */
typedef struct first_weight {
    const cq_tensor *tensor;
    const char      *class_name; /* of its module */
} first_weight;

static cq_status find_weight(void *user, cq_object *module, const char *path)
{
    first_weight *found = user;

    (void)path;
    for (size_t i = 0; i < module->attributes.n && !found->tensor; i++) {
        const cq_val v = module->attributes.items[i].value;

        if (v.kind == CQ_VAL_TENSOR && v.u.tensor->storage && v.u.tensor->rank > 1)
            *found = (first_weight){ v.u.tensor, cq_object_class_name(module) };
    }
    return CQ_OK;
}

/* What a tensor argument may look like: sizes that fit the first weight. */
static void guess_tensor(char *out, size_t size, const first_weight *found)
{
    const cq_tensor *w        = found->tensor;
    const long long  channels = w ? (long long)w->sizes[1].value : 3;

    if (w && strstr(found->class_name, "Embedding"))
        snprintf(out, size, "int64[1,8]");
    else if (w && w->rank == 2)
        snprintf(out, size, "1x%lld", channels);
    else if (w && w->rank == 3)
        snprintf(out, size, "1x%lldx64", channels);
    else if (w && w->rank == 5)
        snprintf(out, size, "1x%lldx16x64x64", channels);
    else
        snprintf(out, size, "1x%lldx224x224", channels);
}

/* The input that an archive of a trace holds. */
static bool traced_input(char *out, size_t size, const cq_script *s, size_t i)
{
    int64_t  sizes[CQ_MAX_RANK];
    size_t   rank = 0, len;
    cq_dtype dtype;

    if (i >= cq_script_n_example_inputs(s) ||
        cq_script_example_input(s, i, &dtype, &rank, sizes) != CQ_OK)
        return false;
    len = (size_t)snprintf(out, size, "%s[", cq_dtype_name(dtype));
    for (size_t k = 0; k < rank && len < size; k++)
        len += (size_t)snprintf(out + len, size - len, "%s%lld", k ? "," : "", (long long)sizes[k]);
    if (len < size)
        snprintf(out + len, size - len, "]");
    return true;
}

static const struct {
    const char *type, *input;
} examples[] = {
    { "Optional[", "none" }, { "int", "1" },      { "float", "1.0" },
    { "bool", "true" },      { "number", "1.0" }, { "str", "\"text\"" },
};

/* Types of values with others inside, and how --input writes them. */
typedef struct container {
    const char *type, *begin, *between, *end;
} container;

static const container *container_of(const char *type)
{
    static const container all[] = { { "List[", "[", ", ", "]" },
                                     { "Tuple[", "(", ", ", ")" },
                                     { "Dict[", "{", ": ", "}" } };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (cq_starts_with(type, all[i].type))
            return &all[i];
    return NULL;
}

/* What could be an argument of a type, which ends at a comma or bracket that is not its own.
 * Returns where it ends. */
static const char *add_value(cq_str *s, const char *type, const char *end, const char *tensor,
                             int depth)
{
    const container *c    = container_of(type);
    int              open = 0;

    if (c && depth < MAX_DEPTH) {
        cq_str_add(s, c->begin);
        for (type += strlen(c->type); type < end && *type != ']';) {
            type = add_value(s, type, end, tensor, depth + 1);
            if (type < end && *type == ',') {
                cq_str_add(s, c->between);
                type += 1 + strspn(type + 1, " ");
            }
        }
        cq_str_add(s, c->end);
        return type < end ? type + 1 : end;
    }
    if (type == end || cq_starts_with(type, "Tensor"))
        cq_str_add(s, tensor);
    else
        for (size_t i = 0; i <= sizeof examples / sizeof examples[0]; i++) {
            if (i == sizeof examples / sizeof examples[0]) {
                cq_str_add(s, "…");
            } else if (cq_starts_with(type, examples[i].type)) {
                cq_str_add(s, examples[i].input);
                break;
            }
        }
    for (; type < end && (open || (*type != ',' && *type != ']')); type++)
        open += (*type == '[') - (*type == ']');
    return type;
}

static void add_example(cq_str *s, const char *type, size_t len, const char *tensor, bool first)
{
    bool quoted = len && (container_of(type) || cq_starts_with(type, "str"));

    cq_str_printf(s, "%s--input %s", first ? "" : " ", quoted ? "'" : "");
    add_value(s, type, type + len, tensor, 0);
    cq_str_add(s, quoted ? "'" : "");
}

/* ---- methods ---- */

void cq_script_suggest(cq_str *out, const cq_script *s, const cq_ast_def *def,
                       const cq_source *source, bool is_method)
{
    first_weight found = { 0 };
    bool         first = true;
    char         tensor[CQ_MAX_RANK * 24];

    (void)cq_script_each_module(s, find_weight, &found);
    for (size_t i = is_method; i < def->n_params; i++) {
        const cq_ast_param *p    = &def->params[i];
        const char         *type = p->type ? source->text + p->type->at.start : "";

        if (p->value || p->stars)
            continue;
        if (strcmp(def->name, "forward") || !traced_input(tensor, sizeof tensor, s, i - is_method))
            guess_tensor(tensor, sizeof tensor, &found);
        add_example(out, type, p->type ? p->type->at.end - p->type->at.start : 0, tensor, first);
        first = false;
    }
}
