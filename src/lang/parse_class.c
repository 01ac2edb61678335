/* Classes, and files. A class keeps all statements of its body; what TorchScript knows about a
 * class is derived from them: fields, methods and the lists of names that PyTorch writes. */
#include "lang/parser.h"

#include <string.h>

/* ---- the view of TorchScript ------------------------------------------------------------------
 */

typedef struct class_parts {
    cq_ast_class *c;
    CQ_VEC(cq_ast_field) fields;
    CQ_VEC(cq_ast_def *) methods;
} class_parts;

static bool is_list_of_strings(const cq_ast_expr *x)
{
    if (x->kind != CQ_X_LIST)
        return false;
    for (size_t i = 0; i < x->u.items.n; i++)
        if (x->u.items.items[i]->kind != CQ_X_STR)
            return false;
    return true;
}

static void take_names(cq_parser *p, cq_ast_names *out, const cq_ast_expr *list)
{
    out->n     = list->u.items.n;
    out->items = cq_parser_new(p, (out->n + 1) * sizeof *out->items);
    for (size_t i = 0; out->items && i < out->n; i++) {
        const cq_ast_expr *x = list->u.items.items[i];

        out->items[i] = cq_parser_intern(p, x->u.str.text, x->u.str.len);
    }
}

/* The lists that PyTorch writes into the text of a module. */
static bool take_name_list(cq_parser *p, cq_ast_class *c, const char *name,
                           const cq_ast_expr *value)
{
    const struct {
        const char   *name;
        cq_ast_names *list;
        bool         *said;
    } lists[] = {
        { "__parameters__", &c->parameters, &c->has_parameters },
        { "__buffers__", &c->buffers, &c->has_buffers },
        { "__forward_hooks__", &c->forward_hooks, NULL },
        { "__forward_pre_hooks__", &c->forward_pre_hooks, NULL },
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(name, lists[i].name) != 0 || !is_list_of_strings(value))
            continue;
        if (lists[i].said)
            *lists[i].said = true;
        take_names(p, lists[i].list, value);
        return true;
    }
    return false;
}

static void add_field(cq_parser *p, class_parts *parts, cq_ast_field field)
{
    if (p->status == CQ_OK)
        p->status = cq_vec_push(&parts->fields, field);
}

/* A field whose name is text, which need not be a name of the language: "0". */
static void add_annotation(cq_parser *p, class_parts *parts, const cq_ast_expr *name,
                           cq_ast_expr *type)
{
    add_field(p, parts,
              (cq_ast_field){ .name = cq_parser_intern(p, name->u.str.text, name->u.str.len),
                              .type = type,
                              .at   = name->at });
}

/* __annotations__ = {"a": T}; an empty list is only made to be filled. */
static bool take_annotations(cq_parser *p, class_parts *parts, const cq_ast_expr *value)
{
    if (value->kind != CQ_X_DICT)
        return value->kind == CQ_X_LIST && !value->u.items.n;
    for (size_t i = 0; i < value->u.dict.n; i++)
        if (!value->u.dict.keys[i] || value->u.dict.keys[i]->kind != CQ_X_STR)
            return false;
    for (size_t i = 0; i < value->u.dict.n; i++)
        add_annotation(p, parts, value->u.dict.keys[i], value->u.dict.values[i]);
    return true;
}

static bool is_name(const cq_ast_expr *x, const char *name)
{
    return x->kind == CQ_X_NAME && strcmp(x->u.name, name) == 0;
}

/* name : type = value, or __annotations__["0"] = T; false: it is another statement. */
static bool take_field(cq_parser *p, class_parts *parts, const cq_ast_stmt *s)
{
    const cq_ast_expr *target = s->u.assign.targets.items[0];
    cq_ast_expr       *value  = s->u.assign.value;

    if (s->u.assign.targets.n != 1)
        return false;
    if (target->kind == CQ_X_INDEX && is_name(target->u.index.object, "__annotations__") &&
        target->u.index.index->kind == CQ_X_STR && value) {
        add_annotation(p, parts, target->u.index.index, value);
        return true;
    }
    if (target->kind != CQ_X_NAME)
        return false;
    if (value && !s->u.assign.type && is_name(target, "__annotations__"))
        return take_annotations(p, parts, value);
    if (value && !s->u.assign.type && take_name_list(p, parts->c, target->u.name, value))
        return true;
    add_field(
        p, parts,
        (cq_ast_field){
            .name = target->u.name, .type = s->u.assign.type, .value = value, .at = target->at });
    return true;
}

/* Whether a statement of the body is in the view. */
static bool take_statement(cq_parser *p, class_parts *parts, const cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_PASS: return true;
    case CQ_S_EXPR: return s->u.value->kind == CQ_X_STR || s->u.value->kind == CQ_X_ELLIPSIS;
    case CQ_S_ASSIGN: return take_field(p, parts, s);
    case CQ_S_DEF:
        if (p->status == CQ_OK)
            p->status = cq_vec_push(&parts->methods, s->u.def);
        return true;
    default: return false;
    }
}

static void *keep(cq_parser *p, const void *items, size_t n, size_t size)
{
    void *copy = cq_parser_new(p, (n + 1) * size);

    if (copy && n)
        memcpy(copy, items, n * size);
    return copy;
}

static bool derive_view(cq_parser *p, cq_ast_class *c)
{
    class_parts parts = { .c = c };

    for (size_t i = 0; i < c->body.n; i++)
        if (!take_statement(p, &parts, c->body.items[i]) && !c->other)
            c->other = c->body.items[i];
    c->n_fields  = parts.fields.n;
    c->n_methods = parts.methods.n;
    c->fields    = keep(p, parts.fields.items, c->n_fields, sizeof *c->fields);
    c->methods   = keep(p, parts.methods.items, c->n_methods, sizeof *c->methods);
    cq_vec_clear(&parts.fields);
    cq_vec_clear(&parts.methods);
    return p->status == CQ_OK;
}

