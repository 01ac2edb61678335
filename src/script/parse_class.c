/* Classes, and files that hold them. */
#include "script/parser.h"

#include <string.h>

/* ---- classes
 * ------------------------------------------------------------------------------------------- */

typedef struct class_parts {
    cq_ast_class *c;
    CQ_VEC(cq_ast_field) fields;
    CQ_VEC(cq_ast_def *) methods;
} class_parts;

static bool take_names(cq_parser *p, cq_ast_names *out, const cq_ast_expr *list)
{
    if (list->kind != CQ_X_LIST)
        return cq_parser_fail(p, list->at, "expected a list of names") != NULL;
    out->n     = list->u.items.n;
    out->items = cq_parser_new(p, (out->n + 1) * sizeof *out->items);
    for (size_t i = 0; out->items && i < out->n; i++) {
        const cq_ast_expr *x = list->u.items.items[i];

        if (x->kind != CQ_X_STR)
            return cq_parser_fail(p, x->at, "expected a name in quotes") != NULL;
        out->items[i] = cq_parser_intern(p, x->u.str.text, x->u.str.len);
    }
    return p->status == CQ_OK;
}

/* The lists that PyTorch writes into the text of a module. */
static bool parse_name_list(cq_parser *p, cq_ast_class *c, const char *name,
                            const cq_ast_expr *value, bool *found)
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

    *found = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(name, lists[i].name) != 0)
            continue;
        *found = true;
        if (lists[i].said)
            *lists[i].said = true;
        return take_names(p, lists[i].list, value);
    }
    return true;
}

/* __annotations__ = {"a": T}; an empty list is only made to be filled. */
static bool take_annotations(cq_parser *p, class_parts *parts, const cq_ast_expr *value)
{
    for (size_t i = 0; value->kind == CQ_X_DICT && i < value->u.dict.n; i++) {
        const cq_ast_expr *key   = value->u.dict.keys[i];
        cq_ast_field       field = { .type = value->u.dict.values[i] };

        if (!key || key->kind != CQ_X_STR)
            return cq_parser_fail(p, value->at, "expected names of attributes in quotes") != NULL;
        field.at   = key->at;
        field.name = cq_parser_intern(p, key->u.str.text, key->u.str.len);
        if (p->status == CQ_OK)
            p->status = cq_vec_push(&parts->fields, field);
    }
    return p->status == CQ_OK;
}

/* __annotations__["0"] = T, behind its first name. */
static bool parse_annotation(cq_parser *p, cq_ast_field *field)
{
    cq_ast_expr *name;

    if (!cq_parser_expect(p, CQ_TOKEN_LBRACKET) || !cq_parser_enter(p))
        return false;
    name = cq_parse_test(p);
    cq_parser_leave(p);
    if (!name || !cq_parser_expect(p, CQ_TOKEN_RBRACKET) || !cq_parser_expect(p, CQ_TOKEN_ASSIGN))
        return false;
    if (name->kind != CQ_X_STR)
        return cq_parser_fail(p, name->at, "expected the name of an attribute in quotes") != NULL;
    field->name = cq_parser_intern(p, name->u.str.text, name->u.str.len);
    field->type = cq_parse_test(p);
    return field->type != NULL;
}

static bool parse_field(cq_parser *p, class_parts *parts)
{
    cq_ast_field field  = { .at = cq_parser_peek(p, 0)->at, .name = cq_parser_attr_name(p) };
    bool         listed = false;

    if (!field.name)
        return false;
    if (cq_parser_at(p, CQ_TOKEN_LBRACKET) && strcmp(field.name, "__annotations__") == 0) {
        if (!parse_annotation(p, &field))
            return false;
    } else {
        if (cq_parser_accept(p, CQ_TOKEN_COLON) && !(field.type = cq_parse_test(p)))
            return false;
        if (cq_parser_accept(p, CQ_TOKEN_ASSIGN) && !(field.value = cq_parse_tests(p)))
            return false;
        if (!field.type && !field.value)
            return cq_parser_refuse(p) != NULL;
        if (field.value && strcmp(field.name, "__annotations__") == 0)
            return take_annotations(p, parts, field.value);
        if (field.value && !field.type &&
            (!cq_parse_type_comment(p, &field.type, field.value->at.end,
                                    cq_parser_peek(p, 0)->at.end) ||
             !parse_name_list(p, parts->c, field.name, field.value, &listed)))
            return false;
    }
    if (!listed && p->status == CQ_OK)
        p->status = cq_vec_push(&parts->fields, field);
    return p->status == CQ_OK;
}

