/* Parses regular expressions. */
#include "base/regex_tree.h"

#include <string.h>

/* ---- text ---- */

uint32_t cq_regex_next_char(const char *text, size_t len, size_t *at)
{
    const unsigned char *s = (const unsigned char *)text + *at;
    size_t   n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 1;
    uint32_t c = n == 1 ? *s : *s & (0xff >> (n + 1));

    for (size_t i = 1; i < n; i++) {
        if (*at + i >= len || s[i] >> 6 != 2) {
            ++*at;
            return *s;
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    *at += n;
    return c;
}

bool cq_regex_is_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- reading ---- */

typedef struct reader {
    cq_arena   *arena;
    range_list *ranges;
    const char *text;
    size_t      len, at;
    unsigned    depth;
    bool        ignores_case, dot_is_all, is_multiline;
    cq_status   status; /* the first failure; after it all results are NULL */
} reader;

static tree *fail(reader *r, const char *why)
{
    if (r->status == CQ_OK)
        r->status = cq_fail(CQ_E_SYNTAX, NULL, NULL, "%s at character %zu of the expression '%.*s'",
                            why, r->at, (int)(r->len < 60 ? r->len : 60), r->text);
    return NULL;
}

static tree *node(reader *r, kind k, tree *a, tree *b)
{
    tree *t = r->status == CQ_OK ? cq_arena_zalloc(r->arena, sizeof *t) : NULL;

    if (!t && r->status == CQ_OK)
        r->status = CQ_E_NO_MEMORY;
    if (t) {
        t->kind         = k;
        t->a            = a;
        t->b            = b;
        t->ranges       = r->ranges->n;
        t->ignores_case = r->ignores_case;
    }
    return t;
}

static bool is_at(const reader *r, const char *what)
{
    size_t n = strlen(what);

    return r->len - r->at >= n && !memcmp(r->text + r->at, what, n);
}

static bool skip(reader *r, const char *what)
{
    bool yes = is_at(r, what);

    r->at += yes ? strlen(what) : 0;
    return yes;
}

static void add_range(reader *r, tree *set, uint32_t low, uint32_t high)
{
    if (r->status == CQ_OK)
        r->status = cq_vec_push(r->ranges, (range){ low, high });
    if (r->status == CQ_OK)
        set->n_ranges++;
}

static const struct {
    char  letter;
    int   n;
    range ranges[4];
} classes[] = {
    { 'd', 1, { { '0', '9' } } },
    { 'w', 4, { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } } },
    { 's', 3, { { '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' } } },
};

/* Adds \d and similar classes; for a capital letter the complement: the gaps between the ranges. */
static bool add_class(reader *r, tree *set, char letter)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        uint32_t next = 0;

        if ((letter | 0x20) != classes[i].letter)
            continue;
        for (int k = 0; k < classes[i].n; k++) {
            range it = classes[i].ranges[k];

            if (letter & 0x20)
                add_range(r, set, it.low, it.high);
            else if (it.low > next)
                add_range(r, set, next, it.low - 1);
            next = it.high + 1;
        }
        if (!(letter & 0x20))
            add_range(r, set, next, 0x10ffff);
        return true;
    }
    return false;
}

static uint32_t read_hex(reader *r)
{
    bool     braces = skip(r, "{");
    uint32_t c      = 0;
    int      n      = 0;

    for (; r->at < r->len && n < (braces ? 6 : 2); n++, r->at++) {
        char        digit = (char)(r->text[r->at] | 0x20);
        const char *found = strchr("0123456789abcdef", digit);

        if (!found)
            break;
        c = c << 4 | (uint32_t)(found - "0123456789abcdef");
    }
    if (!n || (braces && !skip(r, "}")) || c > 0x10ffff)
        fail(r, "\\x expects hexadecimal digits");
    return c;
}

/* Reads the character of an escape; the backslash has been consumed. */
static uint32_t read_escape(reader *r)
{
    static const char names[] = "tnrfva", chars[] = "\t\n\r\f\v\a";
    const char       *found;
    uint32_t          c;

    if (r->at >= r->len) {
        fail(r, "expected a character after the backslash");
        return 0;
    }
    c     = cq_regex_next_char(r->text, r->len, &r->at);
    found = c && c < 0x80 ? strchr(names, (int)c) : NULL;
    if (found)
        return (uint32_t)chars[found - names];
    if (c == 'x')
        return read_hex(r);
    if (cq_regex_is_word(c) && c != '_') {
        r->at--;
        fail(r, "unknown escape");
    }
    return c;
}

