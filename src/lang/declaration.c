/* The declarations of lib/aten and lib/onnx: decorators and calls at the top level of a file, and
 * their keys. The hosts read the values. */
#include "base/str.h"
#include "lang/library.h"

#include <stdio.h>

#define TRAITS                                                                                     \
    "autocast vmap cost quantized complex_pairs upgrade until on_sizes reflected with_numbers"

static const struct declaration {
    const char *folder, *name;
    bool        has_function; /* a decorator, otherwise a call */
    const char *flags;        /* keys whose value is True */
    const char *keys;         /* keys with other values */
} declarations[] = {
    { "aten/", "operator", true, "of_views host random dynamic complex", TRAITS },
    { "aten/", "gradient", true, "first_only", "" },
    { "aten/", "gradient_of", true, "", "" },
    { "aten/", "complex_rule", true, "", "" },
    { "aten/", "decomposition", true, "", "" },
    { "aten/", "unview", true, "", "" },
    { "aten/", "traits", false, "", TRAITS },
    { "aten/", "derived", false, "", "of" },
    { "aten/", "torch_export", false, "", "call assertion" },
    { "onnx/", "symbolic", true, "promote decompose", "opset" },
    { "onnx/", "symbolic", false, "promote decompose", "opset" },
    { "onnx/", "unsupported", false, "", "opset" },
    { "onnx/", "rewrite", true, "", "opset stage use" },
    { "onnx/", "function", true, "", "" },
    { "onnx/", "backward", true, "", "" },
    { "onnx/", "upgrade", true, "", "" },
    { "onnx/", "downgrade", true, "", "" },
};

enum { N_DECLARATIONS = sizeof declarations / sizeof *declarations };

/* Whether a list of words has this one. */
static bool has_word(const char *words, const char *word)
{
    const size_t len = strlen(word);

    for (const char *at = words; len && (at = strstr(at, word)); at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

/* The names, for messages: "@operator, @gradient". */
static void list_names(cq_str *out, const cq_decorator *d)
{
    for (size_t i = 0; i < N_DECLARATIONS; i++) {
        const struct declaration *of = &declarations[i];

        if (!cq_library_is_in(d->file, of->folder) || of->has_function != (d->function != NULL))
            continue;
        cq_str_printf(out, "%s%s%s%s", out->len ? ", " : "", of->has_function ? "@" : "", of->name,
                      of->has_function ? "" : "()");
    }
}

static cq_status fail_unknown(const cq_decorator *d)
{
    cq_str    names  = { 0 };
    cq_status status = CQ_E_NO_MEMORY;

    list_names(&names, d);
    if (names.status == CQ_OK)
        status = cq_decorator_fail(d, "unknown %s %s%s; expected one of %s",
                                   d->function ? "decorator" : "declaration",
                                   d->function ? "@" : "", d->name, cq_str_text(&names));
    cq_str_clear(&names);
    return status;
}

static cq_status fail_key(const cq_decorator *d, const struct declaration *of, const char *key)
{
    const char *between = *of->flags && *of->keys ? " " : "";

    if (!*of->flags && !*of->keys)
        return cq_decorator_fail(d, "%s has no keys, got %s", d->name, key);
    return cq_decorator_fail(d, "%s has no key %s; expected one of: %s%s%s", d->name, key,
                             of->flags, between, of->keys);
}

static cq_status check_keys(const cq_decorator *d, const struct declaration *of)
{
    for (size_t i = 0; i < d->n_keys; i++) {
        const cq_decorator_key *key = &d->keys[i];

        if (!*key->name || has_word(of->keys, key->name))
            continue;
        if (!has_word(of->flags, key->name))
            return fail_key(d, of, key->name);
        if (strcmp(key->value, "True") != 0)
            return cq_decorator_fail(d, "key %s expects True, got %s", key->name, key->value);
    }
    return CQ_OK;
}

static const struct declaration *find(const cq_decorator *d)
{
    for (size_t i = 0; i < N_DECLARATIONS; i++)
        if (strcmp(declarations[i].name, d->name) == 0 &&
            declarations[i].has_function == (d->function != NULL))
            return &declarations[i];
    return NULL;
}

cq_status cq_decorator_check_keys(const cq_decorator *d)
{
    const struct declaration *of = find(d);

    return of ? check_keys(d, of) : CQ_OK;
}

static cq_status check(const cq_decorator *d, void *user)
{
    const struct declaration *of = find(d);

    (void)user;
    if (!of || !cq_library_is_in(d->file, of->folder))
        return fail_unknown(d);
    if (!*d->text)
        return cq_decorator_fail(d, "expected the name of an operator, as in \"aten::tanh\"");
    return check_keys(d, of);
}

cq_status cq_library_check_declarations(const cq_lib_file *file)
{
    return cq_lib_file_each(file, NULL, check, NULL);
}