static bool parse_method(cq_parser *p, class_parts *parts, cq_ast_exprs decorators)
{
    cq_ast_def *def = cq_parse_def(p, decorators);

    if (def)
        p->status = cq_vec_push(&parts->methods, def);
    return p->status == CQ_OK;
}

static bool end_line(cq_parser *p)
{
    while (cq_parser_accept(p, CQ_TOKEN_SEMICOLON)) {
    }
    return cq_parser_at(p, CQ_TOKEN_END) || cq_parser_expect(p, CQ_TOKEN_NEWLINE);
}

static bool parse_class_line(cq_parser *p, void *user)
{
    class_parts  *parts = user;
    cq_ast_exprs  decorators;
    cq_token_kind behind;

    if (!cq_parse_decorators(p, &decorators))
        return false;
    behind = cq_parser_peek(p, 1)->kind;
    if (behind == CQ_TOKEN_COLON || behind == CQ_TOKEN_ASSIGN || behind == CQ_TOKEN_LBRACKET)
        return parse_field(p, parts) && end_line(p);
    if (cq_parser_accept(p, CQ_TOKEN_DEF))
        return parse_method(p, parts, decorators);
    if (cq_parser_accept(p, CQ_TOKEN_PASS) || cq_parser_accept(p, CQ_TOKEN_ELLIPSIS))
        return end_line(p);
    if (cq_parser_at(p, CQ_TOKEN_STRING)) /* a docstring */
        return cq_parse_strings(p) && end_line(p);
    return cq_parser_refuse(p) != NULL;
}

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

static bool parse_bases(cq_parser *p, cq_ast_class *c)
{
    const size_t mark = cq_parser_mark(p);

    if (!cq_parser_accept(p, CQ_TOKEN_LPAREN))
        return p->status == CQ_OK;
    while (!cq_parser_at(p, CQ_TOKEN_RPAREN)) {
        cq_ast_expr *base = cq_parse_test(p);

        if (base && cq_parser_at(p, CQ_TOKEN_ASSIGN))
            return cq_parser_fail(p, base->at, "a class takes no options") != NULL;
        if (!base || !cq_parser_push(p, base))
            return false;
        if (c->kind == CQ_CLASS_PLAIN)
            c->kind = kind_of_base(base);
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    return cq_parser_expect(p, CQ_TOKEN_RPAREN) && cq_parser_take_exprs(p, mark, &c->bases);
}

static bool keep_parts(cq_parser *p, class_parts *parts)
{
    cq_ast_class *c = parts->c;

    c->n_fields  = parts->fields.n;
    c->n_methods = parts->methods.n;
    c->fields    = cq_parser_new(p, (c->n_fields + 1) * sizeof *c->fields);
    c->methods   = cq_parser_new(p, (c->n_methods + 1) * sizeof *c->methods);
    if (!c->fields || !c->methods)
        return false;
    if (c->n_fields)
        memcpy(c->fields, parts->fields.items, c->n_fields * sizeof *c->fields);
    if (c->n_methods)
        memcpy(c->methods, parts->methods.items, c->n_methods * sizeof *c->methods);
    return true;
}

/* `class` is taken. */
static cq_ast_class *parse_class(cq_parser *p, cq_ast_exprs decorators)
{
    cq_ast_class *c     = cq_parser_new(p, sizeof *c);
    class_parts   parts = { .c = c };
    bool          ok;

    if (!c || !cq_parser_enter(p))
        return NULL;
    c->decorators = decorators;
    c->at         = cq_parser_peek(p, 0)->at;
    c->name       = cq_parser_name(p);
    ok            = c->name && parse_bases(p, c) && cq_parser_expect(p, CQ_TOKEN_COLON) &&
         cq_parse_indented(p, parse_class_line, &parts) && keep_parts(p, &parts);
    cq_vec_clear(&parts.fields);
    cq_vec_clear(&parts.methods);
    cq_parser_leave(p);
    return ok ? c : NULL;
}

/* ---- files
 * ------------------------------------------------------------------------------------------------
 */

typedef struct file_parts {
    CQ_VEC(cq_ast_class *) classes;
    CQ_VEC(cq_ast_def *) defs;
    CQ_VEC(cq_ast_import) imports;
} file_parts;

/* a.b.c, with as many dots in front as a relative import has. */
static const char *parse_module_name(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    while (cq_parser_accept(p, CQ_TOKEN_DOT) || cq_parser_accept(p, CQ_TOKEN_ELLIPSIS)) {
    }
    if (cq_parser_at(p, CQ_TOKEN_IMPORT) && cq_parser_end(p) > start)
        return cq_parser_intern(p, p->unit->source.text + start, cq_parser_end(p) - start);
    do {
        if (!cq_parser_attr_name(p))
            return NULL;
    } while (cq_parser_accept(p, CQ_TOKEN_DOT));
    return cq_parser_intern(p, p->unit->source.text + start, cq_parser_end(p) - start);
}

static bool add_import(cq_parser *p, file_parts *parts, cq_ast_import import)
{
    if (cq_parser_accept(p, CQ_TOKEN_AS))
        import.alias = cq_parser_name(p);
    import.at.end = cq_parser_end(p);
    if (p->status == CQ_OK)
        p->status = cq_vec_push(&parts->imports, import);
    return p->status == CQ_OK;
}

static bool parse_import(cq_parser *p, file_parts *parts)
{
    do {
        cq_ast_import import = { .at = cq_parser_peek(p, 0)->at, .module = parse_module_name(p) };

        if (!import.module || !add_import(p, parts, import))
            return false;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA));
    return end_line(p);
}