static const struct {
    const char *name, *like;
    range       more;
} posix_classes[] = {
    { "[:alpha:]", "", { 'A', 'Z' } },  { "[:digit:]", "d", { '0', '9' } },
    { "[:alnum:]", "d", { 'A', 'Z' } }, { "[:space:]", "s", { ' ', ' ' } },
    { "[:upper:]", "", { 'A', 'Z' } },  { "[:lower:]", "", { 'a', 'z' } },
    { "[:word:]", "w", { '_', '_' } },  { "[:punct:]", "", { '!', '/' } },
};

static bool skip_posix_class(reader *r, tree *set)
{
    for (size_t i = 0; i < sizeof posix_classes / sizeof *posix_classes; i++) {
        if (!skip(r, posix_classes[i].name))
            continue;
        if (*posix_classes[i].like)
            add_class(r, set, *posix_classes[i].like);
        add_range(r, set, posix_classes[i].more.low, posix_classes[i].more.high);
        if (!strncmp(posix_classes[i].name, "[:al", 4))
            add_range(r, set, 'a', 'z');
        if (!strcmp(posix_classes[i].name, "[:punct:]")) {
            add_range(r, set, ':', '@');
            add_range(r, set, '[', '`');
            add_range(r, set, '{', '~');
        }
        return true;
    }
    return false;
}

/* Reads one end of a range in brackets; false if it was a class, which has been added. */
static bool read_in_brackets(reader *r, tree *set, uint32_t *c)
{
    if (skip_posix_class(r, set))
        return false;
    if (!skip(r, "\\")) {
        *c = cq_regex_next_char(r->text, r->len, &r->at);
        return true;
    }
    if (r->at < r->len && add_class(r, set, r->text[r->at])) {
        r->at++;
        return false;
    }
    *c = read_escape(r);
    return true;
}

static tree *read_brackets(reader *r)
{
    tree *set = node(r, SET, NULL, NULL);
    bool  first;

    if (!set)
        return NULL;
    set->is_negated = skip(r, "^");
    for (first = true; r->status == CQ_OK && (first || !is_at(r, "]")); first = false) {
        uint32_t low, high;

        if (r->at >= r->len)
            return fail(r, "missing ] of a character class");
        if (!read_in_brackets(r, set, &low))
            continue;
        high = low;
        if (is_at(r, "-") && r->len - r->at > 1 && r->text[r->at + 1] != ']') {
            r->at++;
            if (!read_in_brackets(r, set, &high))
                return fail(r, "missing end of a range");
            if (high < low)
                return fail(r, "a range ends before it begins");
        }
        add_range(r, set, low, high);
    }
    skip(r, "]");
    return set;
}

static tree *read_alternatives(reader *r);

/* Reads flags between (? and ) or :, which apply from there on. */
static bool read_flags(reader *r)
{
    bool on = true;

    for (; r->at < r->len; r->at++) {
        switch (r->text[r->at]) {
        case 'i': r->ignores_case = on; break;
        case 's': r->dot_is_all = on; break;
        case 'm': r->is_multiline = on; break;
        case 'U': break; /* the preference does not affect a full match */
        case '-': on = false; break;
        case ':':
        case ')': return true;
        default: fail(r, "unknown flag"); return false;
        }
    }
    fail(r, "missing ) of a group");
    return false;
}

static tree *read_group(reader *r)
{
    reader outside = *r;
    tree  *t;

    if (++r->depth > CQ_REGEX_MAX_DEPTH)
        return fail(r, "groups are nested too deep");
    if (skip(r, "?P<") || skip(r, "?<")) {
        while (r->at < r->len && r->text[r->at] != '>')
            r->at++;
        if (!skip(r, ">"))
            return fail(r, "missing > of a group name");
    } else if (skip(r, "?")) {
        if (!read_flags(r))
            return NULL;
        if (skip(r, ")")) { /* the flags apply until the end of the enclosing group */
            r->depth--;
            return node(r, EMPTY, NULL, NULL);
        }
        skip(r, ":");
    }
    t = read_alternatives(r);
    if (r->status == CQ_OK && !skip(r, ")"))
        return fail(r, "missing ) of a group");
    outside.at     = r->at;
    outside.status = r->status;
    *r             = outside;
    return t;
}