/* ---- classes -----------------------------------------------------------------------------------
 */

static cq_ast_class_kind kind_of_base(const cq_ast_expr *base)
{
    static const struct {
        const char       *name;
        cq_ast_class_kind kind;
    } kinds[] = {
        { "Module", CQ_CLASS_MODULE },       { "NamedTuple", CQ_CLASS_NAMED_TUPLE },
        { "Interface", CQ_CLASS_INTERFACE }, { "ModuleInterface", CQ_CLASS_MODULE_INTERFACE },
        { "Enum", CQ_CLASS_ENUM },           { "IntEnum", CQ_CLASS_ENUM },
    };
    const char *name = base->kind == CQ_X_NAME   ? base->u.name
                       : base->kind == CQ_X_ATTR ? base->u.attr.name
                                                 : "";

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].kind;
    return CQ_CLASS_PLAIN;
}

/* (Base, *bases, metaclass=Meta, **options), as the arguments of a call. */
static bool parse_bases(cq_parser *p, cq_ast_class *c)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_arg  *args;
    size_t       n;

    if (!cq_parser_accept(p, CQ_TOKEN_LPAREN))
        return p->status == CQ_OK;
    if (!cq_parse_args(p, &args, &n) || !cq_parser_expect(p, CQ_TOKEN_RPAREN))
        return false;
    for (size_t i = 0; i < n; i++) {
        cq_ast_expr *base = args[i].value;

        if (args[i].name || args[i].stars == 2) {
            args[c->n_keywords++] = args[i];
            continue;
        }
        if (args[i].stars)
            base = cq_parser_over(
                p,
                cq_parser_expr(p, base->at.start,
                               (cq_ast_expr){ .kind = CQ_X_STARRED, .u.operand = base }),
                base);
        if (!base || !cq_parser_push(p, base))
            return false;
        if (c->kind == CQ_CLASS_PLAIN)
            c->kind = kind_of_base(base);
    }
    c->keywords = args;
    return cq_parser_take_exprs(p, mark, &c->bases);
}

static bool parse_body(cq_parser *p, cq_ast_class *c)
{
    const uint32_t n_functions = p->n_functions, n_loops = p->n_loops;
    const bool     in_class = p->in_class;
    bool           ok;

    p->n_functions = p->n_loops = 0;
    p->in_class                 = true;
    ok                          = cq_parse_block(p, &c->body);
    p->n_functions              = n_functions;
    p->n_loops                  = n_loops;
    p->in_class                 = in_class;
    return ok;
}

/* `class` is taken. */
cq_ast_class *cq_parse_class(cq_parser *p, cq_ast_exprs decorators)
{
    cq_ast_class *c     = cq_parser_new(p, sizeof *c);
    const char   *outer = p->class_name;
    bool          ok;

    if (!c)
        return NULL;
    c->decorators = decorators;
    c->at         = cq_parser_peek(p, 0)->at;
    c->name       = cq_parser_name(p);
    if (!c->name || !cq_parse_type_params(p, &c->type_params) || !parse_bases(p, c))
        return NULL;
    p->class_name = c->name;
    ok            = parse_body(p, c) && derive_view(p, c);
    p->class_name = outer;
    return ok ? c : NULL;
}

/* ---- files -------------------------------------------------------------------------------------
 */

typedef struct file_parts {
    CQ_VEC(cq_ast_class *) classes;
    CQ_VEC(cq_ast_def *) defs;
    CQ_VEC(cq_ast_import) imports;
} file_parts;

/* op_version_set = 1, at the top of files of version 1. */
static void take_op_version(cq_unit *unit, const cq_ast_stmt *s)
{
    if (s->u.assign.targets.n == 1 && is_name(s->u.assign.targets.items[0], "op_version_set") &&
        s->u.assign.value && s->u.assign.value->kind == CQ_X_INT)
        unit->op_version_set = s->u.assign.value->u.i;
}

static cq_status take_top_level(cq_unit *unit, file_parts *parts, const cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_CLASS: return cq_vec_push(&parts->classes, s->u.cls);
    case CQ_S_DEF: return cq_vec_push(&parts->defs, s->u.def);
    case CQ_S_ASSIGN: take_op_version(unit, s); return CQ_OK;
    case CQ_S_IMPORT:
        for (size_t i = 0; i < s->u.import.n; i++)
            CQ_TRY(cq_vec_push(&parts->imports, s->u.import.items[i]));
        return CQ_OK;
    default: return CQ_OK;
    }
}

void cq_parse_file(cq_parser *p)
{
    file_parts parts = { 0 };
    cq_unit   *unit  = p->unit;

    if (!cq_parse_all_statements(p, &unit->body))
        return;
    for (size_t i = 0; i < unit->body.n && p->status == CQ_OK; i++)
        p->status = take_top_level(unit, &parts, unit->body.items[i]);
    unit->n_classes = parts.classes.n;
    unit->n_defs    = parts.defs.n;
    unit->n_imports = parts.imports.n;
    unit->classes   = keep(p, parts.classes.items, parts.classes.n, sizeof *unit->classes);
    unit->defs      = keep(p, parts.defs.items, parts.defs.n, sizeof *unit->defs);
    unit->imports   = keep(p, parts.imports.items, parts.imports.n, sizeof *unit->imports);
    cq_vec_clear(&parts.classes);
    cq_vec_clear(&parts.defs);
    cq_vec_clear(&parts.imports);
}