static bool parse_from(cq_parser *p, file_parts *parts)
{
    const char *module = parse_module_name(p);
    bool        bracket;

    if (!module || !cq_parser_expect(p, CQ_TOKEN_IMPORT))
        return false;
    bracket = cq_parser_accept(p, CQ_TOKEN_LPAREN);
    do {
        cq_ast_import import = { .module = module, .at = cq_parser_peek(p, 0)->at };

        if (bracket && cq_parser_at(p, CQ_TOKEN_RPAREN))
            break;
        import.name = cq_parser_accept(p, CQ_TOKEN_MUL) ? "*" : cq_parser_name(p);
        if (!import.name || !add_import(p, parts, import))
            return false;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA));
    return (!bracket || cq_parser_expect(p, CQ_TOKEN_RPAREN)) && end_line(p);
}

/* op_version_set = 1, at the top of files of version 1. */
static bool take_op_version(cq_parser *p)
{
    const cq_token *t    = cq_parser_peek(p, 0);
    const char     *name = "op_version_set";
    cq_ast_expr    *x;

    if (t->kind != CQ_TOKEN_NAME || cq_parser_peek(p, 1)->kind != CQ_TOKEN_ASSIGN ||
        cq_parser_peek(p, 2)->kind != CQ_TOKEN_NUMBER || t->at.end - t->at.start != strlen(name) ||
        memcmp(p->unit->source.text + t->at.start, name, strlen(name)) != 0)
        return false;
    p->next += 2;
    x = cq_parse_number(p, false);
    if (x && x->kind == CQ_X_INT)
        p->unit->op_version_set = x->u.i;
    return x && end_line(p);
}

static bool parse_file_line(cq_parser *p, file_parts *parts)
{
    cq_ast_exprs  decorators;
    cq_ast_class *c;
    cq_ast_def   *def;

    if (cq_parser_accept(p, CQ_TOKEN_IMPORT))
        return parse_import(p, parts);
    if (cq_parser_accept(p, CQ_TOKEN_FROM))
        return parse_from(p, parts);
    if (take_op_version(p) || !cq_parse_decorators(p, &decorators))
        return p->status == CQ_OK;
    if (cq_parser_accept(p, CQ_TOKEN_CLASS)) {
        c = parse_class(p, decorators);
        if (c)
            p->status = cq_vec_push(&parts->classes, c);
        return p->status == CQ_OK;
    }
    if (cq_parser_accept(p, CQ_TOKEN_DEF)) {
        def = cq_parse_def(p, decorators);
        if (def)
            p->status = cq_vec_push(&parts->defs, def);
        return p->status == CQ_OK;
    }
    return decorators.n ? cq_parser_refuse(p) != NULL : cq_parse_statements(p);
}

static void *keep(cq_parser *p, const void *items, size_t n, size_t size)
{
    void *copy = cq_parser_new(p, (n + 1) * size);

    if (copy && n)
        memcpy(copy, items, n * size);
    return copy;
}

void cq_parse_file(cq_parser *p)
{
    const size_t mark  = cq_parser_mark(p);
    file_parts   parts = { 0 };
    cq_unit     *unit  = p->unit;

    while (!cq_parser_at(p, CQ_TOKEN_END) && parse_file_line(p, &parts)) {
    }
    if (p->status == CQ_OK)
        cq_parser_take_block(p, mark, &unit->body);
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