static tree *read_backslash(reader *r)
{
    static const struct {
        const char *name;
        kind        kind;
    } assertions[] = { { "A", BEGIN }, { "z", END }, { "b", EDGE }, { "B", NO_EDGE } };
    tree    *set;
    uint32_t c;

    for (size_t i = 0; i < sizeof assertions / sizeof *assertions; i++)
        if (skip(r, assertions[i].name))
            return node(r, assertions[i].kind, NULL, NULL);
    set = node(r, SET, NULL, NULL);
    if (set && r->at < r->len && add_class(r, set, r->text[r->at])) {
        r->at++;
        return set;
    }
    c = read_escape(r);
    if (set && r->status == CQ_OK)
        add_range(r, set, c, c);
    return set;
}

static tree *read_atom(reader *r)
{
    tree    *set;
    uint32_t c;

    if (skip(r, "("))
        return read_group(r);
    if (skip(r, "["))
        return read_brackets(r);
    if (skip(r, "\\"))
        return read_backslash(r);
    if (skip(r, "^"))
        return node(r, r->is_multiline ? LINE_BEGIN : BEGIN, NULL, NULL);
    if (skip(r, "$"))
        return node(r, r->is_multiline ? LINE_END : END, NULL, NULL);
    if (is_at(r, "*") || is_at(r, "+") || is_at(r, "?"))
        return fail(r, "nothing to repeat before the repetition");
    set = node(r, SET, NULL, NULL);
    if (!set)
        return NULL;
    c = cq_regex_next_char(r->text, r->len, &r->at);
    if (c != '.') {
        add_range(r, set, c, c);
    } else {
        set->is_negated = true; /* of nothing, or of the end of a line */
        if (!r->dot_is_all)
            add_range(r, set, '\n', '\n');
    }
    return set;
}

/* Reads a number of at most four digits; -1 if there is none. */
static int read_number(reader *r)
{
    int n = -1;

    for (int i = 0; i < 4 && r->at < r->len && r->text[r->at] >= '0' && r->text[r->at] <= '9'; i++)
        n = (n < 0 ? 0 : n) * 10 + (r->text[r->at++] - '0');
    return n;
}

/* Reads {n}, {n,} or {n,m}; false, without consuming anything, if it is not a count: then the brace
 * is a character. */
static bool read_counts(reader *r, int *min, int *max)
{
    size_t start = r->at;

    r->at++;
    *min = *max = read_number(r);
    if (*min >= 0 && skip(r, ","))
        *max = is_at(r, "}") ? -1 : read_number(r);
    if (*min >= 0 && skip(r, "}"))
        return true;
    r->at = start;
    return false;
}

static tree *read_repeated(reader *r)
{
    tree *t = read_atom(r);

    for (;;) {
        int min = 0, max = -1;

        if (skip(r, "+"))
            min = 1;
        else if (skip(r, "?"))
            max = 1;
        else if (!skip(r, "*") && !(is_at(r, "{") && read_counts(r, &min, &max)))
            return t;
        if (max >= 0 && max < min)
            return fail(r, "invalid number of repetitions");
        skip(r, "?"); /* non-greedy, which makes no difference for a full match */
        t = node(r, REPEAT, t, NULL);
        if (!t)
            return NULL;
        t->min = min;
        t->max = max;
    }
}

static tree *read_sequence(reader *r)
{
    tree *t = node(r, EMPTY, NULL, NULL);

    while (r->status == CQ_OK && r->at < r->len && !is_at(r, "|") && !is_at(r, ")")) {
        tree *next = read_repeated(r);

        t = node(r, CAT, t, next);
    }
    return t;
}

static tree *read_alternatives(reader *r)
{
    tree *t = read_sequence(r);

    while (r->status == CQ_OK && skip(r, "|"))
        t = node(r, ALT, t, read_sequence(r));
    return t;
}

cq_status cq_regex_parse(tree **out, cq_arena *arena, range_list *ranges, const char *pattern,
                         size_t len)
{
    reader r = { .arena = arena, .ranges = ranges, .text = pattern, .len = len };

    *out = read_alternatives(&r);
    if (r.status == CQ_OK && r.at < len)
        fail(&r, "unmatched )");
    return r.status;
}
