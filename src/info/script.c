/* TorchScript: methods with their signatures, and the modules of an archive. */
#include "base/str.h"
#include "info/info.h"
#include "script/script.h"

#include <stdio.h>

enum { MAX_DEPTH = 64 };

/* ---- modules ---- */

typedef struct walk {
    cq_info        *info;
    cq_info_weights all;
    cq_ptr_map      seen; /* modules: a shared one has its own row, but its insides only once */

    /* The first matrix among the weights, mostly of the module that is called first. */
    const cq_tensor *weight;
    const char      *class_name; /* of that module */
} walk;

/* "Linear" for "__torch__.torch.nn.modules.linear.Linear", without the number that makes classes of
 * one name different. */
static const char *class_of(const cq_object *module)
{
    const char *name = module->qualified ? module->qualified : "";
    const char *dot  = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

static void visit_tensor(walk *w, cq_info_module *row, const cq_object *module,
                         const cq_attribute *a)
{
    cq_tensor *t = a->value.u.tensor;

    if (!w->weight && t->rank > 1) {
        w->weight     = t;
        w->class_name = class_of(module);
    }
    cq_info_module_tensor(w->info, &w->all, row, a->name, t, cq_script_is_parameter(module, a));
}

static void visit(walk *w, cq_info_module *parent, cq_object *module, const char *name, int depth)
{
    const char    *seen = cq_ptr_map_get(&w->seen, module);
    cq_info_module row;

    cq_info_module_begin(w->info, &row, parent, name, class_of(module));
    row.shared = seen;
    if (w->info->status == CQ_OK && !seen)
        w->info->status = cq_ptr_map_set(&w->seen, module, (void *)row.path);
    for (size_t i = 0; i < module->attributes.n && !seen && w->info->status == CQ_OK; i++) {
        const cq_attribute *a     = &module->attributes.items[i];
        cq_object          *child = cq_object_as(a->value, CQ_OBJECT_INSTANCE);

        if (a->value.kind == CQ_VAL_TENSOR && a->value.u.tensor->storage)
            visit_tensor(w, &row, module, a);
        else if (child && depth < MAX_DEPTH)
            visit(w, &row, child, a->name, depth + 1);
    }
    cq_info_module_end(w->info, &row);
}

/* ---- the input to begin with ---- */

/* What a tensor argument may look like: sizes that fit the first weight. */
static void guess_tensor(char *out, size_t size, const walk *found)
{
    const cq_tensor *w        = found->weight;
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

/* What could be an argument of a type, which ends at a comma or bracket that is not its own.
 * Returns where it ends. */
static const char *add_value(cq_str *s, const char *type, const char *end, const char *tensor,
                             int depth)
{
    const bool is_list = cq_starts_with(type, "List["), is_tuple = cq_starts_with(type, "Tuple[");
    int        open = 0;

    if ((is_list || is_tuple) && depth < MAX_DEPTH) {
        cq_str_add_char(s, is_list ? '[' : '(');
        for (type += strlen(is_list ? "List[" : "Tuple["); type < end && *type != ']';) {
            type = add_value(s, type, end, tensor, depth + 1);
            if (type < end && *type == ',') {
                cq_str_add(s, ", ");
                type += 1 + strspn(type + 1, " ");
            }
        }
        cq_str_add_char(s, is_list ? ']' : ')');
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

static void add_example(cq_str *s, const char *type, size_t len, const char *tensor)
{
    bool quoted = len && (cq_starts_with(type, "List[") || cq_starts_with(type, "Tuple[") ||
                          cq_starts_with(type, "str"));

    cq_str_printf(s, "%s--input %s", s->len ? " " : "", quoted ? "'" : "");
    add_value(s, type, type + len, tensor, 0);
    cq_str_add(s, quoted ? "'" : "");
}

/* ---- methods ---- */

/* Where the type of a parameter stands in the source; its length, 0 if it has none. */
static size_t type_text(const cq_ast_expr *type, const cq_source *source, const char **text)
{
    *text = type ? source->text + type->at.start : "";
    return type ? type->at.end - type->at.start : 0;
}

static void add_method(const walk *w, cq_script *script, const cq_ast_def *def,
                       const cq_source *source, bool is_method)
{
    cq_info    *info      = w->info;
    cq_str      signature = { 0 }, example = { 0 };
    char        tensor[CQ_MAX_RANK * 24];
    const char *type;
    size_t      len;

    cq_str_printf(&signature, "%s(", def->name);
    for (size_t i = is_method; i < def->n_params; i++) {
        const cq_ast_param *p = &def->params[i];

        len = type_text(p->type, source, &type);
        cq_str_printf(&signature, "%s%s%s%.*s%s", i > is_method ? ", " : "", p->name,
                      len ? ": " : "", (int)len, type, p->value ? "=…" : "");
        if (strcmp(def->name, "forward") ||
            !traced_input(tensor, sizeof tensor, script, i - is_method))
            guess_tensor(tensor, sizeof tensor, w);
        if (!p->value && !p->stars)
            add_example(&example, type, len, tensor);
    }
    len = type_text(def->result, source, &type);
    cq_str_printf(&signature, ")%s%.*s", len ? " -> " : "", (int)len, type);
    cq_info_add_text(info, def->name);
    cq_info_add_text(info, cq_str_text(&signature));
    cq_info_add_text(info, cq_str_text(&example));
    if (info->status == CQ_OK && (signature.status != CQ_OK || example.status != CQ_OK))
        info->status = CQ_E_NO_MEMORY;
    cq_str_clear(&signature);
    cq_str_clear(&example);
}

/* Those that Python's own names have are the program's business. */
static bool is_private(const cq_ast_def *def)
{
    return cq_starts_with(def->name, "__");
}

static void add_methods(const walk *w, cq_script *script)
{
    static const char *const columns[] = { "method", "signature", "to begin with", NULL };
    const cq_unit           *main      = script->program->main;
    const cq_object         *root      = cq_object_of(script->root);

    cq_info_begin(w->info, "methods", columns);
    for (size_t i = 0; root && root->cls && i < root->cls->n_methods; i++)
        if (!is_private(root->cls->methods[i]))
            add_method(w, script, root->cls->methods[i], &root->unit->source, true);
    for (size_t i = 0; main && i < main->n_defs; i++)
        add_method(w, script, main->defs[i], &main->source, false);
}

/* The modules tell what methods are given to begin with, but come after them. */
static void swap_last_tables(cq_info *info)
{
    cq_info_table *last = &info->tables.items[info->tables.n - 1];
    cq_info_table  was  = *last;

    last[0]  = last[-1];
    last[-1] = was;
}

CQ_API cq_status cq_script_info(cq_info **out, cq_script *script)
{
    CQ_NEED_OUT(out, script);
    const bool is_source = script->program->main != NULL;
    cq_object *root      = cq_object_of(script->root);
    walk       w         = { 0 };

    CQ_TRY(cq_info_new(out));
    w.info = *out;
    cq_info_fact(*out, "format", is_source ? "TorchScript source" : "TorchScript archive");
    if (!is_source)
        cq_info_fact_number(*out, "code version", CQ_INFO_COUNT, script->program->version);
    cq_info_fact(*out, "class", root ? root->qualified : NULL);
    if (root) {
        cq_info_begin(*out, "modules", cq_info_module_columns);
        visit(&w, NULL, root, "", 0);
        cq_info_add_weights(*out, &w.all);
        cq_ptr_map_clear(&w.seen);
    }
    add_methods(&w, script);
    if (root && (*out)->status == CQ_OK)
        swap_last_tables(*out);
    return cq_info_done(out);
}
