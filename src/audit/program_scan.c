/* The JSON of programs of torch.export. Its reader resolves the target of a node by attributes of
 * torch, evaluates the text of sizes with sympy, and compiles guards as Python. */
#include "audit/audit.h"

#include "base/str.h"

#include <stdio.h>

enum { MAX_TARGET = 256 };

static bool is_word_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- targets ---- */

/* Functions of torch, beside operators, that torch.export writes. */
static bool is_part_of_programs(const char *name)
{
    static const char *const parts[] = { "sym_",
                                         "_sym_",
                                         "_functorch.predispatch.",
                                         "_check",
                                         "_assert",
                                         "_higher_order_ops.",
                                         "amp.",
                                         "_C._set_grad_enabled",
                                         "autograd.grad_mode." };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (cq_starts_with(name, parts[i]))
            return true;
    return false;
}

static void check_target(cq_audit *a, const char *text, size_t n, const char *where)
{
    static const char *const calls[] = { "attrgetter", "itemgetter", "methodcaller", "call" };
    char                     target[MAX_TARGET], *name;

    if (n >= sizeof target || memchr(text, '\\', n)) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "call-target", where,
                     "the target of a call is too long, or has an escape sequence");
        return;
    }
    snprintf(target, sizeof target, "%.*s", (int)n, text);
    name = strchr(target, '.');
    if (!name || cq_starts_with(target, "torch.ops."))
        return; /* the reader takes a target without a dot as text */
    *name++ = '\0';
    if ((strcmp(target, "_operator") == 0 || strcmp(target, "operator") == 0 ||
         strcmp(target, "math") == 0) &&
        !strchr(name, '.') && !CQ_IS_AMONG(name, calls))
        return;
    if (cq_audit_classify(target, name) == CQ_AUDIT_GLOBAL_DANGEROUS)
        cq_audit_add(a, CQ_VERDICT_HOSTILE, "call-target", where, "the program calls %s.%s", target,
                     name);
    else if (strcmp(target, "torch") != 0 || !is_part_of_programs(name))
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "call-target", where,
                     "the program calls %s.%s, which is not an operator", target, name);
}

/* ---- texts that the reader evaluates ---- */

/* Words of Python that leave arithmetic. */
static bool is_dangerous_word(const char *word)
{
    static const char *const words[] = { "eval",    "exec",    "compile", "open",       "import",
                                         "getattr", "setattr", "lambda",  "subprocess", "globals",
                                         "os",      "sys",     "vars",    "breakpoint", "input" };

    return strstr(word, "__") || CQ_IS_AMONG(word, words);
}

/* Functions of sympy and torch have names in upper case, but for these. */
static bool is_function_of_sizes(const char *word)
{
    static const char *const functions[] = { "sqrt", "floor", "ceiling", "log",  "exp", "sin",
                                             "cos",  "tan",   "asin",    "acos", "atan" };

    return (word[0] >= 'A' && word[0] <= 'Z') || CQ_IS_AMONG(word, functions);
}

static void check_expression(cq_audit *a, const char *text, size_t n, bool is_guard,
                             const char *where)
{
    for (size_t i = 0; i < n;) {
        char   word[64];
        size_t end = i;

        while (end < n && is_word_byte(text[end]))
            end++;
        if (end == i) {
            i++;
            continue;
        }
        snprintf(word, sizeof word, "%.*s", (int)(end - i < 63 ? end - i : 63), text + i);
        i = end;
        while (end < n && is_space(text[end]))
            end++;
        if (is_dangerous_word(word))
            cq_audit_add(a, CQ_VERDICT_HOSTILE, "expression", where,
                         "a size or guard, which the reader evaluates, contains '%s'", word);
        else if (!is_guard && end < n && text[end] == '(' && !is_function_of_sizes(word))
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "expression", where,
                         "a size, which the reader evaluates, calls '%s'", word);
    }
}

/* ---- the JSON ---- */

/* The end of the string whose first byte is at from: the closing quote. */
static size_t end_of_string(const char *text, size_t from, size_t size)
{
    while (from < size && text[from] != '"')
        from += text[from] == '\\' ? 2 : 1;
    return from < size ? from : size;
}

static bool is_key(const char *text, size_t n, const char *key)
{
    return strlen(key) == n && memcmp(text, key, n) == 0;
}

/* Whether the string from begin to end is a key, which becomes the current one. */
static bool take_key(cq_audit *a, const char *text, size_t begin, size_t end, size_t size,
                     const char **key, size_t *n_key, const char *where)
{
    size_t next = end + 1;

    while (next < size && is_space(text[next]))
        next++;
    if (next >= size || text[next] != ':')
        return false;
    *key   = text + begin + 1;
    *n_key = end - begin - 1;
    if (memchr(*key, '\\', *n_key))
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "escaped-key", where,
                     "a key of the program has an escape sequence");
    return true;
}

/* Keys are compared as bytes: one with an escape is unknown to the reader's schema, or an attack.
 */
void cq_audit_scan_program(cq_audit *a, const unsigned char *data, size_t size, const char *where)
{
    const char *text  = (const char *)data;
    const char *key   = "";
    size_t      n_key = 0;

    for (size_t i = 0; i < size && a->status == CQ_OK; i++) {
        size_t end;

        if (text[i] != '"') {
            if (text[i] == '}' || text[i] == '{')
                n_key = 0;
            continue;
        }
        end = end_of_string(text, i + 1, size);
        if (take_key(a, text, i, end, size, &key, &n_key, where))
            ;
        else if (is_key(key, n_key, "target"))
            check_target(a, text + i + 1, end - i - 1, where);
        else if (is_key(key, n_key, "expr_str") || is_key(key, n_key, "guards_code"))
            check_expression(a, text + i + 1, end - i - 1, is_key(key, n_key, "guards_code"),
                             where);
        i = end;
    }
}
